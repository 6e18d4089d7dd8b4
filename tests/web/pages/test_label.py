"""The labelling page: which attempt comes next, by which criterion, and whose forms are taken."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from proctor.core.run import CaseResult
from proctor.core.suite import Criterion, Spec
from proctor.engine.labels.label_files import LONGEST_AUTHOR, LONGEST_NOTE
from proctor.engine.labels.labelling_order import RandomCases
from proctor.engine.run.stored_view import placed_case, view_of
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.web.pages.label import (
    LONGEST_FORM,
    _attempt,
    _criterion,
    _stored,
    put_label,
    show_label,
    token_for,
)
from proctor.web.store_pool import StorePool

NUMBERS = count()


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StorePool]:
    """Give a store of its own: marks stay in it."""
    path = str(tmp_path_factory.mktemp("labels") / "p.db")
    with Store.open(path):
        pass
    pool = StorePool(path)
    yield pool
    pool.close()


class Labelled:
    """A run of four cases, without a mark at first."""

    def __init__(self, pool: StorePool, asked: Callable[..., Request], name: str) -> None:
        self.pool, self.asked, self.name = pool, asked, name
        with pool.lend() as store:
            self.order = [case for _, case in RandomCases(store, store.runs.get(name)).after()]

    def request(self, query: str = "") -> Request:
        request = self.asked(f"/runs/{self.name}/label", query, run=self.name)
        request.scope["app"].state.store_pool = self.pool
        return request

    def page(self, query: str = "") -> Any:
        return show_label(self.request(query)).data

    def mark(self, case: str, mark: str = "1", **more: str) -> dict[str, list[str]]:
        """Send a form, and return the query of the page that it leads to."""
        form = {"csrf": token_for(self.name), "case": case, "mark": mark, **more}
        answer = _stored(self.request(), form)
        assert answer.status_code == 303
        place = urlsplit(answer.headers["location"])
        assert place.path == f"/runs/{self.name}/label"
        return parse_qs(place.query)

    @property
    def labels(self) -> list[Label]:
        with self.pool.lend() as store:
            return store.labels.of_run(self.name)

    def result(self, case: str) -> CaseResult:
        with self.pool.lend() as store:
            return placed_case(store, view_of(store, self.name), case)[1]


@pytest.fixture
def run(pool: StorePool, asked: Any, put_run: Any, examined: Any) -> Labelled:
    name = f"run{next(NUMBERS)}"
    with pool.lend() as store:
        put_run(store, name, [examined.plain(case, case, float(case < "c")) for case in "abcd"])
    return Labelled(pool, asked, name)


def test_cases_come_in_random_order_the_unmarked_first(run: Labelled) -> None:
    first, second, third, last = run.order
    page = run.page()
    assert (page.case.id, page.before, page.labelled, page.own) == (first, None, 0, None)
    assert parse_qs(urlsplit(page.after).query)["case"] == [second]
    run.mark(first)
    assert run.page().case.id == second
    for case in (second, third, last):
        run.mark(case)
    assert run.page().case.id == first
    assert run.page(f"case={last}").after is None


def test_a_mark_leads_to_the_next_case_that_has_none(run: Labelled) -> None:
    first, second, third, last = run.order
    assert run.mark(second, author="me")["case"] == [third]
    # After the last one it begins again, and passes over what has a mark.
    assert run.mark(last)["case"] == [first]
    assert run.mark(first) == {
        "case": [third], "criterion": ["fits"], "last": [first],
    }  # fmt: skip
    assert run.mark(third)["case"] == [third]


def test_a_mark_is_stored_as_it_was_given_and_not_longer(run: Labelled) -> None:
    query = run.mark("a", "0", note="n" * (LONGEST_NOTE + 1), author="w" * (LONGEST_AUTHOR + 1))
    assert query["author"] == ["w" * LONGEST_AUTHOR]
    (label,) = run.labels
    assert (label.case_id, label.index, label.criterion, label.points) == ("a", 0, "fits", 0.0)
    assert (len(label.note), len(label.author)) == (LONGEST_NOTE, LONGEST_AUTHOR)
    own = run.page(f"case=a&author={'w' * LONGEST_AUTHOR}").own
    assert (own.points, len(own.note)) == (0.0, LONGEST_NOTE)


def test_the_judge_is_measured_by_the_marks(run: Labelled) -> None:
    for case, mark in (("a", "1"), ("b", "0"), ("c", "0")):
        run.mark(case, mark)
    page = run.page("case=d&author=me")
    assert (page.labelled, page.agreement.n, page.agreement.agreed) == (3, 3, 2)
    assert sorted(page.agreement.confusion) == [(0.0, 0.0, 1), (1.0, 0.0, 1), (1.0, 1.0, 1)]
    assert (page.marks, page.rates, page.author) == ([("1", 1.0), ("0", 0.0)], False, "me")
    assert (page.wanted, page.judged.points) == ("Is it?", 0.0)


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"csrf": ""}, 403),
        ({"csrf": token_for("another run")}, 403),
        ({"csrf": "é"}, 403),
        ({"mark": "2"}, 400),
        ({"case": "none"}, 404),
        ({"attempt": "7"}, 404),
    ],
)
def test_a_form_that_is_not_the_pages_own_stores_nothing(
    run: Labelled, form: dict[str, str], status: int
) -> None:
    whole = {"csrf": token_for(run.name), "case": "a", "mark": "1", **form}
    with pytest.raises(HTTPException) as caught:
        _stored(run.request(), whole)
    assert (caught.value.status_code, run.labels) == (status, [])


@pytest.mark.parametrize("length", ["", "-1", "1e3", "9" * 10, str(LONGEST_FORM + 1)])
def test_a_form_says_its_length_before_it_is_read(asked: Any, length: str) -> None:
    request = asked("/runs/any/label", run="any")
    request.scope["headers"] = [(b"content-length", length.encode())]
    with pytest.raises(HTTPException) as caught:
        asyncio.run(put_label(request))
    assert caught.value.status_code == 413


def test_a_criterion_is_the_named_one_or_the_first_that_a_judge_scored(run: Labelled) -> None:
    result = run.result("a")
    (item,) = result.attempts
    (judged,) = result.case.criteria
    exact = Criterion(id="exact", scorer=Spec(name="exact_match"))
    both = replace(result, case=replace(result.case, criteria=(exact, judged)))
    assert _criterion(both, item, "") == judged
    assert _criterion(both, item, "exact") == exact
    assert _criterion(both, replace(item, scores={}), "") == exact
    bare = replace(result, case=replace(result.case, criteria=()))
    with pytest.raises(HTTPException, match="'a' has no criterion to mark"):
        _criterion(bare, item, "")


def test_an_attempt_is_the_numbered_one_or_the_first(run: Labelled) -> None:
    result = run.result("a")
    (item,) = result.attempts
    second = replace(item, attempt=replace(item.attempt, index=1))
    two = replace(result, attempts=(item, second))
    assert _attempt(two, "") is item
    assert _attempt(two, "1") is second
    with pytest.raises(HTTPException, match="'a' has no attempt '2'"):
        _attempt(two, "2")


def test_the_last_mark_is_told_with_the_opinion_of_the_judge_and_can_be_taken_back(
    run: Labelled,
) -> None:
    run.mark("a", "0", author="Ada")
    assert run.mark("b", "1", author="Ada", goal="4")["last"] == ["b"]
    last = run.page("author=Ada&last=a").last
    assert (last.case, last.own, last.judge, last.reason) == ("a", 0.0, 1.0, "because")
    assert run.page("author=Ada&goal=4").progress.to_json()["goal"] == 4
    back = run.mark("c", "undo", author="Ada", criterion="fits")
    assert (back["case"], back["author"]) == (["b"], ["Ada"])
    assert [label.case_id for label in run.labels] == ["a"]
    # Nobody takes back what another person said.
    assert "case" not in run.mark("c", "undo", author="Bob", criterion="fits")
    assert len(run.labels) == 1


def test_people_are_compared_with_each_other(run: Labelled) -> None:
    for case in "abcd":
        run.mark(case, "1", author="Ada")
        run.mark(case, "0" if case == "d" else "1", author="Bob")
    page = run.page("author=Bob")
    assert page.authors == {"Ada": 4, "Bob": 4}
    (pair,) = page.people
    assert (set(pair.people), pair.agreed, pair.n) == ({"Ada", "Bob"}, 3, 4)
    assert {one.person: (one.agreed, one.n) for one in page.with_judge}.keys() == {"Ada", "Bob"}
    # For a third person no case has a mark.
    assert run.page("author=Eve").case.id == run.order[0]


def test_a_queue_offers_only_its_cases(run: Labelled) -> None:
    run.mark("a", "0", author="Ada")
    run.mark("b", "1", author="Ada")
    page = run.page("queue=disagreement&author=Bob")
    assert (page.case.id, page.waiting, page.queue) == ("a", 1, "disagreement")
    assert run.page("queue=unsure").waiting == 0
    assert run.page().waiting is None
    assert parse_qs(urlsplit(page.queues[1][1]).query)["queue"] == ["unsure"]


def test_nobody_aims_at_more_labels_than_cases_and_a_label_has_its_author(run: Labelled) -> None:
    assert run.page("author=Ada&goal=1").progress.goal == 1
    most = run.page("goal=50").progress.goal
    assert 1 < most < 50
    run.mark("a", "1", author="Ada")
    page = run.page("case=a&criterion=fits&author=Ada")
    assert (page.own.points, page.own.author, page.others) == (1.0, "Ada", [])
    # It is nobody else's, with a name or without one.
    for author in ("", "Bob"):
        page = run.page(f"case=a&criterion=fits&author={author}")
        assert (page.own, [one.author for one in page.others]) == (None, ["Ada"])


def test_enter_in_a_field_keeps_name_and_note_and_gives_no_mark(run: Labelled) -> None:
    address = run.mark("a", "stay", author="Ada")
    assert run.labels == []
    assert (address["case"], address["author"]) == (["a"], ["Ada"])
    run.mark("a", "stay", author="Ada", note="odd")
    run.mark("a", "stay", author="Ada", note="odd")
    assert [(one.points, one.note) for one in run.labels] == [(None, "odd")]
    # A note alone is no label: the case is still offered.
    assert run.page("author=Ada").authors == {}
    run.mark("a", "1", author="Ada")
    run.mark("a", "stay", author="Ada", note="sure")
    assert run.labels[-1].points == 1.0
    assert run.page("author=Ada&case=a&criterion=fits").own.note == "sure"


def test_each_criterion_has_its_own_way_through_the_cases(
    pool: StorePool, asked: Callable[..., Request], put_run: Any, examined: Any
) -> None:
    second = Criterion(id="tone", scorer=Spec(name="judged", params={"question": "Kind?"}))
    with pool.lend() as store:
        made = []
        for name in "abcd":
            one = examined.plain(name, name, 1.0)
            more = () if name == "d" else (second,)
            case = replace(one.case, criteria=(*one.case.criteria, *more))
            scores = {criterion.id: one.scores[0]["fits"] for criterion in case.criteria}
            made.append(replace(one, case=case, scores=(scores,)))
        put_run(store, "two-criteria", made)
    run = Labelled(pool, asked, "two-criteria")
    place: dict[str, list[str]] = {"case": run.order[:1]}
    for case in run.order:
        assert place["case"] == [case]
        place = run.mark(case, criterion="fits", author="ann")
    # All are labelled by one criterion, and none by the other.
    for case in [one for one in run.order if one != "d"]:
        assert run.page("criterion=tone&author=ann").case.id == case
        run.mark(case, "0", criterion="tone", author="ann")
    for criterion in ("fits", "tone"):
        query = f"criterion={criterion}&author=ann"
        assert show_label(run.request(query)).only_page["all_done"]
        assert not show_label(run.request(query.replace("ann", "ben"))).only_page["all_done"]
    assert {(one.case_id, one.criterion) for one in run.labels} == {
        *((case, "fits") for case in "abcd"), *((case, "tone") for case in "abc")
    }  # fmt: skip
