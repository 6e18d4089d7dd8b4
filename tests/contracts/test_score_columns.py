"""Columns of attempts and of scores: what goes in comes out."""

from column_checks import context, silent_context
from proctor.contracts.score_columns import ScoreColumn, ScoreRows
from proctor.core.score import Score, ScoreStatus


def test_rows_are_taken_with_all_that_belongs_to_them() -> None:
    contexts = [context("a", ["x"]), silent_context(), context("b"), silent_context(["y"])]
    rows = ScoreRows.of(contexts)
    assert (len(rows), rows.unanswered) == (4, [1, 3])
    some = rows.take([3, 0])
    assert (some.outputs, some.references, some.prompts) == (["", "a"], [("y",), ("x",)], ["", "?"])
    assert some.unanswered == [0]
    assert some.context(1) is contexts[0]
    assert some.take([1]).context(0) is contexts[0]


def test_scores_come_out_as_they_were_put() -> None:
    failed = Score.failed("broke", out_of=2.0, detail={"a": (1, 2)})
    scores = [Score(points=1.0, out_of=3.0, reason="r"), failed]
    column = ScoreColumn.of(scores)
    assert [column.score(0), column.score(1)] == scores
    others = ScoreColumn.empty(3)
    others.put_rows([2, 0], column)
    others.put(1, failed)
    assert [others.score(row) for row in range(3)] == [failed, failed, scores[0]]
    assert others.written_details() == [b'{"a":[1,2]}', b'{"a":[1,2]}', None]


def test_written_details_are_taken_as_they_are() -> None:
    column = ScoreColumn(
        points=[1.0, 2.0], out_of=[None, None], reasons=["", ""], details=[b'{"a":[1]}', None]
    )
    assert column.written_details() == [b'{"a":[1]}', None]
    assert column.score(0) == Score(points=1.0, detail={"a": [1]})
    assert column.statuses == [ScoreStatus.SCORED] * 2
