"""An agent whose own model calls pass the proxy: they become steps, with tokens and cost."""

import json
import re
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import Answer, FakeServer
from proctor.testing.replies import all_text
from waiting import PATIENCE

EXAMPLES = Path(__file__).parents[2] / "examples" / "agents"


def model(messages: list[Any], body: Any) -> Any:
    if "The result is" in all_text(messages[-1:]):
        return Answer("It is 102 eggs.", tokens=(50, 5))
    return Answer("CALC: 17 * 6", tokens=(40, 4))


def test_calls_become_steps(cli: Any) -> None:
    suite = (
        "name: one\ncases:\n  - id: eggs\n    ask: How many eggs?\n    dialogue: scripted\n"
        "    criteria: ['102']\n"
    )
    cli.write("suite.yaml", suite)
    with FakeServer(model, key="upstream-key") as server:
        cli.env["OPENAI_API_KEY"] = "upstream-key"
        found = cli.json(
            "run", "suite.yaml", "--cases",
            "--agent", f"python:{EXAMPLES / 'calculator.py'}:answer",
            "--proxy", f"openai:served@{server.url}",
            "--price", "served=1000000/0",
        )  # fmt: skip
        assert [call.body["model"] for call in server.calls if call.body] == ["served", "served"]
    assert found["totals"]["rate"] == 1.0
    used = {"calls": 2, "prompt_tokens": 90, "completion_tokens": 9, "cost": 90.0}
    assert {name: found["usage"][name] for name in used} == used
    shown = json.loads(cli("show", "@last", "eggs", "--json").stdout)
    posts = shown["attempts"][0]["rounds"][0]["post_list"]
    assert [post["send_from"] for post in posts[:3]] == ["User", "Model", "Model"]
    assert posts[1]["message"] == "CALC: 17 * 6"
    assert posts[-1]["message"] == "It is 102 eggs."
    stored = b"".join(p.read_bytes() for p in (cli.folder / ".proctor").rglob("*") if p.is_file())
    assert b"upstream-key" not in stored


@contextmanager
def proxying(cli: Any, *args: str) -> Iterator[tuple[list[str], str]]:
    """Start the command as a process, and give what it says in the end and the base URL."""
    command = cli.command("proxy", "--port", "0", *args)
    with subprocess.Popen(
        command,
        cwd=cli.folder,
        env=cli.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            lines = [process.stderr.readline(), process.stderr.readline()]
            found = re.search(r"export OPENAI_BASE_URL=(\S+) OPENAI_API_KEY=none", lines[1])
            assert found, lines
            secret = found[1].split("/")[3]
            assert secret not in lines[0], "it is printed once"
            said: list[str] = []
            yield said, found[1]
            process.send_signal(signal.SIGINT)
            said.append(process.communicate(timeout=PATIENCE)[1])
        finally:
            process.kill()


def post(url: str, **headers: str) -> tuple[int, bytes]:
    body = json.dumps({"messages": [{"role": "user", "content": "How many eggs?"}]}).encode()
    given = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(url, body, given, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@pytest.mark.slow
def test_the_command_serves_only_who_knows_its_secret(cli: Any) -> None:
    with FakeServer(model, key="upstream-key-1") as server:
        cli.env |= {"OPENAI_API_KEY": "upstream-key-1", "NO_PROXY": "*"}
        with proxying(cli, "--model", f"openai:served@{server.url}", "--record", "calls.jsonl") as (
            last,
            base,
        ):
            root = base.removesuffix("/v1").rpartition("/")[0]
            before = len(server.calls)
            assert post(f"{root}/v1/chat/completions")[0] == 404
            assert post(f"{root}/{'x' * 43}/v1/chat/completions")[0] == 404
            assert post(f"{base}/files")[0] == 404
            assert post(f"{base}/chat/completions", Origin="https://evil.example")[0] == 403
            assert len(server.calls) == before
            status, body = post(f"{base}/chat/completions", Cookie="a=b")
            assert (status, b"CALC: 17 * 6" in body) == (200, True)
    (said,) = last
    assert "1 calls, 40+4 tokens" in said
    (line,) = (cli.folder / "calls.jsonl").read_text().splitlines()
    secret = base.split("/")[3]
    assert json.loads(line)["reply"] == "CALC: 17 * 6"
    assert secret not in line + said
    assert "upstream-key-1" not in line + said


@pytest.mark.slow
def test_a_secret_of_one_s_own_stays_the_same(cli: Any) -> None:
    cli.env["PROCTOR_PROXY_SECRET"] = "a-secret-that-stays"
    with FakeServer(model) as server:
        given = ("--model", f"openai:served@{server.url}")
        for _ in range(2):
            with proxying(cli, *given) as (_, base):
                assert base.endswith("/a-secret-that-stays/v1")
                assert post(f"{base}/chat/completions")[0] == 200
    cli.env["PROCTOR_PROXY_SECRET"] = "short"
    with FakeServer(model) as server:
        done = cli("proxy", "--port", "0", "--model", f"openai:served@{server.url}", code=2)
    assert "at least 16" in done.stderr


@pytest.mark.slow
def test_an_agents_calls_share_the_money_of_the_run(cli: Any) -> None:
    suite = "name: one\ncases:\n" + "".join(
        f"  - {{id: eggs{n}, ask: 'How many eggs, number {n}?', criteria: ['102']}}\n"
        for n in range(3)
    )
    cli.write("suite.yaml", suite)
    with FakeServer(model) as server:
        args = [
            "run", "suite.yaml", "--agent", f"python:{EXAMPLES / 'calculator.py'}:answer",
            "--proxy", f"openai:served@{server.url}", "--concurrency", "1",
        ]  # fmt: skip
        done = cli(*args, "--max-cost", "100", code=2)
        assert "--price 'openai:served=IN/OUT'" in done.stderr
        assert server.calls == []
        price = ["--price", "served=1000000/0"]
        found = cli.json(*args, *price, "--max-cost", "100", code=3)
        assert (found["run"]["status"], found["totals"]["errors"]) == ("incomplete", 2)
        assert len(server.calls) == 2, "a call that cannot fit is not passed on"
        assert "--max-cost" in cli("show", "@last", "eggs1").stdout
        found = cli.json(*args, *price, "--max-cost", "300")
    assert (found["run"]["status"], found["totals"]["rate"]) == ("complete", 1.0)
    assert found["usage"]["cost"] == 270.0


def test_a_limit_says_that_it_does_not_see_an_agents_own_calls(cli: Any) -> None:
    cli.write("suite.yaml", "name: one\ncases:\n  - {id: a, ask: Hi, criteria: hi}\n")
    cli.write("agent.sh", "echo hi\n")
    done = cli("run", "suite.yaml", "--agent", "exec:sh agent.sh", "--max-cost", "1")
    assert "its own calls are not seen" in done.stderr
