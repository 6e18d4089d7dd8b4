"""Near-duplicates among cases: a note with the tag that would make clusters of them."""

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
        [case(1, "1 + 1?"), case(2, "1 + 1?")],
        [case(1, QUESTION.format("two")), case(2, OTHER.format("Spain"))],
        [case(n, QUESTION.format("two"), cluster="trains") for n in range(2)],
    ],
)
def test_short_unlike_and_clustered_cases_are_not_noted(cases: list[Case]) -> None:
    assert cluster_notes(Suite(name="s", cases=cases)) == []
