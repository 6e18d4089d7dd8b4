"""Rows of the store that have no type in core, and the encoding of values as text."""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import orjson

from proctor.core.attempt import Attempt
from proctor.core.case_value import ValueStatus
from proctor.core.fingerprint import plain
from proctor.core.score import Score
from proctor.core.suite import Case, Json
from proctor.late_patterns import late_pattern
from proctor.records import dataclass

if TYPE_CHECKING:
    from sqlalchemy import Column, ColumnElement

Result = TypeVar("Result")


# NUL is refused by PostgreSQL, lone surrogates by both databases; DLE is what escapes them.
_AWKWARD = late_pattern("[\x00\x10\ud800-\udfff]")
_ESCAPED = late_pattern("\x10([0-9a-f]{4})")


def encode(thing: Any) -> str:
    """Write a core object or a JSON value as JSON text.

    A leading space marks text that only the standard library can decode: with lone surrogates,
    or integers of more than 64 bits.
    """
    try:
        return orjson.dumps(thing, default=plain).decode()
    except TypeError:
        return " " + json.dumps(plain(thing), separators=(",", ":"))


def decode(text: str) -> Json:
    """Decode what ``encode`` wrote."""
    return json.loads(text) if text.startswith(" ") else orjson.loads(text)


BROKEN = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
"""Exceptions from decoding an invalid document, which others may have written."""


def decode_object(text: str) -> dict[str, Json]:
    """Decode an object that ``encode`` wrote; raise a ValueError for anything else."""
    value = decode(text)
    if not isinstance(value, dict):
        raise ValueError("expected an object")
    return value


def tags_of(text: str) -> dict[str, tuple[str, ...]]:
    """Decode the tags of a row; invalid ones become empty."""
    try:
        return read_tags(text)
    except BROKEN:
        return {}


def read_tags(text: str) -> dict[str, tuple[str, ...]]:
    """Decode the tags of a row; raise a ValueError if they are invalid."""
    tags = {name: tuple(values) for name, values in decode_object(text).items()}
    if not all(isinstance(value, str) for values in tags.values() for value in values):
        raise TypeError("expected a string as a tag")
    return tags


def readable(
    rows: Iterable[tuple[str, str]], make: Callable[[Any], Result], damaged: set[str]
) -> dict[str, Result]:
    """Decode documents by key, and record the keys of those that cannot be read."""
    objects = {}
    for key, document in rows:
        try:
            objects[key] = make(decode(document))
        except BROKEN:
            damaged.add(key)
    return objects


def needs_escape(text: str) -> bool:
    """Tell quickly whether a text may have characters that a database rejects."""
    return not text.isascii() or "\x10" in text or "\0" in text


def escape(text: str) -> str:
    """Escape the characters that a database rejects."""
    if not needs_escape(text):
        return text  # as most are: what is looked for one by one takes as long as the rest
    return _AWKWARD.sub(lambda match: f"\x10{ord(match[0]):04x}", text)


def unescape(text: str) -> str:
    """Undo ``escape``."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRow:
    """Description of a stored suite without its cases."""

    key: str
    name: str
    version: str
    dialect: str
    cases: int
    """The number of cases."""
    created: float
    imported: bool = False
    """Whether it exists only because of an imported run."""


@dataclass(frozen=True)
class Positions:
    """Positions of some cases: all of a range, or those of a list."""

    first: int
    last: int
    """Inclusive."""
    some: Sequence[int] | None = None
    """In ascending order; None for the whole range."""

    @classmethod
    def of(cls, positions: Iterable[int]) -> "Positions":
        """Return the positions of a list."""
        some = sorted(set(positions))
        return cls(some[0], some[-1], some) if some else cls(0, -1, some)

    def sql(self, column: "Column[int]") -> "ColumnElement[bool]":
        """Return the condition that a column is one of them."""
        if self.some is not None:
            return column.in_(self.some)
        return column.between(self.first, self.last)

    def within(self, first: int, end: int) -> Sequence[int]:
        """Return those from a first one on, and before an end."""
        if self.some is None:
            return range(max(first, self.first), min(end, self.last + 1))
        return self.some[bisect_left(self.some, first) : bisect_left(self.some, end)]

    def chosen(self, column: Any) -> Any:
        """Return which entries of an array of numpy are among them."""
        if self.some is not None:
            import numpy as np

            return np.isin(column, np.array(self.some, dtype=np.int64))
        return (column >= self.first) & (column <= self.last)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAttempt:
    """Attempt of a run at one position, with its scores."""

    position: int
    """The position of the case in the run's suite."""
    index: int
    attempt_key: str
    score_keys: Mapping[str, str] = field(default_factory=dict)
    """Score keys by criterion id."""


