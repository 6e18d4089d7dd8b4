"""One case in all runs of its suite, the newest first."""

from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from proctor.web.app import make_app
from proctor.web.pages.history import show_history


def key_of(page_pool: Any) -> str:
    with page_pool.lend() as store:
        key: str = store.runs.get("new").suite_key
    return key


def test_every_run_says_what_it_made_of_the_case(asked: Any, page_pool: Any) -> None:
    key = key_of(page_pool)
    data = show_history(asked(f"/suites/{key}/history", "case=b", suite=key)).data
    assert [(one.run, one.value, one.edited) for one in data.results] == [
        ("new", 1.0, False), ("old", 0.0, False),
    ]  # fmt: skip
    assert (data.question, data.passed, data.failed) == ("b?", 1, 1)
    assert data.results[0].link == "/runs/new/cases/b"
    assert "".join(piece.text for piece in data.results[0].answer.pieces) == "say b"


def test_answers_are_rendered_or_show_the_words_that_differ(page_pool: Any) -> None:
    address = f"/suites/{key_of(page_pool)}/history?case=b"
    with TestClient(make_app(page_pool.place), base_url="http://127.0.0.1") as client:
        rendered = client.get(address).text
        differing = client.get(f"{address}&text=differences").text
    assert "Highlighted words" not in rendered
    assert "Highlighted words" in differing
    assert 'text=differences" aria-current="true"' in differing


def test_a_case_that_the_suite_lacks_is_missing(asked: Any, page_pool: Any) -> None:
    key = key_of(page_pool)
    with pytest.raises(HTTPException, match="no case 'none'"):
        show_history(asked(f"/suites/{key}/history", "case=none", suite=key))
