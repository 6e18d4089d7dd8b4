"""The list of cases: an address says all of it, and a case carries it along."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.web.pages.case_list import CaseList, ListedCase, rows_with_texts

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
