"""Verdicts: what a criterion gave, and which colour and order that has."""

import pytest

from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Criterion, Spec
from proctor.web.pages.verdicts import gave, in_order, kind_of, verdict_view

FAILED = Score.failed("no verdict", out_of=1.0)
SKIPPED = Score(status=ScoreStatus.NOT_APPLICABLE, out_of=1.0)


def criterion(weight: float = 1.0, **params: object) -> Criterion:
    return Criterion(id="c", weight=weight, scorer=Spec(name="judged", params=params))


@pytest.mark.parametrize(
    ("weight", "score", "kind", "given"),
    [
        (1, Score(points=1.0, out_of=1.0), "good", "+1 / 1"),
        (3, Score(points=2.0, out_of=3.0), "warn", "+6 / 9"),
        (1, Score(points=0.0, out_of=1.0), "bad", "+0 / 1"),
        (-2, Score(points=1.0, out_of=1.0), "bad", "−2"),
        (-2, Score(points=0.0, out_of=1.0), "good", "0"),
        (0, Score(points=4.0, out_of=None), "plain", "4"),
        (1, Score(points=4.0, out_of=None), "plain", "4"),
        (1, FAILED, "none", ""),
        (1, SKIPPED, "plain", ""),
    ],
)
def test_what_a_criterion_gave(weight: float, score: Score, kind: str, given: str) -> None:
    assert (kind_of(criterion(weight), score), gave(criterion(weight), score)) == (kind, given)


def test_a_judge_is_named_where_one_was_asked() -> None:
    usage = {"prompt_tokens": 30, "completion_tokens": 4, "cost": 0.5}
    asked = Score(points=1.0, out_of=1.0, detail={"raw": ["yes"], "usage": usage})
    shown = verdict_view(criterion(question="Is it so?"), asked, ["openai:strict"])
    assert (shown["question"], shown["judges"]) == ("Is it so?", "openai:strict")
    assert (shown["tokens"], shown["cost"]) == (34, 0.5)
    plain = verdict_view(criterion(), Score(points=1.0, out_of=1.0, detail=["odd"]), ["openai:x"])
    assert (plain["judges"], plain["tokens"], plain["params"]) == ("", None, "")


def test_what_failed_comes_first() -> None:
    scores = [{"id": kind, "verdict": {"kind": kind}} for kind in ("good", "plain", "warn", "bad")]
    assert [one["id"] for one in in_order(scores)] == ["bad", "warn", "plain", "good"]
