"""Servers, agents and files that repeat a key: it is in no store, export, log or message afterwards."""

import base64
import json
import threading
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from proctor.io.redaction import MARK, Secrets

KEY = "sk-Canary-0123456789-abcdef"
TEAM = "team-token-canary-77"
FORMS = ("plain", "parts", "escaped", "url", "base64", "thinking", "tool", "refused", "broken")
SUITE = "name: echo\ncases:\n" + "".join(
    f"  - id: {form}\n    ask: {form}\n    criteria: [a word, {{judged: Polite}}]\n"
    for form in FORMS
)


class Echo(BaseHTTPRequestHandler):
    """Repeat the key that was sent, in the way that the question names."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer(200, {"data": [{"id": self.key()}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "message" in body:
            self.answer(200, {"reply": f"I got {self.key()}", "steps": [self.key()]})
            return
        key, asked = self.key(), body["messages"][-1]["content"].strip()
        if asked == "refused":
            self.answer(400, {"error": {"message": f"Incorrect API key provided: {key}"}})
            return
        if asked == "broken":
            self.answer(422, None, f"<html>no service for {key}</html>")
            return
        message: dict[str, Any] = {"role": "assistant", "content": said(asked, key)}
        if asked == "thinking":
            message["reasoning_content"] = f"The key is {key}."
        if asked == "tool":
            call = {"function": {"name": key, "arguments": json.dumps({"x": key})}}
            message |= {"content": None, "tool_calls": [call]}
        choice = {"message": message, "finish_reason": "stop"}
        self.answer(200, {"id": key, "model": f"gpt-{key}", "choices": [choice], "usage": {}})

    def key(self) -> str:
        return f"{self.headers['authorization']} {self.headers['x-team-token']}"

    def answer(self, status: int, body: Any, text: str = "") -> None:
        data = (text or json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("content-type", "text/html" if text else "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("x-request-id", self.key())
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


def said(asked: str, key: str) -> Any:
    if asked == "parts":
        return [{"type": "text", "text": part} for part in (key[:17], key[17:])]
    if asked == "escaped":
        return json.dumps({"x": "KEY"}).replace("KEY", "".join(f"\\u{ord(c):04x}" for c in key))
    if asked == "url":
        return "https://evil.example/?k=" + urllib.parse.quote(key.replace("-", "%2D"), safe="")
    if asked == "base64":
        return base64.b64encode(f"seen: {key}".encode()).decode()
    return f"a word: {key}"


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def echo(cli: Any) -> Any:
    cli.env["OPENAI_API_KEY"] = KEY
    cli.write("suite.yaml", SUITE)
    return cli


def repeats(text: str) -> bool:
    known = Secrets()
    known.add(KEY, TEAM)
    return known.within(text)


def found_in(folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if repeats(path.read_bytes().decode("latin-1"))]


@pytest.mark.slow
def test_nothing_that_is_kept_or_shown_repeats_a_key(echo: Any, url: str) -> None:
    model, judge = f"openai:m@{url}/v1", f"openai:j@{url}/v1"
    token = ("--header", f"X-Team-Token={TEAM}")
    commands = [
        ("check", "suite.yaml"),
        ("plan", "suite.yaml", "--model", model, "--judge", judge),
        ("run", "suite.yaml", "--model", model, "--judge", judge, "--record", "tape.jsonl",
         "--name", "one", "--cases", *token),
        ("run", "suite.yaml", "--model", "replay:tape.jsonl#m", "--judge", judge, "--name", "two", "--cases"),
        ("report", "one", "--cases"),
        ("report", "one", "--cases", "--format", "json"),
        ("report", "one", "--cases", "--format", "md", "--out", "one.md"),
        ("report", "one", "--format", "html", "--out", "one.html"),
        ("report", "one", "--format", "junit", "--out", "one.xml"),
        ("report", "one", "--cases", "--format", "csv", "--out", "one.csv"),
        *[("show", "one", form, "--full") for form in FORMS],
        ("show", "one", "plain", "--json"),
        ("list", "runs", "--json"),
        ("compare", "one", "two"),
        ("battle", "one", "two", "--judge", judge),
        ("export", "one", "--out", "one.jsonl"),
        ("export", "one", "--out", "page.html"),
    ]  # fmt: skip
    said = ""
    for command in commands:
        done = echo.here(*command)
        assert "Traceback" not in done.stderr, (command, done.stderr)
        assert done.returncode in (0, 3), (command, done.stderr)
        assert not repeats(done.stdout + done.stderr), command
        said += done.stdout + done.stderr
    assert MARK in said, "the servers did repeat it"
    assert (echo.folder / "tape.jsonl").stat().st_size > 1000
    assert found_in(echo.folder) == []


@pytest.mark.slow
def test_agents_that_repeat_a_key(echo: Any, url: str) -> None:
    echo.write("agent.py", "import os\ndef answer(message, folder):\n"
               "    with open(folder + '/dump.txt', 'w') as file:\n        file.write(str(dict(os.environ)))\n"
               "    if message == 'refused':\n        raise ValueError(os.environ['OPENAI_API_KEY'])\n"
               "    return {'reply': os.environ['OPENAI_API_KEY'], 'steps': [{'message': str(os.environ)}]}\n")  # fmt: skip
    header = '{"Authorization": "Bearer $OPENAI_API_KEY", "X-Team-Token": "$TEAM_TOKEN"}'
    echo.env["TEAM_TOKEN"] = TEAM
    echo.write("suite.yaml", SUITE.replace(", {judged: Polite}", ""))
    agents = [
        ("python:agent:answer",),
        ("python:agent:answer", "--agent-option", "in_process=true"),
        ("exec:printenv OPENAI_API_KEY",),
        ("exec:sh -c 'printenv OPENAI_API_KEY >&2; exit 3'",),
        (f"{url}/agent", "--agent-option", f"headers={header}"),
    ]
    for agent in agents:
        done = echo.here("run", "suite.yaml", "--limit", "8", "--cases", "--agent", *agent)
        assert "Traceback" not in done.stderr, done.stderr
        shown = echo.here("show", "@last", "plain", "--full")
        # Under load the last words of a process that fails may be missed altogether.
        assert MARK in shown.stdout or "exit 3" in agent[0], (agent, shown)
        for each in (done, shown, echo.here("show", "@last", "refused", "--json")):
            assert not repeats(each.stdout + each.stderr), agent
    assert found_in(echo.folder) == []


PASSWORD = "hunter2-canary"


@pytest.mark.parametrize(
    "address",
    [
        f"http://me:{PASSWORD}@127.0.0.1:9/v1",
        f"http://me:{PASSWORD}@localhost",
        f"http://:{PASSWORD}@h/v1",
        f"https://{PASSWORD}@h/v1",
        f"http://me:{PASSWORD}/x@h/v1",
        f"http://me:{PASSWORD}?x@h/v1",
        f"http://me:{PASSWORD}#x@h/v1",
        f"http://h/v1,http://me:{PASSWORD}@i/v1",
        f"http://me:{PASSWORD}@h:99999/v1",
        f"http://me:{PASSWORD}@[::1",
    ],
)
def test_an_address_with_a_password_is_refused_and_not_repeated(echo: Any, address: str) -> None:
    first = address.partition(",")[0] if "," not in address else address
    commands = [
        ("run", "suite.yaml", "--model", f"openai:m@{first}"),
        ("plan", "suite.yaml", "--model", f"openai:m@{first}", "--json"),
        ("run", "suite.yaml", "--model", f"anthropic:m@{first}", "--record", "tape.jsonl"),
        ("run", "suite.yaml", "--model", f"azure:m@{first}"),
        ("run", "suite.yaml", "--model", first),
        ("run", "suite.yaml", "--model", "openai:m", "--judge", f"openai:m@{first}"),
        ("run", "suite.yaml", "--model", "openai:m", "--simulator", f"openai:m@{first}"),
        ("run", "suite.yaml", "--agent", first.rpartition(",")[2]),
        ("run", "suite.yaml", "--agent", "exec:cat", "--proxy", f"openai:m@{first}"),
        ("proxy", "--model", f"openai:m@{first}", "--port", "0"),
        ("battle", "a", "b", "--judge", f"openai:m@{first}"),
    ]
    for command in commands:
        done = echo.here(*command)
        assert done.returncode == 2, (command, done)
        assert "fix:" in done.stderr + done.stdout, command
        assert PASSWORD not in done.stderr + done.stdout, command
    assert not (echo.folder / "tape.jsonl").exists()
    texts = [path.read_bytes() for path in echo.folder.rglob("*") if path.is_file()]
    assert not any(PASSWORD.encode() in text for text in texts)


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:{PASSWORD}@127.0.0.1:9/db",
        f"postgresql://me:{PASSWORD}@x@127.0.0.1:9/db",
        f"postgresql://127.0.0.1:9/db?user=me&password={PASSWORD}",
        f"mysql://me:{PASSWORD}@h/db",
        f"postgresql://me:{PASSWORD}@[bad/db",
    ],
)
@pytest.mark.parametrize("command", ["list", "report"])
def test_the_password_of_a_store_is_masked(
    echo: Any, monkeypatch: pytest.MonkeyPatch, address: str, command: str
) -> None:
    from proctor.store import transactions

    monkeypatch.setattr(transactions, "PAUSES", (0.0,))
    args = ("list", "runs") if command == "list" else ("report", "@last", "--format", "json")
    done = echo.here(*args, "--store", address)
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    assert PASSWORD not in done.stderr + done.stdout
