"""Suites, runs and results by numbered pages, on both databases."""

import pytest

from proctor.bench import TestSuite
from proctor.store.numbered import Page, SuitesWanted
from proctor.store.store import Store


@pytest.fixture
def suite(address: str) -> TestSuite:
    texts = {"input_text_list": ["a", "b", "c"], "reference_output_list": ["A", "B", "C"]}
    made = TestSuite("quiz", "exact_match", store=address, **texts)
    made.run("low", candidate_output_list=["A", "x", "y"])
    made.run("high", candidate_output_list=["x", "B", "C"])
    return made


def page(sort: str, offset: int = 0, limit: int = 10) -> Page:
    return Page(sort=sort, offset=offset, limit=limit)


def test_pages(address: str, suite: TestSuite) -> None:
    with Store.open(address) as store:
        key = suite.id.hex
        for criteria, count in ((["exact_match"], 1), (["Exact_match", "%"], 0), ([], 1)):
            wanted = SuitesWanted(dialect="bench", criteria=criteria)
            found, known = store.numbered_suites(wanted, page("-last_run_time"))
            assert (len(found), known) == (count, count)
        odd = SuitesWanted(dialect="bench", name="nul \x00 \ud800", criteria=["\x00", "\ud800"])
        assert store.numbered_suites(odd, page("name")) == ([], 0)
        for sort, names in (("name", ["high", "low"]), ("created_at", ["low", "high"]), ("-avg_score", ["high", "low"])):  # fmt: skip
            assert [run.name for run in store.numbered_runs(key, page(sort))] == names
            assert [run.name for run in store.numbered_runs(key, page(sort, 1, 1))] == names[1:]
        high = store.numbered_runs(key, page("name"))[0].id
        for sort, ids in (("-value", [2, 3, 1]), ("value", [1, 2, 3]), ("-position", [3, 2, 1])):
            rows = store.numbered_results(high, page(sort))
            assert [row.case.id for row in rows] == [f"row-{number}" for number in ids]
            (second,) = store.numbered_results(high, page(sort, 1, 1))
            assert second.position == rows[1].position
        assert store.counts_between(high, [0.0, 0.5, 1.0]) == [1, 2]
        assert (store.most(high), store.average(high)) == (1.0, pytest.approx(2 / 3))
        counted = store.value_counts(high, 5)
        assert counted is not None
        assert sorted(counted) == [(0.0, 1, 0), (1.0, 2, 1)]
        assert store.value_counts(high, 1) is None
