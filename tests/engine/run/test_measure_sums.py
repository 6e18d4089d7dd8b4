"""Measures of a run: fed in blocks, in one process or in many."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import pytest

from measures.random_results import MEASURES, random_results
from proctor.contracts.measure import Measure, MeasureSums, SummedMeasure
from proctor.core.run import CASES_PER_BLOCK, CaseResult, Measured
from proctor.core.suite import Spec, Suite
from proctor.engine.run import measure_sums
from proctor.engine.run.measure_sums import MeasureBlock, RunMeasures
from proctor.errors import PluginError
from proctor.io.json_bytes import dumps, loads
from proctor.measures.basic import Accuracy

RESULTS = random_results(30)
SUITE = Suite(
    name="s", cases=(), measures=tuple(Spec(name=name, params=params) for name, params in MEASURES)
)
ONE = Suite(name="s", cases=(), measures=(Spec(name="own"),))


def never() -> list[CaseResult]:
    raise AssertionError("sums need no results")


def fed(
    measures: RunMeasures, results: Sequence[CaseResult], size: int, first: int = 0
) -> RunMeasures:
    placed = list(enumerate(results, first))
    for start in range(0, len(placed), size):
        measures.add(placed[start : start + size])
    return measures


def sent(measures: RunMeasures, block: MeasureBlock) -> MeasureBlock:
    """Return a block as another process gets it."""
    there = measures.new_block()
    there.load_json(loads(dumps(block.to_json())))
    return there


def test_many_processes_give_the_numbers_of_one_to_the_last_bit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measure_sums, "CASES_PER_BLOCK", 7)
    one = fed(RunMeasures(SUITE), RESULTS, 4).measured(never)
    driver = RunMeasures(SUITE)
    for start in range(0, len(RESULTS), 7):
        block = driver.new_block()
        block.add(RESULTS[start : start + 7])
        driver.add_block(sent(driver, block))
    assert repr(driver.measured(never)) == repr(one)
    assert repr(fed(RunMeasures(SUITE), RESULTS, 30).measured(never)) == repr(one)
    assert CASES_PER_BLOCK == 1_000


def test_the_first_block_is_taken_as_it_is() -> None:
    measures = RunMeasures(SUITE)
    first = measures.new_block()
    measures.add_block(first)
    measures.measured(never)
    assert measures._whole is first
    first.add(RESULTS)
    for label, measured in fed(RunMeasures(SUITE), RESULTS, 4).measured(never).items():
        assert repr(measured) == repr(first.result(label))


def test_blocks_are_those_of_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_sums, "CASES_PER_BLOCK", 10)
    suite = Suite(
        name="s", cases=(), measures=(Spec(name="named_metric", params={"metric": "bleu1"}),)
    )
    whole = fed(RunMeasures(suite), RESULTS, 30).measured(never)
    ahead = fed(RunMeasures(suite), RESULTS, 30, first=5).measured(never)
    cut = RunMeasures(suite)
    for start, end in ((0, 5), (5, 15), (15, 25), (25, 30)):
        cut.add_block(cut.new_block())
        cut._last.add(RESULTS[start:end])  # type: ignore[union-attr]
    assert repr(ahead) == repr(cut.measured(never))
    assert repr(ahead) != repr(whole), "rounding shows where blocks begin"


def test_a_run_of_no_cases_has_its_numbers() -> None:
    nothing = RunMeasures(SUITE).measured(never)["unq_events"]
    assert nothing == Measured(value=0.0, interval=None, n=0)


@dataclass(frozen=True)
class _Plain(Measure):
    """A stranger's measure of version 0.1.0."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        first = next(iter(results))
        return Measured(value=first.folded.value, interval=None, n=1)


@dataclass(frozen=True)
class _Derived(Accuracy):
    """One that changes the number of a measure that came with Proctor."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        measured = super().measure(results)
        return Measured(value=-1.0, interval=None, n=measured.n)


@pytest.mark.parametrize(
    ("measure", "value"), [(_Plain(), RESULTS[0].folded.value), (_Derived(), -1.0)]
)
def test_a_measure_that_is_no_sum_gets_all_results_at_the_end(
    monkeypatch: pytest.MonkeyPatch, measure: Measure, value: float
) -> None:
    monkeypatch.setattr(measure_sums.registry, "build", lambda *_: measure)
    measures = fed(RunMeasures(ONE), RESULTS, 4)
    assert measures.need_results
    block = sent(measures, measures.new_block())
    measures.add_block(block)
    assert measures.measured(lambda: iter(RESULTS))["own"].value == value
    assert not RunMeasures(Suite(name="s", cases=())).need_results


@dataclass
class _BrokenSums(MeasureSums):
    at: str

    def add(self, results: Sequence[CaseResult]) -> None:
        self._break("add")

    def merge(self, other: Self) -> None:
        self._break("merge")

    def result(self) -> Measured:
        self._break("result")
        return Measured(value=None, interval=None, n=0)

    def to_json(self) -> Any:
        self._break("to_json")
        return {1, 2} if self.at == "dumps" else {}

    def load_json(self, document: Any) -> None:
        self._break("load_json")

    def _break(self, place: str) -> None:
        if self.at == place:
            raise ValueError(f"no such luck in {place}")


@dataclass(frozen=True)
class _Broken(SummedMeasure):
    at: str

    def sums(self) -> _BrokenSums:
        return _BrokenSums(self.at)


@pytest.fixture
def broken(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Suite]:
    """Return a suite with a measure that breaks at one place, and one that does not."""
    build = measure_sums.registry.build
    monkeypatch.setattr(
        measure_sums.registry,
        "build",
        lambda kind, spec: _Broken(request.param) if spec.name == "own" else build(kind, spec),
    )
    return Suite(name="s", cases=(), measures=(Spec(name="own"), Spec(name="accuracy")))


@pytest.mark.parametrize("broken", ["add", "merge", "result"], indirect=True)
def test_a_measure_that_breaks_is_told_where_its_number_is_wanted(broken: Suite) -> None:
    measures = RunMeasures(broken)
    measures.add(enumerate(RESULTS[:3]))
    measures.add(enumerate(RESULTS[3:6], CASES_PER_BLOCK))
    with pytest.raises(ValueError, match="no such luck"):
        measures.measured(never)


@pytest.mark.parametrize("broken", ["add", "to_json", "dumps", "load_json", "merge"], indirect=True)
def test_a_measure_that_breaks_elsewhere_is_told_here(broken: Suite) -> None:
    measures = RunMeasures(broken)
    for start in (0, 3):
        block = measures.new_block()
        block.add(RESULTS[start : start + 3])
        measures.add_block(sent(measures, block))
    words = r"no such luck|the measure 'own' failed: TypeError"
    with pytest.raises((PluginError, ValueError), match=words):
        measures.measured(never)
    whole, alone = measures._whole, Suite(name="s", cases=(), measures=broken.measures[1:])
    assert whole is not None
    other = fed(RunMeasures(alone), RESULTS[:6], 6).measured(never)["accuracy"]
    assert whole.result("accuracy").n == other.n


@dataclass(frozen=True)
class _NoSums(SummedMeasure):
    def sums(self) -> Any:
        return [0]


def test_sums_of_another_kind_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure_sums.registry, "build", lambda *_: _NoSums())
    with pytest.raises(PluginError, match=r"'own' has no sums, but \[0\] \(fix: derive"):
        RunMeasures(ONE)
