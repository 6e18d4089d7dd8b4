"""Stopping when it is sure: cases in random order, and the evidence after each of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from proctor.core.case_value import ValueStatus, least_value, only_shown
from proctor.core.fingerprint import case_key
from proctor.core.random_order import ORDER_SEED, order_key
from proctor.core.run import CaseResult, Run, Summary
from proctor.core.suite import Case, Json, Suite
from proctor.engine.compare.obstacles import unlike_judges, unlike_simulators
from proctor.engine.compare.results import share
from proctor.engine.compare.sequential import (
    PairedEnds,
    draw_name,
    merged_ends,
    order_seed,
    paired_ends,
)
from proctor.engine.compare.wording import odds_text
from proctor.engine.run.aggregate import case_result, fold_of
from proctor.engine.run.attempt_writer import RunRows
from proctor.engine.run.prepare import PreparedRun
from proctor.engine.run.score import RunScoring
from proctor.engine.run.score_dispatch import Tools
from proctor.engine.run.settings import RunSettings, StopSettings
from proctor.engine.run.totals import UsageSums
from proctor.errors import UsageError
from proctor.io.concurrency import batched
from proctor.stats.intervals import Interval
from proctor.stats.sequential import (
    SequentialComparison,
    SequentialRate,
    ValueRange,
    confidence_sequence,
)
from proctor.store.rows import PairedRow, ResultRow
from proctor.store.store import Store

AT_ONCE = 10
"""How many cases at most are asked before the evidence is looked at again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """The run that a new one is compared with."""

    id: str
    name: str
    rows: Mapping[str, ResultRow]
    """What its cases came to, by their ids."""


