"""What the fake server records, also for other processes; and the server as a command."""

import json
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import UsageError
from proctor.testing import FakeServer, Fault, Rule
from proctor.testing.__main__ import _parser, _server
from waiting import PATIENCE


def raw_ask(client: Any, server: FakeServer, text: str) -> socket.socket:
    body = json.dumps(client.user(text)).encode()
    raw = socket.create_connection(("127.0.0.1", server.port))
    head = b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body)
    raw.sendall(head + body)
    return raw


@pytest.mark.parametrize(("reads", "finished"), [(True, True), (False, False)])
def test_a_reply_that_its_client_left_unread_is_not_finished(
    client: Any, reads: bool, finished: bool
) -> None:
    with FakeServer() as server:
        raw = raw_ask(client, server, "x")
        client.wait_for(lambda: server.calls and server.calls[0].ended)
        assert server.calls[0].finished
        if reads:
            raw.recv(65536)
        raw.close()
        client.wait_for(lambda: not server._connections)
    assert server.calls[0].finished is finished


def test_a_reply_to_a_client_that_is_gone_is_not_finished(client: Any) -> None:
    """Let the client leave while the server's thread is busy, so that it cannot know."""
    asked: list[socket.socket] = []

    def leave(messages: list[Any], body: Any) -> str:
        client.wait_for(lambda: asked)
        asked[0].close()
        return "too late"

    with FakeServer(leave) as server:
        asked.append(raw_ask(client, server, "x"))
        client.wait_for(lambda: server.calls and server.calls[0].ended)
    assert not server.calls[0].finished


def test_a_client_that_leaves_before_the_reply_has_not_finished(client: Any) -> None:
    with FakeServer(latency=0.2) as server:
        raw_ask(client, server, "x").close()
        client.wait_for(lambda: server.calls)
        client.wait_for(lambda: not server._connections)
        time.sleep(0.25)
        assert client.said(server, "x") == "x"
    assert [call.finished for call in server.calls] == [False, True]
    assert server.finished_twice() == []


def test_replies_on_their_way_when_a_client_was_killed_are_forgiven(client: Any) -> None:
    with FakeServer() as server:
        client.said(server, "x")
        client.said(server, "y")
        kill = time.monotonic()
        client.said(server, "x")
    first, _, again = server.calls
    assert server.finished_twice() == [(first, again)]
    assert server.finished_twice(kills=[kill], grace=5.0) == []
    assert server.finished_twice(kills=[kill], grace=0.0) == [(first, again)]
    assert server.finished_twice(kills=[kill - 60], grace=5.0) == [(first, again)]
    assert server.finished_twice(kills=[time.monotonic()], grace=5.0) == [(first, again)]


def test_the_log_has_a_line_for_every_call(client: Any, tmp_path: Path) -> None:
    rule = Rule(fault=Fault("error"), tries=(1,), matching="a")
    with FakeServer(rules=[rule], log=tmp_path / "log", keep=False) as server:
        for text in ("a", "b", "a"):
            client.post(server, client.user(text))
        raw = raw_ask(client, server, "c")
        client.wait_for(lambda: len(server.finished()) == 3)
        raw.close()
        client.wait_for(lambda: not server._connections)
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    shown = [(line.get("status"), line.get("fault"), line.get("finished")) for line in lines]
    assert shown == [(500, "error", False), (200, "", True), (200, "", True), (200, "", True),
                     (None, None, None)]  # fmt: skip
    assert lines[4] == {"number": 4, "key": lines[3]["key"], "unread": True}
    assert lines[0]["key"] == lines[2]["key"] != lines[1]["key"]
    assert [line["nth"] for line in lines[:3]] == [1, 1, 2]
    assert all(line["ended"] >= line["began"] for line in lines[:4])
    assert [call.body for call in server.calls] == [None] * 4


def command(*more: str) -> list[str]:
    return [sys.executable, "-W", "error", "-m", "proctor.testing", *more]


def test_the_server_as_a_command(client: Any, tmp_path: Path) -> None:
    script = {
        "replies": {"red": "rot", "": "?"},
        "roles": {"judge": {"": '{"result": "correct"}'}},
        "rules": [{"fault": {"kind": "error", "status": 503}, "matching": "503", "tries": [1]}],
    }
    (tmp_path / "script.json").write_text(json.dumps(script))
    more = ["--script", str(tmp_path / "script.json"), "--log", str(tmp_path / "log"),
            "--rate-limit", "0.5", "--retry-after", "3", "--seed", "4"]  # fmt: skip
    with subprocess.Popen(command(*more), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        server = FakeServer(
            port=int(json.loads(process.stdout.readline())["url"][17:].split("/")[0])
        )
        assert client.post(server, client.user("red 503"))[0] == 503
        seen = Counter(client.post(server, client.user(f"red {n}"))[0] for n in range(40))
        judged = [
            client.post(server, client.user(str(n)), "/judge/v1/chat/completions") for n in range(9)
        ]
        process.terminate()
        assert process.wait(timeout=PATIENCE) == 0
    assert set(seen) == {200, 429}
    assert {headers["retry-after"] for status, _, headers in judged if status == 429} == {"3"}
    assert {b["choices"][0]["message"]["content"] for s, b, _ in judged if s == 200} == {
        '{"result": "correct"}'
    }
    assert len((tmp_path / "log").read_text().splitlines()) == 50


@pytest.mark.parametrize(
    ("script", "status"),
    [({"roles": {"judge": "yes"}}, 400), ({"replies": "plain"}, 200)],
)
def test_the_command_refuses_roles_that_its_script_lacks(
    script: dict[str, Any], status: int, client: Any, tmp_path: Path
) -> None:
    (tmp_path / "script.json").write_text(json.dumps(script))
    arguments = _parser().parse_args(["--script", str(tmp_path / "script.json")])
    with _server(arguments) as server:
        told, body, _ = client.post(server, client.user("x"), "/jugde/v1/chat/completions")
    assert told == status
    assert ("did you mean 'judge'?" in str(body)) == (status == 400)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('{"reply": {}}', "unknown key 'reply'"),
        ("[]", "not an object"),
        ('{"rules": [{"fault": "hnag"}]}', "did you mean 'hang'"),
        ('{"rules": [{"rate": 1}]}', "written wrongly"),
        ('{"rules": [{"fault": "hang", "when": 1}]}', "written wrongly"),
        ('{"replies": {"": {"tool_calls": [{"called": "x"}]}}}', "a reply is written wrongly"),
        ("{", "error"),
    ],
)
def test_wrong_script_files_are_refused(script: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text(script)
    with pytest.raises((UsageError, ValueError)) as caught:
        _server(_parser().parse_args(["--script", str(tmp_path / "script.json")]))
    assert words in str(caught.value) or words == "error"
