"""Killed at random moments and started again: the same numbers, and no finished call twice.

A call is finished when its reply has been handed to the client's system whole, unless the client
died with the reply unread, which shows as a reset. What a client had just read when it was killed
it may not have stored yet: repeats are forgiven within GRACE before a kill, and nowhere else; and
none at all is forgiven where the reply had been used already, by a later call for the same case.

An attempt asks for one reply after the other, and has each stored before it asks for the next: at a
kill it has at most one call to repeat, whether that was on its way or its reply being stored.

`make full` kills more often than `.ci/run`, and --seed at other moments.
"""

import json
import random
import subprocess
import time
from typing import Any

import pytest

from level import LEVEL
from proctor.testing import FakeServer
from waiting import PATIENCE

KILLS = LEVEL.of(quick=1, ci=4, full=50)
GRACE = 10.0
"""Seconds: on a busy machine a client may have no turn for so long."""
CONCURRENCY = 16
BEGUN = CONCURRENCY + CONCURRENCY // 4
"""Attempts under way: some wait in line for the places of those whose replies are being stored."""


def kill_somewhere(
    process: subprocess.Popen[str], server: FakeServer, chance: random.Random, step: int
) -> float | None:
    """Kill a process at a random moment, and return when; none where it ended by itself."""
    early = chance.random() < 0.15
    until = time.monotonic() + (chance.uniform(0.0, 1.0) if early else PATIENCE)
    goal = len(server.calls) + chance.randrange(1, step)
    while process.poll() is None and time.monotonic() < until and len(server.calls) < goal:
        time.sleep(0.002)
    time.sleep(chance.uniform(0.0, 0.06))
    if process.poll() is not None:
        return None
    process.kill()
    process.wait()
    return time.monotonic()


@pytest.mark.parametrize("examination", [LEVEL.of(quick=40, ci=150, full=200)], indirect=True)
@pytest.mark.slow
def test_killed_at_random_moments(examination: Any) -> None:
    with examination.server() as calm:
        wanted = examination.numbers(examination.run(examination.args(calm, "calm.db")))
    assert wanted["totals"]["rate"] == pytest.approx(0.4)
    assert wanted["totals"]["errors"] == wanted["totals"]["unscored"] == 0
    assert len(calm.calls) == len(calm.counts()) == examination.calls_in_calm()
    chance = random.Random(LEVEL.seed)
    left, rounds = KILLS, 0
    while left > 0:
        rounds += 1
        left -= one_round(examination, wanted, chance, min(left, KILLS))
        assert rounds <= KILLS


def one_round(examination: Any, wanted: Any, chance: random.Random, most: int) -> int:
    """Kill a run up to so many times until it is through, and return how often."""
    store = f"killed-{chance.randrange(10**9)}.db"
    step = max(2, 2 * examination.calls_in_calm() // (most + 1))
    kills: list[float] = []
    with examination.server(latency=(0.0, 0.08)) as server:
        args = examination.args(server, store, "--concurrency", str(CONCURRENCY))
        while True:
            with examination.start(args) as process:
                if len(kills) < most:
                    moment = kill_somewhere(process, server, chance, step)
                    if moment is not None:
                        kills.append(moment)
                        continue
                out, err = process.communicate(timeout=3 * PATIENCE)
            assert process.returncode == 0, err[-3000:]
            break
    assert examination.numbers(json.loads(out)) == wanted
    assert len(server.counts()) == examination.calls_in_calm()
    assert examination.bought_again(server.calls) == []
    twice = server.finished_twice(kills=kills, grace=GRACE)
    assert [(one.path, one.number, two.number) for one, two in twice] == []
    repeats = len(server.calls) - len(server.counts())
    forgiven = len(server.finished_twice())
    print(f"{len(kills)} kills: {repeats} calls repeated, {forgiven} of them just handed over")
    assert repeats <= len(kills) * BEGUN
    return len(kills)
