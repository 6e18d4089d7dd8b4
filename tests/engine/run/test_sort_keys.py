"""What a case can be sorted by: sums of its attempts, lengths, the first reason, its tags."""

from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.fold import parse_fold
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.run.aggregate import case_result, sort_keys
from proctor.store.rows import KEY_LENGTH, SortKeys

CASE = Case(
    id="a",
    messages=(
        Message(role="user", content="an earlier question"),
        Message(role="assistant", content="…"),
        Message(role="user", content="why?"),
    ),
    criteria=(
        Criterion(id="polite", scorer=Spec(name="contains", params={"text": "x"})),
        Criterion(id="leaks", scorer=Spec(name="contains", params={"text": "y"}), weight=-1.0),
    ),
    tags={"topic": ("maths", "law"), "lang": ("en",)},
)
GOOD = {"polite": Score(points=1.0, out_of=1.0), "leaks": Score(points=0.0, out_of=1.0)}


def attempt(output: str, index: int = 0, **more: Any) -> Attempt:
    message = (Message(role="assistant", content=output),) if output else ()
    return Attempt(case_id="a", index=index, messages=message, **more)


def keys(*attempts: tuple[Attempt, dict[str, Score]]) -> SortKeys:
    return sort_keys(case_result(parse_fold("mean"), CASE, attempts))


def test_all_attempts_are_summed_and_the_longest_answer_counts() -> None:
    used = {"candidate": {"prompt_tokens": 5, "completion_tokens": 7, "cost": 0.5}, "judge": {}}
    on_file = {"prompt_tokens": 1, "cost": 0.25}
    result = keys(
        (attempt("long answer", seconds=1.5, usage=used), GOOD),
        (attempt("short", 1, seconds=0.5, usage=on_file), GOOD),
        (attempt("", 2, status=AttemptStatus.UNANSWERED), {}),
    )
    assert result == SortKeys(
        attempts=3,
        tokens=13,
        seconds=2.0,
        cost=0.75,
        question_length=4,
        answer_length=11,
        reason="unanswered",
        tag_text="lang: en; topic: maths, law",
    )


def test_what_is_not_there_is_none() -> None:
    result = keys((attempt("x", usage={"candidate": {"cost": None, "prompt_tokens": "3"}}), GOOD))
    assert (result.tokens, result.seconds, result.cost, result.reason) == (None,) * 4
    assert keys((attempt(""), GOOD)).answer_length is None


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ({**GOOD, "polite": Score(points=0.0, out_of=1.0, reason="rude")}, "polite: rude"),
        ({**GOOD, "leaks": Score(points=1.0, out_of=1.0, reason="told")}, "leaks: told"),
        ({**GOOD, "polite": Score.failed("no judge", out_of=1.0)}, "polite: no judge"),
        ({**GOOD, "polite": Score(points=0.5, out_of=1.0, reason="w" * 99)}, "polite: " + "w" * 52),
    ],
)
def test_the_first_reason_is_of_a_criterion_that_lacks_points(
    scores: dict[str, Score], reason: str
) -> None:
    assert keys((attempt("x"), scores)).reason == reason
    assert len(reason) <= KEY_LENGTH


def test_an_error_is_the_reason() -> None:
    broken = attempt("", status=AttemptStatus.ERROR, error="connection refused")
    assert keys((broken, {})).reason == "connection refused"
