"""The comparison page: what a query asks for, refusals, lists that go on, and their links."""

from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.errors import UsageError
from proctor.web.pages import compare as compare_page
from proctor.web.pages.compare import LISTS, ComparisonQuery, _beside, show_compared
from proctor.web.store_pool import StorePool

Asked = Any


def shown(asked: Asked, query: str = "run=old&run=new") -> Any:
    return show_compared(asked("/compare", query))


def parsed(asked: Asked, query: str) -> ComparisonQuery:
    return ComparisonQuery.of(asked("/compare", query))


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_comparison_is_of_two_to_four_runs(asked: Asked, count: int) -> None:
    with pytest.raises(UsageError, match=f"expected 2 to 4 runs to compare, not {count}"):
        parsed(asked, "&".join(f"run=r{number}" for number in range(count)))


def test_a_query_keeps_what_it_was_asked_in_every_address(asked: Asked) -> None:
    query = parsed(asked, "run=a&run=b&kind=worse&q=+x+&where=first%3E0&force=1&margin=+2.5+")
    assert (query.pairs.change, query.pairs.search, query.pairs.where) == ("worse", "x", "first>0")
    assert parse_qsl(urlsplit(query.address(("case", "c"))).query) == [
        ("run", "a"), ("run", "b"), ("force", "1"), ("margin", "2.5"), ("case", "c"),
    ]  # fmt: skip
    plain = parsed(asked, "run=a&run=b&force=0")
    assert (plain.force, plain.address()) == (False, "/compare?run=a&run=b")
    with pytest.raises(UsageError):
        parsed(asked, "run=a&run=b&kind=odd")


def test_a_margin_is_in_points_of_a_hundred(asked: Asked) -> None:
    assert parsed(asked, "run=a&run=b&margin=2.5").settings.margin == pytest.approx(0.025)
    assert parsed(asked, "run=a&run=b").settings.margin is None
    with pytest.raises(UsageError, match="margin is a number of points, not 'few'"):
        _ = parsed(asked, "run=a&run=b&margin=few").settings


def test_what_changed_is_listed_with_a_link_to_each_case(asked: Asked) -> None:
    page = shown(asked, "run=old&run=new&margin=5")
    (pair,) = page.data.pairs
    assert (pair.counts["better"], pair.counts["worse"]) == (2, 0)
    assert [(one.id, one.values) for one in pair.flips["better"]] == [
        ("b", [0.0, 1.0]), ("c", [0.0, 1.0]),
    ]  # fmt: skip
    state = "/compare?run=old&run=new&margin=5"
    assert pair.flips["better"][0].link == f"{state}&kind=better&case=b"
    assert (page.data.overview, pair.link) == (state, state)
    assert page.data.kinds == {name: f"{state}&kind={name}" for name in LISTS}
    assert page.data.swapped == "/compare?run=new&run=old&margin=5"
    assert (page.data.listing, page.data.next) == (None, None)
    assert page.only_page["names"] == {"old": "old", "new": "new"}


def test_a_list_goes_on_until_every_case_was_shown_once(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_page, "ROWS", 1)
    query, listed = "run=old&run=new&where=full+%3E+0", list[str]()
    while query:
        data = shown(asked, query).data
        listed += [row.id for row in data.listing.cases]
        query = urlsplit(data.next).query if data.next else ""
        assert len(listed) < 9
    # Those that changed come first.
    assert listed[:2] == ["b", "c"]
    assert sorted(listed[2:]) == ["a", "d"]


def test_runs_that_cannot_be_compared_are_refused_until_forced(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_page, "_refused", lambda *_: ["the judges differ", "so do prompts"])
    page = shown(asked, "run=old&run=new&kind=worse")
    assert (page.status, page.template) == (400, "refused")
    assert page.data.error.message == (
        "these runs cannot be compared: the judges differ; so do prompts"
    )
    assert [run.name for run in page.data.runs] == ["old", "new"]
    assert page.data.forced == "/compare?run=old&run=new&force=1&kind=worse"
    assert shown(asked, urlsplit(page.data.forced).query).template == "compare"


