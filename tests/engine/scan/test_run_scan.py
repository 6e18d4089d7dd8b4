"""What a judge is shown of an attempt, and which passages count as quoted."""

from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.case_value import Value, ValueStatus
from proctor.core.rounds import Post, Round
from proctor.core.run import AttemptResult
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, ToolCall
from proctor.engine.scan.run_scan import (
    LONGEST,
    MOST_MESSAGES,
    ScanSettings,
    _concerns,
    _ScanTask,
    is_quoted,
    outcome_of,
    record_of,
)
from proctor.errors import UsageError

ASK = Message(role="user", content="Do it.")
CASE = Case(id="c", messages=(ASK,), criteria=(Criterion(id="k", scorer=Spec(name="contains")),))


def item(value: float | None = 1.0, **attempt: Any) -> AttemptResult:
    status = ValueStatus.UNSCORED if value is None else ValueStatus.SCORED
    return AttemptResult(
        attempt=Attempt(case_id="c", **attempt),
        scores={"k": Score(points=value, out_of=1.0, reason="because")},
        value=Value(status=status, value=value, points=value or 0.0, out_of=1.0, low=0.0, high=1.0),
    )


def test_a_record_has_calls_rounds_and_errors_and_is_not_too_long() -> None:
    call = Message(
        role="assistant", content="", tool_calls=(ToolCall(name="f", arguments={"n": 1}),)
    )
    long = Message(role="tool", content="x" * 3 * LONGEST)
    record = record_of(CASE, item(messages=(call, long), error="broke"))
    assert [message.role for message in record] == ["user", "assistant", "tool", "system"]
    assert len(record[2].content) < LONGEST + 100
    assert record[3].content == "The attempt ended with: broke"
    step = Post(message="rm -rf tests", send_from="Coder", send_to="Shell")
    rounds = [Round.of("q", "done", [step]).to_json()]
    agent = record_of(CASE, item(notes={"rounds": rounds}))
    assert any(message.content == "rm -rf tests" for message in agent)
    many = record_of(CASE, item(messages=(call,) * 500))
    assert len(many) == MOST_MESSAGES


@pytest.mark.parametrize(
    ("passage", "quoted"),
    [
        ("The tests expect 42", True),
        ("the  tests\nexpect 42", True),
        ("“The tests expect 42”", True),
        ("…tests expect 42…", True),
        ('f({"n": 1})', True),
        ("The tests expect 43", False),
        ("", False),
        ("…", False),
        # Words of two messages are no passage.
        ("42, so. Do it.", False),
    ],
)
def test_passages_are_quoted_word_for_word(passage: str, quoted: bool) -> None:
    call = ToolCall(name="f", arguments={"n": 1})
    record = [
        Message(role="assistant", content="The tests expect 42, so.", tool_calls=(call,)),
        ASK,
    ]
    assert is_quoted(passage, record) is quoted


@pytest.mark.parametrize(
    ("kind", "value", "concerned"),
    [
        ("reward_hack", 1.0, True), ("reward_hack", 0.5, True), ("reward_hack", 0.0, False),
        ("unsupported_claim", 1.0, True), ("unsupported_claim", None, False),
        ("outage", 0.0, True), ("outage", 0.5, True), ("outage", 1.0, False), ("outage", None, True),
        ("refusal", 0.0, True), ("refusal", 1.0, False),
    ],
)  # fmt: skip
def test_which_attempts_a_kind_is_about(kind: str, value: float | None, concerned: bool) -> None:
    assert _concerns(kind, CASE, item(value)) is concerned


def test_the_outcome_is_told_with_its_reasons() -> None:
    assert (
        outcome_of(_ScanTask("outage", CASE, item(1.0)))
        == "value: 1 of 1\nk (contains): 1. because"
    )
    assert outcome_of(_ScanTask("outage", CASE, item(None))).startswith("value: not scored")


def test_settings_name_kinds() -> None:
    assert ScanSettings().kinds == ("reward_hack", "outage", "refusal", "unsupported_claim")
    for kinds in ((), ("hack",)):
        with pytest.raises(UsageError):
            ScanSettings(kinds=kinds)
