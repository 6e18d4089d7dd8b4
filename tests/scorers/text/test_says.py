"""What the candidate told the user, in any of its messages."""

from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Message, Spec
from proctor.registry import build
from proctor.testing import try_scorer


def context(*texts: str, references: tuple[str, ...] = ()) -> ScoreContext:
    case = Case(id="c", messages=(), criteria=(), references=references)
    messages = [Message(role="assistant", content=text) for text in texts]
    messages.insert(0, Message(role="user", content="It is 9.99."))
    return ScoreContext(case=case, attempt=Attempt(case_id="c", messages=tuple(messages)))


@pytest.mark.parametrize(
    ("params", "texts", "points"),
    [
        ({"texts": "1.00"}, ["You owe 1.00."], 1.0),
        ({"texts": "1.00"}, ["You owe 11.00."], 0.0),
        ({"texts": "1.00"}, ["You owe 1.005."], 0.0),
        ({"texts": "1.00"}, ["You owe $1.00", "Bye."], 1.0),
        ({"texts": "1200"}, ["It is 1,200 euros."], 1.0),
        ({"texts": "1,200"}, ["It is 1200 euros."], 1.0),
        ({"texts": ["ann", "2026-03-16"]}, ["Ann,", "by 2026-03-16"], 1.0),
        ({"texts": ["ann", "bob"]}, ["Ann"], 0.0),
        ({"texts": ["ann", "bob"], "partial": True}, ["Ann"], 0.5),
        ({"texts": "ann"}, ["Annette"], 0.0),
        ({"texts": "不能续借"}, ["对不起，不能续借。"], 1.0),
        ({"texts": [], "none": "secret"}, ["No."], 1.0),
        ({"texts": "no", "none": ["secret"]}, ["No.", "A Secret."], 0.0),
        # What the user says, or a tool gives, is not said by the candidate.
        ({"texts": "9.99"}, ["Well."], 0.0),
    ],
)  # fmt: skip
def test_texts_that_must_be_said(params: dict[str, Any], texts: list[str], points: float) -> None:
    scorer = build("scorer", Spec(name="says", params=params))
    score = try_scorer(scorer, context(*texts))
    assert (score.points, score.out_of) == (points, 1.0)
    assert score.reason


def test_references_are_said_where_no_text_is_named() -> None:
    scorer = build("scorer", Spec(name="says"))
    assert try_scorer(scorer, context("It is 3.", references=("3",))).points == 1.0
    assert try_scorer(scorer, context("It is 3.")).points is None
    assert list(scorer.doubts(context("x").case))
    (probe,) = scorer.probes(context("x", references=("3", "4")).case)
    assert probe.answer == "3\n4"
    assert list(build("scorer", Spec(name="says", params={"texts": " "})).problems())
