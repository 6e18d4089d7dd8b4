"""Battles: the stored attempts of two runs or more compared by a judge, case by case."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import TypeGuard

from proctor.contracts.judge import Judge, Ruling
from proctor.contracts.model import Model, ModelChoice
from proctor.core.comparison import BattleOutcome, Comparison, Contender, Preference
from proctor.core.exchange import Sampling, Usage
from proctor.core.fingerprint import digest, plain
from proctor.core.names import candidate_label
from proctor.core.run import Run
from proctor.core.suite import VARIANT, Json
from proctor.engine.battle.entries import (
    BattleJob,
    Entries,
    chosen,
    compared_so_far,
    entries_of,
    jobs_of,
    paired,
    stored_warnings,
)
from proctor.engine.battle.prompt import Asking, BattleMarks
from proctor.engine.battle.tally import Grouping, faced, leaderboard, never_met, pair_of
from proctor.engine.models.call_scope import CallScope
from proctor.engine.models.network_guard import offline
from proctor.engine.models.roles import Models, judge_of
from proctor.engine.run.attempt_writer import BATCH
from proctor.engine.run.evaluate import RunProgress
from proctor.engine.run.settings import CallSettings, JudgeSettings, short_name
from proctor.engine.run.signature import refused_words
from proctor.errors import BudgetError, JudgeError, MissingResource, ModelError
from proctor.io import concurrency
from proctor.io.concurrency import batched
from proctor.judging.prompts import addressed_words
from proctor.store.store import Store
from proctor.version import __version__

KEPT_AT_ONCE = 50
"""How many comparisons go into one transaction; their calls are stored before."""
ORIGINAL = Sampling(temperature=0.2, max_tokens=2048)
"""Sampling settings of the original."""


async def battle(  # noqa: PLR0913 - what a person may choose
    store: Store,
    runs: Sequence[str],
    panel: JudgeSettings,
    *,
    calls: CallSettings | None = None,
    both_orders: bool = True,
    prompt: Mapping[str, Json] | None = None,
    variant: str = "",
    references: bool = False,
    attempts: int | None = None,
    progress: Callable[[RunProgress], None] = lambda _: None,
    notice: Callable[[str], None] = lambda _: None,
) -> BattleOutcome:
    """Compare runs with each other; stored comparisons are reused.

    A judge gives marks to both answers. By default each pair is shown in both orders, and a win
    counts only where both agree. ``prompt`` is a battle prompt file of ColossalAI's pipeline;
    ``variant="original"`` asks and reads as that pipeline did, in one order.
    """
    stored_runs = chosen(store, runs)
    settings = calls or CallSettings()
    both_orders = both_orders and variant != "original"
    entries, warnings = entries_of(store, stored_runs, attempts)
    models = Models(store, settings, notice)
    asking = Asking(
        file=prompt,
        variant=variant,
        references=references,
        language=store.suites.header(stored_runs[0].suite_key).language,
        marks=models.marks,
    )
    with offline(settings.offline):
        try:
            judges, judge = _judge(_settled(panel, variant), models)
            arena = _Arena(
                store=store,
                models=models,
                judges=judges,
                judge=judge,
                asking=asking,
                limit=settings.concurrency,
                label=_judge_label(panel),
                battle_key=digest("battle", judge.identity, asking.key, both_orders),
                one_order=not both_orders and variant != "original",
                progress=progress,
            )
            alternate = variant != "original"
            ids = [run.id for run in stored_runs]
            await arena.hold(list(jobs_of(entries, ids, both_orders, alternate=alternate)))
        finally:
            await models.close()
    return _outcome(stored_runs, entries, arena, 2 if both_orders else 1, warnings)


def battles_of(store: Store, runs: Sequence[str]) -> list[BattleOutcome]:
    """Return the stored battles among runs, one for each judge configuration."""
    stored_runs = [store.runs.get(reference) for reference in runs]
    groups: dict[str, list[Comparison]] = {}
    for comparison in store.comparisons.between([run.id for run in stored_runs]):
        groups.setdefault(comparison.asked, []).append(comparison)
    if not groups:
        return []
    ids = {comparison.case_id for group in groups.values() for comparison in group}
    tags: dict[str, Mapping[str, tuple[str, ...]]] = {}
    clusters: dict[str, str] = {}
    for run in stored_runs:
        unknown = ids - tags.keys()
        tags |= store.results.tags_of(run.id, unknown)
        clusters |= store.results.clusters_among(run.id, unknown)
    grouping = Grouping(tags=tags, clusters=clusters)
    warnings = tuple(stored_warnings(store, stored_runs))
    return [
        replace(
            _summed(stored_runs, group, grouping),
            warnings=(*warnings, *compared_so_far(store, stored_runs, group)),
        )
        for group in groups.values()
    ]


@dataclass
class _Arena:
    """Judging of comparisons, and their storage."""

    store: Store
    models: Models
    judges: Sequence[Model]
    judge: Judge
    asking: Asking
    limit: int
    label: str
    battle_key: str
    one_order: bool
    """Whether each two attempts are compared once, in whichever order."""
    progress: Callable[[RunProgress], None]
    total: int = 0
    compared: dict[str, Comparison] = field(default_factory=dict)
    """All comparisons by key, stored ones too."""
    failed: int = 0
    stopped: str = ""
    errors: dict[str, int] = field(default_factory=dict)
    _places: list[str] = field(default_factory=list)
    """The keys of all comparisons, in the order of the jobs."""
    _unkept: list[tuple[str, str, Comparison]] = field(default_factory=list)

    async def hold(self, jobs: Sequence[BattleJob]) -> None:
        """Make all comparisons that are not stored."""
        self.total = len(jobs)
        waiting = self._unknown(jobs)
        first = next(waiting, None)
        if first is None:
            self._report()
            return
        for judge in self.judges:
            await self.models.check(judge)
        try:
            judged_jobs = concurrency.map_unordered(
                chain([first], waiting), self._compare, limit=self.limit
            )
            async with aclosing(judged_jobs) as done:
                async for _ in done:
                    self._report()
        finally:
            self._keep(1)

    @property
    def comparisons(self) -> list[Comparison]:
        """Return all comparisons, in an order that does not depend on timing."""
        return [self.compared[key] for key in self._places if key in self.compared]

    def _unknown(self, jobs: Iterable[BattleJob]) -> Iterator[tuple[str, str, BattleJob]]:
        """Yield the comparisons to make, with key and content hash."""
        for chunk in batched(jobs, BATCH):
            keyed = [(self._place(job), self._content(job), job) for job in chunk]
            self._places += [key for key, _, _ in keyed]
            stored = self.store.comparisons.get_many(key for key, _, _ in keyed)
            turned = self._turned(keyed, stored)
            for key, content, job in keyed:
                stored_comparison = stored.get(key)
                if _decided(stored_comparison, content):
                    self._count(key, stored_comparison[1])
                elif key in turned:
                    self._count(key, turned[key])
                elif (plainly := self._plain(job)) is not None:
                    self._take(key, content, plainly)
                elif not self.stopped:
                    yield key, content, job
        self._keep(1)

    def _turned(
        self,
        keyed: Sequence[tuple[str, str, BattleJob]],
        stored: Mapping[str, tuple[str, Comparison]],
    ) -> dict[str, Comparison]:
        """Return what was compared in the other order, where one order is all that is wanted."""
        if not self.one_order:
            return {}
        others = {
            key: job.turned()
            for key, content, job in keyed
            if not _decided(stored.get(key), content)
        }
        places = {key: self._place(job) for key, job in others.items()}
        comparisons = self.store.comparisons.get_many(places.values())
        return {
            key: earlier[1]
            for key, place in places.items()
            if _decided(earlier := comparisons.get(place), self._content(others[key]))
        }

    def _place(self, job: BattleJob) -> str:
        first, second = job.attempts
        return digest(
            "comparison",
            self.battle_key,
            job.first,
            job.second,
            job.case.id,
            first.index,
            second.index,
        )

    def _content(self, job: BattleJob) -> str:
        words = [self.asking.question(job.case), *map(self.asking.answer, job.attempts)]
        shown = list(map(addressed_words, words))
        return digest(shown, list(job.case.references) if self.asking.references else [])

    def _plain(self, job: BattleJob) -> Comparison | None:
        """Decide without a judge: no answer loses to any answer, and equal answers tie."""
        if self.asking.original:
            return None
        words = map(self.asking.answer, job.attempts)
        first, second = (addressed_words(text).strip() for text in words)
        if first == second:
            return self._comparison(
                job, Preference.TIE, reason="equal answers" if first else "no answer"
            )
        if first and second:
            return None
        outcome = Preference.FIRST if first else Preference.SECOND
        return self._comparison(job, outcome, reason="the other gave no answer")

    async def _compare(self, work: tuple[str, str, BattleJob]) -> None:
        with CallScope.opened():
            await self._ask(*work)

    async def _ask(self, key: str, content: str, job: BattleJob) -> None:
        try:
            ruling = await self.judge.ask(
                self.asking.messages(job.case, *job.attempts),
                BattleMarks,
                tries=self.asking.tries,
                reader=self.asking.reader(job.case, *job.attempts),
            )
        except BudgetError as error:
            self.stopped = self.stopped or str(error)
        except ModelError as error:
            self.failed += 1
            self.errors[str(error)] = self.errors.get(str(error), 0) + 1
        except JudgeError as error:
            usage = error.usage if isinstance(error.usage, Usage) else Usage()
            comparison = self._comparison(job, Preference.INVALID, reason=str(error))
            self._take(
                key, content, replace(comparison, judge=self.label, raw=error.raw, usage=usage)
            )
        else:
            self._take(key, content, self._ruled(job, ruling))

    def _ruled(self, job: BattleJob, ruling: Ruling[BattleMarks]) -> Comparison:
        marks = ruling.verdict
        one, two = float(marks.score_1), float(marks.score_2)
        outcome = Preference.TIE
        if one > two:
            outcome = Preference.FIRST
        elif two > one:
            outcome = Preference.SECOND
        return replace(
            self._comparison(job, outcome, reason=marks.reason),
            judge=self.label,
            scores=(one, two),
            raw=ruling.raw,
            usage=ruling.usage,
        )

    def _comparison(self, job: BattleJob, outcome: Preference, *, reason: str) -> Comparison:
        return Comparison(
            case_id=job.case.id,
            first=job.first,
            second=job.second,
            first_index=job.attempts[0].index,
            second_index=job.attempts[1].index,
            asked=self.battle_key,
            compat=self.asking.variant,
            outcome=outcome,
            reason=reason,
        )

    def _take(self, key: str, content: str, comparison: Comparison) -> None:
        self._count(key, comparison)
        self._unkept.append((key, content, comparison))
        self._keep(KEPT_AT_ONCE)

    def _count(self, key: str, comparison: Comparison) -> None:
        self.compared[key] = comparison
        self.failed += comparison.outcome is Preference.INVALID

    def _keep(self, at_least: int) -> None:
        if len(self._unkept) >= at_least:
            waiting, self._unkept = self._unkept, []
            self.store.comparisons.put(waiting)

    def _report(self) -> None:
        done = len(self.compared)
        self.progress(RunProgress(phase="battle", done=done, total=self.total, failed=self.failed))


def _decided(
    stored_comparison: tuple[str, Comparison] | None, content: str
) -> TypeGuard[tuple[str, Comparison]]:
    """Tell whether a stored comparison is valid: same answers, and a readable verdict."""
    return (
        stored_comparison is not None
        and stored_comparison[0] == content
        and stored_comparison[1].outcome is not Preference.INVALID
    )


def _settled(panel: JudgeSettings, variant: str) -> JudgeSettings:
    """Set the judges' default sampling: temperature 0, or the original's."""
    usual = ORIGINAL if variant == "original" else Sampling(temperature=0.0)

    def settled(choice: ModelChoice) -> ModelChoice:
        names = ("temperature", "max_tokens")
        unsaid = {name for name in names if getattr(choice.sampling, name) is None}
        sampling = replace(choice.sampling, **{name: getattr(usual, name) for name in unsaid})
        return replace(choice, sampling=sampling, defaults=choice.defaults | unsaid)

    return replace(panel, judges=tuple(map(settled, panel.judges)))


def _judge(panel: JudgeSettings, models: Models) -> tuple[list[Model], Judge]:
    opened: list[Model] = [models.open(choice, "judge") for choice in panel.judges]
    judge = judge_of(panel, opened)
    if judge is None:
        raise MissingResource(
            "a battle needs a judge (fix: add --judge openai:NAME, or --judge local:smollm2 to try"
            " it out)"
        )
    return opened, judge


def _judge_label(panel: JudgeSettings) -> str:
    names = [short_name(choice.spec) for choice in panel.judges]
    return ",".join(names) + (f",x{panel.repeats}" if panel.repeats > 1 else "")


def _contenders(runs: Sequence[Run]) -> tuple[Contender, ...]:
    names = [run.name for run in runs]
    return tuple(
        Contender(
            run=run.id,
            name=run.name if names.count(run.name) == 1 else f"{run.name} ({run.id[:6]})",
            candidate=candidate_label(run.candidate),
        )
        for run in runs
    )


def _outcome(
    runs: Sequence[Run], entries: Entries, arena: _Arena, orders: int, warnings: Sequence[str]
) -> BattleOutcome:
    expected = {
        (one, two): sum(1 for _ in paired(entries, one, two))
        for one, two in combinations(entries, 2)
    }
    # Of runs whose cases differ in tags or clusters, the first decides.
    cases = [entry.case for run in reversed(runs) for entry in entries[run.id].values()]
    grouping = Grouping(
        tags={case.id: case.tags for case in cases},
        clusters={case.id: case.cluster for case in cases},
    )
    failed = [
        f"{times} comparisons could not be made: {words}" for words, times in arena.errors.items()
    ]
    summed = _summed(runs, arena.comparisons, grouping, orders=orders, expected=expected)
    usage = sum((one.usage for one in summed.comparisons), Usage())
    return replace(
        summed,
        judge=arena.label,
        compat=arena.asking.variant,
        signature=_signature(summed, arena),
        usage=plain(usage),
        bought=arena.models.bought,
        stopped=arena.stopped,
        warnings=(*warnings, *failed[:3]),
    )


def _summed(
    runs: Sequence[Run],
    comparisons: Sequence[Comparison],
    grouping: Grouping,
    *,
    orders: int | None = None,
    expected: Mapping[tuple[str, str], int] | None = None,
) -> BattleOutcome:
    contenders = _contenders(runs)
    orders = orders or _orders_of(comparisons)
    facings = faced(comparisons, [run.id for run in runs], orders)
    pairs = tuple(
        pair_of(
            facing,
            expected=(expected or {}).get((facing.first, facing.second), 0),
            grouping=grouping,
        )
        for facing in facings
    )
    if expected is None:
        pairs = tuple(pair for pair in pairs if pair.valid or pair.invalid)
    several = len(runs) > 2
    return BattleOutcome(
        contenders=contenders,
        pairs=pairs,
        leaderboard=leaderboard(facings, pairs, contenders, grouping) if several else (),
        comparisons=tuple(comparisons),
        judge=next((one.judge for one in comparisons if one.judge), ""),
        orders=orders,
        compat=comparisons[0].variant if comparisons else "",
        imported=any(one.imported for one in comparisons),
        apart=tuple(map(tuple, never_met(pairs, [run.id for run in runs]))),
    )


def _orders_of(comparisons: Sequence[Comparison]) -> int:
    """Return whether the same two attempts were shown in one order or in both."""
    shown = Counter(
        (
            one.case_id,
            frozenset([(one.first, one.first_index), (one.second, one.second_index)]),
        )
        for one in comparisons
    )
    return 2 if any(count > 1 for count in shown.values()) else 1


def _signature(outcome: BattleOutcome, arena: _Arena) -> str:
    """Record every choice that could change the numbers."""
    parts = {
        "battle": len(outcome.contenders),
        "judge": arena.label,
        "prompt": arena.asking.key[:8],
        "orders": outcome.orders,
        VARIANT: arena.asking.variant,
        "references": "shown" if arena.asking.references else "",
        "n": sum(pair.valid for pair in outcome.pairs),
        "invalid": sum(pair.invalid for pair in outcome.pairs) or "",
        "missing": sum(pair.missing for pair in outcome.pairs) or "",
        "strength": "bradley-terry,ties half" if outcome.leaderboard else "",
        "refused": refused_words(arena.models.refused),
        "version": __version__,
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items() if value != "")
