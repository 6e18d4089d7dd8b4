"""What workers are told to do with a share of a run, and what they tell in return.

All of it is small, can be pickled, and can be written as JSON: texts stay in files.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from proctor.core.suite import Json
from proctor.engine.bulk.reach import Reach
from proctor.io.row_shares import FilePlan, Share
from proctor.store.parts.files import PartFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFile:
    """A file of rows, and how it is read."""

    path: str
    dialect: str
    root: str | None = None
    first_row: tuple[int, Json] | None = None
    """The row that describes the suite, with its line, where the file begins with one."""
    limits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTask:
    """To look at what a Parquet file says of itself."""

    path: str
    limits: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTask:
    """To read the cases of a share, and to write them as a part of the suite."""

    source: RowFile
    share: Share
    first: int
    """The position of the first case."""
    keep: int
    """How many of the cases belong to the run; the others are only checked."""
    allow_import: bool
    language: str
    folder: PartFolder
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCases:
    """The cases of a share: keys and ids as hashes, and what was found out of their scorers."""

    cases: int
    """How many belong to the run."""
    keys: str
    """32 hexadecimal digits for each of these."""
    ids: str
    """16 hexadecimal digits for each case that was read: the hash of its id."""
    size: int
    survey: Json
    warnings: list[Json]
    tags: list[str]
    clustered: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersTask:
    """To look at the answers of a share."""

    source: RowFile
    share: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAnswers:
    """The answers of a share: the hash of the id of each one's case."""

    answers: int
    ids: str
    numbers: list[int | None]
    """The number of each attempt, where its row says it; empty where none does."""
    has_output: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentTask:
    """To hash the content of a whole file."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """The hash of the content of a file."""

    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SortTask:
    """To write the answers of a share again, those to the cases of one part together."""

    source: RowFile
    share: Share
    parts: tuple[int, ...]
    """Of each row the number of the part that its case is in; -1 for none."""
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedAnswers:
    """Where the answers of a share are now."""

    path: str
    places: tuple[tuple[int, int, int, int], ...]
    """Part, offset, line and number of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareTask:
    """To score the answers to the cases of a part, and to write it."""

    suite: Json
    """The suite without its cases."""
    number: int
    first: int
    cases: int
    case_place: str
    tags: list[str]
    """The names of tags, in the order in which the suite has them; documents have them sorted."""
    answers: RowFile
    shares: tuple[Share, ...]
    """The answers, in the order of the file."""
    attempts: int | None
    interval: str
    allow_import: bool
    folder: PartFolder
    place: str
    fingerprint: str
    """What the part is made with; one made with something else is made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOutcome:
    """A part whose files are written."""

    number: int
    first: int
    cases: int
    attempts: int
    scores: int
    failed: int
    size: int
    document: str
    failures: list[list[str]]
    """Reason and scorer of the first failures."""


_KINDS: Mapping[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(PlanTask, CheckTask, AnswersTask, ContentTask, SortTask, ShareTask),
        *(FilePlan, CheckedCases, CheckedAnswers, FileContent, SortedAnswers, PartOutcome, Reach),
    )
}


def to_json(thing: Any) -> Json:
    """Write a task, or what came of it, as JSON."""
    return [type(thing).__name__, asdict(thing)]


def from_json(data: Json) -> Any:
    """Make a task, or what came of it, of its JSON."""
    name, values = data[0], dict(data[1])
    kind = _KINDS[name]
    for key, inner in (("folder", PartFolder), ("share", Share)):
        if key in values:
            values[key] = _tuples(inner, values[key])
    for key in ("source", "answers"):
        if isinstance(values.get(key), dict):
            values[key] = _source(values[key])
    if "parts" in values:
        values["parts"] = tuple(values["parts"])
    if "shares" in values:
        values["shares"] = tuple(_tuples(Share, share) for share in values["shares"])
    return _tuples(kind, values) if kind in (FilePlan, SortedAnswers, Reach) else kind(**values)


def _source(fields: Mapping[str, Json]) -> RowFile:
    row = fields["first_row"]
    return RowFile(**{**fields, "first_row": None if row is None else (row[0], row[1])})


def _tuples(kind: Any, fields: Mapping[str, Json]) -> Any:
    return kind(
        **{
            name: tuple(tuple(one) if isinstance(one, list) else one for one in value)
            if isinstance(value, list)
            else value
            for name, value in fields.items()
        }
    )
