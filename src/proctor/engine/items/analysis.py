"""Item analysis: the cases of a suite over all its takers, the most suspicious first."""

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from math import exp
from statistics import fmean, pstdev

from proctor.core.items import Item, ItemAnalysis
from proctor.core.names import candidate_label
from proctor.core.run import Run
from proctor.engine.check.clusters import bare_question
from proctor.engine.items.takers import AT_ONCE, TakenCase, Takers
from proctor.engine.run.later_findings import newest_audit
from proctor.io.concurrency import batched
from proctor.stats import items as statistics
from proctor.stats.intervals import bounded_interval
from proctor.stats.near_duplicates import joined_groups, near_duplicates
from proctor.stats.paraphrases import paraphrases
from proctor.store.rows import LinkedCase
from proctor.store.store import Store

MOST_FITTED = 5_000
"""Number of randomly sampled cases from which abilities are estimated."""
MOST_READ = 1_000
"""Number of cases whose answers are read, the most suspicious ones."""
LISTED = 100
"""Default number of listed cases."""
LONGEST_ANSWER = 200
_FEWEST_TAKERS = 3
_FLIPS = 0.2
"""Share of divided rulings from which a judge disagrees with itself."""
_NEGATIVE = -0.3
"""Correlation below which a case goes against the others."""
_NOT_LISTED = -20.0
_UNSURE = "unsure"
"""What counts those of which the interval reaches 0, or is not known."""
_SPACES = re.compile(r"\s+")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


def analyse(store: Store, runs: Sequence[Run], *, most: int = LISTED) -> ItemAnalysis:
    """Analyse all cases of some runs of a suite, with bounded memory."""
    takers = Takers(store=store, runs=runs)
    sums, sample, cases = _first_pass(takers)
    model = statistics.fit_abilities(sample)
    rules = _Rules(takers=takers, model=model, sums=sums)
    strange = heapq.nlargest(MOST_READ, takers.cases(), key=lambda taken: rules.odds(taken.scores))
    words = _answers(store, runs, takers.names, [taken.case_id for taken in strange])
    read = [(taken.scores, words[taken.case_id]) for taken in strange if taken.case_id in words]
    habits = statistics.answer_habits(read)
    for taken in strange:
        if taken.case_id in words:
            rules.spoken[taken.case_id] = statistics.wrong_key_odds(
                model, taken.scores, words[taken.case_id], habits
            )
    rules.duplicates = _duplicates(store, runs)
    rules.flips = _divided(store, runs)
    rules.learn(sample)
    counts: Counter[str] = Counter()
    flagged = (item for item in map(rules.item, takers.cases()) if _counted(item, counts))
    listed = heapq.nlargest(most, flagged, key=lambda item: item.suspicion)
    return ItemAnalysis(
        suite=runs[0].suite,
        runs=runs,
        takers=takers.names,
        rates=[gained / number if number else None for gained, number in sums],
        cases=cases,
        counts={kind: count for kind, count in counts.items() if kind != _UNSURE},
        listed=listed,
        notes=(*_notes(takers, habits), *_chance_notes(counts)),
        every=lambda: map(rules.item, takers.cases()),
    )


@dataclass
class _Rules:
    """Rules that make a case suspicious, given all cases."""

    takers: Takers
    model: statistics.Abilities
    sums: Sequence[tuple[float, int]]
    spoken: dict[str, float] = field(default_factory=dict)
    """The odds that keys are wrong, if answers were read as well."""
    duplicates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    flips: Mapping[str, float] = field(default_factory=dict)
    usual: float = 0.3
    spread: float = 0.3

    def __post_init__(self) -> None:
        self.odds = lru_cache(maxsize=100_000)(
            lambda scores: statistics.wrong_key_odds(self.model, scores)
        )

    def learn(self, sample: Sequence[tuple[float | None, ...]]) -> None:
        """Learn the usual discrimination of cases."""
        discriminations = [self._discrimination(scores).value for scores in sample[:1000]]
        values = [value for value in discriminations if value is not None]
        if len(values) > 5:
            self.usual = min(0.9, max(-0.2, fmean(values)))
            self.spread = min(1.0, max(0.1, pstdev(values) / 2))

    def item(self, taken: TakenCase) -> Item:
        scores = taken.scores
        present = [score for score in scores if score is not None]
        odds = self.spoken.get(taken.case_id)
        odds = self.odds(scores) if odds is None else odds
        discrimination = self._discrimination(scores)
        item = Item(
            case_id=taken.case_id,
            run_id=taken.run_id,
            takers=len(present),
            rate=fmean(present) if present else None,
            interval=bounded_interval(present, [1.0] * len(present)),
            discrimination=discrimination.value,
            discrimination_interval=discrimination.interval,
            discrimination_shrunk=discrimination.shrunk,
            wrong_key=1 / (1 + exp(-max(-700.0, min(700.0, odds)))),
            scores=scores,
        )
        return _explained(item, odds, self.duplicates.get(taken.case_id, ()), self.flips)

    def _discrimination(self, scores: tuple[float | None, ...]) -> statistics.Discrimination:
        rests = [
            (gained - (score or 0.0)) / (number - (score is not None))
            if number > (score is not None)
            else 0.0
            for score, (gained, number) in zip(scores, self.sums, strict=True)
        ]
        return statistics.discrimination(scores, rests, self.usual, self.spread)


