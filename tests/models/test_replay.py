"""Cassettes: written, played back, and wrong."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.core.encoding import reply_from, request_from
from proctor.core.exchange import Reply, ReplyShape, Request, Sampling, Usage
from proctor.core.fingerprint import plain
from proctor.core.suite import Message
from proctor.errors import ModelError
from proctor.models.replay import Replay, line, read, request_key

WHOLE = Request(
    messages=(
        Message(role="system", content=""),
        Message(role="user", content="a\ud800b 猫", images=("https://h/a.png",)),
    ),
    sampling=Sampling(temperature=0.0, max_tokens=5, stop=("x",), extra={"n": [1, {"a": None}]}),
    shape=ReplyShape(name="v", schema={"type": "object"}),
    salt="case#0",
)
SAID = Reply(
    text="yes",
    thinking="hm",
    finish="stop",
    usage=Usage(calls=1, prompt_tokens=3, completion_tokens=2, cost=0.5),
    seconds=0.25,
    request_id="r",
    served_by="m",
    rung="schema",
)
GPT = {"provider": "openai", "model": "gpt", "urls": []}
OTHER = {"provider": "openai", "model": "other", "urls": []}


def told(model: Any, request: Request) -> Reply:
    return asyncio.run(model.reply(request))


def test_what_is_written_can_be_read() -> None:
    assert request_from(json.loads(json.dumps(plain(WHOLE)))) == WHOLE
    assert request_from(plain(Request(messages=()))) == Request(messages=())
    assert reply_from(plain(SAID)) == SAID
    assert reply_from(plain(Reply(text=None))) == Reply(text=None)


@pytest.mark.parametrize(
    "other",
    [
        Request(messages=WHOLE.messages),
        Request(messages=WHOLE.messages, sampling=WHOLE.sampling, shape=WHOLE.shape),
        Request(messages=WHOLE.messages, sampling=WHOLE.sampling, shape=WHOLE.shape, salt="case#1"),
    ],
)
def test_all_that_is_asked_counts(other: Request) -> None:
    assert request_key(other) != request_key(WHOLE)


def test_round_trip(tmp_path: Path, model: Callable[..., Any]) -> None:
    path = tmp_path / "deep" / "cassette.jsonl"
    recorder = Replay.record_to(path)
    recorder.add(GPT, WHOLE, SAID)
    recorder.add(GPT, Request(messages=()), Reply(text=None))
    assert len(read(path)) == 2, "calls are on file before the recorder is closed"
    recorder.close()
    recorder.close()
    player = model("replay", model=str(path))
    asyncio.run(player.check())
    assert told(player, WHOLE) == SAID
    assert told(player, Request(messages=())).text is None
    with pytest.raises(
        ModelError, match=r"no reply to this request \(for case#7\): 'Why\?'"
    ) as raised:
        told(player, Request(messages=(Message(role="user", content="Why?"),), salt="case#7"))
    assert not raised.value.passing
    assert player.label == f"replay:{path}"
    assert player.price == (0.0, 0.0)
    before = player.identity
    recorder = Replay.record_to(path)
    recorder.add(GPT, WHOLE, Reply(text="changed"))
    recorder.close()
    again = model("replay", model=str(path))
    assert told(again, WHOLE).text == "changed", "the last reply counts"
    assert again.identity != before


def test_several_models_that_were_asked_the_same(tmp_path: Path, model: Callable[..., Any]) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(line(GPT, WHOLE, SAID) + line(OTHER, WHOLE, Reply(text="no")))
    with pytest.raises(ModelError, match="gpt, other"):
        told(model("replay", model=str(path)), WHOLE)
    assert told(model("replay", model=f"{path}#gpt"), WHOLE).text == "yes"
    assert told(model("replay", model=f"{path}#other"), WHOLE).text == "no"
    with pytest.raises(ModelError, match="no reply"):
        told(model("replay", model=f"{path}#third"), WHOLE)


def test_a_line_written_by_hand_needs_no_key(tmp_path: Path, model: Callable[..., Any]) -> None:
    path = tmp_path / "c.jsonl"
    asked = {"messages": [{"role": "user", "content": "2+2?"}]}
    path.write_text(json.dumps({"request": asked, "reply": {"text": "4"}}) + "\n\n")
    request = Request(messages=(Message(role="user", content="2+2?"),))
    assert told(model("replay", model=str(path)), request).text == "4"


def test_a_recorder_that_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    whole = line(GPT, WHOLE, SAID)
    path.write_bytes(whole + whole[:50])
    assert list(read(path)) == [request_key(WHOLE)]
    recorder = Replay.record_to(path)
    recorder.add(GPT, Request(messages=()), SAID)
    recorder.close()
    assert len(read(path)) == 2
    path.write_bytes(b"x" * 100_000)
    Replay.record_to(path).close()
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    ("text", "told"),
    [("{\n", ":1: this is no call"), ("\n[]\n", ":2: this"), ('{"key": "a"}\n', ":1: this")],
)
def test_wrong_cassettes(tmp_path: Path, model: Callable[..., Any], text: str, told: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(text)
    with pytest.raises(ModelError, match=told):
        asyncio.run(model("replay", model=str(path)).check())


def test_no_cassette(tmp_path: Path, model: Callable[..., Any]) -> None:
    missing = model("replay", model=str(tmp_path / "nothing"))
    with pytest.raises(ModelError, match="No such file"):
        asyncio.run(missing.check())
    with pytest.raises(ModelError, match="No such file"):
        _ = missing.identity
    with pytest.raises(ModelError, match="cannot be written"):
        Replay.record_to(tmp_path)
