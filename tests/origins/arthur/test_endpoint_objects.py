"""Objects of the endpoints: what an output scored, and what that is called."""

import pytest

from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.origins.arthur.endpoint_objects import case_object, moment, result_object, scored
from proctor.store.rows import LinkedCase


def case(method: str = "readability", *references: str) -> Case:
    return Case(
        id="c",
        messages=(Message(role="user", content="q"),),
        criteria=(Criterion(id=method, scorer=Spec(name=method)),),
        references=references,
        null_score=0.25,
    )


def test_a_case_has_its_question_and_its_first_reference() -> None:
    shown = case_object("a" * 32, case("exact_match", "a", "b"))
    assert (shown.input, shown.reference_output) == ("q", "a")
    assert case_object("a" * 32, case()).reference_output is None
    assert shown.id == case_object("a" * 32, case()).id != case_object("b" * 32, case()).id


@pytest.mark.parametrize(
    ("attempt", "scores", "points"),
    [
        (Attempt.of("c", "x"), {"readability": Score(points=70.0)}, 70.0),
        (Attempt.of("c", "x"), {"readability": Score.failed("broke")}, None),
        (Attempt.of("c", "x"), {}, None),
        (Attempt.of("c", None), {}, 0.25),
    ],
)
def test_an_output_has_its_points(
    attempt: Attempt, scores: dict[str, Score], points: float | None
) -> None:
    assert scored(case(), attempt, scores)[0] == points
    shown = result_object("a" * 32, LinkedCase(0, case(), [(attempt, scores)]))
    assert shown.score == points
    assert (shown.output is None) == (attempt.output == "")
    assert (shown.score_result is None) == (points is None)


def test_points_of_a_judged_method_have_a_name() -> None:
    judged = case("qa_correctness")
    _, category = scored(
        judged, Attempt.of("c", "x"), {"qa_correctness": Score(points=1.0, out_of=1.0)}
    )
    assert category is not None
    assert category.name == "correct"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, None), (0.0, "1970-01-01T00:00:00+00:00"), (1e20, None), (float("nan"), None)],
)
def test_a_moment_that_is_none_breaks_nothing(seconds: float | None, text: str | None) -> None:
    assert moment(seconds) == text
