"""A reply of which nothing could be made is never served again; one that was used, always is."""

import json
import os
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from proctor.testing import Answer
from waiting import PATIENCE, until

Serve = Callable[..., Any]
YES = '{"reason": "because yes", "result": "yes"}'
MUTE = "I would rather not say."
ASKING = """\
name: asking
dialogue: {clarify: {max_turns: 3, tries: 2}}
criteria: {noted: correct}
cases:
  - id: sum
    ask: What is a + b?
    references: "7"
    hidden: {question: "What is 3 + 4?", info: The values., points: [the value of a]}
"""
TASK = """\
name: task
dialogue: {virtual_user: {max_rounds: 2}}
cases:
  - {id: t, ask: Begin., hidden: {task: Get a greeting.}, criteria: hello}
"""
TURNS = """\
name: turns
cases:
  - id: t
    ask: Begin.
    dialogue: {scripted: {then: ["And then?"], stop_below: 0.5}}
    criteria:
      - {scoring_point: The agent says hello., turn: 1}
      - {scoring_point: The agent goes on., turn: 2}
"""
CITY = """\
name: city
cases:
  - {id: paris, ask: Say Paris., criteria: Paris}
"""
FILTERING = """\
from dataclasses import dataclass
from proctor.core.attempt import AttemptStatus
from proctor.contracts.dialogue import Dialogue
from proctor.errors import ModelError


@dataclass(frozen=True)
class Filtering(Dialogue):
    kind: str = "raise"

    async def hold(self, ctx):
        from proctor.dialogues.conversation import Conversation

        talk = Conversation(ctx)
        text = await talk.ask(ctx.case.messages)
        if talk.finish in ("content_filter", "length") or text is None:
            if self.kind == "raise":
                raise ValueError("filtered")
            if self.kind == "model":
                raise ModelError("the reply was filtered")
            return talk.attempt(AttemptStatus.ERROR, {}, "filtered")
        return talk.attempt(AttemptStatus.ANSWERED, {})
"""
ASKS_ITSELF = """\
from dataclasses import dataclass

from pydantic import BaseModel
from proctor import Scorer


class Words(BaseModel):
    text: str


@dataclass(frozen=True)
class Marked(Scorer):
    @property
    def needs_judge(self):
        return True

    async def score(self, ctx):
        ruling = await ctx.judge.ask(ctx.transcript, Words)
        return float(ruling.verdict.text)
"""


class Mended:
    """A script that says one thing until it is mended."""

    def __init__(self, before: Any, after: Any) -> None:
        self.before, self.after, self.mended = before, after, False

    def __call__(self, messages: list[Any], body: Any) -> Any:
        said = self.after if self.mended else self.before
        return said(messages, body) if callable(said) else said


def totals(cli: Any, *args: str) -> Any:
    """Run, whatever the exit code is, and return the totals."""
    done = cli.here(*args, "--json")
    assert done.stdout, done.stderr
    return json.loads(done.stdout)["totals"]


def statuses(cli: Any) -> list[str]:
    with closing(sqlite3.connect(cli.folder / ".proctor" / "proctor.db")) as found:
        rows = found.execute("select status from calls where model not like 'sandbox%'")
        return sorted(status for (status,) in rows)


def forget_marks(cli: Any) -> None:
    """Make the store one of a version that did not write down what came of a call."""
    with closing(sqlite3.connect(cli.folder / ".proctor" / "proctor.db")) as found:
        found.execute("update calls set status = 'ok'")
        found.commit()


# judges


@pytest.mark.parametrize("how", ["same", "again", "delete", "old store", "old store, deleted"])
@pytest.mark.sampled(3)
def test_a_mended_judge_is_asked_again(manners: Any, serve: Serve, how: str) -> None:
    judge = Mended(MUTE, YES)
    with serve("Sir.", roles={"judge": judge}) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--judge", server.at("judge")]
        assert totals(manners, *args)["unscored"] == 3
        assert statuses(manners) == ["ok"] * 3 + ["unusable"] * 9
        if "old store" in how:
            forget_marks(manners)
        if "delete" in how:
            manners("delete", "@last", "--yes")
        if how == "again":
            args += ["--again", "two"]
        judge.mended = True
        asked = len(server.asked("judge"))
        found = totals(manners, *args)
        assert (found["unscored"], found["score"]) == (0, 3.0)
        assert len(server.asked("judge")) == asked + 3
        assert len(server.asked()) == (6 if how == "again" else 3)
        assert totals(manners, *args)["score"] == 3.0
        assert len(server.asked("judge")) == asked + 3, "what is usable is not bought again"


