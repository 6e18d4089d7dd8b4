"""What a report and a layout of result files must be able to do, and what they are given."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, ClassVar

from proctor.core.names import candidate_label
from proctor.core.run import CaseResult, Group, Run, Summary
from proctor.core.suite import Suite
from proctor.errors import UsageError
from proctor.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as reports see it: its numbers at once, its cases one by one."""

    run: Run
    summary: Summary
    suite: Suite
    """The suite without its cases."""
    results: Callable[[], Iterator[CaseResult]]
    """Makes a fresh iterator over all cases each time, so that none need be held."""

    @property
    def candidate(self) -> str:
        """Return the candidate's name as people know it."""
        return candidate_label(self.run.candidate)

    @property
    def status(self) -> str:
        """Return how far the run has come, and that it was imported where it was."""
        word = self.run.status.value
        return f"{word} · imported" if self.run.imported else word

    def groups(self, by: Sequence[str] = ()) -> Mapping[str, Mapping[str, Group]]:
        """Return the breakdowns asked for, or all of them."""
        groups = self.summary.groups
        if missing := [name for name in by if name not in groups]:
            there = f"there are: {', '.join(groups)}" if groups else "this run has none"
            raise UsageError(f"no breakdown by {missing[0]!r} ({there})")
        return {name: groups[name] for name in by} if by else groups


class Report(ABC):
    """A run as one text: a dataclass whose fields, all optional, are its settings."""

    @abstractmethod
    def render(self, view: RunView, *, by: Sequence[str] = (), cases: bool = False) -> str:
        """Return the text: breakdowns by the tags named (else all), and every case if asked for."""

    streams: ClassVar[bool] = False
    """Whether ``write`` holds less than the whole text, so that it is used where it can be."""

    def write(
        self, view: RunView, file: IO[str], *, by: Sequence[str] = (), cases: bool = False
    ) -> None:
        """Write the same text into a file."""
        file.write(self.render(view, by=by, cases=cases))


class Layout(ABC):
    """A run as the files that the tools of its format's origin expect."""

    def beside(self, suite: Path) -> "Layout":
        """Return the layout that knows where the suite lies; most do not look there."""
        return self

    @abstractmethod
    def write(self, view: RunView, folder: Path) -> list[Path]:
        """Write the files into a folder, and return them."""
