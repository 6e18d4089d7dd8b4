"""Actions that must have happened, by the candidate or the user, and those that must not."""

from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Message, Spec, ToolCall
from proctor.registry import build
from proctor.testing import try_scorer

DONE = [
    {"by": "assistant", "name": "look", "arguments": {}},
    {"by": "assistant", "name": "pay", "arguments": {"member": "A", "sum": 2}, "failed": True},
    {"by": "user", "name": "drop", "arguments": {"title": "T"}},
    {"by": "assistant", "name": "pay", "arguments": {"member": "A", "sum": 1.0}},
]
CASE = Case(id="c", messages=(), criteria=())
PAY: dict[str, Any] = {"name": "pay", "arguments": {"sum": 1}}


@pytest.mark.parametrize(
    ("params", "points", "words"),
    [
        ({"actions": "pay"}, 1.0, "all 1 actions happened"),
        ({"actions": ["look", PAY]}, 1.0, "all 2"),
        ({"actions": [{"name": "pay", "patterns": {"member": "^A$"}}]}, 1.0, ""),
        # A call that failed did not happen.
        ({"actions": [{"name": "pay", "arguments": {"sum": 2}}]}, 0.0, "sum is 1.0, not 2"),
        ({"actions": ["pay", "pay"]}, 0.0, "pay did not happen as often as wanted"),
        ({"actions": ["lend"]}, 0.0, "the candidate never called it"),
        ({"actions": ["drop"]}, 0.0, "the candidate never called it"),
        ({"actions": [{"name": "drop", "by": "user"}]}, 1.0, ""),
        ({"actions": [{"name": "look", "by": "user"}]}, 0.0, "the user never called it"),
        ({"actions": ["look", "pay"], "in_order": True}, 1.0, ""),
        ({"actions": ["pay", "look"], "in_order": True}, 0.0, "in the wanted order"),
        ({"actions": ["pay", "lend"], "partial": True}, 0.5, "lend"),
        ({"none": ["lend"]}, 1.0, "nothing of that happened"),
        ({"none": ["pay"]}, 0.0, "must not happen, and did: pay("),
        ({"actions": ["look"], "none": [PAY]}, 0.0, "must not happen"),
        ({"none": [{"name": "pay", "arguments": {"sum": 2}}]}, 1.0, ""),
    ],
)  # fmt: skip
def test_what_happened(params: dict[str, Any], points: float, words: str) -> None:
    scorer = build("scorer", Spec(name="actions", params=params))
    assert not list(scorer.problems())
    attempt = Attempt(case_id="c", notes={"actions": DONE})
    score = try_scorer(scorer, ScoreContext(case=CASE, attempt=attempt))
    assert score.points == points
    assert words in score.reason


def test_a_transcript_alone_has_its_calls() -> None:
    call = ToolCall(name="pay", arguments={"sum": 1})
    message = Message(role="assistant", content="", tool_calls=(call,))
    attempt = Attempt(case_id="c", messages=(message,))
    scorer = build("scorer", Spec(name="actions", params={"actions": [PAY]}))
    assert try_scorer(scorer, ScoreContext(case=CASE, attempt=attempt)).points == 1.0


def test_what_is_wrong_with_a_criterion() -> None:
    def problems(**params: Any) -> list[str]:
        return list(build("scorer", Spec(name="actions", params=params)).problems())

    assert problems() == ["no action is named"]
    assert "no name" in problems(actions=[{"name": ""}])[0]
    assert problems(actions=[{"name": "x", "patterns": {"a": "("}}])
    assert "more than 100" in problems(actions=["x"] * 101)[0]
