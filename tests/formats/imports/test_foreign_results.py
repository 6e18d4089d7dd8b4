"""Suites put together of other tools' cases, attempts and scores."""

import pytest

from proctor.core.attempt import AttemptStatus
from proctor.core.score import ScoreStatus
from proctor.core.suite import Case, Json, Message
from proctor.formats.imports.foreign_results import (
    ForeignAttempt,
    ForeignRun,
    ForeignScore,
    kept_suite,
    moment,
    number,
    text_of,
    tool_call,
    unique,
)

CASES = {
    name: Case(id=name, messages=(Message(role="user", content="?"),), criteria=())
    for name in ("a", "b")
}
SAID = (Message(role="assistant", content="yes"),)


def kept(*attempts: ForeignAttempt, counted: tuple[str, ...] = ()) -> object:
    runs = [ForeignRun(name="r", candidate="c", attempts=attempts)]
    return kept_suite("s", CASES, runs, counted=counted, source="tool")


def scored(case: str, **values: float | None) -> ForeignAttempt:
    scores = {name: ForeignScore(value=value) for name, value in values.items()}
    return ForeignAttempt(case=case, messages=SAID, scores=scores)


@pytest.mark.parametrize(
    ("counted", "weights"),
    [
        ((), {"acc": 1.0, "length": 0.0, "f1": 1.0}),
        (("f1",), {"acc": 0.0, "length": 0.0, "f1": 1.0}),
        (("length",), {"acc": 0.0, "length": 0.0, "f1": 0.0}),
    ],
)
def test_shares_count_and_other_numbers_are_shown(
    counted: tuple[str, ...], weights: dict[str, float]
) -> None:
    suite = kept(scored("a", acc=1.0, length=40, f1=0.5), counted=counted).suite
    criteria = {criterion.id: criterion for criterion in suite.cases[0].criteria}
    assert {name: criterion.weight for name, criterion in criteria.items()} == weights
    assert criteria["length"].scorer.params["bounded"] is False
    assert [spec.params["metric"] for spec in suite.measures] == ["acc", "length", "f1"]


def test_a_value_that_is_missing_is_a_failed_score() -> None:
    [(_, _, scores)] = kept(scored("a", acc=None)).runs[0].rows
    assert scores["acc"].status is ScoreStatus.FAILED


def test_a_case_has_the_criteria_it_was_scored_by() -> None:
    suite = kept(scored("a", acc=1.0), scored("b", f1=1.0)).suite
    assert [[c.id for c in case.criteria] for case in suite.cases] == [["acc"], ["f1"]]


@pytest.mark.parametrize(
    ("attempt", "status"),
    [
        (scored("a", acc=1.0), AttemptStatus.ANSWERED),
        (ForeignAttempt(case="a"), AttemptStatus.UNANSWERED),
        (ForeignAttempt(case="a", messages=SAID), AttemptStatus.ANSWERED),
        (ForeignAttempt(case="a", messages=SAID, error="429"), AttemptStatus.ERROR),
    ],
)
def test_the_status_of_an_attempt(attempt: ForeignAttempt, status: AttemptStatus) -> None:
    assert attempt.attempt.status is status


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1.0),
        (True, 1.0),
        (0.5, 0.5),
        ("1", None),
        (None, None),
        (float("nan"), None),
        ([], None),
    ],
)
def test_numbers(value: Json, expected: float | None) -> None:
    assert number(value) == expected


def test_texts_times_names_and_calls() -> None:
    assert text_of(None) == ""
    assert text_of("x") == "x"
    assert text_of({"a": 1}) == '{"a":1}'
    assert moment("1970-01-01T00:01:00+00:00") == 60.0
    assert moment("yesterday") == 0.0
    assert moment(None) == 0.0
    assert unique("a", {"a": 1, "a (2)": 1}) == "a (3)"
    assert tool_call("f", '{"x": 1}', "1").arguments == {"x": 1}
    assert tool_call("f", "not JSON").arguments == "not JSON"
    assert tool_call("f", None).arguments == {}