@dataclass(kw_only=True)
class StopRule:
    """The question that a run is to answer, and the evidence on it so far."""

    settings: StopSettings
    name: str
    """What the run is called."""
    cases: Sequence[Case]
    seed: int
    baseline: EarlierRun | None = None
    _difference: SequentialComparison | None = None
    _rate: SequentialRate | None = None
    _seen: list[tuple[float, float, float]] = field(default_factory=list)
    _asked_cases: int = 0
    _open: dict[str, int] = field(default_factory=dict)
    """How many cases of each draw are still to come."""
    _parts: dict[str, tuple[list[PairedEnds], list[PairedEnds]]] = field(default_factory=dict)
    _usage: UsageSums = field(default_factory=UsageSums)
    _heaviest: float = 1.0
    _range: ValueRange = field(default_factory=lambda: ValueRange(0.0, 1.0))

    def __post_init__(self) -> None:
        weights: dict[str, float] = {}
        for case in self.cases:
            draw = draw_name(case.id, case.cluster)
            weights[draw] = weights.get(draw, 0.0) + max(0.0, case.weight * case.full_score)
            self._open[draw] = self._open.get(draw, 0) + 1
        self._heaviest = max([*weights.values()], default=0.0) or 1.0
        least = min([0.0, *(share(least_value(case), case.full_score) for case in self.cases)])
        self._range = ValueRange(least, 1.0)
        if self.baseline is None:
            self._rate = SequentialRate(self.settings.claim, self._range)
        else:
            lower = min([least, *(_least_share(row) for row in self.baseline.rows.values())])
            bounds = ValueRange(lower - 1.0, 1.0 - lower)
            self._difference = SequentialComparison(margin=self.settings.margin, bounds=bounds)

    def batches(self, concurrency: int) -> Iterator[tuple[int, ...]]:
        """Yield the places of the cases in their random order, some at a time."""

        def order(place: int) -> tuple[bool, bytes]:
            case = self.cases[place]
            # Cases that the other run lacks say nothing on the question: they come last.
            absent = self.baseline is not None and not case.cluster
            absent = absent and case.id not in (self.baseline.rows if self.baseline else ())
            return absent, order_key(draw_name(case.id, case.cluster), self.seed)

        places = sorted(range(len(self.cases)), key=order)
        for batch in batched(places, max(1, min(AT_ONCE, 2 * concurrency))):
            yield tuple(batch)

    def take(self, batch: Sequence[int], results: Mapping[int, CaseResult]) -> None:
        """Take in the results of a batch, in the order of its cases."""
        for place in batch:
            if (result := results.get(place)) is None:
                continue
            self._asked_cases += 1
            self._usage.add(result.attempts)
            self._take_one(result)

    @property
    def answered(self) -> bool:
        """Tell whether the question is answered."""
        if self._rate is not None:
            return self._rate.decided is not None
        return self._difference is not None and self._difference.decided is not None

    @property
    def answer(self) -> str:
        """Return the answer: a verdict, ``yes`` or ``no``; nothing while it is open."""
        if self._rate is not None and self._rate.decided is not None:
            return "yes" if self._rate.decided == self.settings.wants_more else "no"
        if self._difference is not None and self._difference.decided is not None:
            return str(self._difference.decided.decision)
        return ""

    def rate_interval(self) -> Interval | None:
        """Return the interval of the rate that holds wherever the run stopped."""
        return confidence_sequence(self._seen, self._range)

    def stopped(self, present: int) -> dict[str, Json] | None:
        """Return what is kept of an early end; none where all cases are there after all."""
        left = len(self.cases) - present
        if not self.answered or left <= 0:
            return None
        odds, after = self._decided_at()
        baseline = self.baseline
        return {
            "question": self.settings.when,
            "against": baseline.id if baseline else None,
            "against_name": baseline.name if baseline else None,
            "margin": self.settings.margin,
            "answer": self.answer,
            "odds": odds,
            "decided_after": after,
            "cases": present,
            "of": len(self.cases),
            "seed": self.seed,
            "interval": self._interval(),
            "rate_interval": self.rate_interval(),
            "saved": self._saved(left),
        }

    def words(self, present: int) -> str:
        """Say what the question came to, and what was saved."""
        odds, after = self._decided_at()
        if not self.answered:
            return (
                f"not sure after {after} cases: the evidence is {odds_text(odds)}:1, and 20:1 would"
                " be enough"
            )
        evidence = f"evidence {odds_text(odds)}:1 after {after} of {len(self.cases)} cases"
        decision_text = f"{self._decision_words()} ({evidence})"
        left = len(self.cases) - present
        if left <= 0:
            return decision_text
        saved = self._saved(left)
        parts = [f"{left:,} case{'' if left == 1 else 's'}"]
        if saved["calls"]:
            parts.append(f"about {saved['calls']:,} calls")
        if saved["cost"] is not None:
            parts.append(f"about ${saved['cost']:,.4g}")
        return f"stopped early: {decision_text}; that saved {' and '.join(parts)}"

    def _take_one(self, result: CaseResult) -> None:
        """Take in a case; a cluster counts when its last case is there."""
        draw = draw_name(result.case.id, result.case.cluster)
        rates, differences = self._parts.setdefault(draw, ([], []))
        case, folded = result.case, result.folded
        weight = case.weight * case.full_score
        if not (folded.status is ValueStatus.ERROR or only_shown(case) or weight <= 0):
            low, high = share(folded.low, case.full_score), share(folded.high, case.full_score)
            rates.append(PairedEnds(low, high, weight))
            row = None if self.baseline is None else self.baseline.rows.get(case.id)
            ends = None if row is None else paired_ends(_paired(row, result))
            if ends is not None:
                differences.append(ends)
        self._open[draw] -= 1
        if self._open[draw] == 0:
            self._add(rates, differences)
            del self._parts[draw]

    def _add(self, rates: list[PairedEnds], differences: list[PairedEnds]) -> None:
        """Take in a draw: what its cases came to, and how they differ from the other run's."""
        if rates:
            ends = merged_ends(rates)
            part = ends.weight / self._heaviest
            self._seen.append((ends.low, ends.high, part))
            if self._rate is not None:
                self._rate.add(ends.low, ends.high, part)
        if differences and self._difference is not None:
            ends = merged_ends(differences)
            part = min(1.0, ends.weight / self._heaviest)
            self._difference.add(ends.low, ends.high, part)

    def _decided_at(self) -> tuple[float, int]:
        if self._rate is not None:
            after = self._rate.decided_after
            return self._rate.odds, self._rate.cases if after is None else after
        assert self._difference is not None
        look = self._difference.look()
        return look.odds, look.cases

    def _interval(self) -> Interval | None:
        tested = self._rate or self._difference
        return None if tested is None else tested.interval()

    def _decision_words(self) -> str:
        if self.baseline is None:
            return f"{self.settings.when} is {'true' if self.answer == 'yes' else 'not true'}"
        points = f" by {(self.settings.margin or 0) * 100:g} points"
        words = {
            "better": "better than {}",
            "worse": "worse than {}",
            "no_worse": f"no worse than {{}}{points}",
            "equal": f"equal to {{}} within {points[4:]}",
        }
        return f"{self.name} is {words[self.answer].format(self.baseline.name)}"

    def _saved(self, left: int) -> dict[str, Json]:
        """Estimate what the cases that are left would have taken, by those that were asked."""
        used = self._usage.total()
        calls, cost = used.get("calls") or 0, used.get("cost")
        each = left / max(1, self._asked_cases)
        return {
            "cases": left,
            "calls": round(calls * each),
            "cost": None if cost is None else cost * each,
        }


