"""The list of cases: an address says all of it, and a case carries it along."""

import re
from dataclasses import replace
from typing import Any, get_args
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.testclient import TestClient

from proctor.core.attempt import Attempt
from proctor.core.run import Run
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run.aggregate import case_result, fold_of
from proctor.errors import UsageError
from proctor.store.queries import Sort
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages.case_list import CaseList, ListedCase, _judge_cost, rows_with_texts

Asked = Any
RUN = Run(id="r", name="r", suite="s", suite_key="k", candidate=Spec(name="recorded"))


@pytest.mark.parametrize(
    ("case_id", "address"),
    [("a", "/runs/r/cases/a?q=x&sort=id"), ("..", "/runs/r/case?id=..&q=x&sort=id")],
)
def test_a_link_to_a_case_carries_the_list(asked: Asked, case_id: str, address: str) -> None:
    query = "q=x&sort=id&lang=zh&size=3&after=[null,1]"
    case_list = CaseList.of(asked("/runs/r", query), RUN)
    assert case_list.case(case_id) == address
    assert case_list.filters().after == "[null,1]"


def test_a_change_begins_the_list_anew(asked: Asked) -> None:
    query = "where=rate<1&column=tags&column=answer&after=[null,1]"
    case_list = CaseList.of(asked("/runs/r", query), RUN)
    link = urlsplit(case_list.link(("status", "failed"), ("where", "")))
    assert parse_qs(link.query) == {"column": ["tags", "answer"], "status": ["failed"]}


def test_rows_of_a_suite_that_is_gone_are_listed_without_texts(page_pool: Any) -> None:
    from dataclasses import replace

    from proctor.store.queries import ListingQuery

    with page_pool.lend() as store:
        run = store.runs.get("new")
        rows = store.listing.page(run.id, ListingQuery(), 2)
        listed = rows_with_texts(store, replace(run, suite_key="gone"), rows)
        assert [(one.id, one.question) for one in listed] == [("a", ""), ("b", "")]
        assert isinstance(listed[0], ListedCase)
        assert rows_with_texts(store, run, rows)[1].question == "b?"


@pytest.mark.parametrize("sort", get_args(Sort))
@pytest.mark.sampled(3)
def test_every_header_sorts_pages_and_the_way_from_case_to_case(
    tmp_path: Any, put_run: Any, examined: Any, sort: str
) -> None:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        cases = [
            examined.plain(
                f"c{n}", "y" * (n * 3 % 7), n * 2 % 3 / 2, ask="?" * (n * 5 % 6),
                tags={"kind": (f"k{n % 4}",)} if n % 3 else {},
            )
            for n in range(9)
        ]  # fmt: skip
        put_run(store, "done", cases)
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        for order in ("up", "down"):
            query = f"sort={sort}&order={order}"
            whole = client.get(f"/runs/done.json?{query}").json()
            ids = [case["id"] for case in whole["cases"]]
            assert sorted(ids) == [f"c{n}" for n in range(9)]
            paged: list[str] = []
            link = f"/runs/done?{query}&size=2"
            while link:
                page = client.get(link.replace("/runs/done", "/runs/done.json", 1)).json()
                paged += [case["id"] for case in page["cases"]]
                link = page["next"] and page["next"].partition("#")[0] + "&size=2"
            assert paged == ids
            for place, case_id in enumerate(ids):
                page_text = client.get(f"/runs/done/cases/{case_id}?{query}").text
                links = re.findall(
                    r'href="/runs/done/cases/(\w+)[^"]*" rel="(prev|next)"', page_text
                )
                around = {"prev": ids[place - 1] if place else "", "next": (*ids, "")[place + 1]}
                wanted = {rel: name for rel, name in around.items() if name}
                assert {rel: name for name, rel in links} == wanted, (sort, order, case_id)


def test_headers_lead_to_the_longest_and_dearest_first(asked: Asked) -> None:
    case_list = CaseList.of(asked("/runs/r", "sort=tokens&order=down&q=x"), RUN)
    assert case_list.sorted_by("seconds") == "/runs/r?q=x&sort=seconds&order=down#cases"
    assert case_list.sorted_by("reason") == "/runs/r?q=x&sort=reason#cases"
    assert case_list.sorted_by("tokens") == "/runs/r?q=x&sort=tokens#cases"


@pytest.mark.parametrize("query", ["sort=tokens&after=[%22a%22,1]", "sort=reason&after=[3,1]"])
def test_a_cursor_of_another_order_is_refused(asked: Asked, query: str) -> None:
    with pytest.raises(UsageError, match="a cursor from a link"):
        CaseList.of(asked("/runs/r", query), RUN)


def test_what_judging_a_case_cost_is_told_where_it_is_known() -> None:
    case = Case(
        id="c",
        messages=(Message(role="user", content="Which?"),),
        criteria=(Criterion(id="k", scorer=Spec(name="judge")),),
    )

    def cost(*details: Any) -> float | None:
        pairs = [
            (
                replace(Attempt.of("c", "red"), index=place, usage={"candidate": {"cost": 9.0}}),
                {"k": Score(points=1.0, out_of=1.0, reason="", detail=detail)},
            )
            for place, detail in enumerate(details)
        ]
        return _judge_cost(case_result(fold_of(Suite(name="s", cases=())), case, pairs))

    assert cost({"usage": {"calls": 1, "cost": 0.5}}, {"usage": {"calls": 1, "cost": 0.25}}) == 0.75
    assert cost({}) is None


def test_each_of_a_few_attempts_has_its_sign(tmp_path: Any, put_run: Any, examined: Any) -> None:
    path = str(tmp_path / "p.db")

    def tried(name: str, *points: float) -> Any:
        made = examined.plain(name, "so", 1.0)
        return replace(
            made,
            attempts=tuple(replace(made.attempts[0], index=n) for n in range(len(points))),
            scores=tuple({"fits": replace(made.scores[0]["fits"], points=one)} for one in points),
        )

    with Store.open(path) as store:
        cases = [tried("few", 1.0, 0.0, 0.5), tried("many", *[1.0] * 5), tried("once", 1.0)]
        put_run(store, "done", cases)
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        listed = client.get("/runs/done.json").json()["cases"]
        few, many, once = client.get("/runs/done?lang=en").text.split('<tr id="p')[1:]
    assert [case["attempt_values"] for case in listed] == [[1.0, 0.0, 0.5], [1.0] * 5, [1.0]]
    assert 'aria-label="3 attempts: 100%, 0%, 50%"' in few
    signs = '<span class="good">✓</span><span class="bad">✗</span><span class="warn">◐</span>'
    assert signs in few
    assert "×5" in many
    assert 'class="each"' not in many + once
    assert "×" not in once
