"""Scoring of many attempts as columns, with the scores that each has by itself."""

from collections.abc import Sequence
from typing import TypeVar

from proctor.contracts.score_columns import ScoreColumn, ScoreRows
from proctor.contracts.scorer import Scorer, TextScorer
from proctor.contracts.scoring import as_score, failed_by, run_scorer

__all__ = [
    "ScoreColumn",
    "ScoreRows",
    "long_rows",
    "row_by_row",
    "run_scorer_column",
    "takes_columns",
    "text_by_text",
]

AnyScorer = TypeVar("AnyScorer", bound=Scorer)


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
    silent = set(rows.unanswered)
    if not silent and len(set(map(type, scorers))) == 1:
        return _column_of(scorers, rows)
    places_by_class: dict[type[Scorer], list[int]] = {}
    for place, scorer in enumerate(scorers):
        if place not in silent:
            places_by_class.setdefault(type(scorer), []).append(place)
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
    by_text = [scorer for scorer in scorers if isinstance(scorer, TextScorer)]
    if by_text and not _overrides_column(kind):
        return text_by_text(by_text, rows)
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


def _overrides_column(kind: type[Scorer]) -> bool:
    return next(cls for cls in kind.__mro__ if "score_column" in vars(cls)) is not Scorer
