"""The home page: suites and runs, the newest first, filtered by every filter, and progress."""

from typing import Any

import pytest

from proctor.web.pages import home as home_page
from proctor.web.pages.home import home, progress, progress_of, scorers_of

Asked = Any


def names(asked: Asked, query: str) -> list[str]:
    return [run.name for run in home(asked("/", query)).data.runs]


def test_runs_are_listed_with_their_numbers_and_those_under_way_with_their_progress(
    asked: Asked,
) -> None:
    page = home(asked("/"))
    by_name = {run.name: run for run in page.data.runs}
    assert list(by_name) == ["going", "new", "old"]
    assert by_name["new"].totals.score == 3.0
    assert by_name["new"].totals.errors == 1
    assert by_name["new"].progress is None
    going = by_name["going"].progress
    assert going is not None
    assert (going.done, going.total, going.status) == (0, 10, "interrupted")
    assert [suite.name for suite in page.data.suites] == ["quiz"]
    assert page.only_page["choices"]["candidate"] == ["new", "old"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=OLD", ["old"]),
        ("q=quiz", ["going", "new", "old"]),
        ("q=nothing", []),
        ("candidate=old", ["old"]),
        ("status=interrupted", ["going"]),
        ("status=complete&q=e", ["new"]),
        ("dialect=native", ["going", "new", "old"]),
        ("dialect=other", []),
        ("scorer=none", []),
        ("stranger=x", ["going", "new", "old"]),
    ],
)
def test_all_filters_must_fit(asked: Asked, query: str, expected: list[str]) -> None:
    assert names(asked, query) == expected


def test_a_suite_is_hidden_where_its_name_does_not_fit(asked: Asked) -> None:
    assert home(asked("/", "q=old")).data.suites == []
    assert home(asked("/", "dialect=other")).data.suites == []
    assert len(home(asked("/", "q=QUI")).data.suites) == 1


def test_progress_is_never_more_than_all(asked: Asked, page_pool: Any) -> None:
    told = progress(asked("/runs/going/progress.json", run="going"))
    assert told.to_json() == {"id": "going", "status": "interrupted", "done": 0, "total": 10}
    with page_pool.lend() as store:
        old = store.runs.get("old")
        whole = progress_of(store, old)
        assert (whole.done, whole.total) == (5, 5)
        assert scorers_of(old) == []


def test_runs_beyond_a_page_are_on_the_next(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home_page, "PAGE", 2)
    first = home(asked("/", "q=quiz"))
    assert ([run.name for run in first.data.runs], first.data.matching) == (["going", "new"], 3)
    assert (first.data.next, first.only_page["pages"]["runs"]) == (2, "/?q=quiz&page=2")
    second = home(asked("/", "q=quiz&page=2")).data
    assert ([run.name for run in second.runs], second.next) == (["old"], None)
    monkeypatch.setattr(home_page, "MOST_SCANNED", 2)
    cut = home(asked("/")).data
    assert (cut.matching, cut.older) == (2, True)