class LinkedCase(NamedTuple):
    """Attempts and scores of one case of a run."""

    position: int
    case: Case
    attempts: list[tuple[Attempt, dict[str, Score]]]
    """Attempts in their order, each with its scores by criterion id."""
    keys: Sequence[Mapping[str, str]] = ()
    """Keys of the scores of each attempt, stored or not, by criterion id."""


class LinkedKeys(NamedTuple):
    """Keys of one attempt of a run and of its scores."""

    attempt_key: str
    score_keys: Mapping[str, str]


class SortKeys(NamedTuple):
    """What the list of a run's cases can be sorted by, besides its result; None sorts last."""

    attempts: int | None = None
    tokens: int | None = None
    """Of the candidate, in all attempts; so are seconds and cost."""
    seconds: float | None = None
    cost: float | None = None
    question_length: int | None = None
    """Characters of the last message of a user."""
    answer_length: int | None = None
    """Characters of the longest answer."""
    reason: str | None = None
    """The first criterion that lacks points and why, cut to ``KEY_LENGTH`` characters."""
    tag_text: str | None = None
    """Its tags by name, cut to ``KEY_LENGTH`` characters."""


KEY_LENGTH = 60
"""Characters of a text by which cases are sorted; databases limit what an index holds."""


def tag_text(tags: Mapping[str, Sequence[str]]) -> str | None:
    """Return the text by which cases are sorted by tags; None without tags."""
    texts = (f"{name}: {', '.join(tags[name])}" for name in sorted(tags))
    return "; ".join(texts)[:KEY_LENGTH] or None


def reason_text(criterion: str, reason: str) -> str:
    """Return the text by which cases are sorted by their first reason."""
    return (f"{criterion}: {reason}" if criterion else reason)[:KEY_LENGTH]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """Result of one case in a run, without details."""

    position: int
    case_id: str
    status: ValueStatus
    value: float | None
    full: float
    weight: float
    low: float
    high: float
    spread: float
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cluster: str = ""
    """The cluster of the case; empty where it is a draw of its own."""
    broken: bool = False
    """Whether part of it could not be read and was replaced by defaults."""
    sort_keys: SortKeys = field(default=SortKeys(), compare=False, repr=False)
    """Written with a row; not read with it."""


Change = Literal["better", "worse", "both_wrong", "both_partly", "both_right"]
"""How a case of two runs changed."""


class PairedRow(NamedTuple):
    """Result of a case in two runs; the second is None if it lacks the case."""

    full: float
    weight: float
    status: str
    value: float | None
    low: float
    high: float
    full_2: float | None
    status_2: str | None
    value_2: float | None
    low_2: float | None
    high_2: float | None


class PairedCount(NamedTuple):
    """Number of cases with the same pair of results."""

    row: PairedRow
    cases: int
    group: str = ""
    """The value of a tag, if counted by tag."""
    cluster: str = ""
    """The cluster of the cases in the first run; empty where each is a draw of its own."""


SHARES = (0.0, *(place / 10 for place in range(1, 10)), 1.0)
"""Where the shares of full marks are cut to count pairs: 0, each tenth, and all of them.

At 0 are two cuts: one reached from 0 on, which penalties can keep a share below, and one above it.
"""


class ShareCell(NamedTuple):
    """Cases whose values lie between the same cuts in two runs."""

    first: int
    """How many cuts the share of the first reaches: 0 below nothing, 1 at nothing."""
    second: int
    cases: int
    first_share: float
    """The mean of the shares."""
    second_share: float


class StoredPair(NamedTuple):
    """One case of two runs."""

    position: int
    """Its position in the first run."""
    id: str
    tags: Mapping[str, tuple[str, ...]]
    """Tags of the first run."""
    row: PairedRow


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One call of a model: request, reply and cost."""

    key: str
    model: str
    request: Json
    response: Json = None
    usage: Mapping[str, Json] = field(default_factory=dict)
    cost: float | None = None
    seconds: float | None = None
    created: float = 0.0
    status: str = "ok"
    """``ok``; else the call is made again when it is wanted: ``error``, or ``unusable`` where a
    reply came of which nothing could be made, such as a verdict that nobody can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A person's label of an attempt, or of one criterion on it."""

    run_id: str
    case_id: str
    index: int = 0
    criterion: str = ""
    points: float | None = None
    note: str = ""
    author: str = ""
    created: float = 0.0
    seen: bool = False
    """Whether its author had seen the judge's verdict, so that it says nothing of the judge."""
    id: int | None = None
    """Assigned by the store."""
