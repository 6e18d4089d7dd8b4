"""What a grader returns for one output: its value, its scores, and why it is no more."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from proctor.contracts.score_columns import ScoreColumn
from proctor.core.attempt import Attempt
from proctor.core.case_value import Value, ValueStatus
from proctor.core.fingerprint import plain
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.score import Score
from proctor.core.suite import Case, Json

Output = str | Attempt | None
"""What is scored: a text, a whole attempt, or nothing where the candidate gave no answer."""
_SINGLE = parse_fold("avg")


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedOutput:
    """An output with its scores; without a value where it could not be scored."""

    index: int
    """Its place among the outputs that were passed together."""
    case: Case
    output: Output = field(repr=False)
    scores: Mapping[str, Score] = field(repr=False)
    """The scores by the ids of the criteria."""
    worth: Value
    """The value with its bounds, and how it came about."""
    seconds: float = 0.0
    """How long it took, without the time in line."""
    stored: bool = False
    """Whether all scores were in the cache."""

    @property
    def case_id(self) -> str:
        """Return the id of the case."""
        return self.case.id

    @property
    def value(self) -> float | None:
        """Return what the output is worth; none where there is no score."""
        return self.worth.value

    @property
    def status(self) -> ValueStatus:
        """Return how the value came about: scored, unanswered, unscored, shown."""
        return self.worth.status

    @property
    def scored(self) -> bool:
        """Tell whether there is a value."""
        return self.worth.value is not None

    @property
    def attempt(self) -> Attempt:
        """Return the output as an attempt at its case."""
        return attempt_of(self.case, self.output)

    @property
    def case_result(self) -> CaseResult:
        """Return the result as a run would have it, with one attempt."""
        attempt = AttemptResult(attempt=self.attempt, scores=self.scores, value=self.worth)
        folded = fold(_SINGLE, [self.worth])
        return CaseResult(case=self.case, attempts=(attempt,), folded=folded)

    @property
    def why(self) -> str:
        """Say why there is no value, or what cost points; empty at full marks."""
        from proctor.reports.reasons import reasons

        if self.worth.status is ValueStatus.UNANSWERED:
            return "no answer was given"
        if self.worth.status is ValueStatus.SHOWN:
            return "nothing in this case counts"
        return "; ".join(reasons(self.case_result))

    def to_json(self) -> dict[str, Json]:
        """Return everything but the output, as JSON."""
        return {
            "index": self.index,
            "case": self.case.id,
            "value": self.value,
            "status": str(self.status),
            "why": self.why,
            "scores": {name: _score_json(score) for name, score in self.scores.items()},
            "seconds": round(self.seconds, 6),
        }


class ColumnScores(Mapping[str, Score]):
    """The scores of one row of columns, made when somebody looks at them."""

    __slots__ = ("_columns", "_names", "_row")

    def __init__(self, names: Sequence[str], columns: Sequence[ScoreColumn], row: int) -> None:
        self._names, self._columns, self._row = names, columns, row

    def __getitem__(self, name: str) -> Score:
        if name not in self._names:
            raise KeyError(name)
        return self._columns[self._names.index(name)].score(self._row)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def attempt_of(case: Case, output: Output) -> Attempt:
    """Return an output as an attempt at its case."""
    return output if isinstance(output, Attempt) else Attempt.of(case.id, output)


def _score_json(score: Score) -> dict[str, Json]:
    detail = {} if score.detail is None else {"detail": plain(score.detail)}
    return {
        "status": str(score.status),
        "points": score.points,
        "out_of": score.out_of,
        "reason": score.reason,
        **detail,
    }
