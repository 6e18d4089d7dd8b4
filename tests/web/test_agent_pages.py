"""The page of a case that an agent worked on: rounds, files, marks by turn, in both languages."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.core.fingerprint import digest_bytes
from proctor.core.rounds import Attachment, Post, Round
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages.case import CasePage

HTML = b"<script>alert(1)</script>"
BAD = '<img src=x onerror="alert(1)">'
NAME = "out/<b>ü report</b>.html"


@pytest.fixture
def client(tmp_path: Path, put_run: Any, examined: Any) -> Iterator[TestClient]:
    address = str(tmp_path / "p.db")
    step = Post(
        message="print(7)", send_from="Planner", send_to=BAD,
        attachments=(Attachment(type="plan", content=f"1. add {BAD}"),
                     Attachment(type="data", content={"rows": [1, 2]})),
    )  # fmt: skip
    rounds = [
        Round.of("add 3 and 4", "It is 7.", [step]).to_json(),
        Round.failed("double it", f"out of memory {BAD}").to_json(),
    ]
    key = digest_bytes(HTML)
    left = {NAME: key, "huge.db": "", "gone.txt": "0" * 32}
    scorer = Spec(name="scoring_point", params={"statement": f"The sum is 7 {BAD}"})
    criteria = tuple(Criterion(id=f"turn{turn + 1}", turn=turn, scorer=scorer) for turn in range(3))
    plain = examined.plain("sum", "It is 7.", 1.0)
    case = Case(
        id="sum", messages=(Message(role="user", content="add 3 and 4"),), criteria=criteria
    )
    attempt = replace(
        plain.attempts[0],
        messages=(
            Message(role="assistant", content="It is 7."),
            Message(role="user", content="double it"),
        ),
        notes={"rounds": rounds, "files": [{}, left], "ended": "the agent gave no answer"},
    )
    lost = {"unanswered": True}
    scores = {
        "turn1": Score(points=1.0, out_of=1.0, reason="it is"),
        "turn2": Score(points=0.0, out_of=1.0, reason="the agent failed: x", detail=lost),
        "turn3": Score(points=0.0, out_of=1.0, reason="turn 3 was not reached", detail=lost),
    }
    odd = examined.plain("odd", "x", 1.0)
    strange = {"rounds": ["?", {"post_list": 3}, {"post_list": ["?", {"attachment_list": [1]}]}],
               "files": [{"a": ""}]}  # fmt: skip
    odd = replace(odd, attempts=(replace(odd.attempts[0], notes=strange),))
    with Store.open(address) as store:
        store.files.put({key: HTML})
        put_run(
            store, "run", [replace(plain, case=case, attempts=(attempt,), scores=(scores,)), odd]
        )
    with TestClient(make_app(address), base_url="http://127.0.0.1") as opened:
        yield opened


def test_rounds_files_and_marks_are_on_the_page(client: TestClient) -> None:
    steps = client.get("/runs/run/cases/sum?steps=all").text
    for part in (
        "Round 1", "User → Planner", "print(7)", "<summary>plan</summary>",
        "<summary>data</summary>", "&#34;rows&#34;", "Round 2", "✗ out of memory",
        'id="step-1"', 'id="step-4"',
    ):  # fmt: skip
        assert part in steps, part
    assert "<img" not in steps
    # Of several attempts on one page a step each is shown.
    assert 'id="step-1"' not in client.get("/runs/run/cases/sum?steps=all&attempt=all").text
    page = client.get("/runs/run/cases/sum").text
    for part in (
        "Files left in the working folder (3)", f"{len(HTML)} bytes", "huge.db <small>not stored",
        "gone.txt <small>not stored", "Marks by turn", "<td>not reached</td>",
        "<td>the agent failed</td>", '<p class="asked" dir="auto">The sum is 7',
    ):  # fmt: skip
        assert part in page, part
    assert "<img" not in page
    assert "<b>ü" not in page
    # The texts of steps are not there twice.
    assert page.count("print(7)") + page.count("&#34;rows&#34;") <= 2


def test_the_same_in_chinese(client: TestClient) -> None:
    page = client.get("/runs/run/cases/sum?lang=zh").text
    for part in ("轮次 1", "工作目录中留下的文件", "各轮得分", "未到达", "智能体失败"):
        assert part in page, part


def test_the_twin_has_rounds_files_and_turns(client: TestClient) -> None:
    made = client.get("/runs/run/cases/sum.json")
    CasePage.model_validate_json(made.text)
    (attempt,) = made.json()["attempts"]
    assert [turn["status"] for turn in attempt["turns"]] == [
        "scored", "agent_failure", "not_reached",
    ]  # fmt: skip
    assert attempt["rounds"][0]["post_list"][1]["message"] == "print(7)"
    sizes = {file["name"]: file["size"] for file in attempt["files"]}
    assert sizes == {NAME: len(HTML), "huge.db": None, "gone.txt": None}


def test_a_file_is_saved_and_never_shown(client: TestClient) -> None:
    query = {"case": "sum", "attempt": "0", "name": NAME}
    answer = client.get("/runs/run/file.txt", params=query)
    assert (answer.status_code, answer.content) == (200, HTML)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    sent = answer.headers["content-disposition"]
    assert sent == "attachment; filename*=UTF-8''b%3E.html"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_link_on_the_page_is_that_of_the_file(client: TestClient) -> None:
    import re
    from html import unescape

    page = client.get("/runs/run/cases/sum").text
    (link,) = re.findall(r'<a href="([^"]*/file\.txt[^"]*)" download>', page)
    assert client.get(unescape(link)).content == HTML


@pytest.mark.parametrize(
    "query",
    [
        {"case": "sum", "attempt": "0", "name": "nothing"},
        {"case": "sum", "attempt": "0", "name": "huge.db"},
        {"case": "sum", "attempt": "0", "name": "gone.txt"},
        {"case": "sum", "attempt": "1", "name": NAME},
        {"case": "odd", "attempt": "0", "name": NAME},
        {"case": "none", "attempt": "0", "name": NAME},
        {},
    ],
)
@pytest.mark.slow
def test_a_file_that_is_not_there_is_not_found(client: TestClient, query: dict[str, str]) -> None:
    assert client.get("/runs/run/file.txt", params=query).status_code == 404


def test_notes_of_strangers_break_nothing(client: TestClient) -> None:
    assert client.get("/runs/run/cases/odd").status_code == 200
    assert client.get("/runs/run/cases/odd.json").status_code == 200


def test_what_a_tool_returned_keeps_its_columns(
    tmp_path: Path, put_run: Any, examined: Any
) -> None:
    path = str(tmp_path / "p.db")
    steps = [
        Post(message='{"path": "a.csv"}', send_from="Planner", send_to="read_file"),
        Post(message="month  sales\nMay        7", send_from="read_file", send_to="Planner"),
        Post(message="May was\nthe best.", send_from="Planner", send_to="Planner"),
    ]
    made = examined.plain("c", "May", 1.0)
    rounds = [Round.of("Which month?", "May", steps).to_json()]
    attempt = replace(made.attempts[0], notes={"rounds": rounds})
    with Store.open(path) as store:
        put_run(store, "some", [replace(made, attempts=(attempt,))])
    with TestClient(make_app(path), base_url="http://127.0.0.1") as client:
        tool, thought = (client.get(f"/runs/some/cases/c?step={n}").text for n in (2, 3))
    assert '<pre class="text" dir="auto">month  sales' in tool
    assert '<pre class="text prose" dir="auto">May was' in thought
