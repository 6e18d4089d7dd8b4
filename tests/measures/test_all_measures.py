"""Every measure: however a run is cut into parts, the numbers are those of one pass."""

import random
from typing import Any

import pytest

from measures.random_results import MEASURES, random_results
from proctor.contracts.measure import SummedMeasure
from proctor.core.run import CASES_PER_BLOCK, Measured
from proctor.core.suite import Spec
from proctor.registry import BUILT_IN, build, variant, variant_names
from proctor.testing import measure_in_parts

RESULTS = random_results(45)


def built(name: str, params: dict[str, Any]) -> SummedMeasure:
    measure: SummedMeasure = build("measure", Spec(name=name, params=params))
    assert isinstance(measure, SummedMeasure)
    return measure


def numbers(value: Any) -> Any:
    """Make all numbers of a value approximate ones."""
    if isinstance(value, dict):
        return {key: numbers(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [numbers(one) for one in value]
    return pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value


def same_but_for_rounding(one: Measured, other: Measured) -> bool:
    return all(
        numbers(getattr(one, name)) == numbers_of(getattr(other, name))
        for name in ("value", "interval", "n", "detail", "note")
    )


def numbers_of(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def test_no_measure_is_left_out() -> None:
    names = {name for name, _ in MEASURES}
    assert names == set(BUILT_IN["measure"])
    variants = {name for name in names if variant("measure", name)}
    assert variants == {name for name, params in MEASURES if "compat" in params}
    assert {v for name in variants for v in variant_names("measure", name)} == {"original"}


@pytest.mark.parametrize(("name", "params"), MEASURES)
def test_parts_that_were_merged_are_one_pass(name: str, params: dict[str, Any]) -> None:
    measure, draw = built(name, params), random.Random(name)
    whole = measure.measure(RESULTS)
    assert whole.n > 0
    assert whole.value != 0
    assert measure_in_parts(measure, RESULTS, ()) == whole
    cuts = draw.sample(range(len(RESULTS)), 5)
    for places in ([*cuts, cuts[0] + 1], range(len(RESULTS))):
        assert same_but_for_rounding(whole, measure_in_parts(measure, RESULTS, places))


@pytest.mark.parametrize(("name", "params"), MEASURES)
def test_parts_of_whole_blocks_are_one_pass_to_the_last_bit(
    name: str, params: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.contracts.measure.CASES_PER_BLOCK", 11)
    measure = built(name, params)
    in_parts = measure_in_parts(measure, RESULTS, range(0, len(RESULTS), 11))
    assert repr(in_parts) == repr(measure.measure(RESULTS))
    assert CASES_PER_BLOCK == 1_000


@pytest.mark.parametrize(("name", "params"), MEASURES)
def test_a_number_may_be_asked_for_on_the_way(name: str, params: dict[str, Any]) -> None:
    measure = built(name, params)
    sums = measure.sums()
    empty = sums.result()
    assert empty == measure.measure([])
    for result in RESULTS[:30]:
        sums.add([result])
    assert sums.result() == sums.result() == measure.measure(RESULTS[:30])
    sums.add(RESULTS[30:])
    assert sums.result() == measure.measure(RESULTS)


@pytest.mark.parametrize(("name", "params"), MEASURES)
def test_what_was_merged_is_left_as_it_was(name: str, params: dict[str, Any]) -> None:
    measure = built(name, params)
    first, second = measure.sums(), measure.sums()
    first.add(RESULTS[:1])
    second.add(RESULTS[1:])
    before = second.result()
    first.merge(second)
    first.add(RESULTS[:20])
    assert second.result() == before
