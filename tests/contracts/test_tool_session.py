"""Tools of a suite in the real sandbox: the state they leave, and what goes wrong in them."""

import asyncio
from typing import Any

import pytest

from proctor.contracts.tool_session import Action, ToolModule, ToolResult, ToolSession
from proctor.errors import ModelError
from proctor.sandboxes.bubblewrap import Bubblewrap

pytestmark = pytest.mark.sandbox

SOURCE = '''
import random
import sys

def add(state: dict, n: int) -> dict:
    """Add."""
    print("noise on standard output")
    state["total"] += n
    if n > 100:
        raise ValueError("too much")
    return {"total": state["total"]}

def draw(state: dict) -> str:
    return str(random.random())

def spoil(state: dict) -> str:
    state["x"] = {1, 2}
    return "x"

def leave(state: dict) -> str:
    sys.exit(3)

def lack(state: dict) -> str:
    return state["nothing"]

def divide(state: dict) -> float:
    return 1 / 0

def long(state: dict) -> str:
    return "x" * 2_000_000

def endless(state: dict) -> str:
    while True:
        pass

def network(state: dict) -> str:
    import socket
    socket.create_connection(("127.0.0.1", 80), timeout=2)
    return "reached"

def home(state: dict) -> str:
    open("/etc/shadow").read()
    return "read"

secret = 5
'''


def made(*calls: tuple[str, Any], state: Any = None, **module: Any) -> tuple[Any, list[ToolResult]]:
    tools = ToolModule(source=SOURCE, state=state or {"total": 0}, **module)

    async def work() -> tuple[Any, list[ToolResult]]:
        sandbox = Bubblewrap()
        try:
            session = ToolSession(tools, sandbox)
            await session.begin()
            results = []
            for call in calls:
                results += await session.call([call])
            return session.state, results
        finally:
            await sandbox.close()

    return asyncio.run(work())


def test_calls_change_one_state_after_the_other() -> None:
    state, results = made(("add", {"n": 2}), ("add", {"n": 3}), state={"total": 1})
    assert state == {"total": 6}
    assert [result.text for result in results] == ['{"total": 3}', '{"total": 6}']


def test_a_call_that_fails_says_why_and_changes_nothing() -> None:
    calls = [
        ("add", {"n": 200}), ("add", {"n": 1, "m": 1}), ("add", {}), ("add", "n"), ("none", {}), ("secret", {}),
        ("spoil", {}), ("leave", {}), ("lack", {}), ("divide", {}), ("long", {}), ("network", {}), ("home", {}),
    ]  # fmt: skip
    state, results = made(*calls)
    assert state == {"total": 0}
    assert all(result.failed for result in results)
    words = [
        "too much", "unexpected keyword argument 'm'", "missing a required argument", "not a JSON object",
        "there is no tool 'none'", "there is no tool 'secret'", "TypeError", "SystemExit: 3",
        "there is no 'nothing'", "ZeroDivisionError", "characters", "Error", "Error",
    ]  # fmt: skip
    for result, word in zip(results, words, strict=True):
        assert word in result.text


def test_chance_is_the_same_in_every_attempt() -> None:
    first, second = (made(("draw", {}), ("draw", {}))[1] for _ in range(2))
    assert [one.text for one in first] == [one.text for one in second]
    assert first[0].text != first[1].text


def test_actions_come_before_everything_else() -> None:
    state, _ = made(actions=(Action(name="add", arguments={"n": 4}),))
    assert state == {"total": 4}
    with pytest.raises(ModelError, match=r"before the case failed.*too much") as error:
        made(actions=(Action(name="add", arguments={"n": 400}),))
    assert error.value.cause == "environment"


@pytest.mark.slow
def test_tools_that_cannot_be_used_are_nobodys_failure() -> None:
    with pytest.raises(ModelError, match="limit on time") as error:
        made(("endless", {}), timeout=1.0)
    assert error.value.cause == "environment"

    async def broken() -> None:
        sandbox = Bubblewrap()
        session = ToolSession(ToolModule(source="raise OSError('no')"), sandbox)
        try:
            await session.begin()
            await session.call([("f", {})])
        finally:
            await sandbox.close()

    with pytest.raises(ModelError, match="cannot be loaded: OSError: no"):
        asyncio.run(broken())


def test_the_key_names_tools_and_beginning() -> None:
    one = ToolModule(source="x", state={"a": 1})
    assert one.key == ToolModule(source="x", state={"a": 1}).key
    others = [ToolModule(source="y", state={"a": 1}), ToolModule(source="x", state={"a": 2}),
              ToolModule(source="x", state={"a": 1}, actions=(Action(name="f"),))]  # fmt: skip
    assert len({one.key, *(other.key for other in others)}) == 4
