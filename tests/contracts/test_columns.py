"""Columns of scores: whatever is in a row, it has the score that it has by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from column_checks import assert_same, context, silent_context
from proctor.contracts.columns import long_rows, row_by_row, run_scorer_column, takes_columns
from proctor.contracts.score_columns import ScoreColumn, ScoreRows
from proctor.contracts.scorer import ScoreContext, Scorer, TextScorer
from proctor.core.score import Score, ScoreStatus


@dataclass(frozen=True)
class Length(TextScorer):
    """A scorer of columns that breaks on some answers."""

    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True

    add: int = 0

    def score_texts(self, output: str, references: tuple[str, ...]) -> Any:
        if output == "raise":
            raise ValueError("no length")
        if output == "nothing":
            return None
        if output == "inf":
            return float("inf")
        points = float(len(output) + len(references) + self.add)
        return Score(points=points, out_of=9.0, detail={"text": output, "pair": (1, 2)})


@dataclass(frozen=True)
class Whole(Length):
    """A scorer whose column breaks altogether."""

    columnar: ClassVar[bool] = True
    form: str = "raise"

    @classmethod
    def score_column(cls, scorers: Sequence[Any], rows: ScoreRows) -> ScoreColumn:
        if scorers[0].form == "raise":
            raise ZeroDivisionError
        column = row_by_row(scorers, rows)
        column.reasons.pop()
        return column


@dataclass(frozen=True)
class Otherwise(Length):
    """A subclass that scores otherwise and says nothing of columns."""

    def score_texts(self, output: str, references: tuple[str, ...]) -> Any:
        return 0.5


@dataclass(frozen=True)
class Slower(Length):
    """A subclass with a score of its own, which may take its time."""

    def score(self, ctx: ScoreContext) -> Any:
        return True


@dataclass(frozen=True)
class Plain(Scorer):
    """A scorer that knows nothing of columns."""

    def score(self, ctx: ScoreContext) -> Any:
        return ctx.prompt == "?"


ODD = [
    context("raise"),
    context("four", ["a", "b"]),
    silent_context(["x"]),
    context("nothing"),
    context("inf"),
    context("\ud800"),
    context(""),
]


@pytest.mark.parametrize("scorer", [Length(), Whole(), Whole(form="short")])
def test_rows_that_break_cost_only_themselves(scorer: Scorer) -> None:
    assert_same([scorer] * len(ODD), ODD)
    column = run_scorer_column([scorer] * len(ODD), ScoreRows.of(ODD))
    failed = ScoreStatus.FAILED
    assert [status is failed for status in column.statuses] == [1, 0, 0, 1, 1, 0, 0]
    assert column.reasons[0].endswith("ValueError: no length")
    assert column.points[1] == 6.0


def test_scorers_and_classes_may_differ_from_row_to_row() -> None:
    scorers = [Length(), Length(add=2), Plain(), Otherwise(), Length(), Slower(), Plain()]
    column = run_scorer_column(scorers, ScoreRows.of(ODD))
    assert column.points[1:] == [8.0, 0.0, 0.5, None, 1.0, 1.0]


def test_a_subclass_has_to_say_anew_that_it_scores_columns() -> None:
    assert takes_columns(Length())
    assert takes_columns(Whole())
    assert not takes_columns(Otherwise())
    assert not takes_columns(Plain())


def test_a_subclass_with_a_score_of_its_own_has_to_say_anew_that_it_is_instant() -> None:
    assert Length().is_instant
    assert Whole().is_instant
    assert not Otherwise().is_instant
    assert not Slower().is_instant


def test_an_empty_column() -> None:
    assert len(run_scorer_column([], ScoreRows.of([]))) == 0


def test_rows_that_take_long_are_named() -> None:
    rows = ScoreRows.of([context("a" * 1_000_001), context("a"), context("", ["a" * 1_000_001])])
    assert long_rows([Length()] * 3, rows) == [0, 2]
