"""Sessions of agents: what was said is remembered, limits and breaks are failed rounds."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.process import Broken, NoAnswer
from proctor.agents.sessions import (
    TimedSession,
    named,
    object_of,
    read_reply,
    resolved,
    text_from,
    unset,
)
from proctor.contracts.agent import Workspace
from proctor.core.rounds import Round, RoundState
from proctor.core.suite import Case

CASE = Case(id="c", messages=(), criteria=())


@dataclass
class _Session(TimedSession):
    script: list[Any] = field(default_factory=list)
    dropped: int = 0

    async def answered(self, message: str) -> Round:
        line = self.script.pop(0)
        if isinstance(line, Exception):
            raise line
        if line is None:
            await asyncio.sleep(60)
        return Round.of(message, str(line))

    async def drop(self) -> None:
        self.dropped += 1


def session(*script: Any, timeout: float = 5.0) -> _Session:
    workspace = Workspace(case=CASE, index=0, folder=Path("."))
    return _Session(workspace=workspace, timeout=timeout, script=list(script))


def test_what_was_said_is_remembered_and_told_to_the_agent() -> None:
    one = session("a1", Broken("crashed"))
    assert asyncio.run(one.send("q1")).reply == "a1"
    asyncio.run(one.send("q2"))
    assert one.history == [
        {"role": "user", "content": "q1"},
        {"role": "assistant", "content": "a1"},
        {"role": "user", "content": "q2"},
    ]
    fields = one.request_fields("q3")
    assert (fields["message"], fields["turn"], fields["case"]) == ("q3", 2, "c")
    assert fields["session"] == one.name
    assert session().name != session().name


@pytest.mark.parametrize(
    ("line", "broken", "error"),
    [
        (Broken("crashed"), True, "crashed"),
        (NoAnswer("it wrote no reply"), False, "it wrote no reply"),
        (None, False, "it took longer than the 0.01 s allowed"),
    ],
)
def test_a_turn_that_breaks_is_a_failed_round_and_the_next_has_a_new_agent(
    line: Any, broken: bool, error: str
) -> None:
    one = session(line, timeout=0.01)
    outcome = asyncio.run(one.send("q"))
    assert (outcome.state, outcome.broken, outcome.error) == (RoundState.FAILED, broken, error)
    assert outcome.seconds is not None
    assert one.dropped == 1


@pytest.mark.parametrize(
    ("out", "reply"),
    [
        (b" plain text \n", "plain text"),
        (b'{"reply": "so"}', "so"),
        (b'{"answer": 4}', '{"answer": 4}'),
        (b'{"reply": ', '{"reply":'),
        (b"[1]", "[1]"),
    ],
)
def test_a_command_writes_a_text_or_an_object_with_a_reply(out: bytes, reply: str) -> None:
    assert read_reply(session(), "q", out).reply == reply


def test_an_object_may_name_its_session() -> None:
    one = session()
    read_reply(one, "q", b'{"reply": "so", "session": "mine"}')
    assert one.name == "mine"
    read_reply(one, "q", b'{"reply": "so", "session": ""}')
    assert one.name == "mine"


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda: read_reply(session(), "q", b" \n"), "it wrote no reply"),
        (lambda: text_from(b"a\xff"), r"not UTF-8 \(at byte 1\)"),
        (lambda: object_of(b"[1]"), "is no JSON object: '\\[1\\]'"),
        (lambda: object_of(b"x" * 999), "is no JSON object: 'x{200}'"),
    ],
)
def test_what_cannot_be_read_is_broken(read: Callable[[], Any], words: str) -> None:
    with pytest.raises(Broken, match=words):
        read()


def test_variables_stand_for_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SETTING", "value")
    monkeypatch.delenv("NOT_SET", raising=False)
    assert resolved({"a": "$MY_SETTING", "b": "plain", "c": "$NOT_SET", "d": "$5"}) == {
        "a": "value",
        "b": "plain",
        "c": "",
        "d": "$5",
    }
    assert [named(text) for text in ("$A", "$", "A", "$a b")] == [True, False, False, False]
    assert unset({"a": "$MY_SETTING", "c": "$NOT_SET"}) == [
        "the environment variable NOT_SET is not set"
    ]
