"""What goes into the store and comes out of it, and how values become text that databases keep."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import orjson
from sqlalchemy import Dialect, Float, Integer, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

from proctor.core.attempt import Attempt
from proctor.core.fingerprint import plain
from proctor.core.score import Score, ValueStatus
from proctor.core.suite import Case, Json

Result = TypeVar("Result")

# NUL is refused by PostgreSQL, lone surrogates by both databases; DLE is what escapes them.
_AWKWARD = re.compile("[\x00\x10\ud800-\udfff]")
_ESCAPED = re.compile("\x10([0-9a-f]{4})")


def encode(thing: Any) -> str:
    """Write a core object or a JSON value as JSON text.

    Text that starts with a space holds something that only the standard library reads back
    unchanged: lone surrogates, or whole numbers of more than 64 bits.
    """
    try:
        return orjson.dumps(thing, default=plain).decode()
    except TypeError:
        return " " + json.dumps(plain(thing), separators=(",", ":"))


def decode(text: str) -> Json:
    """Read what ``encode`` wrote."""
    return json.loads(text) if text.startswith(" ") else orjson.loads(text)


BROKEN = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
"""What comes of reading a document that is not what it must be: others may write to a store."""


def decode_object(text: str) -> dict[str, Json]:
    """Read an object that ``encode`` wrote; something else is a ValueError."""
    value = decode(text)
    if not isinstance(value, dict):
        raise ValueError("this is no object")
    return value


def tags_of(text: str) -> dict[str, tuple[str, ...]]:
    """Read the tags of a row; those that cannot be read are none."""
    try:
        return read_tags(text)
    except BROKEN:
        return {}


def read_tags(text: str) -> dict[str, tuple[str, ...]]:
    """Read the tags of a row; what is none of them is an error."""
    tags = {name: tuple(values) for name, values in decode_object(text).items()}
    if not all(isinstance(value, str) for values in tags.values() for value in values):
        raise TypeError("a tag is no text")
    return tags


def readable(
    rows: Iterable[tuple[str, str]], make: Callable[[Any], Result], damaged: set[str]
) -> dict[str, Result]:
    """Make objects of documents, by key; the keys of those that cannot be read are noted."""
    objects = {}
    for key, document in rows:
        try:
            objects[key] = make(decode(document))
        except BROKEN:
            damaged.add(key)
    return objects


def escape(text: str) -> str:
    """Write a text without the characters that a database refuses."""
    return _AWKWARD.sub(lambda match: f"\x10{ord(match[0]):04x}", text)


def unescape(text: str) -> str:
    """Read what ``escape`` wrote."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


class AnyText(TypeDecorator[str]):
    """Text column that takes whatever a file or a model may contain."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape on the way in."""
        return None if value is None else escape(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Restore on the way out."""
        if value is not None and not isinstance(value, str):
            # SQLite keeps in any column whatever somebody else puts there.
            value = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        return unescape(value) if value is not None and "\x10" in value else value


class AnyNumber(TypeDecorator[float]):
    """Column of numbers, from which what is none comes out as not a number."""

    impl = Float
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> float | None:
        """Let finite numbers through."""
        if value is None:
            return None
        finite = type(value) in (int, float) and math.isfinite(value)
        return float(value) if finite else math.nan


class AnyWhole(TypeDecorator[int]):
    """Column of whole numbers, from which what is none comes out as -1."""

    impl = Integer
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> int | None:
        """Let whole numbers through."""
        return value if value is None or type(value) is int else -1


def is_number(kind: TypeEngine[Any]) -> bool:
    """Tell whether a column, or what is computed of some, is a number."""
    return isinstance(kind, Float | AnyNumber)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRow:
    """Description of a stored suite without its cases."""

    key: str
    name: str
    version: str
    dialect: str
    cases: int
    """How many cases it has."""
    created: float
    imported: bool = False
    """Whether it came with an imported run, and no run was made of it here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAttempt:
    """The attempt, with its scores, that a run has at one place."""

    position: int
    """The place of the case in the run's suite."""
    index: int
    attempt_key: str
    score_keys: Mapping[str, str] = field(default_factory=dict)
    """The key of the score by the id of its criterion."""


class LinkedCase(NamedTuple):
    """All that a run has for one case."""

    position: int
    case: Case
    attempts: list[tuple[Attempt, dict[str, Score]]]
    """Attempts in their order, each with its scores by criterion id."""
    keys: Sequence[Mapping[str, str]] = ()
    """The keys of the scores that each attempt has or still needs, by criterion id."""


class LinkedKeys(NamedTuple):
    """Keys that one attempt of a run, and each of its scores, is stored under."""

    attempt_key: str
    score_keys: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """Result of one case in a run, for tables that never open the details."""

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
    broken: bool = False
    """Whether some of it cannot be read, and is made up here."""


class PairedRow(NamedTuple):
    """Result of a case in two runs; the second has none where it lacks the case."""

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
    """Number of cases that came to the same in two runs."""

    row: PairedRow
    cases: int
    group: str = ""
    """The value of a tag, where they were counted by one."""


class StoredPair(NamedTuple):
    """One case of two runs."""

    position: int
    """Its place in the first run."""
    id: str
    tags: Mapping[str, tuple[str, ...]]
    """Those of the first run."""
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
    id: int | None = None
    """Given by the store."""