@pytest.mark.slow
def test_a_judge_that_stays_unreadable_is_asked_again_by_every_run_and_no_more(
    manners: Any, serve: Serve
) -> None:
    with serve("Sir.", roles={"judge": MUTE}) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--judge", server.at("judge")]
        for runs in (1, 2, 3):
            assert totals(manners, *args)["unscored"] == 3
            assert len(server.asked("judge")) == 9 * runs
        forget_marks(manners)
        assert totals(manners, *args)["unscored"] == 3
        assert len(server.asked("judge")) == 9 * 4
    assert len(server.asked()) == 3


def test_a_verdict_that_came_at_the_second_try_is_kept_with_the_first(
    manners: Any, serve: Serve
) -> None:
    def judge(messages: list[Any], body: Any) -> str:
        return YES if len(messages) > 1 else MUTE

    with serve("Sir.", roles={"judge": judge}) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--judge", server.at("judge")]
        assert totals(manners, *args)["score"] == 3.0
        assert statuses(manners) == ["ok"] * 9
        manners("delete", "@last", "--yes")
        assert totals(manners, *args)["score"] == 3.0
    assert len(server.asked("judge")) == 6


def test_of_a_panel_only_the_judge_that_failed_is_asked_again(manners: Any, serve: Serve) -> None:
    judge = Mended(MUTE, YES)
    with serve("Sir.", roles={"one": YES, "two": judge}) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--judge", server.at("one"),
                "--judge", server.at("two")]  # fmt: skip
        assert totals(manners, *args)["unscored"] == 0, "one of two judges has ruled"
        judge.mended = True
        manners("delete", "@last", "--yes")
        assert totals(manners, *args)["unscored"] == 0
        assert len(server.asked("one")) == 3
        assert len(server.asked("two")) == 9 + 3


def test_a_scorer_of_ones_own_that_cannot_use_a_verdict_has_it_asked_again(
    cli: Any, serve: Serve
) -> None:
    cli.write("asks_itself.py", ASKS_ITSELF)
    cli.write(
        "suite.yaml", "name: s\ncases:\n- {id: a, ask: Hi, criteria: {'asks_itself:Marked': {}}}\n"
    )
    judge = Mended('{"text": "good"}', '{"text": "1"}')
    with serve("Sir.", roles={"judge": judge}) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--judge", server.at("judge"),
                "--allow-import"]  # fmt: skip
        assert totals(cli, *args)["unscored"] == 1
        judge.mended = True
        found = totals(cli, *args)
        assert (found["unscored"], found["score"]) == (0, 1.0)
    assert len(server.asked("judge")) == 2


def test_a_judge_that_broke_off_costs_nothing_that_is_usable(manners: Any, serve: Serve) -> None:
    """A panel of which one is not there: the other's verdict waits for it."""
    gone = Mended({"error": {"message": "no such key", "code": 401}}, YES)
    with serve("Sir.", roles={"one": YES, "two": gone}) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--judge", server.at("one"),
                "--judge", server.at("two")]  # fmt: skip
        manners.here(*args)
        gone.mended = True
        assert totals(manners, *args)["unscored"] == 0
        assert len(server.asked("one")) == 3


