"""Rows that commit parts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPart:
    """A part of a run: its cases, in order, with attempts, scores and results."""

    number: int
    """From 0, without gaps."""
    first: int
    """The position of its first case."""
    cases: int
    attempts: int
    scores: int
    place: str
    size: int
    """Bytes of all its files."""
    document: str = "{}"
    """What the engine notes of it, as JSON: sums, counts, what it was made with."""

    @property
    def end(self) -> int:
        """Return the position after its last case."""
        return self.first + self.cases


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePart:
    """A part of a suite: its cases, in order."""

    number: int
    first: int
    cases: int
    place: str
    size: int

    @property
    def end(self) -> int:
        """Return the position after its last case."""
        return self.first + self.cases
