"""What the contract of a measure does for its authors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

import pytest

from measures.random_results import random_results
from proctor.contracts.measure import Measure, MeasureSums, SummedMeasure
from proctor.core.run import CaseResult, Measured
from proctor.testing import measure_in_parts


@dataclass
class _TagCounts(MeasureSums):
    """Sums that need no JSON of their own."""

    blocks: list[int] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)

    def add(self, results: Sequence[CaseResult]) -> None:
        self.blocks.append(len(results))
        for result in results:
            for name in result.case.tags["category"]:
                self.tags[name] = self.tags.get(name, 0) + 1

    def merge(self, other: Self) -> None:
        self.blocks += other.blocks
        for name, count in other.tags.items():
            self.tags[name] = self.tags.get(name, 0) + count

    def result(self) -> Measured:
        n = sum(self.blocks)
        return Measured(value=float(len(self.tags)), interval=None, n=n, detail=[self.blocks])


@dataclass(frozen=True)
class _Tags(SummedMeasure):
    def sums(self) -> _TagCounts:
        return _TagCounts()


def test_cases_are_added_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.contracts.measure.CASES_PER_BLOCK", 3)
    measured = _Tags().measure(iter(random_results(8)))
    assert (measured.n, measured.detail) == (8, [[3, 3, 2]])
    assert _Tags().measure([]) == Measured(value=0.0, interval=None, n=0, detail=[[]])


def test_plain_attributes_travel_without_more_ado() -> None:
    results = random_results(9)
    assert measure_in_parts(_Tags(), results, [2, 5]).detail == [[2, 3, 4]]
    assert measure_in_parts(_Tags(), results, [2]).value == _Tags().measure(results).value
    assert measure_in_parts(_Tags(), []) == _Tags().measure([])


@dataclass(frozen=True)
class _Lost(SummedMeasure):
    """Neither sums nor a number."""


@dataclass(frozen=True)
class _Plain(Measure):
    def measure(self, results: Iterable[CaseResult]) -> Measured:
        return Measured(value=None, interval=None, n=len(list(results)))


def test_an_author_defines_one_of_two_methods() -> None:
    assert _Plain().measure(random_results(2)).n == 2
    with pytest.raises(TypeError, match=r"abstract method '?sums"):
        _Lost()
    with pytest.raises(TypeError, match=r"abstract method '?measure"):
        type("_Nothing", (Measure,), {})()
