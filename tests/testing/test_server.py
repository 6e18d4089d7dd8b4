"""The fake server as such: scripts, roles, the two wire formats, HTTP."""

import json
import re
import socket
from contextlib import closing
from typing import Any

import pytest

from proctor.testing import Answer, FakeServer


def test_a_server_without_a_script_repeats_the_question(client: Any) -> None:
    with FakeServer() as server:
        status, body, headers = client.post(server, client.user("Hello there"))
    assert status == 200
    assert headers["x-request-id"] == "fake-1"
    assert body["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hello there"},
            "finish_reason": "stop",
        }
    ]
    assert body["usage"] == {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}
    (call,) = server.calls
    assert (call.status, call.fault, call.finished, call.said) == (200, "", True, "Hello there")


def by_function(messages: list[Any], body: Any) -> str:
    return f"{len(messages)} {body['temperature']}"


@pytest.mark.parametrize(
    ("script", "text", "answer"),
    [
        ("always", "anything", "always"),
        ({"red": "rot", "blue": "blau"}, "Say blue.", "blau"),
        ({"red": "rot", "": "?"}, "Say green.", "?"),
        ([("r.d", "rot"), ("red", "never")], "Say red.", "rot"),
        ({"red": Answer("rot")}, "red", "rot"),
        ({"red": None}, "red", None),
        (by_function, "x", "1 0.5"),
    ],
)
def test_scripts(client: Any, script: Any, text: str, answer: str | None) -> None:
    with FakeServer(script) as server:
        assert client.said(server, text, temperature=0.5) == answer


def test_a_list_answers_each_try_of_the_same_question(client: Any) -> None:
    with FakeServer({"": ["one", "two"]}) as server:
        assert [client.said(server, text) for text in ("a", "a", "b", "a")] == [
            "one",
            "two",
            "one",
            "two",
        ]
    assert [call.nth for call in server.calls] == [1, 2, 1, 3]


def test_a_mapping_is_sent_as_it_is(client: Any) -> None:
    with FakeServer({"": {"error": {"message": "odd"}}}) as server:
        assert client.post(server, client.user("x"))[:2] == (200, {"error": {"message": "odd"}})


def test_roles_have_scripts_of_their_own(client: Any) -> None:
    with FakeServer("candidate", roles={"judge": "judge", "sim": {"": "user"}}) as server:
        assert server.url_of("judge") == f"http://127.0.0.1:{server.port}/judge/v1"
        for path, answer in [("/v1", "candidate"), ("/openai/v1", "candidate"),
                             ("/judge/v1", "judge"), ("/sim/v1", "user")]:  # fmt: skip
            assert client.said(server, "x", f"{path}/chat/completions") == answer
    assert [call.role for call in server.calls] == ["", "", "judge", "sim"]
    assert len(server.counts()) == 4


def test_a_role_that_is_not_scripted_is_an_error_that_names_those_that_are(client: Any) -> None:
    roles = {"judge": "judge", "sim": "user"}
    with FakeServer("candidate", roles=roles, any_role=False) as server:
        status, body, _ = client.post(server, client.user("x"), "/jugde/v1/chat/completions")
        other, told, _ = client.post(server, client.user("x"), "/b/v1/messages")
    assert (status, other) == (400, 400)
    assert body["error"]["message"] == (
        "no role 'jugde' is scripted (did you mean 'judge'?; /v1 without a role has the plain"
        " replies)"
    )
    assert "judge, sim" in told["error"]["message"]
    with FakeServer("candidate", roles=roles) as server:
        assert client.said(server, "x", "/any/v1/chat/completions") == "candidate"


def test_a_script_in_full(client: Any) -> None:
    answer = Answer("42", finish="length", thinking="hm", tokens=(7, 9))
    with FakeServer({"": answer}) as server:
        _, body, _ = client.post(server, client.user("x"))
        _, other, _ = client.post(server, client.user("x"), "/v1/messages")
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["choices"][0]["message"]["reasoning_content"] == "hm"
    assert body["usage"]["total_tokens"] == 16
    assert other["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "fake"},
        {"type": "text", "text": "42"},
    ]
    assert other["stop_reason"] == "max_tokens"
    assert other["usage"] == {"input_tokens": 7, "output_tokens": 9}


