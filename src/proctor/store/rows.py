"""What goes into the store and comes out of it, where core has no noun for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from proctor.core.attempt import Attempt
from proctor.core.score import Score, ValueStatus
from proctor.core.suite import Case, Json


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
