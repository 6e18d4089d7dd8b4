"""A small run, made by hand, that every report is tried on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.report import RunView
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import error_value, null_value, value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import (
    AttemptResult,
    CaseResult,
    Group,
    Measured,
    Run,
    RunStatus,
    Summary,
    Totals,
)
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec, Suite

MakeView = Callable[..., RunView]


def attempted(case: Case, index: int, found: Mapping[str, Score] | str | None) -> AttemptResult:
    """Make one attempt of its scores; none means no answer, a text an error."""
    if found is None:
        attempt = Attempt.of(case.id, None, index=index)
        return AttemptResult(attempt=attempt, scores={}, value=null_value(case))
    if isinstance(found, str):
        attempt = Attempt(case_id=case.id, index=index, status=AttemptStatus.ERROR, error=found)
        return AttemptResult(attempt=attempt, scores={}, value=error_value(case))
    attempt = replace(Attempt.of(case.id, "an answer", index=index), seconds=0.25)
    return AttemptResult(attempt=attempt, scores=found, value=value_of(case, found))


def case_result(
    case_id: str, kinds: Sequence[str], attempts: Sequence[Any], reduce: str = "avg", **fields: Any
) -> CaseResult:
    """Make one case with a criterion ``id=scorer`` of each kind."""
    criteria = []
    for kind in kinds:
        name, _, scorer = kind.partition("=")
        criteria.append(Criterion(id=name, scorer=Spec(name=scorer or name)))
    case = Case(id=case_id, messages=(), **{"criteria": tuple(criteria), **fields})
    done = tuple(attempted(case, index, found) for index, found in enumerate(attempts))
    folded = fold(parse_fold(reduce), [attempt.value for attempt in done])
    return CaseResult(case=case, attempts=done, folded=folded)


def keywords(got: float, *statuses: str) -> dict[str, Score]:
    """Make the scores of a keyword criterion."""
    rules = [{"keyword": "k", "status": s, "points": 1.0, "spans": []} for s in statuses]
    reason = f"{statuses.count('match')} of {len(statuses)} keywords"
    score = Score(points=got, out_of=2.0, reason=reason, detail={"rules": rules})
    return {"keywords": score}


def blanks(got: float, *lines: str) -> dict[str, Score]:
    """Make the scores of a blank filling criterion."""
    rows = [{"text": "x", "span": [0, 1], "target": "x", "line": line} for line in lines]
    return {"blank_filling": Score(points=got, out_of=2.0, detail={"blanks": rows})}


RESULTS = (
    case_result(
        "0-0-2",
        ["keywords"],
        [keywords(1.0, "match", "unmatch"), keywords(2.0, "match", "match")],
        tags={"lang": ("python",), "type": ("qa",)},
        source="cases/eval_0-0-2.yaml",
        max_points=2.0,
        min_points=0.0,
    ),
    case_result(
        "0-0-10",
        ["blank_filling=blanks"],
        [
            blanks(2.0, "matched: response string: x, ans: x", "matched: response string: y"),
            blanks(
                0.0, "unmatched: match rate too low - 0.5", "unmatched: match rate too low - 0.5"
            ),
        ],
        tags={"lang": ("sql", "web"), "type": ("qa",)},
        source="cases/eval_0-0-10.yaml",
    ),
    case_result(
        "0-0-3",
        ["similarity=rouge"],
        [None, None],
        tags={"lang": ("python",), "type": ("debug",)},
        source="cases/eval_0-0-3.yaml",
    ),
    case_result(
        "0-0-4",
        ["unit_test=unit_tests"],
        [{"unit_test": Score.failed("no sandbox", out_of=1.0)}] * 2,
        tags={"lang": ("go",), "type": ("debug",)},
        source="cases/eval_0-0-4.yaml",
    ),
    case_result(
        "0-0-5",
        ["keywords"],
        ["connection refused", "connection refused"],
        tags={"lang": ("go",), "type": ("debug",)},
        source="cases/eval_0-0-5.yaml",
    ),
)


def group(score: float, full: float, spread: float, cases: int) -> Group:
    """Make one row of a breakdown."""
    return Group(
        score=score, full=full, rate=score / full, spread=spread, interval=None, cases=cases
    )


SUMMARY = Summary(
    totals=Totals(
        score=1.25,
        full=3.0,
        rate=1.25 / 3,
        spread=0.0625,
        interval=(-0.125, 0.95),
        cases=3,
        attempts=10,
        unanswered=2,
        unscored=2,
        errors=2,
        cases_unscored=1,
        bounds=(0.3125, 0.5625),
    ),
    groups={
        "lang": {
            "sql": group(0.5, 1.0, 0.5, 1),
            "python": Group(
                score=0.75, full=2.0, rate=0.375, spread=0.125, interval=(0.25, 0.5), cases=2
            ),
            "web": group(0.5, 1.0, 0.5, 1),
        },
        "type": {"debug": group(0.0, 1.0, 0.0, 1), "qa": group(1.25, 2.0, 0.125, 2)},
        "metric": {
            "rouge": group(0.0, 1.0, 0.0, 1),
            "keywords": group(0.75, 1.0, 0.25, 1),
            "blanks": group(0.5, 1.0, 0.5, 1),
        },
    },
    measures={"accuracy": Measured(value=0.0, interval=(0.0, 0.5615), n=3)},
    usage={"calls": 4, "prompt_tokens": 900, "completion_tokens": 100, "cost": 0.5},
)

RUN = Run(
    id="r" * 32,
    name="first",
    suite="suite_x",
    suite_key="k",
    candidate=Spec(name="recorded", params={"path": "responses/gpt-4_0.2/"}),
    status=RunStatus.INCOMPLETE,
    signature="keywords:1|n:3",
)


@pytest.fixture
def make_view() -> MakeView:
    """Return a maker of views, in which anything may be replaced."""

    def make(results: Sequence[CaseResult] = RESULTS, **changes: Any) -> RunView:
        view = RunView(
            run=RUN,
            summary=SUMMARY,
            suite=Suite(name="suite_x", cases=()),
            results=lambda: iter(results),
        )
        return replace(view, **changes)

    return make


@pytest.fixture
def make_case() -> Callable[..., CaseResult]:
    """Return the maker of case results."""
    return case_result
