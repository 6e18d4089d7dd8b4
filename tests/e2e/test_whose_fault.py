"""Faults planted on purpose: each attempt has the right cause, and nobody pays for another's."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import proctor as library
from fake_coding_agent import write_fake
from proctor.engine.models.proxy import ModelProxy
from scripted_model import ScriptedModel
from waiting import until

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]
GREETING = Path(__file__).parents[1] / "data" / "harbor" / "greeting"
OWN = (sys.executable, "-m", "proctor")
"""A process of its own, which takes its folders from its environment."""
STORM = """\
name: storm
cases:
  - {id: calm, ask: Say done., criteria: {contains: done}}
  - {id: stormy, ask: Say done in the storm., criteria: {contains: done}}
  - {id: broken, ask: Say done and break., criteria: {contains: done}}
  - {id: rough, ask: Say done in the storm again., criteria: {contains: done}}
"""


class Stormy(ScriptedModel):
    """A model that has too many requests whenever a prompt speaks of a storm."""

    storm = True

    def __init__(self) -> None:
        super().__init__([{"text": "done"}])
        self.asked: list[str] = []

    def serve(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        text = json.dumps(body["messages"])
        self.asked.append(text)
        self.status = 429 if self.storm and "storm" in text else 400 if "break" in text else None
        super().serve(handler, body)


@pytest.fixture
def run(proctor: str, tmp_path: Path) -> Callable[..., Any]:
    def called(*words: str, env: dict[str, str] | None = None) -> Any:
        own = {**os.environ, "ANTHROPIC_API_KEY": "the-real-key", "OPENAI_API_KEY": "the-real-key"}
        ran = subprocess.run(
            [proctor, "run", *words, "--cases", "--json"], cwd=tmp_path, env=own | (env or {}),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.stdout, ran.stderr
        return json.loads(ran.stdout)

    return called


def outcomes(report: Any) -> dict[str, tuple[str, str | None]]:
    """Return status and cause of the attempt at each case."""
    assert "cases" in report, report
    return {
        case["id"]: (attempt["status"], attempt.get("cause"))
        for case in report["cases"]
        for attempt in case["attempts"]
    }


def test_a_storm_of_429_is_the_provider_s_and_again_mends_exactly_that(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    program = write_fake(tmp_path, "claude-code")
    (tmp_path / "storm.yaml").write_text(STORM)
    with Stormy() as model:
        words = ["storm.yaml", "--agent", "claude-code", "--agent-option", f"program={program}"]
        words += ["--proxy", f"anthropic:m@{model.url}", "--max-unscored", "100%"]
        report = run(*words)
        assert outcomes(report) == {
            "calm": ("scored", None),
            "stormy": ("error", "provider"),
            "broken": ("error", "candidate"),
            "rough": ("error", "provider"),
        }
        assert report["totals"]["rate"] == 1.0, "nothing is 0 for another's fault"
        assert report["failures"]["causes"] == [
            {"reason": "provider", "count": 2},
            {"reason": "candidate", "count": 1},
        ]
        model.storm, model.asked = False, []
        mended = run(*words, "--again", "provider")
    assert {case: how for case, (how, _) in outcomes(mended).items()} == {
        "calm": "scored", "stormy": "scored", "broken": "error", "rough": "scored",
    }  # fmt: skip
    assert all("storm" in text for text in model.asked), "the others are left as they are"
    assert mended["run"]["id"] == report["run"]["id"]


def test_a_storm_that_passes_is_not_noticed(run: Callable[..., Any], tmp_path: Path) -> None:
    program = write_fake(tmp_path, "claude-code")
    (tmp_path / "storm.yaml").write_text(STORM)

    class Passing(Stormy):
        def serve(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
            self.storm = sum("storm" in text for text in self.asked) < 2
            super().serve(handler, body)

    with Passing() as model:
        report = run(
            "storm.yaml", "--agent", "claude-code", "--agent-option", f"program={program}",
            "--proxy", f"anthropic:m@{model.url}", "--max-unscored", "100%",
        )  # fmt: skip
    assert outcomes(report)["stormy"] == ("scored", None)
    assert outcomes(report)["rough"] == ("scored", None)


def test_a_provider_that_is_gone(run: Callable[..., Any], tmp_path: Path) -> None:
    program = write_fake(tmp_path, "claude-code")
    (tmp_path / "storm.yaml").write_text(STORM)
    with ScriptedModel(()) as model:
        url = model.url
    report = run(
        "storm.yaml", "--agent", "claude-code", "--agent-option", f"program={program}",
        "--proxy", f"anthropic:m@{url}",
    )  # fmt: skip
    assert set(outcomes(report).values()) == {("error", "provider")}


def test_a_proxy_that_is_lost_is_the_environment_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Close the port of the proxy with the first call, as if its process had ended."""

    from aiohttp import web

    class Remembered(web.TCPSite):
        async def start(self) -> None:
            await super().start()
            self._runner.app._state["sites"] = [self]

    async def lost(proxy: ModelProxy, request: Any) -> Any:
        server = request.app._state["sites"][0]._server
        server.close()
        request.transport.abort()
        raise web.HTTPServiceUnavailable

    monkeypatch.setattr(web, "TCPSite", Remembered)
    monkeypatch.setattr(ModelProxy, "_serve", lost)
    agent = tmp_path / "agent.py"
    agent.write_text(
        "import os, urllib.request\n"
        "urllib.request.urlopen(os.environ['OPENAI_BASE_URL'] + '/models', timeout=5)\n"
    )
    result = library.evaluate(
        [{"id": "a", "ask": "Hello?", "criteria": {"contains": "x"}}],
        agent=f"exec:{sys.executable} {agent}",
        proxy="openai:m@http://127.0.0.1:9/v1",
        store=tmp_path / "runs.db",
        progress=False,
    )
    attempt = result["a"].attempts[0]
    assert "the proxy for the agent's calls was lost" in attempt.error
    assert attempt.cause == "environment"


