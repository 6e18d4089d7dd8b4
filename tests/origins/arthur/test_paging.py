"""Suites, runs and results by numbered pages, on both databases."""

import pytest

from proctor.bench import TestSuite
from proctor.origins.arthur.paging import NumberedPages, PageRequest, SuiteQuery
from proctor.store.store import Store


@pytest.fixture
def suite(address: str) -> TestSuite:
    texts = {"input_text_list": ["a", "b", "c"], "reference_output_list": ["A", "B", "C"]}
    made = TestSuite("quiz", "exact_match", store=address, **texts)
    made.run("low", candidate_output_list=["A", "x", "y"])
    made.run("high", candidate_output_list=["x", "B", "C"])
    return made


def page(sort: str, offset: int = 0, limit: int = 10) -> PageRequest:
    return PageRequest(sort=sort, offset=offset, limit=limit)


@pytest.mark.slow
def test_pages(address: str, suite: TestSuite) -> None:
    with Store.open(address) as store:
        pages, key = NumberedPages(store), suite.id.hex
        for criteria, count in ((["exact_match"], 1), (["Exact_match", "%"], 0), ([], 1)):
            wanted = SuiteQuery(dialect="bench", criteria=criteria)
            found, known = pages.suites(wanted, page("-last_run_time"))
            assert (len(found), known) == (count, count)
        odd = SuiteQuery(dialect="bench", name="nul \x00 \ud800", criteria=["\x00", "\ud800"])
        assert pages.suites(odd, page("name")) == ([], 0)
        for sort, names in (("name", ["high", "low"]), ("created_at", ["low", "high"]), ("-avg_score", ["high", "low"])):  # fmt: skip
            assert [run.name for run in pages.runs(key, page(sort))] == names
            assert [run.name for run in pages.runs(key, page(sort, 1, 1))] == names[1:]
        high = pages.runs(key, page("name"))[0].id
        for sort, ids in (("-value", [2, 3, 1]), ("value", [1, 2, 3]), ("-position", [3, 2, 1])):
            rows = pages.results(high, page(sort))
            assert [row.case.id for row in rows] == [f"row-{number}" for number in ids]
            (second,) = pages.results(high, page(sort, 1, 1))
            assert second.position == rows[1].position
        assert pages.counts_between(high, [0.0, 0.5, 1.0]) == [1, 2]
        assert (pages.highest_value(high), pages.average(high)) == (1.0, pytest.approx(2 / 3))
        counted = pages.value_counts(high, 5)
        assert counted is not None
        assert sorted(counted) == [(0.0, 1, 0), (1.0, 2, 1)]
        assert pages.value_counts(high, 1) is None
