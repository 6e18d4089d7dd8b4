"""The command ``proctor view``: a real server, its address, and the token it asks for."""

import http.client
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from proctor.store.store import Store
from waiting import PATIENCE


@pytest.fixture
def place(tmp_path: Path) -> str:
    path = str(tmp_path / "p.db")
    Store.open(path).close()
    return path


def command(place: str, *more: str) -> list[str]:
    options = ("--store", place, "--port", "0")
    return [sys.executable, "-m", "proctor.cli.main", "view", *options, *more]


@contextmanager
def viewed(place: str, *more: str) -> Iterator[list[str]]:
    """Start the server; give what it says up to its address, and see it end in order."""
    with subprocess.Popen(
        command(place, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = [process.stdout.readline().strip()]
        if not said[-1].startswith("http"):
            said.append(process.stdout.readline().strip())
        try:
            yield said
        finally:
            process.send_signal(signal.SIGINT)
            _, trouble = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in trouble


def ask(address: str, path: str, **headers: str) -> tuple[int, str, str]:
    found = urlsplit(address)
    assert found.hostname is not None
    connection = http.client.HTTPConnection("127.0.0.1", found.port, timeout=PATIENCE)
    connection.request("GET", path, headers={"Host": found.netloc, **headers})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, answer.headers.get("set-cookie") or ""


@pytest.mark.slow
def test_on_this_machine_no_token_is_needed(place: str) -> None:
    with viewed(place) as said:
        assert said[-1].startswith("http://127.0.0.1:")
        assert "token" not in said[-1]
        status, text, _ = ask(said[-1], "/")
        assert status == 200
        assert text.startswith("<!doctype html>")
        assert ask(said[-1], "/", Host="evil.example")[0] == 421
        # The endings of a path as they were written reach the application.
        assert ask(said[-1], "/runs/x%2Ejson")[1].startswith("<!doctype html>")
        assert ask(said[-1], "/runs/x.json")[1].startswith("{")


@pytest.mark.slow
def test_elsewhere_a_token_is_needed_and_said_so(place: str) -> None:
    with viewed(place, "--host", "0.0.0.0") as said:
        assert "other machines can reach this address" in said[0]
        token = urlsplit(said[-1]).query.removeprefix("token=")
        assert len(token) >= 32
        assert ask(said[-1], "/")[0] == 401
        status, _, cookie = ask(said[-1], f"/?token={token}")
        assert status == 303
        assert ask(said[-1], "/", Cookie=cookie.partition(";")[0])[0] == 200


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--token", "short"), "at least 16"),
        (("--host", "203.0.113.7"), "cannot listen"),
        (("--store", "none.db"), "no store"),
    ],
)
@pytest.mark.sampled(3)
def test_what_is_wrong_is_said(
    place: str, proctor: str, tmp_path: Path, more: tuple[str, ...], said: str
) -> None:
    options = command(place, *more)[3:]
    done = subprocess.run(
        [proctor, *options], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.slow
def test_what_is_no_request_is_answered_like_everything_else(place: str) -> None:
    with viewed(place) as said:
        found = urlsplit(said[-1])
        with socket.create_connection(
            ("127.0.0.1", found.port or 0), timeout=PATIENCE
        ) as connection:
            connection.sendall(b"no request\r\n\r\n")
            answer = connection.recv(65536).decode()
    assert answer.startswith("HTTP/1.1 400 ")
    assert "Content-Security-Policy: default-src 'none'" in answer
    assert "X-Content-Type-Options: nosniff" in answer
