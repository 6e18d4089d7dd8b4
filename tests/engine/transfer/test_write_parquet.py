"""Runs as Parquet: a row for each score, one for an attempt without any, and any text at all."""

from proctor.contracts.report import RunView
from proctor.core.attempt import Attempt
from proctor.core.case_value import Value, ValueStatus, null_value
from proctor.core.fold import Folded
from proctor.core.run import AttemptResult, CaseResult, Run, Summary
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec, Suite
from proctor.engine.transfer.write_parquet import _rows

CASE = Case(
    id="c",
    messages=(),
    criteria=(
        Criterion(id="e", scorer=Spec(name="exact_match"), metric="right"),
        Criterion(id="f", scorer=Spec(name="contains"), weight=2.0),
    ),
    tags={"lang": ("x", "y")},
)
SCORED = Value(status=ValueStatus.SCORED, value=0.5, low=0.5, high=0.5)
ATTEMPTS = (
    AttemptResult(
        attempt=Attempt.of("c", "half \ud800"),
        scores={"f": Score(points=1.0, out_of=1.0), "e": Score.failed("broke")},
        value=SCORED,
    ),
    AttemptResult(attempt=Attempt.of("c", None, index=1), scores={}, value=null_value(CASE)),
)
RESULT = CaseResult(
    case=CASE,
    attempts=ATTEMPTS,
    folded=Folded(status=ValueStatus.SCORED, value=0.5, low=0.5, high=0.5),
)
VIEW = RunView(
    run=Run(id="i", name="n", suite="s", suite_key="k", candidate=Spec(name="m"), imported=True),
    summary=Summary(totals=None),  # type: ignore[arg-type]
    suite=Suite(name="s", cases=()),
    results=lambda: iter([RESULT]),
)


def test_rows_are_scores_in_the_order_of_the_criteria() -> None:
    first, second, silent = _rows(VIEW)
    assert (first["criterion"], first["metric"], first["score_status"]) == ("e", "right", "failed")
    assert (second["criterion"], second["metric"]) == ("f", "contains")
    assert (first["points"], second["points"], first["reason"]) == (None, 1.0, "broke")
    assert (first["criterion_weight"], second["criterion_weight"]) == (1.0, 2.0)
    assert (first["value"], first["imported"]) == (0.5, True)
    assert (first["tag"], first["tags"]) == ([("lang", ["x", "y"])], '{"lang":["x","y"]}')
    assert (silent["attempt"], silent["status"]) == (1, "unanswered")
    assert "criterion" not in silent


def test_a_text_that_no_file_can_hold_is_written_with_a_question_mark() -> None:
    assert [row["output"] for row in _rows(VIEW)] == ["half ?", "half ?", ""]