def _explained(item: Item, odds: float, twins: Sequence[str], flips: Mapping[str, float]) -> Item:
    """Add the reasons why a case is suspicious, and how much."""
    kinds: dict[str, str] = {}
    suspicion = _NOT_LISTED
    enough = item.takers >= _FEWEST_TAKERS
    if enough and odds > statistics.PRIOR_ODDS:
        kinds["wrong_key"] = _key_words(item)
        suspicion = odds
    value = item.discrimination
    if value is not None and enough and value <= _NEGATIVE:
        kinds["negative"] = (
            f"strong candidates do worse on it than weak ones (correlation with the other cases"
            f" {item.discrimination:+.2f})"
        )
        suspicion = max(suspicion, -5 - (item.discrimination_shrunk or 0.0))
    if (share := flips.get(item.case_id, 0.0)) >= _FLIPS:
        kinds["judge"] = f"the judge's own rulings on it differ ({share:.0%} of them)"
        suspicion = max(suspicion, -7 + share)
    if enough and item.rate is not None and item.rate <= 0:
        kinds["nobody"] = f"none of {item.takers} candidates gets it right"
        suspicion = max(suspicion, -8.0)
    if twins:
        shown = ", ".join(twins[:3]) + (", …" if len(twins) > 3 else "")
        kinds["duplicate"] = f"nearly the same question as {shown}"
        suspicion = max(suspicion, -9.0)
    if enough and item.rate is not None and item.rate >= 1:
        kinds["everybody"] = f"all {item.takers} candidates get it right: it tells none apart"
        suspicion = max(suspicion, -10.0)
    if {"negative", "nobody"} & kinds.keys():
        # Such a case comes before all whose key is less likely to be wrong.
        suspicion = max(suspicion, odds)
    return replace(item, reasons=tuple(kinds.values()), kinds=tuple(kinds), suspicion=suspicion)


def _key_words(item: Item) -> str:
    present = [score for score in item.scores if score is not None]
    failed = sum(score < 0.5 for score in present)
    if failed == len(present):
        who = f"all {failed} candidates fail, though most should pass"
    else:
        who = f"{failed} of {len(present)} candidates fail, and not those who should"
    return f"the key may be wrong ({item.wrong_key:.0%} likely): {who}"


def _counted(item: Item, counts: Counter[str]) -> bool:
    counts.update(item.kinds)
    ends = item.discrimination_interval
    counts[_UNSURE] += "negative" in item.kinds and (ends is None or ends[1] >= 0)
    return bool(item.kinds)


def _chance_notes(counts: Mapping[str, int]) -> Iterator[str]:
    """Say how many cases may look as if they told candidates apart the wrong way by chance."""
    if unsure := counts.get(_UNSURE, 0):
        yield (
            f"{unsure} of {counts['negative']} correlations below 0 may be chance: with so few"
            " candidates they may as well be above 0"
        )


