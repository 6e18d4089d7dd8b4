"""The measures of a run, summed block by block as the cases pass by."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeGuard

from proctor import registry
from proctor.contracts.measure import Measure, MeasureSums, SummedMeasure
from proctor.core.run import CASES_PER_BLOCK, CaseResult, Measured
from proctor.core.suite import Json, Spec, Suite
from proctor.errors import PluginError
from proctor.io import json_bytes


@dataclass(eq=False)
class RunMeasures:
    """The measures of a suite over all cases of a run.

    A measure that is no sum computes its number of the results, once there are all of them.
    """

    suite: Suite
    _measures: dict[str, Measure] = field(init=False)
    """By their labels."""
    _whole: "MeasureBlock | None" = field(default=None, init=False)
    """All blocks before the last one."""
    _last: "MeasureBlock | None" = field(default=None, init=False)
    _number: int = field(default=-1, init=False)
    """The number of the last block."""

    def __post_init__(self) -> None:
        self._measures = {
            measure_label(spec, self.suite): registry.build("measure", spec)
            for spec in self.suite.measures
        }
        self.new_block()  # tells at once of a measure without sums

    @property
    def need_results(self) -> bool:
        """Tell whether some measure computes its number of the results."""
        return any(not is_summed(measure) for measure in self._measures.values())

    def new_block(self) -> "MeasureBlock":
        """Return a block without any case, for the next ones or for those of another process."""
        return MeasureBlock(
            {
                label: _sums_of(label, measure)
                for label, measure in self._measures.items()
                if is_summed(measure)
            }
        )

    def add(self, cases: Iterable[tuple[int, CaseResult]]) -> None:
        """Add the next cases, each with its position in the suite."""
        for number, placed in groupby(cases, key=lambda case: case[0] // CASES_PER_BLOCK):
            if self._last is None or number != self._number:
                self.add_block(self.new_block())
                self._number = number
            assert self._last is not None
            self._last.add([result for _, result in placed])

    def add_block(self, block: "MeasureBlock") -> None:
        """Add the next block."""
        if self._last is not None:
            self._close()
        self._last = block

    def measured(self, results: Callable[[], Iterable[CaseResult]]) -> dict[str, Measured]:
        """Return all numbers, or raise what the first measure that failed raised."""
        self._close()
        whole = self._whole or self.new_block()
        return {
            label: whole.result(label) if is_summed(measure) else measure.measure(results())
            for label, measure in self._measures.items()
        }

    def _close(self) -> None:
        """Merge the last block; the first one is taken as it is, to the last bit."""
        if self._whole is None:
            self._whole = self._last
        elif self._last is not None:
            self._whole.merge(self._last)
        self._last = None


@dataclass(eq=False)
class MeasureBlock:
    """The sums of all measures over the cases of one block.

    A measure that fails gets no more cases, and is told where its number is wanted.
    """

    _sums: Mapping[str, MeasureSums]
    """By the labels of the measures."""
    _failures: dict[str, Exception] = field(default_factory=dict)

    def add(self, results: Sequence[CaseResult]) -> None:
        """Add the next cases of the block."""
        for label, sums in self._working():
            with self._noting_failures(label):
                sums.add(results)

    def merge(self, other: "MeasureBlock") -> None:
        """Add a later block."""
        self._failures = other._failures | self._failures
        for label, sums in self._working():
            with self._noting_failures(label):
                sums.merge(other._sums[label])

    def result(self, label: str) -> Measured:
        """Return the number of one measure, or raise what it raised."""
        if label in self._failures:
            raise self._failures[label]
        return self._sums[label].result()

    def to_json(self) -> dict[str, Json]:
        """Return the sums as JSON, for another process."""
        documents = {}
        for label, sums in self._working():
            with self._noting_failures(label):
                document = sums.to_json()
                json_bytes.dumps(document)
                documents[label] = document
        failures = {
            label: f"{type(error).__name__}: {error}" for label, error in self._failures.items()
        }
        return {"sums": documents, "failures": failures}

    def load_json(self, document: Any) -> None:
        """Take over the sums of another process; no case was added here."""
        self._failures = {
            label: PluginError(f"the measure {label!r} failed: {text}")
            for label, text in document["failures"].items()
        }
        for label, sums in self._working():
            with self._noting_failures(label):
                sums.load_json(document["sums"][label])

    def _working(self) -> Iterator[tuple[str, MeasureSums]]:
        for label, sums in self._sums.items():
            if label not in self._failures:
                yield label, sums

    @contextmanager
    def _noting_failures(self, label: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - it is raised where the number is wanted
            self._failures[label] = error


def is_summed(measure: Measure) -> TypeGuard[SummedMeasure]:
    """Tell whether a measure is a sum: one derived from it may still look at the results."""
    return isinstance(measure, SummedMeasure) and type(measure).measure is SummedMeasure.measure


def _sums_of(label: str, measure: SummedMeasure) -> MeasureSums:
    sums = measure.sums()
    if not isinstance(sums, MeasureSums):
        fix = "fix: derive what sums() returns from proctor.MeasureSums"
        raise PluginError(f"the measure {label!r} has no sums, but {sums!r} ({fix})")
    return sums


def measure_label(spec: Spec, suite: Suite) -> str:
    """Name a measure, with its parameters if a suite has several of one name."""
    if own := registry.build("measure", spec).label:
        return str(own)
    if sum(other.name == spec.name for other in suite.measures) < 2:
        return spec.name
    shown = ", ".join(f"{name}={value}" for name, value in spec.params.items())
    return f"{spec.name}({shown})"
