"""Audit of a judge on a run's answers: repeated rulings, and rulings on altered answers."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any

from proctor.contracts.judge import Judge, Ruling
from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer_async
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.audit import Estimated, JudgeAudit
from proctor.core.exchange import Sampling, Usage
from proctor.core.fingerprint import plain
from proctor.core.rounds import scored_part
from proctor.core.run import Run
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Json, Message
from proctor.engine.audit.probes import (
    BATTLE_SELF,
    NAMES,
    OTHER_NAME,
    POSITION,
    PROBES,
    by,
    changed,
    with_reply,
)
from proctor.engine.battle.prompt import Asking, BattleMarks
from proctor.engine.labels.agreement import agreement, latest
from proctor.engine.labels.criterion_scale import CriterionScale, scale_of
from proctor.engine.labels.labelling_order import RandomCases
from proctor.engine.models.ask_judges import JudgeQuestions
from proctor.engine.models.call_scope import CallScope, scored_on_replies
from proctor.engine.models.roles import Models
from proctor.engine.plan.estimate import Estimate, mean_price
from proctor.engine.run.evaluate import RunProgress
from proctor.engine.run.scorer_pool import Scorers
from proctor.engine.run.settings import CallSettings, JudgeSettings, short_name
from proctor.engine.run.totals import usage_from
from proctor.errors import JudgeError, ModelError, PluginError, UsageError
from proctor.stats import judge_audit as statistics
from proctor.store.rows import LinkedCase
from proctor.store.store import Store
from proctor.suggestions import suggest

SAMPLE = 100
REPEATS = 2
AS_IS = ""
"""The name of the answer as it is."""


@dataclass(frozen=True, kw_only=True)
class AuditSettings:
    """Settings of an audit: which answers, and which probes."""

    sample: int = SAMPLE
    seed: str = ""
    repeats: int = REPEATS
    probes: tuple[str, ...] = NAMES
    criterion: str = ""

    def __post_init__(self) -> None:
        for name in self.probes:
            if name not in NAMES:
                raise UsageError(f"there is no probe {name!r} (there are: {', '.join(NAMES)})")
        if self.sample < 1 or self.repeats < 1:
            raise UsageError("an audit asks about at least one case, at least once again")

    @property
    def texts(self) -> list[str]:
        """Return the probes of single answers, with those that others are compared to."""
        names = set(self.probes)
        if "self" in names:
            names.add("other")
        return [name for name in PROBES if name in names]


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """Calls and cost of an audit."""

    cases: int
    answers: int
    pairs: int
    calls: int
    cost: float | None
    """In dollars, as far as prices are known."""


@dataclass(frozen=True)
class _Judged:
    """One judged score of a sampled case."""

    case: Case
    criterion: Criterion
    part: Attempt
    """The part of the attempt that the criterion applies to."""
    score: Score
    scale: CriterionScale
    weight: float
    """Its share of the case's value."""
    metric_weight: float
    """Its share of what the case is worth in the row of its metric."""


@dataclass(frozen=True)
class _Pair:
    """Two answers to one question."""

    case: Case
    first: Attempt
    second: Attempt


@dataclass(frozen=True)
class _Task:
    """One question to a judge."""

    place: int
    """The index of the judged score, or of the pair."""
    name: str
    number: int = 0
    pair: bool = False


@dataclass
class SaltedJudge(Judge):
    """A judge with its own call keys, so that stored calls are not reused."""

    inner: Judge
    label: str

    def __post_init__(self) -> None:
        self.identity, self.tie = self.inner.identity, self.inner.tie

    async def ask(
        self,
        messages: Sequence[Message],
        verdict: type[Any],
        *,
        tries: int = 3,
        salt: str = "",
        sampling: Sampling | None = None,
        reader: Any = None,
    ) -> Ruling[Any]:
        return await self.inner.ask(
            messages,
            verdict,
            tries=tries,
            salt=f"{salt}{self.label}",
            sampling=sampling,
            reader=reader,
        )


