"""The page of a case: its JSON with all messages, its neighbours, and files as downloads."""

from typing import Any

import pytest
from starlette.exceptions import HTTPException

from proctor.web.api.response import HtmlPage
from proctor.web.pages.case import CasePage, _link_files, send_file, show_case

Asked = Any


def test_the_page_and_its_json_are_of_the_same_case(asked: Asked) -> None:
    page = show_case(asked("/runs/new/cases/b", run="new", case="b"))
    assert isinstance(page, HtmlPage)
    assert page.data["case"]["id"] == "b"
    assert (page.data["before"], page.data["after"]) == ("/runs/new/cases/a", "/runs/new/cases/c")
    twin = show_case(asked("/runs/new/cases/b.json", run="new", case="b.json"))
    assert isinstance(twin, CasePage)
    assert (twin.id, twin.value, twin.attempts[0].output) == ("b", 1.0, "say b")
    assert twin.messages[0].content == "b?"
    assert twin.attempts[0].scores[0].reason == "because"


def test_a_case_without_an_answer_says_why(asked: Asked) -> None:
    twin = show_case(asked("/runs/new/cases/e.json", run="new", case="e.json"))
    assert isinstance(twin, CasePage)
    (attempt,) = twin.attempts
    assert (twin.value, twin.status, attempt.error, attempt.output) == (None, "error", "gone", "")


def test_any_id_may_be_asked_for_in_the_query(asked: Asked) -> None:
    page = show_case(asked("/runs/new/case", "id=c", run="new"))
    assert isinstance(page, HtmlPage)
    assert page.data["case"]["id"] == "c"
    for query in ("id=nothing", ""):
        with pytest.raises(HTTPException, match="no case"):
            show_case(asked("/runs/new/case", query, run="new"))


def test_a_file_that_no_attempt_left_is_not_found(asked: Asked) -> None:
    for query in ("case=b&name=x", "case=b&attempt=7&name=x", "case=b"):
        with pytest.raises(HTTPException, match="has no file"):
            send_file(asked("/runs/new/file.txt", query, run="new"))


def test_only_a_file_that_was_kept_has_a_link() -> None:
    attempt = {
        "index": 2,
        "files": [
            {"name": "a b.txt", "key": "k1", "size": None, "href": ""},
            {"name": "huge", "key": "", "size": None, "href": ""},
        ],
    }
    _link_files("r", "c/1", attempt, {"k1": 3}, {"k1": ("abc", "data:image/png;base64,AA==")})
    kept, huge = attempt["files"]  # type: ignore[misc]
    assert kept == {
        "name": "a b.txt",
        "size": 3,
        "href": "/runs/r/file.txt?case=c%2F1&attempt=2&name=a+b.txt",
        "beginning": [{"text": "abc", "hit": False, "more": 0}],
        "language": "",
        "picture": "data:image/png;base64,AA==",
    }
    nothing = {"beginning": [], "language": "", "picture": ""}
    assert huge == {"name": "huge", "size": None, "href": "", **nothing}
