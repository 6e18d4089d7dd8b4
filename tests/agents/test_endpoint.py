"""Agents behind an address, with a real server on loopback."""

import asyncio
import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from proctor import registry
from proctor.agents import endpoint
from proctor.core.suite import Spec
from proctor.errors import ModelError

from .conftest import Talk, agent

Answer = Callable[[Any, "Asked"], tuple[int, str, bytes]]


class Asked(BaseHTTPRequestHandler):
    """Answer as the test wants, and keep what was asked."""

    server: "Server"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, dict(self.headers), body))
        status, kind, data = self.server.answer(body, self)
        if status == 0:
            self.connection.close()
            return
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    answer: Answer
    asked: list[tuple[str, dict[str, str], Any]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/chat"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Asked) as made:
        made.asked = []
        thread = Thread(target=made.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def said(value: Any, kind: str = "application/json", status: int = 200) -> Answer:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return lambda *_: (status, kind, data)


def test_the_default_request(server: Server, talk: Talk) -> None:
    server.answer = lambda body, _: (200, "application/json", json.dumps({"reply": body["message"]}).encode())  # fmt: skip
    rounds = talk("http", "one", "two", url=server.url)
    assert [made.reply for made in rounds] == ["one", "two"]
    bodies = [body for _, _, body in server.asked]
    assert bodies[0]["history"] == []
    assert [m["content"] for m in bodies[1]["history"]] == ["one", "one"]
    assert bodies[0]["session"] == bodies[1]["session"] != ""
    assert bodies[0]["case"] == "c1"


def test_template_paths_session_and_headers(
    server: Server, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", "s3cret")
    server.answer = said(
        {"data": {"parts": [{"t": "a"}, {"t": "b"}], "id": 7, "log": [{"tool": "x", "input": "i"}]}}
    )
    params = {
        "url": f"{server.url}?key=$THE_KEY",
        "template": {"input": {"text": "{{message}}"}, "thread": "{{session}}"},
        "reply": "$.data.parts[*].t",
        "session": "$.data.id",
        "steps": "$.data.log",
        "headers": {"Authorization": "Bearer $THE_KEY", "X-Plain": "p"},
    }
    rounds = talk("http", "one", "two", **params)
    assert [made.reply for made in rounds] == ["ab", "ab"]
    assert [post.send_to for post in rounds[0].posts] == ["Planner", "x", "User"]
    first, second = server.asked
    assert first[0] == "/chat?key=s3cret"
    assert first[1]["Authorization"] == "Bearer s3cret"
    assert first[2] == {"input": {"text": "one"}, "thread": None}
    assert second[2]["thread"] == "7"
    made = agent("http", **params)
    assert "s3cret" not in str(made.identity) + made.label + repr(made)


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ({"choices": [{"message": {"content": "c"}}]}, "c"),
        ({"response": "r"}, "r"),
        ({"message": {"content": "m"}}, "m"),
        ("just a text", "just a text"),
    ],
)
def test_the_usual_places_of_a_reply(answer: Any, reply: str, server: Server, talk: Talk) -> None:
    server.answer = said(answer)
    assert talk("http", "hi", url=server.url)[0].reply == reply


def test_plain_text_is_a_reply(server: Server, talk: Talk) -> None:
    server.answer = said(b"hello there", kind="text/plain")
    assert talk("http", "hi", url=server.url)[0].reply == "hello there"


EVENTS = b"""event: begin\r
data: {"session": "s9", "steps": [{"tool": "t", "input": 1}]}\r
\r
: a comment\r
data: {"delta": "Hel"}\r
\r
data: {"delta":\r
data:  "lo"}\r
\r
data: [DONE]\r
\r
"""
LINES = b'{"text": "a"}\n\n{"text": "b", "usage": {"calls": 1}}\n{"text": "c"}'


@pytest.mark.parametrize(
    ("kind", "data", "reply"),
    [("text/event-stream", EVENTS, "Hello"), ("application/x-ndjson", LINES, "abc")],
)
def test_streams_are_put_together(
    kind: str, data: bytes, reply: str, server: Server, talk: Talk
) -> None:
    server.answer = said(data, kind=kind)
    (made,) = talk("http", "hi", url=server.url, session="$.session")
    assert made.reply == reply
    if kind == "text/event-stream":
        assert [post.message for post in made.posts] == ["hi", "1", "Hello"]
    else:
        assert made.usage.calls == 1


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (said({"error": "no idea"}), "no idea"),
        (said({"nothing": 1}), "no reply at the usual places"),
        (said(b"{broken"), "its response is no JSON"),
        (said(b"\xff\xfe"), "its response is not UTF-8"),
        (said(b"oops", kind="text/plain", status=500), "it answered with status 500: oops"),
        (said(b"x" * 5000, kind="text/plain"), "more than the 4000 bytes allowed"),
        (lambda *_: (0, "", b""), "it broke off the connection"),
        (said(b'data: {"error": "mid"}\n\n', kind="text/event-stream"), "mid"),
    ],
)
def test_a_failing_agent_is_a_failed_round(
    answer: Answer, why: str, server: Server, talk: Talk
) -> None:
    server.answer = answer
    (made,) = talk("http", "hi", url=server.url, output=4000)
    assert why in made.error


def test_an_agent_that_is_not_there(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "PAUSES", ())
    url = "http://127.0.0.1:9/chat"
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        talk("http", "hi", url=url)
    assert caught.value.passing
    with pytest.raises(ModelError, match="is it started"):
        asyncio.run(agent("http", url=url).check())


@pytest.mark.parametrize(
    ("status", "passing"), [(401, False), (404, False), (302, False), (503, True)]
)
def test_a_refusal_is_no_fault_of_the_agent(
    status: int, passing: bool, server: Server, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "PAUSES", (0.01,))
    server.answer = said(b"go away", kind="text/plain", status=status)
    with pytest.raises(ModelError, match=f"status {status}: go away") as caught:
        talk("http", "hi", url=server.url)
    assert (caught.value.passing, caught.value.status) == (passing, status)
    assert len(server.asked) == (2 if passing else 1)


def test_a_busy_agent_is_asked_again(
    server: Server, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "PAUSES", (0.01,))
    answers = iter([(429, "text/plain", b"wait"), (200, "application/json", b'{"reply": "now"}')])
    server.answer = lambda *_: next(answers)
    assert talk("http", "hi", url=server.url)[0].reply == "now"


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"url": "http://"}, "is no address"),
        ({"url": "http://me:pw@h/"}, "holds a name or a password"),
        ({"url": "http://h/?api_key=abc"}, "api_key holds a secret"),
        ({"url": "http://h/", "headers": {"Authorization": "Bearer abc"}}, "holds a secret"),
        ({"url": "http://h/", "headers": {"X": "$NOT_SET_HERE"}}, "NOT_SET_HERE is not set"),
        ({"url": "http://h/", "reply": "reply"}, "does not begin with $"),
        ({"url": "http://h/", "template": {"q": "{{mesage}}"}}, "no place {{mesage}}"),
        ({"url": "http://h/", "template": {"q": 1}}, "no place for the {{message}}"),
    ],
)
def test_problems(params: dict[str, Any], why: str) -> None:
    made = registry.build("candidate", Spec(name="http", params=params))
    found = "; ".join(made.problems())
    assert why in found
    assert "abc" not in found
