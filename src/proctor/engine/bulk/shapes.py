"""Cases as their documents say them, and the value of those that are as simple as most are.

Cases of one shape have the same criteria, but for the parameters of their scorers, and the same
weights and marks. Their values are those of ``core.case_value`` and ``RunTotals``, bit for bit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from proctor import registry
from proctor.contracts.scorer import Scorer
from proctor.core.case_value import only_shown
from proctor.core.encoding import case_from, spec_from
from proctor.core.fold import Fold
from proctor.core.suite import Case, Criterion, Json, Spec
from proctor.engine.run.plain_cases import PlainWorth
from proctor.engine.run.scorer_pool import Scorers
from proctor.stats.intervals import SHARE, Scale

QUICK_TEXTS: Mapping[str, str] = {"keywords": "rules"}
"""Scorers that are made of plain texts without any check: reading the suite has checked them."""
_OF_CASE = frozenset(
    {"id", "messages", "criteria", "references", "context", "hidden", "tags", "cluster",
     "dialogue", "files", "setup", "tools", "tool_choice", "response_format"}
)  # fmt: skip
"""What may differ between cases of one shape."""
_TEXTS = frozenset({str})
MOST_SHAPES = 1_000


class PlainValue(NamedTuple):
    """The value of an answer, all of whose criteria that count are scored."""

    value: float
    scale: Scale
    metrics: Sequence[tuple[str, PlainWorth]]


class PlainColumnValues(NamedTuple):
    """The values of many such answers, and points and full marks of each kind of criterion."""

    values: Sequence[float]
    metrics: Mapping[str, tuple[Sequence[float], Sequence[float]]]


@dataclass(eq=False)
class CaseShape:
    """What cases of one shape have in common."""

    case: Case
    """One of them."""
    shares_of_value: bool

    @staticmethod
    def scalars(content: Mapping[str, Json]) -> list[str]:
        """Return the keys of a case that all cases of its shape have with the same value."""
        return [name for name in content if name not in _OF_CASE]

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """Return the criteria; the parameters of their scorers are those of one case."""
        return self.case.criteria

    @cached_property
    def counted(self) -> list[tuple[int, float, str]]:
        """Return place, weight and label of each criterion that counts."""
        return [(i, c.weight, c.label) for i, c in enumerate(self.criteria) if c.weight != 0]

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


@dataclass
class ShapePool:
    """The shapes of cases, and the scorers of their criteria."""

    scorers: Scorers
    shares_of_value: bool
    how: Fold
    _shapes: dict[tuple[Json, ...], CaseShape] = field(default_factory=dict)
    _simple: dict[tuple[Json, ...], CaseShape] = field(default_factory=dict)
    """Those of cases whose marks and weights are what they are where nobody says otherwise, by the
    names of their keys and criteria."""
    _classes: dict[str, type[Scorer]] = field(default_factory=dict)

    def shape(self, content: Mapping[str, Json]) -> CaseShape:
        """Return the shape of a case."""
        criteria = content.get("criteria", ())
        key: tuple[Json, ...] = (
            *content,
            *[part for c in criteria for part in (c["id"], c["scorer"]["name"], len(c))],
        )
        if (shape := self._simple.get(key)) is None:
            shape = self._shape(content)
            plain = not shape.scalars(content) and all(len(c) == 2 for c in criteria)
            if plain and len(self._simple) < MOST_SHAPES:
                self._simple[key] = shape
        return shape

    def _shape(self, content: Mapping[str, Json]) -> CaseShape:
        key: tuple[Json, ...] = (
            *[
                (c["id"], c["scorer"]["name"], c.get("weight"), c.get("metric"), c.get("turn"))
                for c in content.get("criteria", ())
            ],
            *[(name, content[name]) for name in CaseShape.scalars(content)],
        )
        if (shape := self._shapes.get(key)) is None:
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
            shape = self._shapes[key] = CaseShape(case_from(content), self.shares_of_value)
        return shape

    def scorers_of(self, specs: Sequence[Mapping[str, Json]]) -> list[Scorer]:
        """Return the scorers of one criterion of many cases; most often it is the same for all."""
        scorers = []
        last: Mapping[str, Json] = {}
        scorer: Scorer | None = None
        for spec in specs:
            if scorer is None or spec != last:
                last, scorer = spec, self.scorer(spec)
            scorers.append(scorer)
        return scorers

    def scorer(self, spec: Mapping[str, Json]) -> Scorer:
        """Return the scorer of a criterion."""
        name, params = spec["name"], spec.get("params")
        parameter = QUICK_TEXTS.get(name)
        if parameter is not None and params is not None and len(params) == 1:
            texts = params.get(parameter)
            if type(texts) is list and set(map(type, texts)) <= _TEXTS:
                if (kind := self._classes.get(name)) is None:
                    kind = self._classes[name] = registry.class_of("scorer", Spec(name=name))
                return kind(**{parameter: tuple(texts)})
        return self.scorers.built(spec_from(spec))
