"""The scales that points lie on: what a scorer gives at least and at most."""

from dataclasses import dataclass, field

from proctor import registry
from proctor.contracts.scorer import Scorer
from proctor.core.fingerprint import digest
from proctor.core.score import Score
from proctor.core.suite import Case, Json, Spec
from proctor.errors import PluginError
from proctor.stats.intervals import Scale, json_number


@dataclass
class Scales:
    """The scale around all points that were seen; an end that one scorer leaves open is open."""

    _seen: set[Scale] = field(default_factory=set)
    _scales: dict[str, Scale] = field(default_factory=dict)
    """By the digest of a scorer, the scale of its points."""

    @property
    def scale(self) -> Scale:
        """Return the scale around all."""
        return Scale.around(*self._seen)

    def add(self, case: Case, criterion_id: str, score: Score) -> None:
        """Note the scale of one score's points."""
        if score.out_of is not None:
            self._seen.add(Scale(0.0, score.out_of))
            return
        for criterion in case.criteria:
            if criterion.id == criterion_id:
                self.add_scorer(criterion.scorer, digest(criterion.scorer))

    def add_scorer(self, scorer: Spec, key: str) -> None:
        """Note the scale of a scorer's points, given the digest of the scorer."""
        if key not in self._scales:
            self._scales[key] = _declared(scorer)
        self._seen.add(self._scales[key])

    def add_value(self, value: float) -> None:
        """Note a value that is given without any scorer."""
        self._seen.add(Scale(value, value))

    def merge(self, other: "Scales") -> None:
        """Note all that another has seen."""
        self._seen |= other._seen

    def to_json(self) -> list[Json]:
        """Return what was seen as JSON."""
        ends = sorted(self._seen, key=repr)
        return [[None if end is None else json_number(end) for end in scale] for scale in ends]

    def load_json(self, document: list[Json]) -> None:
        """Note what another has seen, of its JSON."""
        self._seen |= {
            Scale(*(float(end) if isinstance(end, str) else end for end in ends))
            for ends in document
        }


def _declared(scorer: Spec) -> Scale:
    """Return what a scorer says; an imported run may have been scored by one that is not here."""
    try:
        built: Scorer = registry.build("scorer", scorer)
    except PluginError:
        return Scale(None, None)
    return Scale(*built.points_range)
