"""Half-sent, endless and broken requests, over real sockets; and the headers of every answer."""

import gc
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.responses import Response
from starlette.routing import Route

from proctor.store.store import Store
from proctor.web import app as application
from proctor.web import connections
from proctor.web.app import make_app
from proctor.web.connections import server_config
from proctor.web.safety import response_headers
from waiting import until

SHORT = {
    "HEAD_SECONDS": 1.0, "BODY_SECONDS": 1.0, "TAKING_SECONDS": 1.0, "LOOK": 0.05, "MOST": 8,
}  # fmt: skip
SOON = 60
"""Seconds; who drips would go on for minutes."""
HOST = "Host: 127.0.0.1\r\n"
LARGE = 64 * 2**20


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("connections") / "p.db")
    Store.open(path).close()
    return path


@contextmanager
def serving(app: Any) -> Iterator[int]:
    """Serve an application as ``proctor view`` does, and give its port."""
    server = uvicorn.Server(server_config(app))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    until(lambda: server.started)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def _is_open(found: object) -> bool:
    """Tell whether something is a connection that the server still holds."""
    return type(found) is connections.GuardedConnection and found in found.connections


def large(request: object) -> Response:
    return Response(b"x" * LARGE)


def broken(request: object) -> None:
    raise RuntimeError("a page that breaks")


@pytest.fixture(scope="module")
def port(place: str) -> Iterator[int]:
    app = make_app(place)
    app.router.routes[:0] = [Route("/broken", broken), Route("/large", large)]
    with serving(app) as found:
        yield found


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything be over quickly."""
    for name, value in SHORT.items():
        monkeypatch.setattr(connections, name, value)


def opened(port: int) -> socket.socket:
    found = socket.create_connection(("127.0.0.1", port))
    found.settimeout(SOON)
    return found


def read(connection: socket.socket) -> bytes:
    """Read to the end of the connection."""
    data = bytearray()
    try:
        while part := connection.recv(1 << 20):
            data += part
    except ConnectionResetError:
        pass
    return bytes(data)


def sent(port: int, text: str | bytes) -> bytes:
    with opened(port) as connection:
        connection.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
        if b"\r\n\r\n" not in (text if isinstance(text, bytes) else text.encode("latin-1")):
            connection.shutdown(socket.SHUT_WR)
        return read(connection)


def head(answer: bytes) -> tuple[int, dict[str, list[str]]]:
    """Return the status and the headers of an answer, each as often as it is there."""
    lines = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    found: dict[str, list[str]] = {}
    for line in lines[1:]:
        name, _, value = line.partition(": ")
        found.setdefault(name.lower(), []).append(value)
    return int(lines[0].split()[1]), found


def request(line: str, *more: str, host: str = HOST) -> str:
    return (
        f"{line} HTTP/1.1\r\n{host}"
        + "".join(f"{one}\r\n" for one in more)
        + "Connection: close\r\n\r\n"
    )


def check_headers(answer: bytes) -> int:
    status, headers = head(answer)
    for name, value in response_headers().items():
        assert headers.get(name.lower()) == [value], (status, name, headers)
    assert len(headers["cache-control"]) == 1
    return status


def whole(connection: socket.socket) -> bytes:
    """Read one answer to its end, on a connection that stays open."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += _more(connection)
    start, _, body = answer.partition(b"\r\n\r\n")
    length = int(head(start)[1]["content-length"][0])
    while len(body) < length:
        body += _more(connection)
    return start + b"\r\n\r\n" + body


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    assert data, "the connection was closed too early"
    return data


def dripped(connection: socket.socket, text: str) -> bytes:
    """Send one byte after another, until the other side has had enough."""
    for byte in text.encode():
        try:
            connection.sendall(bytes([byte]))
        except OSError:
            break
        connection.settimeout(0.05)
        try:
            if data := connection.recv(65536):
                connection.settimeout(SOON)
                return data + read(connection)
            return b""
        except TimeoutError:
            continue
        except ConnectionResetError:
            break
    return b""


@pytest.mark.slow
def test_a_connection_that_says_nothing_is_closed(port: int, short: None) -> None:
    began = time.monotonic()
    with opened(port) as connection:
        assert check_headers(read(connection)) == 408
    assert time.monotonic() - began < SOON


@pytest.mark.parametrize(
    ("start", "drip"),
    [
        ("", "GET / HTTP/1.1\r\n" + HOST + "X-Padding: " + "x" * 4000),
        ("GET / HTTP/1.1\r\n" + HOST, "X-A: b\r\n" * 500),
        ("POST /label HTTP/1.1\r\n" + HOST + "Content-Length: 100000\r\n\r\n", "a=" + "x" * 4000),
        (
            "POST /label HTTP/1.1\r\n" + HOST + "Transfer-Encoding: chunked\r\n\r\n",
            "1\r\nx\r\n" * 500,
        ),
    ],
)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_a_request_that_drips_in_is_given_up(port: int, short: None, start: str, drip: str) -> None:
    began = time.monotonic()
    with opened(port) as connection:
        connection.sendall(start.encode())
        answer = dripped(connection, drip)
    assert time.monotonic() - began < SOON
    if answer:
        assert check_headers(answer) in (404, 405, 408)


@pytest.mark.slow
def test_a_body_that_nobody_waits_for_is_given_up_as_well(port: int, short: None) -> None:
    """The answer, a refusal, is there at once; the client goes on sending."""
    began = time.monotonic()
    with opened(port) as connection:
        start = "POST / HTTP/1.1\r\n" + HOST + "Origin: http://evil.example\r\n"
        connection.sendall((start + "Content-Length: 100000\r\n\r\n").encode())
        assert check_headers(whole(connection)) == 403
        assert dripped(connection, "x" * 4000) == b""
    assert time.monotonic() - began < SOON


