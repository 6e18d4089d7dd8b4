"""Runs as one file: what fits is sent, what would take long is left to the command."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.errors import UsageError
from proctor.web.app import make_app
from proctor.web.pages import share_file
from proctor.web.pages.share_file import send_page, share_link


def test_small_runs_are_sent_as_a_file_of_their_name(page_pool: Any) -> None:
    with TestClient(make_app(page_pool.place), base_url="http://127.0.0.1") as client:
        answer = client.get("/share.html?run=old&run=new")
        assert client.get("/share.html?run=nobody").status_code == 404
    assert answer.headers["content-disposition"].endswith("old-new.html")
    assert answer.text.startswith("<!doctype html>")
    assert answer.text.rstrip().endswith("</html>")
    with page_pool.lend() as store:
        runs = [store.runs.get(name) for name in ("old", "new")]
        assert share_link(store, runs) == "/share.html?run=old&run=new"
        assert share_link(store, [store.runs.get("going")]) == ""


def test_large_runs_are_left_to_the_command(
    asked: Any, page_pool: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(share_file, "MOST_CASES", 4)
    with page_pool.lend() as store:
        assert share_link(store, [store.runs.get("new")]) == ""
    with pytest.raises(UsageError, match="proctor export"):
        send_page(asked("/share.html", "run=new"))
    with pytest.raises(UsageError, match="expected 1 to"):
        send_page(asked("/share.html", ""))
