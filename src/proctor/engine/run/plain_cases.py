"""Cases that are as simple as most are, with what sums are made of: one by one, or as columns.

Cases of one shape have the same criteria, but for the parameters of their scorers, and the same
weights and marks. Their values are those of ``core.case_value`` and ``RunTotals``, bit for bit.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import only_shown
from proctor.core.fold import Fold
from proctor.core.score import REFERENCE, Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Json
from proctor.records import dataclass
from proctor.stats.intervals import SHARE, Scale
from proctor.store.rows import LinkedCase

PlainWorth = tuple[float, float, Scale]
"""Value, full marks and scale."""


class PlainCase(NamedTuple):
    """A case with one attempt, all of whose criteria are scored, and that has no cluster."""

    id: str
    value: float
    weight: float
    full_score: float
    scale: Scale
    tags: Mapping[str, Sequence[str]]
    metrics: Sequence[tuple[str, PlainWorth]]
    """What each kind of criterion gave, by label."""
    relations: Collection[Json] = ()
    """How the answer relates to the references."""


class PlainColumns(NamedTuple):
    """Cases as ``PlainCase``, of one weight and scale and without relations, as columns."""

    values: Sequence[float]
    weight: float
    full_score: float
    tags: Sequence[Mapping[str, Sequence[str]]]
    metrics: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    """What each kind of criterion gave, and its full marks, by label."""


class PlainValue(NamedTuple):
    """The value of an answer, all of whose criteria that count are scored."""

    value: float
    scale: Scale
    metrics: Sequence[tuple[str, PlainWorth]]


class PlainColumnValues(NamedTuple):
    """The values of many such answers, and points and full marks of each kind of criterion."""

    values: Sequence[float]
    metrics: Mapping[str, tuple[Sequence[float], Sequence[float]]]


MOST_SHAPES = 1_000
OF_SHAPE = frozenset({"weight", "full_score", "null_score", "min_points", "max_points", "out_of"})
"""What all cases of one shape have alike besides their criteria: the numbers of a case."""


@dataclass(eq=False)
class CaseShape:
    """What cases of one shape have in common."""

    case: Case
    """One of them."""
    shares_of_value: bool

    @staticmethod
    def scalars(content: Mapping[str, Json]) -> list[str]:
        """Return the keys of a case that all cases of its shape have with the same value."""
        return [name for name in content if name in OF_SHAPE]

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """Return the criteria; the parameters of their scorers are those of one case."""
        return self.case.criteria

    @cached_property
    def counted(self) -> list[tuple[int, float, str]]:
        """Return place, weight and label of each criterion that counts."""
        return [(i, c.weight, c.label) for i, c in enumerate(self.criteria) if c.weight != 0]

    @cached_property
    def counted_ids(self) -> list[str]:
        """Return the id of each criterion that counts."""
        return [c.id for c in self.criteria if c.weight != 0]

    @cached_property
    def is_plain(self) -> bool:
        """Tell whether the value of a single answered attempt is a plain sum."""
        turns = any(criterion.turn is not None for criterion in self.criteria)
        return bool(self.criteria) and not turns and not only_shown(self.case)

    def plain_value(self, scored: Sequence[tuple[float, float]]) -> PlainValue | None:
        """Return the value of the points and marks of what counts; none if there are no marks."""
        case = self.case
        if self._is_simple:
            return self._simple_value(scored)
        total = full = penalties = 0.0
        for (points, marks), (_, weight, _) in zip(scored, self.counted, strict=True):
            total += weight * (points or 0.0)
            if weight > 0:
                full += weight * (marks or 0.0)
            else:
                penalties += weight * (marks or 0.0)
        if case.out_of is not None:
            denominator = case.out_of
        else:
            denominator = full if case.max_points is None else min(case.max_points, full)
        if denominator <= 0:
            return None
        value = self._scaled(total, denominator) + 0.0
        least = min(0.0, self._scaled(penalties, denominator))
        most = max(case.full_score, self._scaled(full, denominator))
        return PlainValue(value, self._scale(least, most), self._metrics(scored, denominator))

    @cached_property
    def _is_simple(self) -> bool:
        """Tell whether there are neither penalties nor limits, and each label is there once."""
        case, labels = self.case, [label for _, _, label in self.counted]
        return (
            all(weight > 0 for _, weight, _ in self.counted)
            and len(set(labels)) == len(labels)
            and (case.out_of, case.max_points, case.min_points) == (None, None, None)
            and case.full_score > 0
            and case.null_score >= 0
        )

    def _simple_value(self, scored: Sequence[tuple[float, float]]) -> PlainValue | None:
        total = full = 0.0
        shares = []
        for (points, marks), (_, weight, label) in zip(scored, self.counted, strict=True):
            total += weight * (points or 0.0)
            full += weight * (marks or 0.0)
            shares.append((label, weight * points, weight * marks))
        if full <= 0:
            return None
        case = self.case
        whole = full if self.shares_of_value else sum([share[2] for share in shares])
        scale = case.full_score / whole if whole > 0 else 0.0
        metrics = [
            (label, ((points * scale + 0.0) * case.weight, marks * scale * case.weight, SHARE))
            for label, points, marks in shares
            if marks * scale > 0 or points * scale
        ]
        value = total / full * case.full_score + 0.0
        most = max(case.full_score, full / full * case.full_score)
        return PlainValue(value, self._scale(0.0, most), metrics)

    def plain_columns(
        self, scored: Sequence[tuple[Sequence[float], Sequence[float]]]
    ) -> "PlainColumnValues | None":
        """Return the values of points and marks that are columns, one pair for each that counts.

        They are those of ``plain_value``; none where some answer has to be looked at by itself.
        """
        if not self._is_simple:
            return None
        case = self.case
        total = full = [0.0] * len(scored[0][0])
        shares = []
        for (points, marks), (_, weight, label) in zip(scored, self.counted, strict=True):
            won, most = [weight * one for one in points], [weight * one for one in marks]
            total = [before + one for before, one in zip(total, won, strict=True)]
            full = [before + one for before, one in zip(full, most, strict=True)]
            shares.append((label, won, most))
        if min(full) <= 0:
            return None
        scales = [case.full_score / whole for whole in full]
        metrics = {}
        for label, won, most in shares:
            marks = [one * scale for one, scale in zip(most, scales, strict=True)]
            if min(marks) <= 0:
                return None
            points = [
                (one * scale + 0.0) * case.weight for one, scale in zip(won, scales, strict=True)
            ]
            metrics[label] = points, [one * case.weight for one in marks]
        values = [
            one / whole * case.full_score + 0.0 for one, whole in zip(total, full, strict=True)
        ]
        return PlainColumnValues(values, metrics)

    def _scaled(self, points: float, denominator: float) -> float:
        case = self.case
        if case.max_points is not None:
            points = min(points, case.max_points)
        if case.min_points is not None:
            points = max(points, case.min_points)
        return points / denominator * case.full_score

    def _scale(self, least: float, most: float) -> Scale:
        full = self.case.full_score
        low, high = min(0.0, least, self.case.null_score), max(full, most)
        return SHARE if full <= 0 or (low == 0 and high == full) else Scale(low / full, high / full)

    def _metrics(
        self, scored: Sequence[tuple[float, float]], denominator: float
    ) -> list[tuple[str, PlainWorth]]:
        fulls = [
            weight * marks if weight > 0 else 0.0
            for (_, marks), (_, weight, _) in zip(scored, self.counted, strict=True)
        ]
        whole = denominator if self.shares_of_value else sum(fulls)
        case = self.case
        scale = case.full_score / whole if whole > 0 else 0.0
        sums: dict[str, tuple[float, float, float]] = {}
        for (points, marks), (_, weight, label), marks_won in zip(
            scored, self.counted, fulls, strict=True
        ):
            before = sums.get(label, (0.0, 0.0, 0.0))
            sums[label] = (
                before[0] + weight * points * scale,
                before[1] + marks_won * scale,
                before[2] + min(0.0, weight * (marks or 0.0)) * scale,
            )
        return [
            (
                label,
                (
                    (points + 0.0) * case.weight,
                    (full + 0.0) * case.weight,
                    Scale(lost / full, 1.0) if lost < 0 < full else SHARE,
                ),
            )
            for label, (points, full, lost) in sums.items()
            if full > 0 or points
        ]


_KIND_OF_CASE = attrgetter(*sorted(OF_SHAPE), "cluster")
_KIND_OF_CRITERION = attrgetter("id", "scorer.name", "weight", "metric", "turn")
_OBJECT = (dict, Mapping)


class PlainBlock(NamedTuple):
    """Cases all of which are plain, with what their sums are made of."""

    summed: PlainColumns | Sequence[PlainCase]
    values: Sequence[float]


@dataclass(eq=False)
class PlainShapes:
    """The shapes of the cases of a run, by which blocks of plain ones are recognised."""

    how: Fold
    shares_of_value: bool
    _shapes: dict[tuple[Json, ...], CaseShape] = field(default_factory=dict)

    def block(self, cases: Sequence[LinkedCase]) -> PlainBlock | None:
        """Return what the sums of cases are made of if all of them are plain; none otherwise."""
        if self.how.size not in (None, 1) or not cases:
            return None
        answers: list[_PlainAnswer] = []
        for linked in cases:
            if (answer := self._answer(linked)) is None:
                return None
            answers.append(answer)
        shape, first = answers[0].shape, cases[0].case
        if all(one.shape is shape and not one.relations for one in answers):
            scored = [answer.scored for answer in answers]
            columns: Any = [tuple(zip(*pairs, strict=True)) for pairs in zip(*scored, strict=True)]
            if (plain := shape.plain_columns(columns)) is not None:
                tags = [linked.case.tags for linked in cases]
                summed = PlainColumns(
                    plain.values, first.weight, first.full_score, tags, plain.metrics
                )
                return PlainBlock(summed, plain.values)
        return _one_by_one(cases, answers)

    def _answer(self, linked: LinkedCase) -> "_PlainAnswer | None":
        """Return what a case with one attempt was given, if all that counts of it is scored."""
        case, attempts = linked.case, linked.attempts
        if len(attempts) != 1 or (shape := self._shape(case)) is None:
            return None
        attempt, scores = attempts[0]
        if attempt.status is not AttemptStatus.ANSWERED or attempt.usage:
            return None
        relations: Sequence[Json] = ()
        for score in scores.values():
            if score.detail and isinstance(score.detail, _OBJECT):
                if "usage" in score.detail:
                    return None
                if REFERENCE in score.detail:
                    relations = [*relations, score.detail[REFERENCE]]
        scored = []
        for name in shape.counted_ids:
            pair = _marks_of(scores.get(name))
            if pair is None:
                return None
            scored.append(pair)
        return _PlainAnswer(shape, scored, relations)

    def _shape(self, case: Case) -> CaseShape | None:
        """Return the shape of a case; none where a case of such a shape is not plain."""
        key = (*_KIND_OF_CASE(case), *map(_KIND_OF_CRITERION, case.criteria))
        if (shape := self._shapes.get(key)) is None:
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
            shape = self._shapes[key] = CaseShape(case, self.shares_of_value)
        return shape if shape.is_plain and not case.cluster else None


class _PlainAnswer(NamedTuple):
    """The points and marks of what counts of an answer, and its relations to the references."""

    shape: CaseShape
    scored: Sequence[tuple[float, float]]
    relations: Collection[Json]


def _marks_of(score: Score | None) -> tuple[float, float] | None:
    """Return points and full marks of a score that enters the sum of its case."""
    if score is None or score.status is not ScoreStatus.SCORED:
        return None
    if score.points is None or score.out_of is None:
        return None
    return score.points, score.out_of


def _one_by_one(cases: Iterable[LinkedCase], answers: Iterable[_PlainAnswer]) -> PlainBlock | None:
    plain = []
    for linked, (shape, scored, relations) in zip(cases, answers, strict=True):
        if (value := shape.plain_value(scored)) is None:
            return None
        case = linked.case
        plain.append(
            PlainCase(
                *(case.id, value.value, case.weight, case.full_score, value.scale, case.tags),
                *(value.metrics, relations),
            )
        )
    return PlainBlock(plain, [one.value for one in plain])
