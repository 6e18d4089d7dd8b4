"""Many attempts as columns, and the scores of one criterion on all of them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from proctor.contracts.scorer import ScoreContext, Scorer, TextScorer
from proctor.contracts.scoring import as_score, failed_by, run_scorer
from proctor.core.attempt import AttemptStatus
from proctor.core.fingerprint import plain
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Json
from proctor.io import json_bytes

AnyScorer = TypeVar("AnyScorer", bound=Scorer)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRows:
    """Attempts to score: what most scorers look at as columns, all the rest on demand."""

    outputs: Sequence[str]
    references: Sequence[tuple[str, ...]]
    prompts: Sequence[str]
    context: Callable[[int], ScoreContext]
    """Makes all that a scorer may look at in a row."""
    unanswered: Collection[int] = ()
    """The rows whose attempts gave no answer, in order."""

    def __len__(self) -> int:
        return len(self.outputs)

    @classmethod
    def of(cls, contexts: Sequence[ScoreContext]) -> "ScoreRows":
        """Make columns of contexts."""
        silent = AttemptStatus.UNANSWERED
        return cls(
            outputs=[ctx.output for ctx in contexts],
            references=[ctx.references for ctx in contexts],
            prompts=[ctx.prompt for ctx in contexts],
            context=contexts.__getitem__,
            unanswered=[i for i, ctx in enumerate(contexts) if ctx.attempt.status is silent],
        )

    def take(self, places: Sequence[int]) -> "ScoreRows":
        """Return some of the rows."""
        silent = set(self.unanswered)
        return replace(
            self,
            outputs=[self.outputs[i] for i in places],
            references=[self.references[i] for i in places],
            prompts=[self.prompts[i] for i in places],
            context=lambda i: self.context(places[i]),
            unanswered=[i for i, place in enumerate(places) if place in silent],
        )


@dataclass(slots=True, kw_only=True)
class ScoreColumn:
    """The scores of many attempts, field by field."""

    points: list[float | None]
    out_of: list[float | None]
    reasons: list[str]
    details: list[Json]
    """JSON values; bytes are JSON that is written already."""
    statuses: list[ScoreStatus] = field(default_factory=list)
    """Left empty where every row is scored."""

    def __post_init__(self) -> None:
        if not self.statuses:
            self.statuses = [ScoreStatus.SCORED] * len(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @classmethod
    def empty(cls, rows: int) -> "ScoreColumn":
        """Make a column whose rows are still to be put."""
        return cls(
            points=[None] * rows,
            out_of=[None] * rows,
            reasons=[""] * rows,
            details=[None] * rows,
        )

    @classmethod
    def of(cls, scores: Iterable[Score]) -> "ScoreColumn":
        """Make a column of scores."""
        listed = list(scores)
        return cls(
            points=[score.points for score in listed],
            out_of=[score.out_of for score in listed],
            reasons=[score.reason for score in listed],
            details=[score.detail for score in listed],
            statuses=[score.status for score in listed],
        )

    def score(self, row: int) -> Score:
        """Return the score of one attempt."""
        detail = self.details[row]
        return Score(
            status=self.statuses[row],
            points=self.points[row],
            out_of=self.out_of[row],
            reason=self.reasons[row],
            detail=json_bytes.loads(detail) if type(detail) is bytes else detail,
        )

    def put(self, row: int, score: Score) -> None:
        """Set the score of one attempt."""
        self.points[row], self.out_of[row] = score.points, score.out_of
        self.reasons[row], self.details[row] = score.reason, score.detail
        self.statuses[row] = score.status

    def put_rows(self, places: Sequence[int], column: "ScoreColumn") -> None:
        """Set the scores of some attempts, which were scored as a column of their own."""
        for row, place in enumerate(places):
            self.points[place], self.out_of[place] = column.points[row], column.out_of[row]
            self.reasons[place], self.details[place] = column.reasons[row], column.details[row]
            self.statuses[place] = column.statuses[row]

    def written_details(self) -> list[bytes | None]:
        """Return all details as JSON; none where there is no detail."""
        return [
            detail if detail is None or type(detail) is bytes else json_bytes.dumps(plain(detail))
            for detail in self.details
        ]


def takes_columns(scorer: Scorer) -> bool:
    """Tell whether a scorer with these parameters may score columns in the run's own process."""
    sure_to_end = scorer.is_instant or scorer.batches
    return _is_columnar(type(scorer)) and sure_to_end and not scorer.finishes


def long_rows(scorers: Sequence[Scorer], rows: ScoreRows) -> list[int]:
    """Return the rows that take long, so that they need a process that can be killed."""
    texts = zip(scorers, rows.outputs, rows.references, strict=True)
    return [
        row
        for row, (scorer, output, references) in enumerate(texts)
        if scorer.takes_long(output, references)
    ]


def run_scorer_column(scorers: Sequence[Scorer], rows: ScoreRows) -> ScoreColumn:
    """Score a column, row i by the i-th scorer; the scores are those of ``run_scorer``.

    Scorers of several classes may be mixed. A row that breaks a column costs the others nothing
    but time.
    """
    places_by_class: dict[type[Scorer], list[int]] = {}
    silent = set(rows.unanswered)
    for place, scorer in enumerate(scorers):
        if place not in silent:
            places_by_class.setdefault(type(scorer), []).append(place)
    if not silent and len(places_by_class) == 1:
        return _column_of(scorers, rows)
    column = ScoreColumn.empty(len(rows))
    for place in silent:
        column.put(place, run_scorer(scorers[place], rows.context(place)))
    for places in places_by_class.values():
        own_scorers = [scorers[place] for place in places]
        column.put_rows(places, _column_of(own_scorers, rows.take(places)))
    return column


def row_by_row(scorers: Sequence[Scorer], rows: ScoreRows) -> ScoreColumn:
    """Score each row by itself."""
    return ScoreColumn.of(
        run_scorer(scorer, rows.context(row)) for row, scorer in enumerate(scorers)
    )


def text_by_text(scorers: Sequence[TextScorer], rows: ScoreRows) -> ScoreColumn:
    """Score each row by its output and references alone, without making its context."""
    scores = []
    for scorer, output, references in zip(scorers, rows.outputs, rows.references, strict=True):
        try:
            scores.append(as_score(scorer, scorer.score_texts(output, references)))
        except Exception as error:  # noqa: BLE001 - as where each row is scored by itself
            scores.append(failed_by(scorer, error))
    return ScoreColumn.of(scores)


def _column_of(scorers: Sequence[AnyScorer], rows: ScoreRows) -> ScoreColumn:
    """Score answers by scorers of one class."""
    kind = type(scorers[0])
    if not _is_columnar(kind):
        return row_by_row(scorers, rows)
    try:
        column = kind.score_column(scorers, rows)
        lengths = {
            len(values)
            for values in (
                *(column.points, column.out_of, column.reasons),
                *(column.details, column.statuses),
            )
        }
        if lengths != {len(rows)}:
            raise ValueError(f"columns of {lengths} scores for {len(rows)} attempts")
    except Exception:  # noqa: BLE001 - a scorer is a stranger's code; each row shows its own error
        return row_by_row(scorers, rows)
    return column


def _is_columnar(kind: type[Scorer]) -> bool:
    return bool(vars(kind).get("columnar"))
