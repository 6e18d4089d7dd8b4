"""Suites, runs, cases and outputs as the objects that clients of Arthur Bench read."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.run import Run
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Json
from proctor.origins.arthur.described import Described, described
from proctor.origins.arthur.endpoint_models import (
    BenchBin,
    BenchCase,
    BenchCategory,
    BenchCategoryCount,
    BenchMethod,
    BenchOutput,
    BenchRun,
    BenchScore,
    BenchSuite,
    BenchSummary,
)
from proctor.origins.arthur.ids import case_uuid, run_uuid, suite_uuid
from proctor.origins.arthur.method_table import Category, category_of
from proctor.origins.arthur.paging import NumberedPages, RunSuite
from proctor.store.rows import LinkedCase
from proctor.store.store import Store

BINS = 20
FEW_VALUES = 50
"""With more different values than this, those of a run are not categories by their value."""


def suite_object(store: Store, suite: RunSuite) -> BenchSuite:
    """Describe a suite without its cases."""
    row = suite.row
    header = store.suites.header(row.key)
    return BenchSuite(
        id=str(suite_uuid(row.key, row.version)),
        name=row.name,
        scoring_method=BenchMethod(**described_suite(store, row.key).object()),
        last_run_time=moment(suite.last_run),
        description=header.description or None,
        created_at=moment(row.created),
        updated_at=moment(row.created),
    )


def described_suite(store: Store, key: str) -> Described:
    """Describe by what a suite is scored, which each of its cases says."""
    header = store.suites.header(key)
    first = next(iter(store.suites.iter_cases(key, limit=1)), None)
    return Described("", True, {}, ()) if first is None else described(first[2], header.compat)


def case_object(suite_key: str, case: Case) -> BenchCase:
    """Describe a case."""
    return BenchCase(
        id=str(case_uuid(suite_key, case.id)),
        input=case.prompt,
        reference_output=case.references[0] if case.references else None,
    )


def run_object(store: Store, run: Run) -> BenchRun:
    """Describe a run without its outputs."""
    params = run.candidate.params
    return BenchRun(
        id=str(run_uuid(run)),
        name=run.name,
        created_at=moment(run.started),
        updated_at=moment(run.started),
        avg_score=NumberedPages(store).average(run.id),
        model_version=_text(params.get("model_version")),
        prompt_template=_text(params.get("prompt_template")),
    )


def result_object(suite_key: str, linked: LinkedCase) -> BenchOutput:
    """Describe an output with its score."""
    case, (attempt, scores) = linked.case, linked.attempts[0]
    answered = attempt.status is AttemptStatus.ANSWERED
    points, category = scored(case, attempt, scores)
    result = None
    if points is not None or category is not None:
        result = BenchScore(
            score=points, category=None if category is None else _category_object(category)
        )
    return BenchOutput(
        **case_object(suite_key, case).to_json(),
        output=attempt.output if answered else None,
        score=points,
        score_result=result,
    )


def scored(
    case: Case, attempt: Attempt, scores: dict[str, Score]
) -> tuple[float | None, Category | None]:
    """Return the points of an attempt by the suite's method, and what they are called."""
    if attempt.status is not AttemptStatus.ANSWERED:
        return case.null_score, None
    if not case.criteria:
        return None, None
    name = case.criteria[0].id
    score = scores.get(name)
    is_scored = score is not None and score.status is ScoreStatus.SCORED
    return score.points if is_scored and score else None, category_of(name, score)


def summary_object(store: Store, run: Run, method: Described) -> BenchSummary:
    """Sum a run up: its average and how its scores are distributed."""
    categories = _categories(store, run, method) if method.categorical else []
    return BenchSummary(
        id=str(run_uuid(run)),
        name=run.name,
        avg_score=NumberedPages(store).average(run.id),
        histogram=[*categories] if method.categorical else [*_bins(store, run)],
    )


def moment(seconds: float | None) -> str | None:
    """Write a point in time."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def _bins(store: Store, run: Run) -> list[BenchBin]:
    """Count in equal parts from 0 to the highest score, or to 1 where that is more."""
    top = max(1.0, NumberedPages(store).highest_value(run.id) or 0.0)
    edges = [number * (top / BINS) for number in range(BINS)] + [top]
    return [
        BenchBin(count=count, low=low, high=high)
        for count, low, high in zip(
            NumberedPages(store).counts_between(run.id, edges), edges[:-1], edges[1:], strict=True
        )
    ]


def _categories(store: Store, run: Run, method: Described) -> list[BenchCategoryCount]:
    """Count each category that there may be; others after them."""
    counts = _counted(store, run, method)
    listed = {one.name: one for one in method.categories}
    listed |= {one.name: one for one in counts if one.name not in listed}
    by_name: Counter[str] = Counter()
    for one, count in counts.items():
        by_name[one.name] += count
    return [
        BenchCategoryCount(count=by_name[name], category=_category_object(one))
        for name, one in listed.items()
    ]


def _counted(store: Store, run: Run, method: Described) -> Counter[Category]:
    """Count categories: by value where the value decides, else by looking at every score."""
    counts: Counter[Category] = Counter()
    values = None if method.custom else NumberedPages(store).value_counts(run.id, FEW_VALUES)
    if values is None:
        for linked in store.attempts.iter_cases(run.id):
            _add(counts, linked, 1)
        return counts
    named = _named(store, run, [one.position for one in values])
    for one in values:
        if one.position in named:
            _add(counts, named[one.position], one.cases)
    return counts


def _named(store: Store, run: Run, positions: Sequence[int]) -> dict[int, LinkedCase]:
    return {linked.position: linked for linked in store.attempts.cases_at(run.id, positions)}


def _add(counts: Counter[Category], linked: LinkedCase, cases: int) -> None:
    attempt, scores = linked.attempts[0]
    category = scored(linked.case, attempt, scores)[1]
    if category is not None:
        counts[category] += cases


def _category_object(category: Category) -> BenchCategory:
    return BenchCategory(**category._asdict())


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
