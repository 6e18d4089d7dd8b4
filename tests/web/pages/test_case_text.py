"""A case as a file: Markdown that no answer breaks, and texts as they were written."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.core.suite import Message, ToolCall
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages.case_text import CaseFiles, first_line, question_text

FENCED = "# No heading of ours\n\n````python\nprint(1)\n````"


@pytest.fixture
def client(tmp_path: Path, put_run: Any, examined: Any, hostile: list[str]) -> Any:
    path = str(tmp_path / "p.db")
    with Store.open(path) as store:
        fenced = examined.plain("a/b", FENCED, 0.5, tags={"lang": ("go", "c")})
        called = examined.plain("called", "", 0.0)
        call = Message(
            role="assistant", content="", tool_calls=(ToolCall(name="f", arguments={"n": 1}),)
        )
        called = replace(called, attempts=(replace(called.attempts[0], messages=(call,)),))
        strange = [examined.hostile(n, text) for n, text in enumerate(hostile)]
        put_run(store, "run", [fenced, called, *strange])
    with TestClient(make_app(path), base_url="http://localhost") as opened:
        yield opened


def test_a_case_is_markdown_that_its_answer_does_not_break(client: Any) -> None:
    answer = client.get(CaseFiles.of("run", "a/b").markdown)
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''a_b.md"
    lines = answer.text.split("\n")
    assert lines[0] == "# a/b"
    assert "- lang: go, c" in lines
    at = lines.index("## Attempt 1: 0.5")
    assert "\n".join(lines[at:]).startswith(f"## Attempt 1: 0.5\n\n`````\n{FENCED}\n`````\n")
    assert "- fits: 0.5 / 1 — because" in lines
    assert "## 第 1 次" not in answer.text
    assert "# a/b" in client.get("/runs/run/case.md?id=a/b&lang=zh").text


def test_texts_are_as_they_were_written(client: Any) -> None:
    files = CaseFiles.of("run", "a/b")
    assert client.get(files.question).text == "a/b?"
    assert client.get(files.answer(0)).text == FENCED
    assert client.get(files.answer(1)).status_code == 404
    assert client.get(f"{files.question}&part=all").status_code == 400
    called = CaseFiles.of("run", "called").answer(0)
    assert client.get(called).text == '[calls f({"n": 1})]'
    for name in ("case.md", "case.txt"):
        assert client.get(f"/runs/run/{name}?id=nothing").status_code == 404


def test_hostile_texts_are_downloads_and_no_page(client: Any, hostile: list[str]) -> None:
    for number in range(len(hostile)):
        files = CaseFiles.of("run", f"case {number}")
        for address in (files.markdown, files.question, files.answer(0)):
            answer = client.get(address)
            assert answer.status_code == 200, address
            assert answer.headers["content-disposition"].startswith("attachment")
            assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_question_of_several_messages_names_who_said_what() -> None:
    messages = [
        Message(role="system", content="Be short."),
        Message(role="user", content="\n Why?\nNow"),
    ]
    assert question_text(messages) == "system:\nBe short.\n\nuser:\n\n Why?\nNow"
    assert first_line(messages) == "Why?"
    assert first_line(messages[:1]) == ""