@pytest.mark.slow
def test_the_next_request_of_a_connection_has_limits_too(port: int, short: None) -> None:
    began = time.monotonic()
    with opened(port) as connection:
        connection.sendall(("HEAD / HTTP/1.1\r\n" + HOST + "\r\n").encode())
        assert check_headers(connection.recv(1 << 20)) == 200
        answer = dripped(connection, "GET / HTTP/1.1\r\n" + "X-A: b\r\n" * 500)
    assert time.monotonic() - began < SOON
    assert check_headers(answer) == 408


@pytest.mark.slow
def test_a_client_that_takes_nothing_is_left(port: int, short: None) -> None:
    with opened(port) as connection:
        connection.sendall(("GET /large HTTP/1.1\r\n" + HOST + "\r\n").encode())
        assert connection.recv(1) == b"H"
        until(lambda: not any(map(_is_open, gc.get_objects())), every=0.1)
        assert len(read(connection)) < LARGE


def test_many_idle_connections_keep_nobody_out(port: int, short: None) -> None:
    idle = [opened(port) for _ in range(40)]
    try:
        for connection in idle:
            connection.sendall(b"GET / HT")
        answers = [
            sent(port, "GET /home.json HTTP/1.1\r\n" + HOST + "Connection: close\r\n\r\n")
            for _ in range(5)
        ]
        assert [check_headers(answer) for answer in answers] == [200] * 5
    finally:
        closed = [read(connection) for connection in idle]
        for connection in idle:
            connection.close()
    assert {check_headers(answer) for answer in closed if answer} <= {408, 503}


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        # what is no request, answered by the server itself
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", {400}),
        ("GET\r\n\r\n", {400}),
        ("GET / HTTP/1.1\r\n\r\n", {400}),
        ("GET / HTTP/1.1\r\n" + HOST + HOST + "\r\n", {400}),
        ("GET / HTTP/1.1\r\n" + HOST + "bad header\r\n\r\n", {400}),
        ("GET / HTTP/1.1\r\n" + HOST + "X: a\x00b\r\n\r\n", {400}),
        ("POST / HTTP/1.1\r\n" + HOST + "Content-Length: -1\r\n\r\n", {400}),
        ("POST / HTTP/1.1\r\n" + HOST + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", {400}),
        ("POST / HTTP/1.1\r\n" + HOST + "Transfer-Encoding: odd\r\n\r\n", {400, 501}),
        (request("GET /", "X: " + "x" * 70_000), {431}),
        (request("GET /", *["X: y"] * 200), {431}),
        (request("GET /" + "x" * 20_000), {414}),
        (request("GET /?" + "x" * 20_000), {414}),
        # refused by the guard
        (request("GET /", host="Host: evil.example\r\n"), {421}),
        (request("GET /", "Origin: http://evil.example"), {403}),
        (request("POST /", "Sec-Fetch-Site: cross-site", "Content-Length: 0"), {403}),
        # pages, files and errors of the application
        (request("GET /"), {200}),
        (request("HEAD /"), {200}),
        (request("GET /home.json"), {200}),
        (request("GET /nothing"), {404}),
        (request("GET /nothing.json"), {404}),
        (request("GET /runs/none"), {404}),
        (request("GET /api/v3/nothing"), {404}),
        (request("POST /", "Content-Length: 0"), {405}),
        (request("DELETE /"), {405}),
        (request("OPTIONS *"), {400, 404, 405}),
        (request("TRACE /"), {405}),
        (request("BREW /"), {405}),
        (request("GET /", "Upgrade: websocket", "Sec-WebSocket-Version: 13"), {200, 426}),
        (request("GET /static/icon.svg"), {200}),
        (request("GET /static/none.css"), {404}),
        (request("GET /static/../app.py"), {404}),
        (request("GET /static"), {200, 307, 404}),
        (request("GET /runs/"), {200, 307, 404}),
        (request("GET /broken"), {500}),
        ("GET / HTTP/1.0\r\n" + HOST + "\r\n", {200}),
    ],
)  # fmt: skip
def test_every_answer_has_the_same_headers(
    port: int, text: str | bytes, statuses: set[int]
) -> None:
    answer = sent(port, text)
    assert check_headers(answer) in statuses, answer[:500]


def test_an_error_page_that_breaks_itself(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def worse(*args: object, **more: object) -> None:
        raise RuntimeError("the page of errors is broken, too")

    app = make_app(place)
    app.router.routes.insert(0, Route("/broken", broken))
    monkeypatch.setattr(application, "answer_with", worse)
    with serving(app) as found:
        assert check_headers(sent(found, request("GET /broken"))) == 500


def test_the_token_s_redirect_and_refusal(place: str) -> None:
    with serving(make_app(place, token="a-token-of-some-length")) as found:
        assert check_headers(sent(found, request("GET /"))) == 401
        assert check_headers(sent(found, request("GET /?token=a-token-of-some-length"))) == 303


def test_forms_have_an_end(port: int, tmp_path: Path) -> None:
    body = "x=" + "y" * 2_000_000
    start = (
        f"POST /label HTTP/1.1\r\n{HOST}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    assert check_headers(sent(port, start + body)) in (404, 405, 413)


@pytest.mark.slow
def test_a_store_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    place = tmp_path / "p.db"
    Store.open(str(place)).close()
    with serving(make_app(str(place))) as found:
        assert check_headers(sent(found, request("GET /"))) == 200
        for path in tmp_path.glob("p.db*"):
            path.unlink()
        answer = sent(found, request("GET /"))
        assert check_headers(answer) == 500
        assert b"there is no store" in answer
        Store.open(str(place)).close()
        assert check_headers(sent(found, request("GET /"))) == 200