@pytest.mark.slow
def test_a_kill_between_reply_and_verdict_reuses_the_reply(manners: Any, serve: Serve) -> None:
    """The judge's first reply is unreadable and stored; the second never comes: the run is killed."""

    def judge(messages: list[Any], body: Any) -> Any:
        return YES if len(messages) > 1 else MUTE

    waits, killed = Mended(True, False), threading.Event()

    def slow(messages: list[Any], body: Any) -> Any:
        if len(messages) > 1 and waits(messages, body):
            killed.wait(PATIENCE)
        return judge(messages, body)

    with serve("Sir.", roles={"judge": slow}) as server:
        args = ["run", "suite.yaml", "--limit", "1", "--model", server.at(),
                "--judge", server.at("judge")]  # fmt: skip
        command = manners.command(*args)
        with subprocess.Popen(
            command, cwd=manners.folder, env=manners.env, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            until(lambda: len(server.asked("judge")) == 2)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        waits.mended = True
        killed.set()
        first = [body for body in server.asked("judge") if len(body["messages"]) == 1]
        assert totals(manners, *args)["score"] == 1.0
        again = [body for body in server.asked("judge") if len(body["messages"]) == 1]
    assert len(first) == len(again) == 1, "the stored first reply was shown to the judge again"


def test_a_cassette_holds_what_the_numbers_rest_on(manners: Any, serve: Serve) -> None:
    def judge(messages: list[Any], body: Any) -> str:
        return YES if "Say one" in messages[0]["content"] else MUTE

    script = Mended(judge, YES)
    with serve("Sir.", roles={"judge": script}) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--judge", server.at("judge")]
        assert totals(manners, *args)["unscored"] == 2
        script.mended = True
        assert totals(manners, *args, "--record", "tape.jsonl")["unscored"] == 0
        assert len(server.asked("judge")) == 7 + 2
        assert len(server.asked()) == 3
        replay = ["run", "suite.yaml", "--model", "replay:tape.jsonl#m", "--judge",
                  "replay:tape.jsonl#judge", "--store", "other.db"]  # fmt: skip
        assert totals(manners, *replay)["score"] == 3.0


# dialogues


def arbiter(messages: list[Any], body: Any) -> str:
    final = "seven" in messages[-1]["content"]
    ruling = {"is_final_answer": final, "is_correct": final, "missing_required_points": [],
              "all_required_points_resolved": final}  # fmt: skip
    return json.dumps(ruling)


def candidate(messages: list[Any], body: Any) -> str:
    return "It is seven" if len(messages) > 1 else "What is a?"


@contextmanager
def asking(cli: Any, serve: Serve, judge: Any, user: Any) -> Iterator[tuple[Any, list[str]]]:
    cli.write("asking.yaml", ASKING)
    with serve(candidate, roles={"judge": judge, "user": user}) as server:
        yield server, ["run", "asking.yaml", "--model", server.at(), "--judge", server.at("judge"),
                       "--simulator", server.at("user")]  # fmt: skip


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("empty", [None, "", "  ", Answer(None, finish="content_filter")])
@pytest.mark.sampled(4)
def test_a_mended_simulated_user_is_asked_again(
    cli: Any, serve: Serve, empty: Any, old: bool
) -> None:
    user = Mended(empty, "a is 3")
    with asking(cli, serve, arbiter, user) as (server, args):
        assert totals(cli, *args)["unscored"] == 1
        assert len(server.asked("user")) == 1
        if old:
            forget_marks(cli)
        before = len(server.asked()), len(server.asked("judge"))
        user.mended = True
        found = totals(cli, *args)
        assert found["unscored"] == 0, cli("show", "@last", "sum", "--full").stdout
        assert len(server.asked("user")) == 2
        assert (len(server.asked()), len(server.asked("judge"))) == (before[0] + 1, before[1] + 1)


def test_a_mended_arbiter_is_asked_again_and_nothing_before_it(cli: Any, serve: Serve) -> None:
    def mute_at_the_end(messages: list[Any], body: Any) -> str:
        return MUTE if "seven" in json.dumps(messages) else arbiter(messages, body)

    judge = Mended(mute_at_the_end, arbiter)
    with asking(cli, serve, judge, "a is 3") as (server, args):
        assert totals(cli, *args)["unscored"] == 1
        counts = [len(server.asked(role)) for role in ("", "user", "judge")]
        judge.mended = True
        assert totals(cli, *args)["unscored"] == 0
        after = [len(server.asked(role)) for role in ("", "user", "judge")]
    assert after == [counts[0], counts[1], counts[2] + 1]


def test_judges_that_are_divided_have_been_read_and_are_not_asked_again(
    cli: Any, serve: Serve
) -> None:
    def against(messages: list[Any], body: Any) -> str:
        ruling = json.loads(arbiter(messages, body))
        return json.dumps({**ruling, "is_correct": False if ruling["is_correct"] else None})

    cli.write("asking.yaml", ASKING)
    with serve(candidate, roles={"for": arbiter, "against": against, "user": "a is 3"}) as server:
        args = ["run", "asking.yaml", "--model", server.at(), "--judge", server.at("for"),
                "--judge", server.at("against"), "--simulator", server.at("user")]  # fmt: skip
        totals(cli, *args)
        assert "divided" in cli("show", "@last", "sum").stdout
        count = len(server.calls)
        totals(cli, *args)
    assert len(server.calls) == count


@pytest.mark.parametrize("old", [False, True])
def test_a_mended_virtual_user_is_asked_again(cli: Any, serve: Serve, old: bool) -> None:
    cli.write("task.yaml", TASK)
    user = Mended(None, "Say hello. TASK_FINISHED")
    with serve("hello", roles={"user": user}) as server:
        args = ["run", "task.yaml", "--model", server.at(), "--simulator", server.at("user")]
        assert totals(cli, *args)["unscored"] == 1
        assert len(server.asked("user")) == 2
        if old:
            forget_marks(cli)
        user.mended = True
        assert totals(cli, *args)["unscored"] == 0
        assert len(server.asked("user")) == 3
        assert len(server.asked()) == 1, "the candidate's first words were usable"


@pytest.mark.parametrize("old", [False, True])
def test_a_turn_that_decides_whether_to_go_on_is_judged_again(
    cli: Any, serve: Serve, old: bool
) -> None:
    cli.write("turns.yaml", TURNS)
    judge = Mended(MUTE, '{"reason": "", "is_hit": "yes"}')
    with serve("hello", roles={"judge": judge}) as server:
        args = ["run", "turns.yaml", "--model", server.at(), "--judge", server.at("judge")]
        assert totals(cli, *args)["unscored"] == 1
        assert (len(server.asked()), len(server.asked("judge"))) == (1, 3)
        if old:
            forget_marks(cli)
        judge.mended = True
        found = totals(cli, *args)
        assert (found["unscored"], found["score"]) == (0, 1.0)
        assert (len(server.asked()), len(server.asked("judge"))) == (2, 3 + 2)


# candidates


@pytest.mark.parametrize("kind", ["raise", "model", "attempt"])
@pytest.mark.parametrize(
    "reply", [None, Answer(None, finish="content_filter"), Answer("Par", finish="length")]
)
@pytest.mark.sampled(5)
def test_a_reply_that_became_an_error_is_asked_for_again(
    cli: Any, serve: Serve, kind: str, reply: Any
) -> None:
    cli.write("filtering.py", FILTERING)
    cli.write(
        "suite.yaml",
        CITY.replace("cases:", f"dialogue: {{'filtering:Filtering': {{kind: {kind}}}}}\ncases:"),
    )
    script = Mended(reply, "Paris")
    with serve(script) as server:
        args = ["run", "suite.yaml", "--model", server.at(), "--allow-import"]
        assert totals(cli, *args)["errors"] == 1
        script.mended = True
        found = totals(cli, *args)
        assert (found["errors"], found["score"]) == (0, 1.0)
        totals(cli, *args)
    assert len(server.calls) == 2


def test_no_answer_counts_and_is_not_served_to_a_run_that_begins_anew(
    cli: Any, serve: Serve
) -> None:
    cli.write("suite.yaml", CITY)
    script = Mended(None, "Paris")
    with serve(script) as server:
        args = ["run", "suite.yaml", "--model", server.at()]
        assert totals(cli, *args)["unanswered"] == 1
        script.mended = True
        assert totals(cli, *args)["unanswered"] == 1
        assert len(server.calls) == 1, "no answer is a result"
        cli("delete", "@last", "--yes")
        found = totals(cli, *args)
    assert (found["unanswered"], found["score"]) == (0, 1.0)
    assert len(server.calls) == 2


# battles


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_a_battle_asks_a_mended_judge_again(cities: Any, serve: Serve, old: bool) -> None:
    judge = Mended(MUTE, '{"reason": "", "score_1": 5, "score_2": 5}')
    with serve("Paris", roles={"other": "Lyon", "judge": judge}) as server:
        for model in (server.at(), server.at("other")):
            totals(cities, "run", "suite.yaml", "--model", model)
        runs = ["battle", "cities-openai:m", "cities-openai:other"]
        args = [*runs, "--judge", server.at("judge"), "--json"]
        first = json.loads(cities.here(*args).stdout)
        assert first["pairs"][0]["invalid"] == 4
        asked = len(server.asked("judge"))
        if old:
            forget_marks(cities)
        judge.mended = True
        second = json.loads(cities.here(*args).stdout)
        assert (second["pairs"][0]["invalid"], second["pairs"][0]["tie"]) == (0, 4)
        assert len(server.asked("judge")) == asked + 8
        cities.here(*args)
        assert len(server.asked("judge")) == asked + 8
