"""One case side by side: each run against the first, differences marked, gaps said."""

from typing import Any

import pytest
from starlette.exceptions import HTTPException

from proctor.errors import StoreError
from proctor.store.queries import PairQuery
from proctor.web.addresses import row_id
from proctor.web.pages import compare, compare_case
from proctor.web.pages.compare_case import ComparedCase, ComparedList, case_beside


@pytest.fixture
def beside(page_pool: Any) -> Any:
    def make(case: str, *more: tuple[str, str], kind: str = "", **filters: str) -> ComparedCase:
        state = [("run", "old"), ("run", "new"), *more]
        case_list = ComparedList("/compare", state, kind, PairQuery(**filters))
        with page_pool.lend() as store:
            return case_beside(store, ("old", "new"), case, case_list)

    return make


def test_both_sides_have_their_values_and_reasons(beside: Any) -> None:
    page = beside("b")
    old, new = page.sides
    assert (old.first, new.first, old.value, new.value) == (True, False, 0.0, 1.0)
    assert (new.run.name, new.link, new.there) == ("new", "/runs/new/cases/b", True)
    (attempt,) = new.attempts
    assert attempt.output == "say b"
    assert [(one.id, one.points, one.why) for one in attempt.reasons] == [("fits", 1.0, "because")]
    assert not any(piece.hit for piece in attempt.shown)
    assert (page.case.id, page.case.tags) == ("b", [("kind", "odd")])


def test_the_cases_around_keep_what_is_compared(beside: Any) -> None:
    page = beside("b")
    assert page.before == "/compare?run=old&run=new&case=a"
    assert page.after == "/compare?run=old&run=new&case=c"
    # Back to the row of the case.
    assert page.overview == f"/compare?run=old&run=new#{row_id('b')}"
    assert beside("a").before is None


def test_the_way_from_case_to_case_stays_in_the_list(beside: Any) -> None:
    page = beside("b", ("force", "1"), kind="different", where="id != 'a'")
    kept = "/compare?run=old&run=new&force=1&kind=different&where=id+%21%3D+%27a%27"
    assert (page.before, page.after) == (None, f"{kept}&case=c")
    assert page.overview == f"{kept}#{row_id('b')}"
    assert beside("c", kind="different", where="id != 'a'").after is None
    # Without a kind, the cases that changed come first.
    assert beside("c", where="id != 'x'").after.endswith("&case=a")
    assert beside("a", where="id != 'x'").before.endswith("&case=c")
    found = beside("b", search="say c")
    assert (found.before, found.after) == (None, "/compare?run=old&run=new&q=say+c&case=c")


def test_a_case_of_a_later_page_leads_back_to_that_page(
    asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "ROWS", 1)
    state = "run=old&run=new&where=id+%21%3D+%27x%27"
    first = compare.show_compared(asked("/compare", state)).data
    assert first.next is not None
    second = compare.show_compared(asked("/compare", first.next.partition("?")[2])).data
    (row,) = second.listing.cases
    case = compare.show_compared(asked("/compare", row.link.partition("?")[2])).data
    assert case.overview == f"{first.next}#{row_id(row.id)}"
    further = compare.show_compared(asked("/compare", case.after.partition("?")[2])).data
    assert further.overview.startswith(first.next)


def test_a_run_without_the_case_says_so(beside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    placed = compare_case.placed_case

    def lacking(store: Any, view: Any, case_id: str) -> Any:
        if view.run.name == "new":
            raise StoreError("no such case")
        return placed(store, view, case_id)

    monkeypatch.setattr(compare_case, "placed_case", lacking)
    old, new = beside("b").sides
    assert (old.there, new.there, new.value, new.attempts) == (True, False, None, [])
    assert not any(piece.hit for piece in old.attempts[0].shown)
    with pytest.raises(HTTPException, match="'old' has no case 'zzz'"):
        beside("zzz")


def test_an_attempt_in_error_shows_its_words(beside: Any) -> None:
    (attempt,) = beside("e").sides[0].attempts
    assert (attempt.error, attempt.output, attempt.value) == ("gone", "", None)
