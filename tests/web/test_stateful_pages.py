"""The page of a case whose tools changed a state: changes, the user's calls, its faults."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.core.suite import Message, ToolCall
from proctor.store.store import Store
from proctor.web.app import make_app
from proctor.web.pages.case import CasePage

BAD = '<img src=x onerror="alert(1)">'
NOTES: dict[str, Any] = {
    "reason": "TaskFinished",
    "actions": [
        {"turn": 1, "by": "assistant", "name": "renew", "arguments": {"loan": "L-1"}},
        {"turn": 1, "by": "user", "name": "read_card", "arguments": {}, "result": f"M-1 {BAD}"},
    ],
    "state": {"key": "k", "changes": [{"path": ["due", BAD], "before": 5, "after": 26}]},
    "flags": [{"turn": 1, "kind": "InventedDetail", "what": "M-9"}],
}


@pytest.fixture
def client(tmp_path: Path, put_run: Any, examined: Any) -> Iterator[TestClient]:
    address = str(tmp_path / "p.db")
    plain = examined.plain("loan", "Renewed.", 1.0)
    call = ToolCall(name="renew", arguments={"loan": "L-1"}, id="1")
    messages = (
        Message(role="user", content="Please renew it."),
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", content='{"due": 26}', tool_call_id="1"),
        Message(role="assistant", content="Renewed."),
    )
    attempts = (replace(plain.attempts[0], messages=messages, notes=NOTES),)
    with Store.open(address) as store:
        put_run(store, "r", [replace(plain, attempts=attempts)])
    with TestClient(make_app(address), base_url="http://127.0.0.1") as opened:
        yield opened


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_shows_calls_changes_and_faults(client: TestClient, language: str) -> None:
    page = client.get(f"/runs/r/cases/loan?lang={language}").text
    assert BAD not in page
    assert "renew" in page
    assert "read_card() → M-1" in page
    assert "5 → 26" in page
    assert "InventedDetail" in page
    title = {"en": "What changed in the state", "zh": "状态中的变化"}[language]
    assert title in page
    twin = client.get("/runs/r/cases/loan.json")
    CasePage.model_validate_json(twin.text)
    (attempt,) = twin.json()["attempts"]
    assert attempt["state_changes"] == NOTES["state"]["changes"]
    assert [action["by"] for action in attempt["actions"]] == ["assistant", "user"]
    assert attempt["simulator_flags"] == NOTES["flags"]
