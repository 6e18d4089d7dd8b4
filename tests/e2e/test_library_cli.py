"""The library's loans desk as a user runs it: all tasks, twice, killed, with planted faults, on pages."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.library_desk import CASES, FOLDER, desk, judge, member, text_of

from proctor.testing import Answer, FakeServer
from waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
UNDER_WAY = 64 + 64 // 4
"""Attempts under way: some wait in line for the places of those whose replies are being stored."""


def options(server: FakeServer, *more: str) -> tuple[str, ...]:
    return (
        "run", "library/suite.yaml", "--model", f"openai-chat:desk@{server.url}",
        "--simulator", f"openai-chat:member@{server.url_of('user')}",
        "--judge", f"openai-chat:judge@{server.url_of('judge')}", "--name", "r", *more,
    )  # fmt: skip


def serve(script: Any = None, user: Any = member, **how: Any) -> FakeServer:
    return FakeServer(script or desk(), roles={"user": user, "judge": judge}, **how)


@pytest.fixture
def folder(cli: Any) -> Path:
    shutil.copytree(FOLDER, Path(cli.folder) / "library")
    return Path(cli.folder)


def test_a_careful_desk_passes_all_tasks_and_a_hasty_one_what_it_does_right(
    cli: Any, folder: Path
) -> None:
    with serve() as server:
        done = cli.json(*options(server), "--cases")
        assert done["totals"]["rate"] == 1.0
        assert done["measures"]["pass^1"]["value"] == 1.0
        assert len(done["cases"]) == len(CASES) == 20
        asked = len(server.finished())
        assert cli.json(*options(server))["totals"]["rate"] == 1.0
        assert len(server.finished()) == asked
    with serve(desk(hasty=True)) as server:
        hasty = cli.json(*options(server, "--name", "hasty"), "--cases")
    values = {case["id"]: case["value"] for case in hasty["cases"] if case["value"] < 1}
    assert values == pytest.approx(
        {"renew-held": 0.5, "hold-swap": 0.0, "return-two": 0.0, "fine-not-waived": 2 / 3}
    )
    shown = cli.json("show", "hasty", "return-two")["attempts"][0]
    assert [a["name"] for a in shown["actions"] if a["by"] == "user"] == [
        "drop_into_return_box"
    ] * 2
    assert {"path": ["books", "B-202", "copies"], "before": 0, "after": 1} in shown["state_changes"]
    text = cli("show", "hasty", "return-two").stdout
    assert "the user calls: drop_into_return_box" in text
    assert "state: books.B-202.copies: 0 → 1" in text


def test_a_killed_run_goes_on_and_pays_nothing_twice(cli: Any, folder: Path) -> None:
    with serve(latency=0.02) as server:
        command = cli.command(*options(server, "--attempts", "2"), "--json")
        process = subprocess.Popen(
            command, cwd=folder, env=cli.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until(lambda: len(server.finished()) >= 60)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        before = len(server.finished())
        done = json.loads(
            subprocess.run(command, cwd=folder, env=cli.env, capture_output=True, check=True).stdout
        )
        again = len(server.finished()) - before
    with serve() as fresh:
        whole = cli.json(*options(fresh, "--attempts", "2", "--name", "whole"))
        needed = len(fresh.finished())
    assert done["totals"] == whole["totals"]
    assert done["totals"]["rate"] == 1.0
    # Replies that were on their way when it was killed are asked for again, and no others.
    assert needed <= before + again <= needed + UNDER_WAY


def faulty(messages: list[Any], body: Any) -> Any:
    """Play members of whom some have planted faults."""
    task, sent = text_of(messages[0]), list(messages)
    refused = "cannot be sent" in text_of(messages[-1])
    for place in [i for i, m in enumerate(messages) if "cannot be sent" in text_of(m)][::-1]:
        del sent[place - 1 : place + 1]
    spoken = [m for m in sent if m["role"] == "assistant" and not m.get("tool_calls")]
    if "The Tin Lantern a little longer" in task and not spoken:
        return Answer("Please renew The Tin Lantern until 2026-04-06.")
    if "late book, and only that" in task and not spoken and not refused:
        return Answer("I am M-1130 and pay for the late book.")
    if "reminders sent" in task and len(spoken) == 1:
        return Answer("My number is M-9999.")
    if "lost card waived" in task:
        return Answer("TASK_FINISHED")
    return member(sent, body)


def test_planted_faults_of_the_simulator_are_flagged_and_score_nobody_down(
    cli: Any, folder: Path
) -> None:
    where = (
        "--where",
        "id in ('renew-one', 'fine-part', 'address', 'fine-not-waived', 'hold-one')",
    )
    with serve(user=faulty) as server:
        done = cli.json(*options(server, *where), "--cases", code=3)
        flags = {}
        for case in done["cases"]:
            (attempt,) = cli.json("show", "r", case["id"])["attempts"]
            kinds = [flag["kind"] for flag in attempt.get("simulator_flags", [])]
            flags[case["id"]] = (case["value"], attempt.get("cause"), kinds)
    assert flags == {
        "renew-one": (None, "simulator", ["AnswerGivenAway"] * 2),
        "fine-part": (1.0, None, ["UnaskedFact"]),
        "address": (None, "simulator", ["InventedDetail"] * 2),
        "fine-not-waived": (None, "simulator", ["EndedEarly"] * 2),
        "hold-one": (1.0, None, []),
    }
    assert done["totals"]["unscored"] == 3
    # With a member who keeps to the task, the next run mends exactly those.
    with serve() as server:
        mended = cli.json(*options(server, *where), "--cases")
    assert mended["totals"]["rate"] == 1.0
