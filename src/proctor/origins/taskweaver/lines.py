"""The results of an examined agent for old scripts: printed turn by turn, kept in one CSV file."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from proctor.contracts.report import RunView
from proctor.core.run import AttemptResult
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion
from proctor.errors import UsageError
from proctor.io.text_files import read_text
from proctor.origins.taskweaver.layout import BY_CASE, BY_TURN, by_turn, rows_of, written
from proctor.reports.reasons import shortfall
from proctor.reports.turns import NOT_REACHED, turns_of


def write_rows(view: RunView, path: Path) -> None:
    """Put the rows of a run into a CSV file, in place of those that its cases had."""
    by_case = [(result.case.id, rows_of(result)) for result in view.results()]
    examined = {name for name, _ in by_case}
    other_rows = [row for row in rows_in(path) if row["case_file"] not in examined]
    rows = [*other_rows, *(row for _, case_rows in by_case for row in case_rows)]
    turns = any(row.get("round") for row in other_rows)
    turns = turns or any(by_turn(result.case) for result in view.results())
    columns = BY_TURN if turns else BY_CASE
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(written(columns, rows), encoding="utf-8", newline="")
    part.replace(path)


def rows_in(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file; none where there is no file."""
    if not path.is_file():
        return []
    with io.StringIO(read_text(path), newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames and "case_file" not in reader.fieldnames:
            raise UsageError(
                f"{path} is no result file: it has no column case_file (fix: name another with -r)"
            )
        try:
            return [{name: value or "" for name, value in row.items() if name} for row in reader]
        except csv.Error as error:
            raise UsageError(
                f"{path} is no result file: {error} (fix: mend line"
                f" {reader.line_num}, or name another with -r)"
            ) from None


def lines(view: RunView) -> Iterator[str]:
    """Yield what a person reads: every turn with its points, and why."""
    if text := shortfall(view):
        yield text
    for result in view.results():
        for item in result.attempts:
            number = f" (attempt {item.attempt.index + 1})" if len(result.attempts) > 1 else ""
            yield f"{result.case.id}{number}"
            yield from (f"  {line}" for line in _attempt_lines(result.case, item))
    totals = view.summary.totals
    rate = "none" if totals.rate is None else f"{totals.rate:.4f}"
    yield (
        f"{totals.cases} cases, rate {rate}, {totals.unscored} unscored, {totals.errors} errors;"
        f" `proctor show {view.run.name} CASE` shows what was said"
    )


def _attempt_lines(case: Case, item: AttemptResult) -> Iterator[str]:
    if item.attempt.error:
        yield f"{item.attempt.status.value}: {item.attempt.error}"
    if not item.scores:
        return
    for turn in turns_of(case, item):
        if turn.status == NOT_REACHED:
            continue
        if turn.score is None or turn.normalized is None:
            yield f"round {turn.turn}: unscored"
        else:
            yield f"round {turn.turn}: score {turn.score:g}, normalized {turn.normalized:.4f}"
        yield from (_point(c, item) for c in case.criteria if c.turn == turn.turn)
    whole = [criterion for criterion in case.criteria if criterion.turn is None]
    if whole and item.value.value is not None and item.value.out_of:
        share = item.value.points / item.value.out_of
        yield f"score {item.value.points:g} of {item.value.out_of:g}, normalized {share:.4f}"
    yield from (_point(criterion, item) for criterion in whole)
    if ended := item.attempt.notes.get("ended"):
        yield f"ended: {ended}"


def _point(criterion: Criterion, item: AttemptResult) -> str:
    score = item.scores.get(criterion.id)
    statement = " ".join(str(criterion.scorer.params.get("statement") or criterion.id).split())
    reason = " ".join((score.reason if score is not None else "not scored").split())
    explanation = f": {reason}" if reason else ""
    return f"  {_outcome(score):8} {statement} (weight {criterion.weight:g}){explanation}"


def _outcome(score: Score | None) -> str:
    if score is None or score.status is ScoreStatus.FAILED:
        return "unscored"
    return "hit" if score.points else "miss"
