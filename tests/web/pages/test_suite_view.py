"""Runs of a suite side by side: a cell for every number."""

import pytest

from proctor.web.api.response import ListedRun, ListedTotals
from proctor.web.pages import suite as suite_view
from proctor.web.pages.suite import side_by_side


def run(name: str, rate: float | None, interval: tuple[float, float] | None = None) -> ListedRun:
    """Make a run of what these tables look at; the rest of it is left out."""
    return ListedRun.model_construct(
        id=name,
        name=name,
        candidate="m",
        imported=False,
        started=1.0,
        totals=ListedTotals.model_construct(rate=rate, interval=interval),
    )


def test_a_column_for_each_run_with_numbers_and_a_gap_where_one_lacks_a_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = {
        "measures": {"accuracy": {"value": 0.5, "interval": (0.1, 0.9), "n": 4}},
        "groups": {"lang": {"go": {"rate": 1.0, "interval": None, "cases": 2}}},
    }
    two = {"groups": {"lang": {"c": {"rate": 0.0, "interval": None, "cases": 3}}}}
    table = side_by_side([(run("a", 0.5), one), (run("x", None), {}), (run("b", 0.5), two)])
    assert [column.id for column in table.columns] == ["a", "b"]
    (first, second) = table.measures["accuracy"]
    assert first is not None
    assert (first.value, first.cases, second) == (0.5, 4, None)
    assert list(table.groups["lang"]) == ["go", "c"]
    assert [cell and cell.rate for cell in table.groups["lang"]["c"]] == [None, 0.0]
    monkeypatch.setattr(suite_view, "MOST_COLUMNS", 1)
    assert len(side_by_side([(run("a", 0.5), one), (run("b", 0.5), two)]).columns) == 1
