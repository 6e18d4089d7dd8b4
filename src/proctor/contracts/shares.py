"""Suites and answers that are rows of files, read one share of the rows at a time."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Json, Message, Suite
from proctor.errors import Problem


class FileRow(NamedTuple):
    """One row of a file."""

    line: int
    """Where it stands: the line of a text, or the number of the row of a table, from 1."""
    data: Json


class TextRows(NamedTuple):
    """Rows of a table all of whose columns have texts, column by column."""

    before: int
    """How many rows come before them."""
    names: Sequence[str]
    columns: Sequence[Sequence[str | None]]

    def row(self, place: int) -> FileRow:
        """Return one row; it lacks what it has no text for."""
        cells = zip(self.names, self.columns, strict=True)
        data = {name: column[place] for name, column in cells if column[place] is not None}
        return FileRow(self.before + place + 1, data)


@dataclass(slots=True, kw_only=True)
class CaseShare:
    """The cases of some rows, as what their keys are made of."""

    ids: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    documents: list[bytes] = field(default_factory=list)
    """The JSON of each case, sorted and without its source."""
    shapes: list[int] = field(default_factory=list)
    """The place of each case's example; cases with the same one differ in texts alone."""
    examples: list[Case] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    tags: dict[str, None] = field(default_factory=dict)
    """The names of all tags, in order."""
    clustered: set[str] = field(default_factory=set)
    """The tags or fields that some case has a cluster by."""


class AnswerRow(NamedTuple):
    """One answer: the id of its case, and its number where the row says it."""

    case_id: str
    number: int | None
    output: str | None
    """The answer, where it is one text and the row says nothing else."""
    rest: Mapping[str, Json] | None
    """The row, where there is more."""


class RowProblem(Exception):
    """Something wrong in a share: reading the whole file by itself says what, and all of it."""


class ShareReader(ABC):
    """Reader of a suite that is one file of rows, and of answers to it.

    What is wrong is a RowProblem; it is for ``Dialect.read`` and ``answers`` to say what it is.
    """

    @abstractmethod
    def header(self) -> tuple[Suite, Sequence[Problem]]:
        """Return the suite without its cases, and what the reader should be warned of."""

    takes_text_rows: ClassVar[bool] = False
    """Whether ``cases`` takes rows of texts by columns, too."""

    @abstractmethod
    def cases(self, rows: Iterable[FileRow | TextRows], first: int) -> CaseShare:
        """Read the cases of some rows, the first of which is the case at that position."""

    @abstractmethod
    def check_clusters(self, tags: Iterable[str], clustered: Iterable[str]) -> None:
        """Raise a RowProblem if no case has the tag that clusters are named by."""

    @abstractmethod
    def answers(self, rows: Iterable[FileRow]) -> Iterable[AnswerRow]:
        """Read the answers of some rows."""

    def text_answers(
        self, cases: Sequence[str | None], outputs: Sequence[str | None]
    ) -> Iterable[AnswerRow]:
        """Read the answers of rows of a table that has these two columns of texts alone."""
        columns = (("case", cases), ("output", outputs))
        return self.answers(
            FileRow(0, {name: texts[row] for name, texts in columns if texts[row] is not None})
            for row in range(len(cases))
        )

    @abstractmethod
    def attempt(self, row: AnswerRow, number: int, question: tuple[Message, ...]) -> Attempt:
        """Make the attempt of an answer at a case with these messages."""