def stop_rule(
    settings: RunSettings, suite: Suite, store: Store, run: Run | None = None
) -> StopRule:
    """Return the rule of a run, after making sure that its question can be answered."""
    assert settings.stop is not None
    return StopRule(
        settings=settings.stop,
        name="" if run is None else run.name,
        cases=suite.cases,
        seed=ORDER_SEED if run is None else order_seed(run),
        baseline=_baseline(settings, suite, store) if settings.stop.against else None,
    )


async def scored_results(ready: PreparedRun, rows: RunRows, tools: Tools) -> dict[int, CaseResult]:
    """Score some cases of a run, and return what each came to by its place."""
    how, results = fold_of(ready.suite), {}
    scoring = RunScoring(
        store=rows.store,
        rows=rows,
        dispatcher=ready.dispatcher(rows.store, tools, look_first=True),
        progress=lambda _: None,
        notice=ready.models.notice,
    )
    ready.models.budget.before_all(scoring.used())
    async with aclosing(scoring.blocks()) as blocks:
        async for block in blocks:
            for linked in block:
                results[linked.position] = case_result(how, linked.case, linked.attempts)
    return results


def at_any_time(run: Run, summary: Summary) -> Summary:
    """Give the rate of a run that was stopped early the interval that holds at any time."""
    early = run.stopped_early
    if early is None:
        return summary
    ends = early.get("rate_interval")
    interval = None if ends is None else (float(ends[0]), float(ends[1]))
    return replace(summary, totals=replace(summary.totals, interval=interval))


def _baseline(settings: RunSettings, suite: Suite, store: Store) -> EarlierRun:
    assert settings.stop is not None
    from proctor.engine.compare.baselines import earlier_run

    run = earlier_run(store, settings.stop.against, suite.name)
    if run is None:
        raise UsageError(
            f"the suite {suite.name!r} has no baseline yet (fix: `proctor baseline RUN`)"
        )
    header = store.suites.header(run.suite_key)
    why = []
    if run.stopped_early is not None:
        why.append("it was itself stopped early (fix: run it to its end, without --stop-when)")
    for words, mine, other in (
        ("the way to fold attempts", suite.reduce, header.reduce),
        ("the variant of the format", suite.variant, header.variant),
    ):
        if mine != other:
            why.append(f"{words} differs: {mine or 'none'} and {other or 'none'}")
    stored_settings = settings.stored()
    if run.signed.parts.get("prompts"):
        why += filter(None, [unlike_judges(stored_settings, run.settings)])
    why += filter(None, [unlike_simulators(stored_settings, run.settings)])
    rows = {row.case_id: row for row in store.results.iter_rows(run.id)}
    met = [case for case in suite.cases if case.id in rows]
    if not met:
        why.append("no case in common")
    if changed := _changed(met, store, run.suite_key):
        many = "1 case" if changed == 1 else f"{changed:,} cases"
        why.append(f"other question, criteria or weight under the same id in {many}")
    if why:
        raise UsageError(f"the run {run.name!r} cannot be compared with: {'; '.join(why)}")
    return EarlierRun(id=run.id, name=run.name, rows=rows)


def _changed(cases: Sequence[Case], store: Store, suite_key: str) -> int:
    """Count the cases whose content is another in the suite of the other run."""
    mine = {case.id: _content(case) for case in cases}
    theirs = ((case.id, _content(case)) for _, _, case in store.suites.iter_cases(suite_key))
    return sum(name in mine and mine[name] != content for name, content in theirs)


def _content(case: Case) -> str:
    return case_key(replace(case, tags={}, cluster="", source=""))


def _paired(row: ResultRow, result: CaseResult) -> PairedRow:
    case, folded = result.case, result.folded
    return PairedRow(
        full=row.full,
        weight=row.weight,
        status=row.status,
        value=row.value,
        low=row.low,
        high=row.high,
        full_2=case.full_score,
        status_2=folded.status,
        value_2=folded.value,
        low_2=folded.low,
        high_2=folded.high,
    )


def _least_share(row: ResultRow) -> float:
    return share(row.low, row.full)
