"""A command killed in the middle of a batch job: nothing is handed in or paid for twice."""

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from tests.level import LEVEL

from proctor.testing import Answer, FakeServer
from waiting import PATIENCE

CASES = 12
each = pytest.mark.parametrize("provider", ["openai", "anthropic"])


def script(messages: list[Any], body: Any) -> Answer:
    text = json.dumps(messages)
    if "You examine an answer" in text:
        return Answer('{"reason": "So it is.", "result": "yes"}', tokens=(500, 50))
    return Answer(f"answer {text.count('Q')}", tokens=(100, 40))


def command(cli: Any, server: FakeServer, provider: str) -> list[str]:
    rows = [f"  - {{id: c{n}, ask: 'Q{n}?', criteria: [{{judged: Fine.}}]}}" for n in range(CASES)]
    cli.write("suite.yaml", "name: jobs\ncases:\n" + "\n".join(rows) + "\n")
    models = ("--model", f"{provider}:c@{server.url}", "--judge", f"{provider}:j@{server.url}")
    return ["run", "suite.yaml", *models, "--batch", "--price", "c=10/20", "--price", "j=10/20"]


def killed(cli: Any, arguments: list[str], moment: Callable[[], bool], how: int) -> int:
    """Start a command, and end it at a moment."""
    process = subprocess.Popen(
        cli.command(*arguments), cwd=cli.folder, env=cli.env,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until = time.monotonic() + 100
    while not moment() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    if process.poll() is None:
        os.kill(process.pid, how)
    return process.wait(timeout=PATIENCE)


def asked(server: FakeServer) -> Counter[str]:
    """Count how often each question was answered, alone or in a job."""
    return Counter(json.dumps(call.body, sort_keys=True) for call in server.finished())


@pytest.mark.slow
@pytest.mark.sampled(1, ci=3)
@each
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill", "ctrl-c"])
def test_killed_while_jobs_are_under_way(cli: Any, provider: str, how: int) -> None:
    with FakeServer(script, batch_seconds=4.0) as server:
        arguments = command(cli, server, provider)
        killed(cli, arguments, lambda: len(server.batches.jobs) == 1, how)
        time.sleep(0.3)
        killed(cli, arguments, lambda: len(server.batches.jobs) == 2, how)
        done = cli.json(*arguments)
        jobs = [len(job.requests) for job in server.batches.jobs]
        planned = cli.json("plan", *arguments[1:])
    assert done["totals"]["rate"] == 1.0
    assert planned["usage"]["calls"] == 0
    assert sum(jobs) <= 2 * CASES
    assert set(asked(server).values()) == {1}
    assert len(asked(server)) == 2 * CASES
    alone = len(server.finished()) - sum(jobs)
    full = (100 * 10 + 40 * 20) / 1e6 * CASES + (500 * 10 + 50 * 20) / 1e6 * CASES
    assert full / 2 < done["usage"]["cost"] < full
    assert 2 <= alone <= 6


@pytest.mark.slow
@pytest.mark.scaled
@each
def test_killed_at_any_moment(cli: Any, provider: str) -> None:
    """The server answers late, so that kills come before, in and after every step."""
    with FakeServer(script, batch_seconds=0.5, latency=0.15) as server:
        arguments = command(cli, server, provider)
        for step in range(LEVEL.of(quick=3, ci=4, full=40)):
            began = time.monotonic()
            pause = 1.2 + 0.37 * step
            ended = killed(cli, arguments, lambda b=began, p=pause: time.monotonic() - b > p,
                           signal.SIGKILL)  # fmt: skip
            if ended == 0:
                break
        done = cli.json(*arguments)
    assert done["totals"]["rate"] == 1.0
    in_jobs = Counter(
        json.dumps(body, sort_keys=True) for job in server.batches.jobs
        for body in job.requests.values()
    )  # fmt: skip
    assert set(in_jobs.values()) <= {1}
