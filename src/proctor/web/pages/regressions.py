"""What got worse: the newest runs against the baselines of their suites."""

from collections import Counter
from collections.abc import Sequence

from starlette.requests import Request

from proctor.core.names import candidate_label
from proctor.core.run import Run, RunStatus, sound_summary
from proctor.engine.compare.comparing import compare
from proctor.errors import ProctorError
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.api.response import ResponseModel
from proctor.web.store_pool import stamp, store_pool_of

MOST_LINES = 40
"""How many pairs of a suite and a candidate are looked at, the newest ones."""
MOST_COMPARED = 6
"""How many comparisons one request makes."""
MOST_CASES = 20_000
"""Up to how many cases a drop is tested here; the comparison page tests any number."""
MOST_RATES = 12
MOST_TRENDS = 15


class Dropped(ResponseModel):
    """A run whose rate is below that of its baseline."""

    run: str
    name: str
    suite: str
    candidate: str
    baseline: str
    baseline_name: str
    pinned: bool
    """Whether the baseline was pinned; else it is the candidate's previous complete run."""
    rate: float
    before: float
    verdict: str
    """`worse` if that is certain, `unclear` if it may be chance, `untested` otherwise."""
    link: str


class RatePoint(ResponseModel):
    """The rate of a run in the line of its suite."""

    run: str
    candidate: str
    started: float
    rate: float


def dropped(request: Request, store: Store, runs: Sequence[Run]) -> list[Dropped]:
    """Return the newest runs that are below their baselines, certain ones first."""
    pinned = {one.suite: one.run_id for one in store.baselines.all()}
    lines: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        if run.status is RunStatus.COMPLETE:
            lines.setdefault((run.suite, candidate_label(run.candidate)), []).append(run)
    drops: list[Dropped] = []
    for (suite, candidate), line in list(lines.items())[:MOST_LINES]:
        newest, *earlier = line
        before = store.runs.find(pinned[suite]) if suite in pinned else None
        is_pinned = before is not None
        if before is None and earlier:
            before = earlier[0]
        if before is None or before.id == newest.id:
            continue
        rates = _rate(store, newest), _rate(store, before)
        if rates[0] is None or rates[1] is None or rates[0] >= rates[1]:
            continue
        tested = sum(one.verdict != "untested" for one in drops) < MOST_COMPARED
        query = [("run", before.id), ("run", newest.id)]
        drops.append(
            Dropped(
                run=newest.id,
                name=newest.name,
                suite=suite,
                candidate=candidate,
                baseline=before.id,
                baseline_name=before.name,
                pinned=is_pinned,
                rate=rates[0],
                before=rates[1],
                verdict=_verdict(request, store, before, newest) if tested else "untested",
                link=addresses.with_query("/compare", query),
            )
        )
    order = ("worse", "untested", "unclear")
    return sorted(drops, key=lambda one: (order.index(one.verdict), one.rate - one.before))


def trends(store: Store, runs: Sequence[Run]) -> dict[str, list[RatePoint]]:
    """Return the rates of one candidate of each suite, by its name, the oldest first.

    A line through runs of several candidates would only show that they differ: it is the newest
    candidate that was run more than once, else the newest.
    """
    counts: dict[str, Counter[str]] = {}
    for run in runs:
        if run.status is RunStatus.COMPLETE:
            counts.setdefault(run.suite, Counter())[candidate_label(run.candidate)] += 1
    # A counter keeps the order in which it met its names, and runs come newest first.
    repeated = {
        suite: next((name for name, count in names.items() if count > 1), "")
        for suite, names in counts.items()
    }
    lines: dict[str, list[RatePoint]] = {}
    for run in runs:
        candidate = candidate_label(run.candidate)
        if run.suite in lines and lines[run.suite][0].candidate != candidate:
            continue
        if repeated.get(run.suite) not in (None, "", candidate):
            continue
        line = lines.get(run.suite)
        if (line is None and len(lines) >= MOST_TRENDS) or (line and len(line) >= MOST_RATES):
            continue
        rate = _rate(store, run)
        if rate is not None:
            point = RatePoint(
                run=run.id,
                candidate=candidate,
                started=run.started,
                rate=rate,
            )
            lines.setdefault(run.suite, []).append(point)
    return {suite: line[::-1] for suite, line in lines.items()}


def spark(points: Sequence[RatePoint], *, width: int = 100, height: int = 20) -> str:
    """Return the points of a small line of rates, from 0 at the foot to 1 at the top."""
    step = width / max(1, len(points) - 1)
    return " ".join(
        f"{place * step:.1f},{2 + (height - 4) * (1 - min(1.0, max(0.0, one.rate))):.1f}"
        for place, one in enumerate(points)
    )


def _rate(store: Store, run: Run) -> float | None:
    totals = (sound_summary(store.summaries.get(run.id)) or {}).get("totals", {})
    rate: float | None = totals.get("rate")
    return rate


def _verdict(request: Request, store: Store, before: Run, after: Run) -> str:
    """Say whether a drop is certain; ``untested`` where that would take long or cannot be said."""
    if max(store.results.last_position(run.id) for run in (before, after)) >= MOST_CASES:
        return "untested"

    def compute() -> str:
        try:
            (contrast,) = compare(store, [before.id, after.id]).contrasts
        except ProctorError:
            return "untested"
        return "worse" if contrast.verdict == "worse" else "unclear"

    key = stamp([before, after])
    if key is None:
        return compute()
    return store_pool_of(request).page_cache.of(("desk", key), compute)