def test_a_tool_that_must_be_called_is_called(client: Any) -> None:
    chosen = {"type": "function", "function": {"name": "rule"}}
    with FakeServer('{"right": true}') as server:
        _, body, _ = client.post(server, client.user("x", tool_choice=chosen))
        _, other, _ = client.post(
            server, client.user("x", tool_choice={"type": "tool", "name": "rule"}), "/v1/messages"
        )
    (tool,) = body["choices"][0]["message"]["tool_calls"]
    assert tool["function"] == {"name": "rule", "arguments": '{"right": true}'}
    assert other["content"] == [
        {"type": "tool_use", "id": "tool-2", "name": "rule", "input": {"right": True}}
    ]


def test_texts_in_parts_and_system_prompts_are_matched(client: Any) -> None:
    parts = [{"type": "text", "text": "red"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    with FakeServer({"red": "1", "wise": "2"}) as server:
        assert client.said(server, parts) == "1"  # type: ignore[arg-type]
        _, body, _ = client.post(server, client.user("x", system="Be wise."), "/v1/messages")
    assert body["content"] == [{"type": "text", "text": "2"}]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("GET", "/v1/models", b"", 200, "fake"),
        ("GET", "/judge/v1/models", b"", 200, "fake"),
        ("GET", "/v1/chat/completions", b"", 404, "nothing at GET"),
        ("POST", "/v1/completions", b"{}", 404, "nothing at POST"),
        ("PUT", "/v1/chat/completions", b"{}", 404, "nothing at PUT"),
        ("POST", "/v1/chat/completions", b"{", 400, "not JSON"),
        ("POST", "/v1/chat/completions", b"[]", 400, "no messages"),
        ("POST", "/v1/chat/completions", b'{"messages": 3}', 400, "no messages"),
        ("POST", "/v1/chat/completions", b'{"messages": [], "stream": true}', 400, "stream"),
        ("POST", "/v1/chat/completions?x=1", b'{"messages": []}', 200, "fake-1"),
    ],
)
def test_requests(
    client: Any, method: str, path: str, body: bytes, status: int, words: str
) -> None:
    with FakeServer() as server, closing(client.connect(server)) as connection:
        connection.request(method, path, body)
        response = connection.getresponse()
        assert (response.status, words in response.read().decode()) == (status, True)


def test_one_connection_serves_many_requests_and_large_ones(client: Any) -> None:
    with FakeServer() as server, closing(client.connect(server)) as connection:
        for size in (1, 3_000_000, 10):
            connection.request("POST", "/v1/chat/completions", json.dumps(client.user("x" * size)))
            body = json.loads(connection.getresponse().read())
            assert len(body["choices"][0]["message"]["content"]) == size
    assert all(call.finished for call in server.calls)


def test_requests_that_come_at_once_are_answered_in_turn(client: Any) -> None:
    bodies = [json.dumps(client.user(text)).encode() for text in ("one", "two")]
    sent = b"".join(
        b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
        for body in bodies
    )
    with (
        FakeServer(latency=0.01) as server,
        socket.create_connection(("127.0.0.1", server.port)) as raw,
    ):
        raw.sendall(sent)
        got = b""
        while got.count(b"HTTP/1.1 200") < 2 or not got.endswith(b"}"):
            got += raw.recv(65536)
    assert re.findall(rb'"content":"(\w+)"', got) == [b"one", b"two"]


def test_bytes_without_a_length_are_refused(client: Any) -> None:
    with FakeServer() as server, closing(client.connect(server)) as connection:
        connection.request("POST", "/v1/chat/completions", iter([b"{}"]), encode_chunked=True)
        assert connection.getresponse().status == 411


def test_a_key_may_be_demanded(client: Any) -> None:
    with FakeServer(key="secret-123") as server:
        assert "secret-123" not in repr(server)
        assert client.post(server, client.user("x"))[0] == 401
        assert client.post(server, client.user("x"), Authorization="Bearer wrong")[0] == 401
        assert client.post(server, client.user("x"), Authorization="Bearer secret-123")[0] == 200
        assert (
            client.post(server, client.user("x"), "/v1/messages", **{"X-Api-Key": "secret-123"})[0]
            == 200
        )
    assert len(server.calls) == 2
