"""The page of a suite: its runs over time, side by side, and its cases in pages."""

from typing import Any

import pytest
from starlette.exceptions import HTTPException

from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.web.pages import suite as suite_page
from proctor.web.pages.suite import LONGEST, histogram, suite

Asked = Any


@pytest.fixture
def key(page_pool: Any) -> str:
    with page_pool.lend() as store:
        return str(store.suites.newest()[0].key)


def test_a_suite_is_found_by_the_beginning_of_its_key(asked: Asked, key: str) -> None:
    data = suite(asked(f"/suites/{key[:8]}", suite=key[:8])).data
    assert (data.suite.key, data.suite.cases, data.first, data.next) == (key, 5, True, None)
    assert [run.name for run in data.runs] == ["going", "new", "old"]
    assert [point.run for point in data.trend] == ["old", "new"]
    assert [column.id for column in data.columns] == ["new", "old"]
    assert [case.id for case in data.cases] == list("abcde")
    with pytest.raises(HTTPException, match="no suite"):
        suite(asked("/suites/00000000", suite="00000000"))


def test_cases_come_in_pages_without_a_gap(
    asked: Asked, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_page, "PAGE", 2)
    after, seen = -1, []
    while after is not None:
        data = suite(asked(f"/suites/{key}", f"after={after}", suite=key)).data
        assert data.first == (after < 0)
        seen += [case.id for case in data.cases]
        after = data.next
    assert seen == list("abcde")


def test_a_long_question_is_cut_and_a_scorer_is_named_once() -> None:
    criteria = tuple(Criterion(id=name, scorer=Spec(name="contains")) for name in "xy")
    message = Message(role="user", content="x" * (LONGEST + 1))
    tags = {"lang": ("go",), "both": ("a", "b")}
    shown = suite_page._case(Case(id="c", messages=(message,), criteria=criteria, tags=tags))
    assert shown.prompt == "x" * (LONGEST - 1) + "…"
    assert shown.scorers == ["contains"]
    assert shown.tags == {"lang": "go", "both": ["a", "b"]}


def test_the_distribution_of_a_run_is_a_picture(asked: Asked) -> None:
    answer = histogram(asked("/runs/new/histogram.svg", run="new"))
    assert answer.media_type == "image/svg+xml"
    assert answer.body.startswith(b"<svg")
    assert answer.body == histogram(asked("/runs/new/histogram.svg", run="new")).body
    with pytest.raises(HTTPException):
        histogram(asked("/runs/none/histogram.svg", run="none"))
