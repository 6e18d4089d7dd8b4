"""The shapes of cases as their documents say them, and the scorers of their criteria."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from proctor import registry
from proctor.contracts.scorer import Scorer
from proctor.core.encoding import case_from, spec_from
from proctor.core.fold import Fold
from proctor.core.suite import Json, Spec
from proctor.engine.run.plain_cases import MOST_SHAPES, CaseShape
from proctor.engine.run.scorer_pool import Scorers
from proctor.io import json_bytes

QUICK_TEXTS: Mapping[str, str] = {"keywords": "rules"}
"""Scorers that are made of plain texts without any check: reading the suite has checked them."""
_TEXTS = frozenset({str})


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
        written = b""
        for spec in specs:
            # Python takes 1 for true, and 1.0 for 1; JSON does not.
            if scorer is not None and spec == last:
                written = written or json_bytes.dumps(last)
                if json_bytes.dumps(spec) == written:
                    scorers.append(scorer)
                    continue
            last, scorer, written = spec, self.scorer(spec), b""
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
