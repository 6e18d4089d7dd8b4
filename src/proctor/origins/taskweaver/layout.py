"""A run as the result file of TaskWeaver's own evaluation: one row per turn, or per case."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor.contracts.report import Layout, RunView
from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Case
from proctor.reports.turns import NOT_REACHED, UNSCORED, turns_of

RESULT = "sample_case_results.csv"
BY_TURN = ("case_file", "round", "score", "normalized_score")
BY_CASE = ("case_file", "score", "normalized_score")


@dataclass(frozen=True)
class TaskWeaverLayout(Layout):
    """The CSV of TaskWeaver's evaluation.

    Turns that were not reached have no row, and neither has a case of which a part could not be
    scored: there it is still to be done. Several attempts at a case become their means.
    """

    def write(self, view: RunView, folder: Path) -> list[Path]:
        """Write ``sample_case_results.csv`` into a folder."""
        columns, rows = table(view.results())
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / RESULT
        path.write_text(written(columns, rows), encoding="utf-8", newline="")
        return [path]


def table(results: Iterator[CaseResult]) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """Return the columns and the rows: by turn where any case has marks of turns, else by case."""
    rows: list[dict[str, str]] = []
    turns = False
    for result in results:
        turns = turns or by_turn(result.case)
        rows += rows_of(result)
    return (BY_TURN if turns else BY_CASE), rows


def by_turn(case: Case) -> bool:
    """Tell whether a case is scored turn by turn, as those of the first generation are."""
    return any(criterion.turn is not None for criterion in case.criteria)


def rows_of(result: CaseResult) -> list[dict[str, str]]:
    """Return the rows of one case, all of its columns as they stand in the file."""
    case = result.case
    if by_turn(case):
        marks = _turn_marks(result)
    else:
        marks = [("", [_whole(item) for item in result.attempts])]
    rows = []
    for place, pairs in marks:
        present = [pair for pair in pairs if pair is not None]
        if not present or len(present) < len(pairs):
            return []
        score, share = (sum(each) / len(present) for each in zip(*present, strict=True))
        rows.append(
            {
                "case_file": case.id,
                "round": place,
                "score": number(score),
                "normalized_score": repr(float(share)),
            }
        )
    return rows


def number(value: float) -> str:
    """Write a score as its weights are written: whole where it is whole."""
    return str(int(value)) if value == int(value) else repr(float(value))


def written(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> str:
    """Write rows as CSV, with the columns that are wanted."""
    file = io.StringIO()
    writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


_Pair = tuple[float, float]


def _turn_marks(result: CaseResult) -> list[tuple[str, list[_Pair | None]]]:
    """Return for each turn that some attempt reached the marks of those that did."""
    marks: dict[int, list[_Pair | None]] = {}
    for item in result.attempts:
        if item.attempt.status in (AttemptStatus.ERROR, AttemptStatus.STOPPED):
            marks.setdefault(0, []).append(None)
            continue
        for turn in turns_of(result.case, item):
            if turn.status == NOT_REACHED:
                continue
            bad = turn.status == UNSCORED or turn.score is None or turn.normalized is None
            pair = None if bad else (turn.score or 0.0, turn.normalized or 0.0)
            marks.setdefault(turn.turn, []).append(pair)
    return [(str(turn), pairs) for turn, pairs in sorted(marks.items())]


def _whole(item: AttemptResult) -> _Pair | None:
    value = item.value
    if value.status is ValueStatus.UNANSWERED:
        return 0.0, 0.0
    if value.status is not ValueStatus.SCORED or not value.out_of:
        return None
    return value.points, value.points / value.out_of
