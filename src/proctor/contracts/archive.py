"""Suites with their runs as another tool kept them in a folder."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.core.suite import Json, Spec, Suite

Row = tuple[int, Attempt, Mapping[str, Score]]
"""The place of a case in its suite, an attempt at it, and its scores by the id of criterion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRun:
    """A run whose answers are scored already."""

    name: str
    candidate: Spec
    rows: tuple[Row, ...]
    settings: Mapping[str, Json] = field(default_factory=dict)
    started: float = 0.0
    copy_of: str = ""
    """The id of the run that Proctor wrote this down from, where it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSuite:
    """A suite with all its runs."""

    suite: Suite
    runs: tuple[KeptRun, ...] = ()
    created: float = 0.0
    """When the other tool made it; 0 where it does not say."""


class Archive(ABC):
    """The folders in which another tool keeps what it has done."""

    @abstractmethod
    def recognises(self, path: Path) -> bool:
        """Tell from a first look whether this is such a folder."""

    @abstractmethod
    def read(self, path: Path) -> Iterator[KeptSuite]:
        """Read all suites of a folder, or raise a SuiteError with what is wrong."""
