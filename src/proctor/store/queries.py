"""Queries for the cases of one run, or of several: filters, order, and where a page begins."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from proctor.core.case_value import ValueStatus
from proctor.store.rows import Change

Sort = Literal[
    "position",
    "value",
    "id",
    "question",
    "answer",
    "reason",
    "tokens",
    "seconds",
    "cost",
    "attempts",
    "tags",
    "state",
]
"""What the cases of a run are sorted by: question and answer by their length."""
KEY_OF_SORT: Mapping[Sort, str] = {
    "question": "question_length",
    "answer": "answer_length",
    "reason": "reason",
    "tokens": "tokens",
    "seconds": "seconds",
    "cost": "cost",
    "attempts": "attempts",
    "tags": "tag_text",
}
"""The field of ``SortKeys`` of each order that has one."""
TEXT_SORTS: frozenset[Sort] = frozenset(("id", "reason", "tags", "state"))
"""Orders by a text; the others are by a number."""
FAILED = "failed"
"""Instead of a status: cases with a value below their full score."""
MOST_COUNTED = 10_000
"""How far matching cases are counted."""


class Cursor(NamedTuple):
    """The row that a page begins after: its sort key and its position."""

    key: float | str | None
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingQuery:
    """Query for the cases of a run: filters and order."""

    where: str = ""
    """An expression over the case's id, value, rate, status, … and its tags."""
    search: str = ""
    """A text in the id, a tag, the question or an answer, ignoring case."""
    status: str = ""
    """The status of the cases, or `FAILED`."""
    sort: Sort = "position"
    """By a value, cases without one are lowest; by a sort key, they are last in both directions."""
    criterion: str = ""
    """The criterion by what it gave each case is sorted, instead of any other order."""
    penalties: frozenset[str] = frozenset()
    """The criteria that take points off, of which a case fails with marks instead of without."""
    descending: bool = False
    after: Cursor | None = None
    backward: bool = False
    """Whether the list is read from its end to its beginning."""

    @property
    def falls(self) -> bool:
        """Tell whether keys and positions are read from the highest to the lowest."""
        return self.descending != self.backward

    @property
    def missing_first(self) -> bool:
        """Tell whether cases without a sort key are read before the others."""
        return not self.falls if self.sort == "value" else self.backward

    @property
    def rare(self) -> bool:
        """Tell whether possibly few cases match."""
        usual = ("", ValueStatus.SCORED.value, FAILED)
        return bool(self.where or self.search or self.status not in usual)

    @property
    def filters(self) -> bool:
        """Tell whether the list may lack some of the cases."""
        return bool(self.where.strip() or self.search or self.status)


class KindCounts(NamedTuple):
    """How many cases of a run are in each state, and how many have less than their full score."""

    by_status: Mapping[str, int]
    failed: int

    @property
    def cases(self) -> int:
        """Return the number of all cases."""
        return sum(self.by_status.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class PairQuery:
    """Query for the cases of two runs."""

    change: Change | None = None
    """Only one kind of change; otherwise all cases, changed ones first."""
    search: str = ""
    where: str = ""
    """An expression over id, kind, first, second, difference, full, weight, and tags."""


class PairCursor(NamedTuple):
    """Start of a page: after which position, and whether the changed cases are done."""

    position: int = -1
    same: bool = False


START = PairCursor()


Outcome = Literal["differ", "failed_any", "failed_all"]
"""What several runs made of a case: other shares of its marks, less than all of them by any or
by each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GridQuery:
    """Query for the cases of several runs."""

    outcome: Outcome | None = None
    search: str = ""


class GridCounts(NamedTuple):
    """How many cases a grid has, and how many with each outcome."""

    cases: int
    differ: int
    failed_any: int
    failed_all: int
