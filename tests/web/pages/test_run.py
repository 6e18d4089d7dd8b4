"""The page of a run: its numbers, and its cases filtered, sorted and in pages."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from proctor.core.suite import Spec
from proctor.errors import UsageError
from proctor.store.queries import Cursor
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages import run as run_page
from proctor.web.pages.case import show_case
from proctor.web.pages.case_list import LONGEST, CaseList, tag_links
from proctor.web.pages.case_list import read_cursor as _cursor
from proctor.web.pages.run import _costs, run
from proctor.web.store_pool import StorePool

Asked = Any


def shown(asked: Asked, query: str = "", name: str = "new") -> Any:
    return run(asked(f"/runs/{name}", query, run=name))


def ids(asked: Asked, query: str) -> list[str]:
    return [case.id for case in shown(asked, query).data.cases]


def test_numbers_of_a_run_and_of_one_that_has_none_yet(asked: Asked) -> None:
    data = shown(asked).data
    assert (data.totals.score, data.totals.errors, data.progress) == (3.0, 1, None)
    assert data.tags == ["kind"]
    going = shown(asked, name="going").data
    assert (going.totals, going.cases, going.progress.total) == (None, [], 10)
    with pytest.raises(HTTPException, match="there is no run 'gone'"):
        shown(asked, name="gone")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "abcde"),
        ("order=down", "edcba"),
        ("sort=id&order=down", "edcba"),
        ("status=error", "e"),
        ("status=scored&size=2", "ab"),
        ("where=id+%3D%3D+'c'", "c"),
        ("where=kind+%3D%3D+'odd'", "abcde"),
        ("where=kind+%3D%3D+'even'", ""),
    ],
)
def test_cases_are_filtered_and_sorted(asked: Asked, query: str, expected: str) -> None:
    assert "".join(ids(asked, query)) == expected


@pytest.mark.parametrize(
    ("sort", "order"), [("value", "down"), ("position", "up"), ("id", "up"), ("value", "up")]
)
@pytest.mark.sampled(2)
def test_pages_follow_each_other_without_gap_or_repetition(
    asked: Asked, sort: str, order: str
) -> None:
    query, seen = f"sort={sort}&order={order}&size=2", []
    while query:
        data = shown(asked, query).data
        seen += [case.id for case in data.cases]
        query = urlsplit(data.next).query if data.next else ""
    assert sorted(seen) == list("abcde")
    assert seen == ids(asked, f"sort={sort}&order={order}")


def test_a_wrong_expression_is_shown_on_the_page_with_the_numbers(asked: Asked) -> None:
    page = shown(asked, "where=id+%3D%3D")
    assert page.status == 400
    assert page.data.problem
    assert page.data.cases == []
    assert page.data.totals is not None


@pytest.mark.parametrize(
    "query",
    ["size=0", "size=501", "size=x", "sort=colour", "order=sideways", "status=odd", "after=x",
     "after=[1]", "after=[true,1]", "after=[1,1.5]", "after=[[],1]", "after=[1,9999999999]"],
)  # fmt: skip
def test_what_is_no_parameter_is_said(asked: Asked, query: str) -> None:
    with pytest.raises(UsageError):
        shown(asked, query)


def test_a_cursor_is_a_key_and_a_place() -> None:
    assert _cursor("") is None
    assert _cursor("[null,3]") == Cursor(None, 3)
    assert _cursor('["a",3]') == Cursor("a", 3)
    assert _cursor("[1,3]") == Cursor(1.0, 3)
    assert _cursor(json.dumps([0.5, 0])) == Cursor(0.5, 0)


def test_the_column_that_is_sorted_by_is_turned_around(asked: Asked) -> None:
    sorts = shown(asked, "sort=value&q=x&lang=zh").only_page["sorts"]
    query = {name: parse_qs(urlsplit(link).query) for name, link in sorts.items()}
    assert query["value"] == {"q": ["x"], "sort": ["value"], "order": ["down"]}
    assert query["id"] == {"q": ["x"], "sort": ["id"]}


def test_a_tag_that_no_expression_can_name_has_no_links(asked: Asked, page_pool: Any) -> None:
    with page_pool.lend() as store:
        case_list = CaseList.of(asked("/runs/new", "sort=id"), store.runs.get("new"))
    groups = {"kind": {"it's": 1}, "two words": {"a": 1}, "class": {"a": 1}}
    links = tag_links(case_list, groups, groups)
    assert (links["two words"], links["class"]) == ({}, {})
    ((value, link),) = links["kind"].items()
    assert value == "it's"
    assert parse_qs(urlsplit(link).query) == {"sort": ["id"], "where": ['kind == "it\'s"']}


def test_rows_say_what_was_asked_and_answered_and_why_it_failed(asked: Asked) -> None:
    rows = {case.id: case for case in shown(asked).data.cases}
    assert (rows["a"].question, rows["a"].answer, rows["a"].reason) == ("a?", "say a", "")
    assert rows["d"].reason == "fits 0 of 1: because"
    assert rows["e"].reason == "gone"


@pytest.mark.parametrize(
    ("query", "listed"),
    [("", 5), ("status=failed", 1), ("status=error", 1), ("where=value+%3D%3D+1", 3),
     ("where=value+%3D%3D+1&status=failed", 0)],
)  # fmt: skip
def test_cases_are_counted_by_kind_and_as_listed(asked: Asked, query: str, listed: int) -> None:
    counts = shown(asked, query).data.counts
    assert (counts.cases, counts.failed, counts.error, counts.unscored) == (5, 1, 1, 0)
    assert counts.listed == listed


def test_an_address_names_the_columns(asked: Asked) -> None:
    assert shown(asked, "column=tags&column=answer").data.asked.columns == ["tags", "answer"]
    with pytest.raises(UsageError, match="column must be one of: question"):
        shown(asked, "column=colour")


def test_references_are_a_column_of_choice(tmp_path: Path, put_run: Any, examined: Any) -> None:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        made = examined.plain("a", "so", 1.0)
        known = replace(made, case=replace(made.case, references=("Paris", "<b>" + "x" * 900)))
        put_run(store, "r", [known, examined.plain("b", "so", 1.0)])
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        usual, chosen = (client.get(f"/runs/r{query}").text for query in ("", "?column=reference"))
        first, second = client.get("/runs/r.json").json()["cases"]
    assert first["reference"].startswith("Paris · <b>xx")
    assert len(first["reference"]) == LONGEST + 1
    assert second["reference"] == ""
    assert "Paris" not in usual
    assert 'value="reference"> Reference' in usual
    assert "Paris · &lt;b&gt;xx" in chosen


@pytest.mark.parametrize(
    ("query", "case", "before", "after", "number"),
    [
        ("", "b", "a", "c", 2),
        ("order=down", "b", "c", "a", 4),
        ("where=value+%3D%3D+1", "b", "a", "c", 2),
        ("where=value+%3D%3D+1", "c", "b", None, 3),
        ("sort=value&order=down", "c", None, "b", 1),
        ("sort=value", "d", "e", "a", 2),
        ("sort=id&order=down&status=failed", "d", None, None, 1),
    ],
)
def test_a_case_knows_its_neighbours_in_the_list(
    asked: Asked, query: str, case: str, before: str | None, after: str | None, number: int
) -> None:
    page = show_case(asked(f"/runs/new/cases/{case}", query, run="new", case=case))
    data = page.data
    paths = [link and urlsplit(link) for link in (data["before"], data["after"])]
    assert [path and path.path[-1] for path in paths] == [before, after]
    assert all(path.query == query for path in paths if path)
    assert data["listed"]["number"] == number
    assert urlsplit(data["back"]).query == query


def test_costs_are_told_by_role() -> None:
    usage = {"cost": 3.0, "roles": {"candidate": {"cost": 1}, "judge": {"cost": 2.0}, "x": {}}}
    assert _costs(usage) == {"candidate": 1.0, "judge": 2.0}
    assert _costs({"calls": 0}) == {}


def test_how_the_candidate_was_asked_stands_beside_it(
    tmp_path: Path, put_run: Any, examined: Any
) -> None:
    place = str(tmp_path / "p.db")
    params = {"model": "openai:m", "sampling": {"temperature": 0.25, "seed": 7}}
    with Store.open(place) as store:
        made = [examined.plain("a", "x", 1.0)]
        put_run(store, "chosen", made, Spec(name="model", params=params))
        put_run(store, "recorded", made)
    with TestClient(make_app(place), base_url="http://127.0.0.1") as client:
        pages = {name: client.get(f"/runs/{name}").text for name in ("chosen", "recorded")}
        twin = client.get("/runs/chosen.json").json()
    assert "temperature 0.25, seed 7" in pages["chosen"]
    assert "temperature" not in pages["recorded"]
    assert twin["sampling"] == {"temperature": 0.25, "seed": 7}
    # One key leads past the filters to the first case.
    assert '<a class="skip" href="#p0">' in pages["chosen"]


def test_cases_whose_attempts_differ_are_counted_where_there_are_several(
    tmp_path: Path, put_run: Any, examined: Any
) -> None:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        cases = [examined.plain(case, case, 1.0) for case in "ab"]
        put_run(store, "once", cases)
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        assert client.get("/runs/once.json").json()["counts"]["unsteady"] == 0
        assert "Unsteady" not in client.get("/runs/once").text
        # The filter leads to the same cases, and the chip stays where it is chosen.
        page = client.get("/runs/once?where=spread+%3E+0").text
        assert ('aria-current="true">Unsteady' in page, "No cases" in page) == (True, True)


def test_what_goes_through_a_run_is_read_once(
    asked: Asked, page_pool: StorePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def noted(name: str) -> None:
        really = getattr(run_page, name)

        def counted(*args: Any) -> Any:
            read.append(name)
            return really(*args)

        monkeypatch.setattr(run_page, name, counted)

    noted("rows_with_texts")
    noted("parts_of")
    page_pool.page_cache.forget()
    with page_pool.lend() as store:
        # As a version stored it that kept no sums of the variance.
        known = dict(store.summaries.get("new") or {})
        store.summaries.save("new", {name: one for name, one in known.items() if name != "parts"})
        first, again = shown(asked).data, shown(asked).data
        shown(asked, "order=down")
        store.summaries.save("new", known)
    assert first == again
    assert read == ["parts_of", "rows_with_texts", "rows_with_texts"]
    read.clear()
    for _ in range(2):
        shown(asked, name="going")
    assert set(read) <= {"rows_with_texts"}