@dataclass
class Audit:
    """Audit of one judge on the answers of one run, to plan or to carry out."""

    store: Store
    run: Run
    panel: JudgeSettings
    settings: AuditSettings = field(default_factory=AuditSettings)
    calls: CallSettings = field(default_factory=CallSettings)
    notice: Callable[[str], None] = lambda _: None
    progress: Callable[[RunProgress], None] = lambda _: None
    stopped: str = ""
    """Why it stopped before its end, if it did."""
    _judged: list[_Judged] = field(default_factory=list)
    _pairs: list[_Pair] = field(default_factory=list)
    _cases: int = 0
    _criteria: set[str] = field(default_factory=set)
    """The ids of the criteria of the sample."""
    _shares: dict[tuple[str, int, int], float] = field(default_factory=dict)
    """The share of points of each task, by name, place and number."""
    _preferred: dict[tuple[str, int], float] = field(default_factory=dict)
    _usage: Usage = field(default_factory=Usage)
    _unread: int = 0
    _notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._questions = JudgeQuestions(
            self.store, self.panel, self.calls, self.notice, "an audit"
        )
        self.panel = self._questions.panel
        self.header = self.store.suites.header(self.run.suite_key)
        self.scorers = Scorers(language=self.header.language)
        self._pick()

    @property
    def own_name(self) -> str:
        """Return the name that answers are attributed to: the first judge's, without provider."""
        return short_name(self.panel.judges[0].spec).partition(":")[2]

    def plan(self) -> AuditPlan:
        """Return what would be asked, without asking."""
        models = Models(None, replace(self.calls, record=None, max_cost=None))
        estimate = Estimate()
        tasks = list(self._tasks())
        verdicts = 0
        for task in tasks:
            case = self._pairs[task.place].case if task.pair else self._judged[task.place].case
            for _ in range(self._verdicts(task)):
                verdicts += 1
                estimate.verdict(case, 1, None)
        opened = [models.open(choice, "judge") for choice in self.panel.judges]
        times = len(opened) * self.panel.repeats
        price = mean_price([model.price for model in opened])
        cost = estimate.cost({"judge": price}) if tasks else [0.0] * 3
        return AuditPlan(
            cases=self._cases,
            answers=len(self._judged),
            pairs=len(self._pairs),
            calls=verdicts * times,
            cost=None if cost is None else cost[1] * times,
        )

    def _verdicts(self, task: _Task) -> int:
        """Return how many verdicts a task takes of each judge."""
        return 1 if task.pair else self.scorers.of(self._judged[task.place].criterion).verdicts

    async def carry_out(self) -> JudgeAudit:
        """Carry out the audit, store its result, and return it.

        Stored rulings of this audit, also of an interrupted one, are reused.
        """
        if not self._judged and not self._pairs:
            raise UsageError(
                f"no score of the run {self.run.name!r} was given by a judge that can be asked"
                " again, and there are no two answers to compare"
            )
        tasks = list(self._tasks())

        def tell(number: int) -> None:
            failed, total = self._unread, len(tasks)
            self.progress(RunProgress(phase="audit", done=number, total=total, failed=failed))

        self.stopped = await self._questions.ask_all(tasks, self._ask, tell)
        audit = self._summed()
        document = plain(audit)
        self.store.audits.save(self.run.id, audit.judge, audit.created, document)
        return audit

    # Who is asked about.

    def _pick(self) -> None:
        """Sample cases at random."""
        other = self._other_run()
        for _, case_id in RandomCases(self.store, self.run, f"audit {self.settings.seed}").after():
            if self._cases >= self.settings.sample:
                break
            linked = self.store.attempts.case(self.run.id, case_id)
            self._criteria.update(criterion.id for criterion in linked.case.criteria)
            scores = list(self._scores(linked))
            pair = self._pair(linked, other)
            self._cases += 1
            self._judged += scores
            self._pairs += [pair] if pair is not None else []
        if self.settings.criterion and not self._judged:
            raise UsageError(
                f"no score of the criterion {self.settings.criterion!r} was given by a judge in the"
                f" {self._cases} cases of the sample"
                f" ({suggest(self.settings.criterion, sorted(self._criteria))})"
            )
        pair_probes = {POSITION, BATTLE_SELF} & set(self.settings.probes)
        if pair_probes and not self._pairs:
            self._notes.append(
                "position was not probed: the run has neither a second attempt nor a second run of"
                " its suite to compare answers with"
            )

    def _scores(self, linked: LinkedCase) -> Iterator[_Judged]:
        """Yield the judged scores of a case's first attempt."""
        if not linked.attempts:
            return
        attempt, scores = linked.attempts[0]
        fulls: dict[str, float] = {}
        for criterion in linked.case.criteria:
            score = scores.get(criterion.id)
            if score is not None and criterion.weight > 0:
                worth = criterion.weight * (score.out_of or 0.0)
                fulls[criterion.label] = fulls.get(criterion.label, 0.0) + worth
        full = sum(fulls.values())
        for criterion in linked.case.criteria:
            score = scores.get(criterion.id)
            if self.settings.criterion not in ("", criterion.id) or score is None:
                continue
            if score.status is not ScoreStatus.SCORED or not self._asks(criterion):
                continue
            part = scored_part(criterion, attempt)
            if part.status is AttemptStatus.ANSWERED and part.output.strip():
                worth = abs(criterion.weight * (score.out_of or 0.0))
                of_metric = fulls.get(criterion.label, 0.0)
                yield _Judged(
                    case=linked.case,
                    criterion=criterion,
                    part=part,
                    score=score,
                    scale=scale_of(criterion, score),
                    weight=worth / full if full > 0 else 0.0,
                    metric_weight=worth / of_metric if of_metric > 0 else 0.0,
                )

    def _asks(self, criterion: Criterion) -> bool:
        try:
            scorer = self.scorers.of(criterion)
        except PluginError:
            return False
        return scorer.needs_judge and scorer.is_async and not scorer.reads_notes

    def _other_run(self) -> Run | None:
        runs = self.store.runs.newest(suite_key=self.run.suite_key, limit=20)
        return next((run for run in runs if run.id != self.run.id), None)

    def _pair(self, linked: LinkedCase, other: Run | None) -> _Pair | None:
        """Return two answers to a question that differ: of two attempts, else of two runs."""
        attempts = [attempt for attempt, _ in linked.attempts]
        if other is not None and len(attempts) < 2:
            places = self.store.criterion_points.places(other.id, [linked.case.id])
            rows = self.store.attempts.cases_at(other.id, sorted(places.values()))
            attempts += [attempt for row in rows for attempt, _ in row.attempts[:1]]
        spoken = [one for one in attempts if one.output.strip()]
        if len(spoken) < 2 or spoken[0].output.strip() == spoken[1].output.strip():
            return None
        return _Pair(linked.case, spoken[0], spoken[1])

    # What is asked.

    def _tasks(self) -> Iterator[_Task]:
        for place, judged in enumerate(self._judged):
            for number in range(self.settings.repeats):
                yield _Task(place, AS_IS, number)
            for name in self.settings.texts:
                if changed(judged.part, PROBES[name], self.own_name) is not None:
                    yield _Task(place, name)
        for place in range(len(self._pairs)):
            if POSITION in self.settings.probes:
                yield _Task(place, "first", pair=True)
                yield _Task(place, "second", pair=True)
            if BATTLE_SELF in self.settings.probes:
                yield _Task(place, "own first", pair=True)
                yield _Task(place, "own second", pair=True)

    async def _ask(self, task: _Task, judge: Judge, models: Models) -> None:
        if task.pair:
            asking = Asking(language=self.header.language, marks=models.marks)
            await self._compare(task, judge, asking)
        else:
            await self._rule(task, judge, models)

    async def _rule(self, task: _Task, judge: Judge, models: Models) -> None:
        judged = self._judged[task.place]
        part: Attempt | None = judged.part
        if task.name != AS_IS:
            part = changed(judged.part, PROBES[task.name], self.own_name)
        assert part is not None
        label = f"audit {task.number}" if task.name == AS_IS else ""
        ctx = ScoreContext(
            case=judged.case,
            attempt=part,
            judge=SaltedJudge(judge, label),
            language=self.header.language,
            read_file=self.store.files.get,
            marks=models.marks,
        )
        scorer = self.scorers.of(judged.criterion)
        score = await scored_on_replies(lambda: run_scorer_async(scorer, ctx))
        self._count(score.detail)
        if score.status is ScoreStatus.SCORED and score.points is not None:
            self._shares[task.name, task.place, task.number] = judged.scale.share(score.points)
        else:
            self._unread += 1

    async def _compare(self, task: _Task, judge: Judge, asking: Asking) -> None:
        pair = self._pairs[task.place]
        one, two = pair.first, pair.second
        if task.name == "second":
            one, two = two, one
        elif task.name.startswith("own"):
            names = [self.own_name, OTHER_NAME]
            names = names if task.name == "own first" else names[::-1]
            one, two = (_by(attempt, name) for attempt, name in zip((one, two), names, strict=True))
        try:
            with CallScope.opened():
                ruling = await judge.ask(
                    asking.messages(pair.case, one, two),
                    BattleMarks,
                    tries=asking.tries,
                    reader=asking.reader(pair.case, one, two),
                )
        except (JudgeError, ModelError):
            self._unread += 1
            return
        self._usage += ruling.usage
        marks = ruling.verdict
        won = 0.5 + 0.5 * ((marks.score_1 > marks.score_2) - (marks.score_1 < marks.score_2))
        self._preferred[task.name, task.place] = won

    def _count(self, detail: Json) -> None:
        if isinstance(detail, Mapping):
            self._usage += usage_from(detail.get("usage"))

    # What it comes to.

    def _summed(self) -> JudgeAudit:
        rulings = [self._rulings(place) for place in range(len(self._judged))]
        by_case: dict[str, list[int]] = {}
        for place, judged in enumerate(self._judged):
            by_case.setdefault(judged.case.id, []).append(place)
        groups = list(by_case.values())
        clusters = [self._judged[group[0]].case.cluster for group in groups]
        flips = statistics.flip_rate(
            ([rulings[place] for place in group] for group in groups), clusters
        )
        rates = any(judged.scale.rates for judged in self._judged)
        weights = [
            [(self._judged[place].weight, rulings[place]) for place in group] for group in groups
        ]
        rest = self._cases - len(groups)
        noise = None
        if groups:
            noise = statistics.noise_variance([*weights, *[[]] * rest], [*clusters, *[""] * rest])
        return JudgeAudit(
            judge=self._questions.judge_name,
            seed=self.settings.seed,
            cases=self._cases,
            answers=len(self._judged),
            repeats=self.settings.repeats,
            flips=flips,
            flip_chance=None if rates else statistics.flip_chance(flips),
            noise_variance=None if noise is None else noise.value,
            noise_interval=None if noise is None else noise.interval,
            noise_by_metric=self._noise_by_metric(groups, rulings),
            probes={**self._text_shifts(groups, rulings), **self._pair_shifts()},
            labels=self._agreement(),
            usage=plain(self._usage),
            flipped=self._flipped(by_case, rulings),
            unread=self._unread,
            notes=tuple(self._notes),
            created=time.time(),
        )

    def _flipped(
        self, by_case: Mapping[str, Sequence[int]], rulings: Sequence[Sequence[float]]
    ) -> dict[str, float]:
        rates = {}
        for case_id, places in by_case.items():
            rate = statistics.flip_rate([[rulings[place] for place in places]])
            if rate is not None and rate.value > 0:
                rates[case_id] = rate.value
        return rates

    def _rulings(self, place: int) -> list[float]:
        """Return the rulings on an answer as it is, the stored one too if this judge gave it."""
        judged = self._judged[place]
        rulings = [
            self._shares[AS_IS, place, number]
            for number in range(self.settings.repeats)
            if (AS_IS, place, number) in self._shares
        ]
        if self._same_judge and judged.score.points is not None:
            rulings.insert(0, judged.scale.share(judged.score.points))
        return rulings

    @property
    def _same_judge(self) -> bool:
        stored_judges = self.run.settings.get("judges")
        if not isinstance(stored_judges, list | tuple):
            return False
        names = [
            short_name(str(one.get("model"))) for one in stored_judges if isinstance(one, Mapping)
        ]
        repeats = self.run.settings.get("repeats") or 1
        panel_names = [short_name(choice.spec) for choice in self.panel.judges]
        return names == panel_names and repeats == self.panel.repeats

    def _noise_by_metric(
        self, groups: Sequence[Sequence[int]], rulings: Sequence[Sequence[float]]
    ) -> dict[str, Estimated]:
        """Return the variance that chance gives what a case is worth in each row by metric."""
        by_metric: dict[str, dict[str, list[tuple[float, Sequence[float]]]]] = {}
        clusters: dict[str, str] = {}
        for place in chain.from_iterable(groups):
            judged = self._judged[place]
            cases = by_metric.setdefault(judged.criterion.label, {})
            cases.setdefault(judged.case.id, []).append((judged.metric_weight, rulings[place]))
            clusters[judged.case.id] = judged.case.cluster
        noise = {
            label: statistics.noise_variance(cases.values(), [clusters[one] for one in cases])
            for label, cases in by_metric.items()
        }
        return {label: estimated for label, estimated in noise.items() if estimated is not None}

    def _text_shifts(
        self, groups: Sequence[Sequence[int]], rulings: Sequence[Sequence[float]]
    ) -> dict[str, Estimated]:
        shifts = {}
        for name in self.settings.texts:
            against = PROBES[name].against
            pairs = []
            for group in groups:
                row = []
                for place in group:
                    probe_share = self._shares.get((name, place, 0))
                    usual = (
                        self._shares.get((against, place, 0))
                        if against
                        else sum(rulings[place]) / len(rulings[place])
                        if rulings[place]
                        else None
                    )
                    if probe_share is not None and usual is not None:
                        row.append((probe_share, usual))
                pairs.append(row)
            clusters = [self._judged[group[0]].case.cluster for group in groups]
            if (shift := statistics.shift(pairs, clusters=clusters)) is not None:
                shifts[name] = shift
        return shifts

    def _pair_shifts(self) -> dict[str, Estimated]:
        shifts = {}
        for name, one, other in (
            (POSITION, "first", "second"),
            (BATTLE_SELF, "own first", "own second"),
        ):
            rows, clusters = [], []
            for place, pair in enumerate(self._pairs):
                first = self._preferred.get((one, place))
                second = self._preferred.get((other, place))
                if first is not None and second is not None:
                    # Shown in both orders, a fair judge prefers the first one half of the time;
                    # attributed in both ways, it prefers the first answer alike.
                    shift = (first + second) / 2 - 0.5 if name == POSITION else (first - second) / 2
                    rows.append([(shift, 0.0)])
                    clusters.append(pair.case.cluster)
            if (estimate := statistics.shift(rows, 0.5, clusters)) is not None:
                shifts[name] = estimate
        return shifts

    def _agreement(self) -> dict[str, Json]:
        labels = self.store.labels.of_run(self.run.id)
        agreement_by_name: dict[str, Json] = {}
        for name in self.store.labels.criteria(self.run.id):
            if self.settings.criterion in ("", name):
                seen = agreement(self.store, self.run.id, name, latest(labels, name))
                agreement_by_name[name] = {
                    "kappa": seen.kappa.value,
                    "interval": seen.kappa.interval,
                    "agreed": seen.kappa.agreed,
                    "n": seen.kappa.n,
                    "cases": seen.kappa.clusters,
                    "confusion": [list(row) for row in seen.confusion],
                    "corrected": asdict(seen.score),
                }
        return agreement_by_name


def _by(attempt: Attempt, name: str) -> Attempt:
    """Return an answer with an attribution."""
    return with_reply(attempt, lambda text: by(text, name)) or attempt
