"""The page of a case: its JSON with all messages, its neighbours, and files as downloads."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from proctor.core.score import Score
from proctor.store.store import Store
from proctor.web.api.response import HtmlPage
from proctor.web.app import make_app
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


@pytest.fixture
def client(tmp_path: Path, put_run: Any, examined: Any) -> Iterator[TestClient]:
    place = str(tmp_path / "p.db")
    one = examined.plain("many", "a *fine* parcel", 1.0, ask="Where is my parcel?")
    values = (1.0, 0.0, 1.0, 0.5)
    attempts = tuple(replace(one.attempts[0], index=index) for index in range(4))
    scores = tuple({"fits": Score(points=value, out_of=1.0, reason="r")} for value in values)
    with Store.open(place) as store:
        put_run(
            store,
            "run",
            [replace(one, attempts=attempts, scores=scores), examined.plain("one", "x", 0.0)],
        )
    with TestClient(make_app(place), base_url="http://127.0.0.1") as opened:
        yield opened


def test_only_the_failed_attempts_are_shown_where_that_is_asked(client: TestClient) -> None:
    def shown(query: str) -> list[str]:
        page = client.get(f"/runs/run/cases/{query}")
        assert page.status_code == 200
        return re.findall(r'<section id="attempt-(\d)"', page.text)

    assert shown("many") == ["1"]
    assert shown("many?attempt=all") == ["0", "1", "2", "3"]
    assert shown("many?attempt=failed") == ["1", "3"]
    assert shown("one?attempt=failed") == ["0"]
    page = client.get("/runs/run/cases/many").text
    assert re.search(r'<a class="chip bad" href="[^"]*attempt=failed">Failed only <b>2</b>', page)
    assert "Failed only" not in client.get("/runs/run/cases/one").text


@pytest.mark.parametrize("text", ["raw", "rendered"])
def test_words_that_were_searched_are_marked(client: TestClient, text: str) -> None:
    page = client.get(f"/runs/run/cases/many?q=PARCEL&text={text}").text
    # In the question and in the answer, in the case they are written in.
    assert "Where is my <mark>parcel</mark>?" in page
    assert ("a *fine* " if text == "raw" else "</em> ") + "<mark>parcel</mark>" in page
    assert "<mark>" not in client.get(f"/runs/run/cases/many?text={text}").text


def test_a_verdict_says_how_long_the_judge_took(
    tmp_path: Path, put_run: Any, examined: Any
) -> None:
    place = str(tmp_path / "p.db")
    asked = {
        "asked": [{"raw": ["x"], "seconds": 1.25}, {"raw": ["y"], "seconds": 2.0}, {"raw": []}]
    }
    with Store.open(place) as store:
        put_run(store, "run", [
            examined.plain("one", "x", 0.0, detail={"raw": ["r"], "seconds": 4.5}),
            examined.plain("two", "x", 0.0, detail=asked),
            examined.plain("none", "x", 0.0),
        ])  # fmt: skip
    with TestClient(make_app(place), base_url="http://127.0.0.1") as client:
        facts = [
            re.findall(
                r'<p class="facts"><small>(.*?)</small>', client.get(f"/runs/run/cases/{name}").text
            )
            for name in ("one", "two", "none")
        ]
    assert "· 4.5 s" in facts[0][0]
    assert "· 3.2" in facts[1][0]
    assert " s" not in facts[2][0].replace(" span", "").replace("</span>", "")
