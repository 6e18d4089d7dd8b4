"""Agreement of panels over hand-made case results."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.case_value import value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult, Measured
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec
from proctor.registry import build

FOUR = [(1, 1, None, 1), (2, 2, 3, 2), (3, 3, 3, 3), (3, 3, 3, 3), (2, 2, 2, 2), (1, 2, 3, 4),
        (4, 4, 4, 4), (1, 1, 2, 1), (2, 2, 2, 2), (None, 5, 5, 5), (None, None, 1, 1),
        (None, 3, None, None)]  # fmt: skip


def result(number: int, *attempts: dict[str, Any]) -> CaseResult:
    """Make a case result; of each attempt, what the panel said by criterion."""
    names = sorted({name for said in attempts for name in said})
    criteria = tuple(Criterion(id=name, scorer=Spec(name="judged")) for name in names)
    case = Case(id=str(number), messages=(), criteria=criteria)
    done = []
    for index, said in enumerate(attempts):
        scores = {
            name: Score(points=0.0, out_of=1.0, detail=None if panel is None else {
                "panel": [{"points": points} for points in panel]})
            for name, panel in said.items()
        }  # fmt: skip
        attempt = Attempt.of(case.id, "x", index=index)
        done.append(AttemptResult(attempt=attempt, scores=scores, value=value_of(case, scores)))
    folded = fold(parse_fold("avg"), [attempt.value for attempt in done])
    return CaseResult(case=case, attempts=tuple(done), folded=folded)


def measured(params: dict[str, Any], results: list[CaseResult]) -> Measured:
    found: Measured = build("measure", Spec(name="agreement", params=params)).measure(results)
    return found


@pytest.mark.parametrize(
    ("params", "expected"),
    [({}, 0.743), ({"level": "ordinal"}, 0.815), ({"criterion": "c", "level": "interval"}, 0.849)],
)
def test_over_cases(params: dict[str, Any], expected: float) -> None:
    found = measured(params, [result(n, {"c": said}) for n, said in enumerate(FOUR)])
    assert found.value == pytest.approx(expected, abs=5e-4)
    assert found.n == 11
    assert found.interval is not None
    assert found.interval[0] < expected < found.interval[1]


def test_criteria_and_attempts() -> None:
    results = [
        result(1, {"a": (1, 1), "b": (0, 1)}, {"a": (0, 0), "b": (1, 0)}),
        result(2, {"a": (1, 1), "b": (0, 0)}),
        result(3, {"a": None}),
    ]
    assert measured({"criterion": "a"}, results).value == 1.0
    assert measured({"criterion": "b"}, results).value == pytest.approx(-0.25)
    assert measured({"criterion": "b"}, results).n == 2
    assert measured({}, results).value == pytest.approx(1 - 11 * 4 / 72)
    assert measured({"criterion": "none"}, results) == Measured(value=None, interval=None, n=0)


def test_cases_of_one_cluster_are_one_draw() -> None:
    def of(cluster: bool) -> Measured:
        results = [result(n, {"c": said}) for n, said in enumerate(FOUR * 3)]
        if cluster:
            results = [
                replace(one, case=replace(one.case, cluster=f"q{n % len(FOUR)}"))
                for n, one in enumerate(results)
            ]
        return measured({}, results)

    alone, clustered, once = (
        of(False),
        of(True),
        measured({}, [result(n, {"c": said}) for n, said in enumerate(FOUR)]),
    )
    assert clustered.value == pytest.approx(alone.value)
    assert clustered.n == alone.n == 33
    widths = [
        one.interval[1] - one.interval[0]
        for one in (alone, clustered, once)
        if one.interval is not None
    ]
    assert widths[0] < 0.8 * widths[1]
    assert widths[1] == pytest.approx(widths[2], rel=0.05)
