"""What a person asked for: the settings of a run."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from proctor.core.suite import Json, Spec
from proctor.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSettings:
    """Say which suite to read, how, and which of its cases."""

    path: Path
    dialect: str = ""
    """Empty means: recognised by its content."""
    compat: str = ""
    root: Path | None = None
    where: str = ""
    limit: int | None = None
    select: tuple[str, ...] = ()
    """Ids or sources of the only cases to take; empty means all."""
    allow_import: bool = False

    def __post_init__(self) -> None:
        if self.compat not in ("", "original"):
            raise UsageError(f"unknown compat mode {self.compat!r} (known is: original)")
        if self.limit is not None and self.limit < 1:
            raise UsageError("--limit must be at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Say what is examined with what, and how."""

    suite: SuiteSettings
    answers: Path
    attempts: int | None = None
    name: str = ""
    executor: Spec = field(default_factory=lambda: Spec(name="local"))
    sandbox: Spec = field(default_factory=lambda: Spec(name="bubblewrap"))
    interval: Literal["t", "bootstrap"] = "t"
    gates: tuple[str, ...] = ()
    """Expressions over the numbers that the caller will ask for."""

    def __post_init__(self) -> None:
        if self.attempts is not None and self.attempts < 1:
            raise UsageError("--attempts must be at least 1")
        if any(ord(char) < 32 for char in self.name):
            raise UsageError("a run's name may not contain control characters")

    @property
    def candidate(self) -> Spec:
        """Return who is examined."""
        params = {"answers": str(self.answers), "name": self.candidate_name}
        return Spec(name="recorded", params=params)

    @property
    def candidate_name(self) -> str:
        """Return a short name for who is examined."""
        path = self.answers.resolve()
        return path.name if path.is_dir() else path.stem

    def stored(self) -> dict[str, Json]:
        """Return what of this may change the numbers, as it is kept with the run."""
        kept: dict[str, Json] = {
            "compat": self.suite.compat,
            "where": self.suite.where,
            "limit": self.suite.limit,
            "attempts": self.attempts,
            "interval": self.interval,
        }
        return {name: value for name, value in kept.items() if value not in ("", None)}
