"""What a reader of one format must be able to do, and what it returns."""

from abc import ABC, abstractmethod
from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from proctor.core.attempt import Attempt
from proctor.core.suite import CandidatePrompt, Json, Suite
from proctor.errors import Problem, UsageError
from proctor.records import dataclass
from proctor.suggestions import LOOSELY, suggest

if TYPE_CHECKING:
    from proctor.contracts.model import ModelChoice
    from proctor.contracts.shares import FileRow, ShareReader
    from proctor.io.text_files import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableRole:
    """A model that a settings file names and that cannot be asked, as when its address is none.

    It matters only where somebody must play the role and the person names nobody else.
    """

    choice: "ModelChoice"
    """How it would be asked; a model that the person names in its stead is asked like this."""
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A suite as a dialect read it, with what the reader should be warned of."""

    suite: Suite
    warnings: tuple[Problem, ...] = ()
    roles: "Mapping[str, ModelChoice]" = field(default_factory=dict)
    """The models that the person's own settings file names: candidate, judge, simulator."""
    attempts: int | None = None
    """How many attempts a case the format asks for, where it does."""
    problems: tuple[Problem, ...] = ()
    """What keeps this suite from being used, where it is one of several that may be used."""
    unusable_roles: Mapping[str, UnusableRole] = field(default_factory=dict)
    """The roles that the file gives to a model that cannot be asked."""
    role_notes: Mapping[str, str] = field(default_factory=dict)
    """By role, what a person should know of an address that cannot be reached."""


class Dialect(ABC):
    """A format in which suites and answers are written."""

    name: ClassVar[str]
    option_names: ClassVar[tuple[str, ...]] = ()
    """The options that ``read_all`` understands."""

    @abstractmethod
    def recognises(self, path: Path) -> bool:
        """Tell from the path and a first look at its content whether this is the format."""

    @abstractmethod
    def read(self, path: Path, *, compat: str = "", root: Path | None = None) -> Reading:
        """Read a suite, or raise a SuiteError with every problem.

        Files that the suite names must lie inside root, by default the folder of the suite.
        """

    def read_all(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        """Read all suites of a path; most formats have one.

        What is wrong with any of them is raised.

        Options are what a person set beside the file, such as ``max_turns``; a dialect that knows
        none refuses them.
        """
        self.check_options(options or {})
        return (self.read(path, compat=compat, root=root),)

    def check_options(self, options: Mapping[str, str]) -> None:
        """Raise a UsageError for options that are not among ``option_names``."""
        if unknown := [name for name in options if name not in self.option_names]:
            hints = [suggest(name, self.option_names, cutoff=LOOSELY) for name in unknown]
            names = ", ".join(
                f"{name!r} ({hint})" if hint else repr(name)
                for name, hint in zip(unknown, hints, strict=True)
            )
            raise UsageError(f"the dialect {self.name!r} has no option {names}")

    def read_each(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        """Read all suites of a path, those that cannot be used with their problems.

        What concerns them all is raised.
        """
        return self.read_all(path, compat=compat, root=root, options=options)

    def read_data(self, data: Json, name: str, criteria: Json = None) -> Reading:
        """Read a suite from values in memory, or raise a SuiteError with every problem.

        The values are what a file of this format would hold. ``criteria`` serve cases that have
        none of their own.
        """
        raise UsageError(f"suites of the dialect {self.name!r} are read from files")

    def shares(
        self, path: Path, *, root: Path | None = None, first_row: "FileRow | None" = None
    ) -> "ShareReader | None":
        """Return what reads a suite, or answers, that are rows of one file; none by default.

        ``first_row`` is the one that describes the suite, where the file begins with it.
        """
        return None

    def prompts(
        self, source: "Path | Document", *, root: Path | None = None, key: str = ""
    ) -> tuple[CandidatePrompt, ...]:
        """Read prompts from a file, or from a document that holds some, under a key or whole.

        What is wrong with them is raised as a SuiteError; only the native dialect has prompts.
        """
        raise UsageError(f"the dialect {self.name!r} has no prompts")

    def run_options(self, path: Path) -> Mapping[str, Json]:
        """Return what a file says besides its suite, as keys of a run file; nothing by default."""
        return {}

    @abstractmethod
    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        """Read answers on file, case by case in the order of the file, attempts in their order.

        Raises a DialectError when the path is not an answers file of this format.
        """

    def answers_by(self, path: Path, suite: Suite, columns: str) -> Iterator[Attempt]:
        """Read answers whose columns have other names, as ``case=id,output=response`` says."""
        raise UsageError(f"the dialect {self.name!r} has no names of columns")


class PlainDialect(Dialect):
    """Base of formats that are read in one way alone."""

    def read(self, path: Path, *, compat: str = "", root: Path | None = None) -> Reading:
        return self.read_with(path, root, {})

    def read_all(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        self.check_options(options or {})
        return (self.read_with(path, root, options or {}),)

    @abstractmethod
    def read_with(self, path: Path, root: Path | None, options: Mapping[str, str]) -> Reading:
        """Read a suite as ``read`` does, with what a person set beside the file."""


class SuiteWriter(ABC):
    """A format in which suites of any origin can be written."""

    @abstractmethod
    def write(self, suite: Suite, folder: Path) -> Path:
        """Write a suite into a folder, and return the file to read it from."""