def test_a_third_run_has_its_value_in_every_row(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_page, "listed_texts", lambda *_: {})
    values = {"third": {"a": (0.5, 1.0)}, "fourth": {"b": (1.0, 1.0)}}
    store: Any = SimpleNamespace(
        results=SimpleNamespace(values_of=lambda run_id, ids: values[run_id])
    )
    sides: Any = [
        SimpleNamespace(
            run=Run(id=name, name=name, suite="s", suite_key="k", candidate=Spec(name="c"))
        )
        for name in ("x", "y", "third", "fourth")
    ]
    flip, row = ({"id": name, "first": 0.0, "second": 1.0} for name in "ab")
    data: dict[str, Any] = {"pairs": [{"flips": {"better": [flip]}}], "listing": {"cases": [row]}}
    _beside(asked("/compare"), store, sides, data)
    assert flip["values"] == [0.0, 1.0, 0.5, None]
    assert row["values"] == [0.0, 1.0, None, 1.0]


def test_a_comparison_is_computed_once_for_each_margin(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    margins, really = list[float | None](), compare_page.compare

    def counted(store: Any, ids: Any, settings: Any) -> Any:
        margins.append(settings.margin)
        return really(store, ids, settings)

    monkeypatch.setattr(compare_page, "compare", counted)
    for margin in ("31", "32", "31"):
        shown(asked, f"run=new&run=old&margin={margin}")
    assert margins == [0.31, 0.32]


@pytest.mark.parametrize(
    ("query", "runs", "difference"),
    [
        ("run=new&run=old&order=oldest", ["old", "new"], 0.5),
        ("run=new&run=old", ["new", "old"], -0.5),
    ],
)
def test_the_oldest_run_is_the_baseline_where_runs_were_only_ticked(
    asked: Asked, query: str, runs: list[str], difference: float
) -> None:
    data = shown(asked, query).data
    assert [run.id for run in data.runs] == runs
    assert data.pairs[0].difference.value == pytest.approx(difference)
    assert data.swapped == f"/compare?run={runs[1]}&run={runs[0]}"


def test_a_list_of_what_differs_has_questions_and_answers(asked: Asked) -> None:
    data = shown(asked, "run=old&run=new&kind=different").data
    assert [(row.id, row.question) for row in data.listing.cases] == [("b", "b?"), ("c", "c?")]
    first, second = data.listing.cases[0].answers
    assert "".join(piece.text for piece in first.pieces) == "say b"
    assert (first.there, second.error, data.next) == (True, "", None)
    link = parse_qs(urlsplit(data.listing.cases[0].link).query)
    assert (link["kind"], link["case"]) == (["different"], ["b"])


def test_runs_without_a_case_in_common_are_refused_for_good(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(*_: Any) -> Any:
        raise UsageError("no case in common")

    monkeypatch.setattr(compare_page, "_compared", nothing)
    page = shown(asked, "run=old&run=new&force=1")
    assert (page.status, page.template, page.data.forced) == (400, "refused", "")
    assert page.data.refused == ["no case in common"]


def test_one_case_is_shown_in_all_runs(asked: Asked) -> None:
    page = shown(asked, "run=old&run=new&kind=better&case=b")
    assert page.template == "compare_case"
    assert parse_qs(urlsplit(page.data.after).query)["case"] == ["c"]


def test_texts_are_read_of_the_cases_that_a_page_shows(
    asked: Asked, page_pool: StorePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, really = list[list[str]](), compare_page.listed_texts

    def counted(store: Any, runs: Any, ids: Any, positions: Any) -> Any:
        read.append(list(ids))
        return really(store, runs, ids, positions)

    monkeypatch.setattr(compare_page, "listed_texts", counted)
    page_pool.page_cache.forget()
    for _ in range(2):
        page = shown(asked, "run=old&run=new").data
    (first,) = read
    flips = page.pairs[0].flips
    assert first == [one.id for name in ("worse", "better") for one in flips[name]]
    assert all(one.answers for one in flips["better"])
    others = [
        one for name, rows in flips.items() if name not in ("worse", "better") for one in rows
    ]
    assert others
    assert not any(one.answers for one in others)
    # The JSON has no lists of its own, so that it has the texts of all kinds.
    whole = show_compared(asked("/compare.json", "run=old&run=new")).data
    assert all(one.answers for rows in whole.pairs[0].flips.values() for one in rows)