def _first_pass(
    takers: Takers,
) -> tuple[list[tuple[float, int]], list[tuple[float | None, ...]], int]:
    """Return each taker's total and count, a random sample, and the number of cases."""
    sums = [(0.0, 0) for _ in takers.names]
    sample: list[tuple[int, int, tuple[float | None, ...]]] = []
    cases = 0
    for cases, taken in enumerate(takers.cases(), 1):
        sums = [
            (gained, number) if score is None else (gained + score, number + 1)
            for (gained, number), score in zip(sums, taken.scores, strict=True)
        ]
        # The cases with the largest hashes are a reproducible random sample.
        name = taken.case_id.encode(errors="replace")
        mixed = int.from_bytes(blake2b(name, digest_size=8).digest(), "big")
        entry = (mixed, cases, taken.scores)
        if len(sample) < MOST_FITTED:
            heapq.heappush(sample, entry)
        else:
            heapq.heappushpop(sample, entry)
    return sums, [scores for _, _, scores in sorted(sample, key=lambda entry: entry[1])], cases


def _answers(
    store: Store, runs: Sequence[Run], names: Sequence[str], ids: Sequence[str]
) -> dict[str, list[str | None]]:
    """Return each taker's answers to some cases, in comparable form."""
    words: dict[str, list[str | None]] = {}
    for run in runs:
        taker = names.index(candidate_label(run.candidate))
        for linked in _linked(store, run, ids):
            taker_answers = words.setdefault(linked.case.id, [None] * len(names))
            outputs = Counter(comparable(attempt.output) for attempt, _ in linked.attempts)
            if taker_answers[taker] is None and outputs:
                taker_answers[taker] = outputs.most_common(1)[0][0]
    return words


def _linked(store: Store, run: Run, ids: Iterable[str]) -> Iterator[LinkedCase]:
    for chunk in batched(ids, AT_ONCE // 5):
        places = store.criterion_points.places(run.id, chunk)
        if places:
            yield from store.attempts.cases_at(run.id, sorted(places.values()))


def comparable(output: str) -> str | None:
    """Return an answer in normal form for comparison; None if it is too long.

    Of a long answer it is the last line, where many models put their final answer.
    """
    text = output.strip()
    if len(text) > LONGEST_ANSWER or "\n" in text:
        text = text.rsplit("\n", 1)[-1]
    text = _EDGES.sub("", _SPACES.sub(" ", text).casefold())
    return text if text and len(text) <= LONGEST_ANSWER else None


def _duplicates(store: Store, runs: Sequence[Run]) -> dict[str, list[str]]:
    """Return near-duplicates by case."""
    ids: list[str] = []
    questions: list[str] = []

    def texts() -> Iterator[str]:
        for _, _, case in store.suites.iter_cases(runs[0].suite_key):
            ids.append(case.id)
            questions.append(bare_question(case))
            yield "\n".join(message.content for message in case.messages)

    twins: dict[str, list[str]] = {}
    groups = near_duplicates(texts())
    for group in joined_groups(len(questions), groups, paraphrases(questions)):
        for place in group:
            twins[ids[place]] = [ids[other] for other in group if other != place]
    return twins


def _divided(store: Store, runs: Sequence[Run]) -> dict[str, float]:
    """Return by case the share of divided rulings among judges, repeats, or those of an audit."""
    counts: dict[str, list[int]] = {}
    flipped: dict[str, float] = {}
    for run in runs:
        if (audit := newest_audit(store, run.id)) is not None:
            for case_id, share in audit.flipped.items():
                flipped[case_id] = max(share, flipped.get(case_id, 0.0))
        judges = run.settings.get("judges") or ()
        several = len(judges) > 1 if isinstance(judges, list | tuple) else False
        if not several and not run.settings.get("repeats"):
            continue
        for case_id, divided in store.criterion_points.divided(run.id):
            row = counts.setdefault(case_id, [0, 0])
            row[0] += divided
            row[1] += 1
    for case_id, (split, total) in counts.items():
        if split:
            flipped[case_id] = max(split / total, flipped.get(case_id, 0.0))
    return flipped


def _notes(takers: Takers, habits: statistics.AnswerHabits) -> Iterator[str]:
    number = len(takers.names)
    if number < _FEWEST_TAKERS:
        yield (
            f"{number} candidate{' says' if number == 1 else 's say'} little about single cases:"
            f" at least {_FEWEST_TAKERS} are needed, six or more are better"
        )
    elif not habits.comparable:
        yield "answers are too unlike in their words to be compared: only scores were looked at"
