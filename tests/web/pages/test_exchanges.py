"""The request and reply of a model's stored call on the page of a case, and in its twin."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.core.suite import Message, Spec, ToolCall
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages.case import CasePage

SERVED = Spec(name="model", params={"model": "openai:m@http://127.0.0.1:9/v1"})


@pytest.fixture
def client(tmp_path: Path, put_run: Any, put_calls: Any, examined: Any) -> Iterator[TestClient]:
    address = str(tmp_path / "p.db")
    plain = examined.plain("sum", "It is 7.", 1.0)
    call = ToolCall(id="c1", name="add", arguments={"a": 3})
    messages = (
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", content="7", tool_call_id="c1"),
        Message(role="assistant", content="It is 7."),
    )
    tools = examined.plain("tools", "", 1.0)
    tools = replace(tools, attempts=(replace(tools.attempts[0], messages=messages),))
    unasked = examined.plain("unasked", "x", 1.0)
    with Store.open(address) as store:
        run = put_run(store, "run", [plain, tools, unasked], SERVED)
        put_calls(store, run, plain.case, plain.attempts[0], "said in the sum")
        put_calls(
            store, run, tools.case, tools.attempts[0], "said before the tool", "said after it"
        )
        put_run(store, "recorded", [plain])
    with TestClient(make_app(address), base_url="http://127.0.0.1") as opened:
        yield opened


def test_the_request_of_an_answer_is_in_a_drawer(client: TestClient) -> None:
    page = client.get("/runs/run/cases/sum").text
    assert page.count('<details class="drawer exchange">') == 1
    assert page.count("said in the sum") >= 2
    for case, run in (("unasked", "run"), ("sum", "recorded")):
        assert "drawer exchange" not in client.get(f"/runs/{run}/cases/{case}").text
    chinese = client.get("/runs/run/cases/sum?lang=zh").text
    assert "发给模型的请求及其回复" in chinese


@pytest.mark.parametrize(("step", "told"), [(1, "said before the tool"), (2, "said after it")])
def test_each_step_has_the_call_that_gave_it(client: TestClient, step: int, told: str) -> None:
    page = client.get(f"/runs/run/cases/tools?step={step}").text
    assert page.count('<details class="drawer exchange">') == 1
    assert told in page


def test_the_twin_has_the_calls(client: TestClient) -> None:
    answer = client.get("/runs/run/cases/tools.json")
    CasePage.model_validate_json(answer.text)
    calls = answer.json()["attempts"][0]["model_calls"]
    assert [(call["reply"], call["usable"], call["cost"]) for call in calls] == [
        (1, True, 0.5), (2, True, 0.5),
    ]  # fmt: skip
    assert calls[1]["request"]["messages"] == [
        {"role": "said after it", "content": "said after it"}
    ]
