"""What `list`, reports and pages call a run: running, interrupted, refused, complete, incomplete."""

import json
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.testing import FakeServer, Fault
from proctor.web.app import make_app
from waiting import PATIENCE, until

CASES = 4
AGENT = """\
read message
case "$message" in
  *Q3*) while [ ! -e go_on ]; do sleep 0.05; done ;;
esac
echo "yes"
"""


@pytest.fixture
def suite(cli: Any) -> str:
    rows = [f"  - {{id: c{n}, ask: Q{n}, criteria: 'yes'}}" for n in range(CASES)]
    return str(cli.write("suite.yaml", "name: small\ncases:\n" + "\n".join(rows) + "\n"))


def listed(cli: Any) -> dict[str, str]:
    """Return the status of each run by its name."""
    found = cli.json("list", "runs")["runs"]
    return {run["name"]: run["status"] for run in found}


def on_page(cli: Any) -> list[str]:
    address = str(cli.folder / ".proctor" / "proctor.db")
    with TestClient(make_app(address), base_url="http://127.0.0.1") as client:
        runs = client.get("/home.json").json()["runs"]
        for run in runs:
            data = client.get(f"/runs/{run['id']}.json").json()
            assert data["run"]["status"] == run["status"]
            word = f'<span class="status {run["status"]}">{run["status"]}</span>'
            assert word in client.get("/").text
            page = client.get(f"/runs/{run['id']}").text
            assert word in page
            far = f"{attempts(cli)}/{CASES}"
            assert (far in page) is (run["status"] != "complete"), "how far it came"
            goes_on = run["status"] in ("running", "interrupted")
            assert ("data-live=" in page) is goes_on, "who asks again"
        return [run["status"] for run in runs]


def broken_answers(cli: Any) -> str:
    return str(cli.write("broken.jsonl", '{"case": "c0", "output": "yes"}\n{"case": '))


@pytest.mark.parametrize(
    "who",
    [
        ("--model", "openai:m"),
        ("--model", "openai:m@http://127.0.0.1:9/v1"),
        ("--answers", "nowhere.jsonl"),
        ("--answers", "broken.jsonl"),
        ("--agent", "python:nowhere:answer"),
    ],
    ids=["no key", "dead server", "no answers", "broken answers", "no agent"],
)
@pytest.mark.sampled(5)
def test_a_run_that_was_refused_before_its_first_work_is_no_run(
    cli: Any, suite: str, who: tuple[str, ...]
) -> None:
    cli.env.pop("OPENAI_API_KEY", None)
    broken_answers(cli)
    done = cli.here("run", suite, *who)
    assert done.returncode in (2, 3), (done.returncode, done.stderr)
    assert listed(cli) == {}
    assert cli.json("list", "suites")["suites"] == [], "nor does its suite stay behind"


@pytest.mark.slow
def test_a_run_that_is_refused_half_way_says_so_and_goes_on_later(cli: Any, suite: str) -> None:
    taken_back: list[bool] = []

    def answers(messages: list[Any], body: Any) -> Any:
        if taken_back and "Q3" in json.dumps(messages):
            return Fault("error", status=401)
        taken_back.append(True)
        return "yes"

    with FakeServer(answers) as server:
        args = ("run", suite, "--model", f"openai:m@{server.url}", "--concurrency", "1")
        refused = cli(*args, code=2)
        assert "401" in refused.stderr
        assert listed(cli) == {"small-openai:m": "refused"}
        assert on_page(cli) == ["refused"]
        assert "was refused before it had numbers" in cli("report", "@last", code=2).stderr
        count = len(server.calls)
        server.script = lambda messages, body: "yes"
        cli(*args)
        assert list(listed(cli).values()) == ["complete"]
        assert on_page(cli) == ["complete"]
        assert len([call for call in server.calls[count:] if call.role != "models"]) == 1


def test_a_refused_start_leaves_the_numbers_that_a_run_had(cli: Any, suite: str) -> None:
    with FakeServer(lambda messages, body: Fault("error", status=400)) as server:
        args = ("run", suite, "--model", f"openai:m@{server.url}")
        cli(*args, code=3)
        assert list(listed(cli).values()) == ["incomplete"]
        server.script = lambda messages, body: Fault("error", status=403)
        cli(*args, code=2)
        assert list(listed(cli).values()) == ["incomplete"]
    cli(*args, code=3)
    assert list(listed(cli).values()) == ["incomplete"], "nor does a dead server change it"
    assert cli.json("report", "@last")["totals"]["errors"] == CASES


@pytest.fixture
def started(cli: Any, suite: str) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Start a run whose last case waits for a file."""
    cli.write("agent.sh", AGENT.replace("go_on", str(cli.folder / "go_on")))
    begun: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        args = ("run", suite, "--agent", f"exec:sh {cli.folder / 'agent.sh'}", "--json")
        process = subprocess.Popen(
            cli.command(*args), cwd=cli.folder, env=cli.env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        begun.append(process)
        return process

    yield start
    for process in begun:
        if process.poll() is None:
            process.kill()
            process.communicate()


def attempts(cli: Any) -> int:
    path = cli.folder / ".proctor" / "proctor.db"
    if not path.exists():
        return 0
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM run_attempts").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def alive_until(cli: Any) -> float:
    with closing(sqlite3.connect(cli.folder / ".proctor" / "proctor.db")) as connection:
        return float(connection.execute("SELECT alive_until FROM runs").fetchone()[0])


@pytest.mark.slow
def test_a_killed_run_is_interrupted_and_runs_again(
    cli: Any, started: Callable[[], subprocess.Popen[str]]
) -> None:
    cli.env["PROCTOR_BEAT"] = "1.5"
    process = started()
    until(lambda: attempts(cli) == CASES - 1)  # none waits behind the slow one
    first = alive_until(cli)
    until(lambda: time.time() > first)  # silence is not borne so long
    assert list(listed(cli).values()) == ["running"]
    assert on_page(cli) == ["running"]
    process.kill()
    process.communicate()
    until(lambda: list(listed(cli).values()) == ["interrupted"])
    assert on_page(cli) == ["interrupted"]
    assert "was interrupted before it had numbers" in cli("report", "@last", code=2).stderr
    process = started()
    until(lambda: list(listed(cli).values()) == ["running"])
    (cli.folder / "go_on").touch()
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert json.loads(out)["run"]["status"] == "complete"
    assert listed(cli) == {json.loads(out)["run"]["name"]: "complete"}


@pytest.mark.slow
def test_a_run_that_a_person_stops_is_interrupted_at_once(
    cli: Any, started: Callable[[], subprocess.Popen[str]]
) -> None:
    process = started()
    until(lambda: attempts(cli) == CASES - 1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert list(listed(cli).values()) == ["interrupted"]


def test_a_beat_that_is_no_time_is_told(cli: Any, suite: str) -> None:
    cli.env["PROCTOR_BEAT"] = "often"
    cli.answers([{"case": "c0", "output": "yes"}])
    done = cli("run", suite, "--answers", "answers.jsonl", code=2)
    assert "PROCTOR_BEAT is a number of seconds" in done.stderr
