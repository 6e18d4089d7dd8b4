"""Near-duplicates among cases: a note with the tag that would make clusters of them."""

from dataclasses import replace

import pytest

from proctor.core.suite import Case, Message, Suite
from proctor.engine.check.clusters import cluster_notes

QUESTION = (
    "A train leaves the station at nine and runs for {} hours, at sixty miles an hour. How far?"
)
OTHER = "Name the longest river of the country that lies south of {} and north of the sea, please."


def case(number: int, text: str, cluster: str = "", **tags: str) -> Case:
    return Case(
        id=f"c{number}",
        messages=(Message(role="user", content=text),),
        criteria=(),
        tags={name: (value,) for name, value in tags.items()},
        cluster=cluster,
    )


TWINS = [
    case(0, QUESTION.format("two"), topic="trains", level="low"),
    case(1, QUESTION.format("two") + " Say it.", topic="trains", level="high"),
    case(2, OTHER.format("Spain"), topic="rivers", level="low"),
    case(3, OTHER.format("Spain") + " Thanks.", topic="rivers", level="low"),
    case(4, "Something else entirely, which is like no other case here at all.", topic="rivers"),
]


def test_near_duplicates_are_noted_with_a_tag_that_tells_them_apart() -> None:
    (note,) = cluster_notes(Suite(name="s", cases=TWINS))
    assert note.severity == "note"
    assert note.message.startswith("4 cases are nearly the same as others, in 2 groups (c0, c1)")
    assert note.hint == "if they belong together, write 'cluster: topic' in the suite"


def test_without_such_a_tag_the_cases_name_their_cluster() -> None:
    cases = [case(n, QUESTION.format("two") + "!" * n) for n in range(3)]
    (note,) = cluster_notes(Suite(name="s", cases=cases))
    assert "3 cases" in note.message
    assert "in 1 group (" in note.message
    assert note.hint == "if they belong together, give them one 'cluster'"


@pytest.mark.parametrize(
    "cases",
    [
        [],
        [case(1, "1 + 1?"), case(2, "1 + 2?"), case(3, "2 + 1?")],
        [case(n, f"What is the capital of {of}?") for n, of in enumerate(("Chad", "Mali"))],
        [case(1, QUESTION.format("two")), case(2, OTHER.format("Spain"))],
        [case(n, QUESTION.format("two"), cluster="trains") for n in range(2)],
    ],
)
def test_short_unlike_and_clustered_cases_are_not_noted(cases: list[Case]) -> None:
    assert cluster_notes(Suite(name="s", cases=cases)) == []


def test_short_questions_that_ask_the_same_are_noted() -> None:
    texts = ("Capital of Chad?", "What is the capital of Chad?", "Capital of Mali?", "1 + 1?")
    (note,) = cluster_notes(Suite(name="s", cases=[case(*one) for one in enumerate(texts)]))
    assert note.message.startswith("2 cases are nearly the same as others, in 1 group (c0, c1)")


def test_the_same_words_about_other_pictures_or_documents_are_not_the_same_question() -> None:
    pictures = [
        replace(
            case(number, "Describe it."),
            messages=(Message(role="user", content="Describe it.", images=(f"data:{number}",)),),
        )
        for number in range(3)
    ]
    documents = [
        replace(case(number, "Sum up."), context=(f"Text {number}",)) for number in range(3, 6)
    ]
    assert cluster_notes(Suite(name="s", cases=[*pictures, *documents])) == []
    twice = cluster_notes(Suite(name="s", cases=[case(1, "Sum up."), case(2, "Sum up.")]))
    assert len(twice) == 1


def test_cases_that_differ_in_numbers_alone_are_named_as_such() -> None:
    """Other questions in the same words: a note of its own, however long they are."""
    short = [case(n, f"How many minutes are in {n + 2} hours?") for n in range(3)]
    long = [case(n, QUESTION.format(n)) for n in range(10, 16)]
    (note,) = cluster_notes(Suite(name="s", cases=[*short, *long]))
    assert note.severity == "note"
    assert note.message.startswith(
        "9 cases differ from others in numbers alone, in 2 groups (c10, c11, c12, c13, …)"
    )
    assert note.hint == "if they belong together, give them one 'cluster'"
