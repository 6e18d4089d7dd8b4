"""Points that agents hit, and how often agents break."""

from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus, error_value, null_value, value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.registry import build

HIT, MISS = Score(points=1, out_of=1), Score(points=0, out_of=1)
FAILED = Score.failed("no verdict", out_of=1.0)
LOST = Score(points=0, out_of=1, reason="the agent failed: x", detail={"unanswered": True})
BROKEN = {"rounds": [{"state": "finished"}, {"state": "failed", "error": "x"}]}
FINE = {"rounds": [{"state": "finished"}]}


def result(
    weights: list[float], *rows: list[Score], status: str = "answered", notes: Any = None
) -> CaseResult:
    criteria = tuple(
        Criterion(id=f"p{place}", scorer=Spec(name="contains"), weight=weight)
        for place, weight in enumerate(weights)
    )
    case = Case(id="c", messages=(), criteria=criteria)
    said = (Message(role="assistant", content="x"),) if status == "answered" else ()
    attempts = []
    for index, row in enumerate(rows):
        attempt = Attempt(
            case_id="c", index=index, status=AttemptStatus(status), messages=said, notes=notes or {}
        )
        scores = {f"p{place}": score for place, score in enumerate(row)}
        value = {"unanswered": null_value, "error": error_value}.get(status)
        worth = value(case) if value else value_of(case, scores)
        attempts.append(AttemptResult(attempt=attempt, scores=scores, value=worth))
    folded = fold(parse_fold("avg"), [one.value for one in attempts])
    return CaseResult(case=case, attempts=tuple(attempts), folded=folded)


RATES: list[tuple[list[CaseResult], float | None, tuple[int, int, int, int]]] = [
    ([], None, (0, 0, 0, 0)),
    ([result([1, 1, 1], [HIT, HIT, MISS])], 2 / 3, (2, 1, 0, 0)),
    ([result([1, 1, 1], [HIT, HIT, MISS]), result([2, 0.5], [MISS, HIT])], 2.5 / 5.5,
     (3, 2, 0, 0)),
    ([result([1, 1], [HIT, FAILED])], 1.0, (1, 0, 0, 1)),
    ([result([1, 3], [HIT, LOST], notes=BROKEN)], 0.25, (1, 0, 1, 0)),
    ([result([1, 3], [HIT, LOST], notes=FINE)], 0.25, (1, 1, 0, 0)),
    ([result([1, 1], [], status="unanswered")], 0.0, (0, 0, 2, 0)),
    ([result([1, 1], [], status="stopped")], None, (0, 0, 0, 2)),
    ([result([1, 1], [], status="error")], None, (0, 0, 0, 0)),
    ([result([1, 0, -1], [HIT, HIT, HIT])], 1.0, (1, 0, 0, 0)),
    ([result([1], [HIT], [MISS])], 0.5, (1, 1, 0, 0)),
    ([result([1, 1], [HIT, Score(status=ScoreStatus.NOT_APPLICABLE)])], 1.0, (1, 0, 0, 0)),
    ([result([2], [Score(points=1, out_of=4)])], 0.25, (0, 1, 0, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("results", "value", "counts"), RATES)
def test_hit_rate(
    results: list[CaseResult], value: float | None, counts: tuple[int, int, int, int]
) -> None:
    found = build("measure", Spec(name="hit_rate")).measure(iter(results))
    assert found.value == (value if value is None else pytest.approx(value))
    names = ("hit", "miss", "agent_failure", "unscored")
    assert found.detail == dict(zip(names, counts, strict=True))
    assert found.n == sum(counts[:3])


def test_agent_failure_rate() -> None:
    results = [
        result([1], [HIT], notes=FINE),
        result([1], [LOST], notes=BROKEN),
        result([1], [], status="unanswered"),
        result([1], [], status="stopped"),
        result([1], [], status="error"),
        result([1], [MISS]),
    ]
    found = build("measure", Spec(name="agent_failure_rate")).measure(iter(results))
    assert (found.value, found.n) == (0.5, 4)
    assert found.interval is not None
    assert build("measure", Spec(name="agent_failure_rate")).measure([]).value is None
    assert results[3].folded.status is ValueStatus.UNSCORED
