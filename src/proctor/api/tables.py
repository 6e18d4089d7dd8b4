"""Runs as tables: rows of plain values, DataFrames and Arrow tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from proctor.core.attempt import Attempt
from proctor.errors import MissingResource, UsageError

if TYPE_CHECKING:
    from proctor.api.case_views import AttemptView, CaseView


class Table(Protocol):
    """A table of pandas, polars, Arrow or datasets, as type checkers see it."""

    @property
    def shape(self) -> Any:
        """Return the number of rows and columns."""


AnAnswer = str | Attempt | Mapping[str, Any] | Sequence[str] | None
"""An answer: a text, a mapping with it, an Attempt, or a list of attempts."""
AnyAnswers = Mapping[str, Any] | Sequence[AnAnswer] | Table
"""Answers: by the ids of cases, in their order, or as a table."""


def attempt_rows(cases: "Iterable[CaseView]") -> list[dict[str, Any]]:
    """Return a row for each attempt: what was asked and answered, and every score."""
    rows = [_attempt(case, one) for case in cases for one in case.attempts]
    return _even(rows)


def rows_of(cases: "Iterable[CaseView]", kind: str) -> list[dict[str, Any]]:
    """Return a row for each attempt, or for each case."""
    if kind not in ("attempts", "cases"):
        raise UsageError(f"rows are 'attempts' or 'cases', not {kind!r}")
    return case_rows(cases) if kind == "cases" else attempt_rows(cases)


def case_rows(cases: "Iterable[CaseView]") -> list[dict[str, Any]]:
    """Return a row for each case, with its value over all attempts."""
    return _even([_case(case) for case in cases])


def _attempt(case: "CaseView", one: "AttemptView") -> dict[str, Any]:
    scores = {f"score.{name}": score.points for name, score in one.scores.items()}
    reasons = [f"{name}: {score.reason}" for name, score in one.scores.items() if score.reason]
    return {
        "case": case.id,
        "attempt": one.index,
        "question": case.question,
        "reference": case.references[0] if case.references else None,
        "output": one.output,
        "value": one.value,
        "full": case.full,
        "status": one.status,
        "why": "; ".join(reasons) or one.error,
        "error": one.error or None,
        "seconds": one.seconds,
        **scores,
        **_tags(case),
    }


def _case(case: "CaseView") -> dict[str, Any]:
    return {
        "case": case.id,
        "question": case.question,
        "reference": case.references[0] if case.references else None,
        "output": case.output,
        "value": case.value,
        "full": case.full,
        "status": case.status,
        "why": case.why,
        "error": case.error or None,
        "attempts": len(case.attempts),
        **_tags(case),
    }


def _tags(case: "CaseView") -> dict[str, Any]:
    return {f"tags.{name}": ", ".join(values) for name, values in case.tags.items()}


def _even(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give all rows the same columns, in the order in which they first appear."""
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in columns} for row in rows]


def frame_of(rows: Sequence[dict[str, Any]]) -> Any:
    """Return rows as a pandas DataFrame."""
    try:
        import pandas
    except ImportError:
        raise MissingResource(
            "pandas is not installed (fix: pip install pandas, or to_arrow(), or to_dicts())"
        ) from None
    return pandas.DataFrame(list(rows))


def arrow_of(rows: Sequence[dict[str, Any]]) -> Any:
    """Return rows as an Arrow table."""
    import pyarrow

    return pyarrow.Table.from_pylist(list(rows))
