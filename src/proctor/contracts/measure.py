"""What a measure must be able to do."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Self

from proctor.core.run import CASES_PER_BLOCK, CaseResult, Measured
from proctor.core.suite import Json
from proctor.io.concurrency import batched


class Measure(ABC):
    """One number of many case results: a dataclass whose fields are its parameters.

    The simplest measure defines ``measure`` and nothing else. The results of a large run are then
    read from the store once more. Derive from ``SummedMeasure`` to see each result as it passes by.
    """

    @abstractmethod
    def measure(self, results: Iterable[CaseResult]) -> Measured:
        """Compute the number over all cases, which come in the order of the suite."""

    version: ClassVar[str] = "1"
    ends: ClassVar[tuple[float | None, float | None]] = (None, None)
    """The least and the most that the number can be; none for an end that is open."""

    @property
    def label(self) -> str:
        """Return the name in reports; empty means the name it is registered under."""
        return ""


class SummedMeasure(Measure):
    """A measure that follows from sums: no result is kept, and several processes share the work.

    Every process has sums of its own for each block of cases; they are merged in the order of the
    suite.
    """

    @abstractmethod
    def sums(self) -> "MeasureSums":
        """Return sums to which no case was added yet."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        """Sum up all cases in blocks, as a run does."""
        whole: MeasureSums | None = None
        for block in batched(results, CASES_PER_BLOCK):
            sums = self.sums()
            sums.add(block)
            if whole is None:
                whole = sums
            else:
                whole.merge(sums)
        return (whole or self.sums()).result()


class MeasureSums(ABC):
    """What a measure knows of the cases so far."""

    @abstractmethod
    def add(self, results: Sequence[CaseResult]) -> None:
        """Add the next cases, in the order of the suite."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Add what the same measure knows of later cases."""

    @abstractmethod
    def result(self) -> Measured:
        """Return the number of all cases so far; it may be asked for more than once."""

    def to_json(self) -> Json:
        """Return all that is known as JSON, for another process.

        This serves sums whose attributes are numbers, texts, lists of these, and mappings by text.
        """
        return dict(vars(self))

    def load_json(self, document: Json) -> None:
        """Know what ``to_json`` returned in another process; nothing was added here before."""
        vars(self).update(document)
