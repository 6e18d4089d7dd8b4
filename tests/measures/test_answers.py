"""Pass@1, HealthBench and cut replies; the original's numbers come from its own runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import error_value, null_value, value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult, Measured
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec
from proctor.registry import build

GOLDEN = json.loads(
    (Path(__file__).resolve().parents[1] / "golden" / "askbench.json").read_text(encoding="utf-8")
)
HEALTH = next(s for s in GOLDEN["scenarios"] if s["name"] == "healthbench")
UNREAD = Score(points=0.0, out_of=1.0, detail={"valid": False})
FAILED = Score.failed("unreadable", out_of=1.0)


def result(weights: list[float], *attempts: Any, **fields: Any) -> CaseResult:
    """Make a case result: per attempt the points of each criterion, or how else it went."""
    criteria = tuple(
        Criterion(id=str(place), scorer=Spec(name="rubric"), weight=weight)
        for place, weight in enumerate(weights)
    )
    case = Case(id="c", messages=(), criteria=criteria, **fields)
    done = []
    for index, found in enumerate(attempts):
        status = AttemptStatus.ANSWERED if isinstance(found, list) else AttemptStatus(found)
        given = found if isinstance(found, list) else []
        scores = {
            str(place): one if isinstance(one, Score) else Score(points=float(one), out_of=1.0)
            for place, one in enumerate(given)
        }
        value = value_of(case, scores)
        if status is AttemptStatus.UNANSWERED:
            value = null_value(case)
        if status is AttemptStatus.ERROR:
            value = error_value(case)
        attempt = Attempt(case_id="c", index=index, status=status)
        done.append(AttemptResult(attempt=attempt, scores=scores, value=value))
    folded = fold(parse_fold("avg"), [one.value for one in done])
    return CaseResult(case=case, attempts=tuple(done), folded=folded)


def measured(name: str, results: list[CaseResult], params: Any = None) -> Measured:
    made: Measured = build("measure", Spec(name=name, params=params or {})).measure(results)
    return made


def golden_health(unreadable: Score) -> list[CaseResult]:
    """Make what the rubric criteria give, as the original's grader read the replies."""
    made = []
    for row, wanted in zip(
        HEALTH["rows"], HEALTH["expected"]["attempts"][0]["per_case"], strict=True
    ):
        points = [item["points"] for item in row["rubrics"]]
        scores = [one if isinstance(one, bool) else unreadable for one in wanted["criteria_met"]]
        made.append(result(points, scores, min_points=0.0))
    return made


@pytest.mark.parametrize("unreadable", [UNREAD, FAILED])
def test_healthbench_in_the_originals_way(unreadable: Score) -> None:
    expected = HEALTH["expected"]["attempts"][0]
    found = measured("healthbench", golden_health(unreadable), {"compat": "original"})
    assert found.value == pytest.approx(expected["score"], abs=1e-9)
    assert found.n == expected["valid"]


def test_healthbench_leaves_out_what_could_not_be_judged() -> None:
    found = measured("healthbench", golden_health(FAILED))
    assert found.value == pytest.approx((1.0 + 0.5 + 0.6 + 0.0) / 4)
    assert found.n == 4
    assert measured("healthbench", []).value is None


@pytest.mark.parametrize(
    ("params", "value", "n"), [({}, (1 + 0.5 + 0 + 0) / 4, 4), ({"compat": "original"}, 2 / 5, 4)]
)
def test_pass_at_1(params: dict[str, str], value: float, n: int) -> None:
    results = [
        result([1.0], [1], [FAILED]),
        result([1.0], [1], [0]),
        result([1.0], [0.5], "error"),
        result([1.0], "unanswered", "stopped"),
        result([1.0], [FAILED], "stopped"),
    ]
    found = measured("pass@1", results, params)
    assert found.value == pytest.approx(value)
    assert found.n == n


def test_pass_at_1_of_the_original_with_two_attempts() -> None:
    """Per question 1, ½, 0, 1, nothing, ½ over nine valid attempts: 5/9, where the mean is 0.6."""
    rows: list[list[Any]] = [
        [[1], [1]],
        [[1], [0]],
        [[0], [0]],
        [[1], [FAILED]],
        [[FAILED], [FAILED]],
        [[0], [1]],
    ]
    results = [result([1.0], *row) for row in rows]
    assert measured("pass@1", results, {"compat": "original"}).value == pytest.approx(5 / 9)
    assert measured("pass@1", results).value == pytest.approx(0.6)


def test_cut_replies() -> None:
    def one(status: AttemptStatus, **notes: Any) -> CaseResult:
        made = result([1.0], [1])
        attempt = Attempt(case_id="c", status=status, notes=notes)
        results = (AttemptResult(attempt=attempt, scores={}, value=made.attempts[0].value),)
        return CaseResult(case=made.case, attempts=results, folded=made.folded)

    results = [
        one(AttemptStatus.ANSWERED, truncated=[1]),
        one(AttemptStatus.ANSWERED, finish="stop"),
        one(AttemptStatus.STOPPED, truncated=[2]),
        one(AttemptStatus.ERROR),
    ]
    found = measured("truncation_rate", results)
    assert (found.value, found.n) == (pytest.approx(2 / 3), 3)