def test_a_killed_environment(tmp_path: Path) -> None:
    """Kill the sandbox of a task from outside while the agent works, then make it again."""
    argv = [
        *OWN,
        "run",
        str(GREETING),
        "--agent",
        "exec:bash -c 'echo hello >hello.txt; sleep 5'",
    ]
    argv += ["--cases", "--json"]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        victim = until(lambda: sandbox_below(process.pid, "sleep 5"))
        os.kill(victim, signal.SIGKILL)
        report = json.loads(process.communicate(timeout=120)[0])
    assert outcomes(report) == {"ours/greeting": ("error", "environment")}
    assert report["totals"]["rate"] is None
    again = subprocess.run(
        [*argv, "--again", "environment"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert outcomes(json.loads(again.stdout)) == {"ours/greeting": ("scored", None)}


def sandbox_below(pid: int, words: str) -> int:
    """Return the process around one that runs these words below another; 0 where there is none."""
    listed = subprocess.run(
        ["ps", "-wweo", "pid,ppid,args"], capture_output=True, text=True, check=True
    )
    rows = {}
    for line in listed.stdout.splitlines()[1:]:
        own, parent, args = line.split(None, 2)
        rows[int(own)] = (int(parent), args)
    for own, (_, args) in rows.items():
        chain = [own]
        while chain[-1] in rows and rows[chain[-1]][0] > 1:
            chain.append(rows[chain[-1]][0])
        if words in args and pid in chain:
            around = [one for one in chain if "--as-pid-1" in rows.get(one, (0, ""))[1]]
            if around:
                return around[-1]
    return 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk(tmp_path: Path) -> None:
    """Let the place for environments be full; the same command works with room."""
    small = tmp_path / "small"
    small.mkdir()
    inner = (
        f"mount -t tmpfs -o size=256k tmpfs {small} && cd {tmp_path} && "
        f"TMPDIR={small} exec {sys.executable} -m proctor run {GREETING} --agent oracle --cases --json"
    )
    ran = subprocess.run(
        ["unshare", "--mount", "sh", "-c", inner], capture_output=True, text=True, check=False
    )
    report = json.loads(ran.stdout)
    assert outcomes(report) == {"ours/greeting": ("error", "environment")}, report
    assert "No space left on device" in ran.stdout
    again = subprocess.run(
        [*OWN, "run", str(GREETING), "--agent", "oracle", "--cases", "--json", "--again", "environment"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert outcomes(json.loads(again.stdout)) == {"ours/greeting": ("scored", None)}


def hanging(folder: Path, script: str) -> Path:
    import shutil

    task = folder / "tasks" / "greeting"
    shutil.copytree(GREETING, task)
    (task / "tests" / "test.sh").write_text(script)
    about = (
        (task / "task.toml")
        .read_text()
        .replace("[verifier]\ntimeout_sec = 20", "[verifier]\ntimeout_sec = 2")
    )
    (task / "task.toml").write_text(about)
    return task


def test_a_hanging_verifier_is_no_zero(run: Callable[..., Any], tmp_path: Path) -> None:
    report = run(str(hanging(tmp_path, "sleep 60\n")), "--agent", "oracle")
    assert outcomes(report) == {"ours/greeting": ("unscored", "verifier")}
    (case,) = report["cases"]
    assert (case["value"], case["low"], case["high"]) == (None, 0.0, 1.0)
    assert report["totals"]["rate"] is None


def test_a_verifier_that_gave_a_reward_before_its_time_was_up(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    script = "echo 1 >/logs/verifier/reward.txt; sleep 60\n"
    report = run(str(hanging(tmp_path, script)), "--agent", "oracle")
    assert outcomes(report) == {"ours/greeting": ("scored", None)}
    assert report["totals"]["rate"] == 1.0


class Crashing:
    """A model that answers one trial call, and from then on serves errors until it is mended."""

    def __init__(self) -> None:
        self.trials = 1
        self.asked = 0

    def answers(self) -> bool:
        self.asked += 1
        self.trials -= 1
        return self.trials >= 0


@pytest.fixture
def broken_model() -> Iterator[tuple[str, Crashing]]:
    """Serve a model that crashes."""
    model = Crashing()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            if not model.answers():
                self.send_error(400)
                return
            message = {"role": "assistant", "content": "TASK_FINISHED"}
            data = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"openai:m@http://127.0.0.1:{server.server_address[1]}/v1", model
    server.shutdown()
    server.server_close()


TALK = """\
name: talk
cases:
  - id: a
    ask: Hello?
    dialogue: virtual_user
    hidden: {task: Ask for a greeting.}
    criteria: {contains: hello}
  - id: plain
    ask: Hello?
    criteria: {contains: goodbye}
"""


def test_a_simulator_that_crashes(
    run: Callable[..., Any], tmp_path: Path, broken_model: tuple[str, Crashing]
) -> None:
    (tmp_path / "talk.yaml").write_text(TALK)
    name, model = broken_model
    words = ["talk.yaml", "--agent", "exec:echo hello", "--simulator", name]
    words += ["--max-unscored", "100%"]
    report = run(*words)
    assert outcomes(report) == {"a": ("unscored", "simulator"), "plain": ("scored", None)}
    assert report["totals"]["rate"] == 0.0, "the other case alone counts"
    model.trials, model.asked = 100, 0
    left = run(*words, "--again", "provider")
    assert outcomes(left)["a"] == ("unscored", "simulator")
    mended = run(*words, "--again", "simulator")
    assert outcomes(mended) == {"a": ("scored", None), "plain": ("scored", None)}


LEAK = """\
name: leak
cases:
  - id: sum
    ask: What is the sum?
    reference: "7"
    dialogue: {clarify: {max_turns: 3}}
    hidden: {question: "What is 3 + 4?", info: The numbers are 3 and 4., points: [the numbers]}
    criteria: {noted: correct}
"""


def test_a_simulated_user_that_gives_the_answer_away(tmp_path: Path) -> None:
    """Let a dialogue of AskBench end by its user, and not by its judge."""
    asks = {"is_final_answer": False, "is_correct": None, "all_required_points_resolved": False,
            "missing_required_points": ["the numbers"]}  # fmt: skip
    (tmp_path / "leak.yaml").write_text(LEAK)

    async def judge(question: str) -> str:
        return json.dumps(asks)

    result = library.evaluate(
        tmp_path / "leak.yaml",
        lambda question: "Which numbers?",
        judge=judge,
        simulator=lambda question: "The total is 7.",
        store=tmp_path / "runs.db",
        progress=False,
    )
    attempt = result["sum"].attempts[0]
    assert (attempt.status, attempt.cause) == ("unscored", "simulator"), attempt.error


SCRIPTED = """\
name: scripted
cases:
  - id: a
    ask: Hello?
    dialogue: {scripted: {then: ["And now?"], stop_below: 0.5}}
    criteria:
      - {turn: 1, scorer: "own_scorers:Broken"}
      - {turn: 2, contains: hello}
"""
BROKEN = """\
from dataclasses import dataclass
from proctor import Scorer
from proctor.errors import SandboxError


@dataclass(frozen=True)
class Broken(Scorer):
    "Nobody can score by this."

    def score(self, ctx):
        raise {error}
"""


@pytest.mark.parametrize(
    ("error", "cause"),
    [("ValueError('odd')", "verifier"), ("SandboxError('no bubblewrap')", "environment")],
)
def test_a_turn_that_cannot_be_scored_stops_a_script(
    run: Callable[..., Any], tmp_path: Path, error: str, cause: str
) -> None:
    (tmp_path / "scripted.yaml").write_text(SCRIPTED)
    (tmp_path / "own_scorers.py").write_text(BROKEN.format(error=error))
    words = ["scripted.yaml", "--agent", "exec:echo hello", "--allow-import"]
    report = run(*words, env={"PYTHONPATH": str(tmp_path)})
    assert outcomes(report) == {"a": ("unscored", cause)}
