"""Sums of a run: from the same cases the same numbers, however many of them are held."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest

from proctor.contracts.measure import Measure
from proctor.core.attempt import Attempt
from proctor.core.run import CaseResult, Measured
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run import aggregate, measure_sums
from proctor.engine.run.aggregate import RunSums
from proctor.store.rows import LinkedCase, ResultRow

EXACT = Criterion(id="e", scorer=Spec(name="exact_match"))


def cases(count: int = 7) -> Iterator[LinkedCase]:
    for place in range(count):
        case = Case(
            id=f"c{place}\ud800" if place == 2 else f"c{place}",
            messages=(Message(role="user", content="?"),),
            criteria=(EXACT,),
            tags={"lang": ("a", "b")} if place % 2 else {},
        )
        points = 1 / (place + 3)
        attempt = (Attempt.of(case.id, "x"), {"e": Score(points=points, out_of=1.0)})
        yield LinkedCase(place, case, [attempt], [{"e": f"k{place}"}])


def summed(size: int = 3, *measures: Spec) -> tuple[RunSums, list[ResultRow]]:
    linked = list(cases())
    sums = RunSums(Suite(name="s", cases=(), measures=measures))
    for start in range(0, len(linked), size):
        sums.add(linked[start : start + size])
    return sums, list(sums.rows())


def test_rows_that_are_spooled_are_those_that_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    held, rows = summed(3, Spec(name="accuracy"))
    assert [row.case_id for row in rows] == [linked.case.id for linked in cases()]
    monkeypatch.setattr(aggregate._ResultSpool, "most", 2)
    spooled, again = summed(1, Spec(name="accuracy"))
    assert again == rows
    assert spooled.summary() == held.summary()


@dataclass(frozen=True)
class _FirstOnly(Measure):
    """A measure that looks at one case alone."""

    def measure(self, results: Iterable[CaseResult]) -> Measured:
        first = next(iter(results))
        return Measured(value=first.folded.value, interval=None, n=1)


@dataclass(frozen=True)
class _Broken(Measure):
    def measure(self, results: Iterable[CaseResult]) -> Measured:
        raise ValueError("no such luck")


@pytest.mark.parametrize("size", [1, 7])
def test_a_measure_need_not_look_at_all_cases(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(measure_sums.registry, "build", lambda *_: _FirstOnly())
    sums, _ = summed(size, Spec(name="first"))
    assert sums.summary().measures["first"].value == pytest.approx(1 / 3)


@pytest.mark.parametrize("size", [1, 7])
def test_a_measure_that_is_no_sum_reads_the_results_once_more(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(measure_sums.registry, "build", lambda *_: _FirstOnly())
    read = []

    def stored() -> Iterator[CaseResult]:
        read.append(True)
        return kept.results()

    kept, _ = summed(size, Spec(name="first"))
    suite = Suite(name="s", cases=(), measures=(Spec(name="first"),))
    sums = RunSums(suite, stored_results=stored)
    sums.add(cases())
    assert (list(sums.results()), read) == ([], [])
    assert sums.summary().measures == kept.summary().measures
    assert read == [True]


@pytest.mark.parametrize("size", [1, 7])
def test_a_measure_that_breaks_is_told_where_its_number_is_wanted(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(measure_sums.registry, "build", lambda *_: _Broken())
    sums, rows = summed(size, Spec(name="broken"))
    assert len(rows) == 7
    with pytest.raises(ValueError, match="no such luck"):
        sums.summary()
