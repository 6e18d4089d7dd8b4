"""Snippets that check what an agent did, in the real sandbox, on rounds of the real TaskWeaver."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor import ScoreContext, Spec
from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scoring import run_scorer_async
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import digest_bytes
from proctor.core.program import Program, Ran
from proctor.core.score import Score
from proctor.core.suite import Case, CaseFile, Message
from proctor.errors import PluginError, SandboxError
from proctor.registry import build
from proctor.sandboxes.bubblewrap import Bubblewrap
from room import ROOM, Cold

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "taskweaver" / "rounds.json"
REAL = json.loads(GOLDEN.read_text(encoding="utf-8"))
NEW = REAL["new_HEAD_d44ddef2"]["rounds"]


def attempt_of(rounds: Sequence[Any], **notes: Any) -> Attempt:
    said: list[Message] = []
    for number, one in enumerate(rounds):
        if number:
            said.append(Message(role="user", content=one["user_query"]))
        said.append(Message(role="assistant", content=one["post_list"][-1]["message"]))
    return Attempt(case_id="c", messages=tuple(said), notes={"rounds": list(rounds), **notes})


def scores(
    snippets: Sequence[Mapping[str, Any]],
    *,
    rounds: Sequence[Any] = NEW[:1],
    contents: Mapping[str, bytes] | None = None,
    sandbox: Sandbox | None = None,
    files: Sequence[CaseFile] = (),
    left: Mapping[str, str] | None = None,
) -> list[Score]:
    """Run snippets one after the other in one sandbox."""
    question = Message(role="user", content=rounds[0]["user_query"])
    case = Case(id="c", messages=(question,), criteria=(), files=tuple(files))
    notes = {} if left is None else {"files": [{}, left]}
    ctx = ScoreContext(
        case=case, attempt=attempt_of(rounds, **notes), read_file=(contents or {}).__getitem__
    )

    async def run() -> list[Score]:
        place = sandbox or ROOM.sandbox(Bubblewrap)
        made = []
        for params in snippets:
            scorer = build("scorer", Spec(name="eval_code", params=params))
            made.append(await run_scorer_async(scorer, replace(ctx, sandbox=place)))
        return made

    return ROOM.run(run())


RUN: list[tuple[dict[str, Any], float, str]] = [
    ({"code": "return agent_response['state'] == 'finished'"}, 1, "the code returned True"),
    ({"code": "return 'Hello' in agent_response['message']", "post_index": -1}, 1, "True"),
    ({"code": "return agent_response['send_from'] == 'User'", "post_index": 0}, 1, "True"),
    ({"code": "return len(agent_response['post_list']) == 3"}, 0, "the code returned False"),
    ({"code": "assert len(rounds) == 1 and rounds[-1] == agent_response"}, 1, "ran to its end"),
    ({"code": "assert chat_history[-1].content.startswith('Hello')"}, 1, "ran to its end"),
    ({"code": "assert chat_history[-1].type == 'human' and chat_history[0].type == 'ai'"}, 1, ""),
    ({"code": "assert chat_history[0]['content'] == 'say hello'"}, 1, ""),
    ({"code": "assert isinstance(chat_history[-1], HumanMessage)\n"
              "assert not isinstance(chat_history[-1], AIMessage)"}, 1, ""),
    ({"code": "x = 1\nassert x == 2, f'x is {x}'"}, 0, "AssertionError: x is 1 (line 2)"),
    ({"code": "False"}, 1, "ran to its end"),
    ({"code": "return 5"}, 0, "the code returned 5, not True or False"),
    ({"code": "return 'yes'"}, 0, "the code returned 'yes', not True or False"),
    ({"code": "if False:\n    return True"}, 0, "the code returned None, not True or False"),
    ({"code": "return 1 / 0"}, 0, "ZeroDivisionError: division by zero (line 1)"),
    ({"code": "import sys\nsys.exit(0)"}, 0, "the code left by SystemExit: 0"),
    ({"code": "return True", "post_index": 7}, 0, "has 2 posts: there is no post 7"),
    ({"code": "return True", "post_index": -3}, 0, "has 2 posts: there is no post -3"),
    ({"code": "text = '''a\n  b'''\nreturn text == 'a\\n  b'"}, 1, "True"),
    ({"code": "  text = 'x'\n  return text == 'x'"}, 1, "True"),
    ({"code": "def f():\n    return 5\nassert f() == 5"}, 1, "ran to its end"),
    ({"code": "agent_response.clear()\nreturn bool(rounds[0])"}, 1, "True"),
    ({"code": "return json.loads('[1]') == [1] and os.sep == '/'"}, 1, "True"),
    ({"code": "if __name__ == '__main__':\n    raise ValueError('ran')"}, 0, "ValueError: ran"),
]  # fmt: skip


@pytest.mark.sandbox
@pytest.mark.parametrize("kind", [Bubblewrap, Cold])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_what_becomes_of_a_snippet(kind: type[Sandbox]) -> None:
    rows = RUN if kind is Bubblewrap else RUN[:12:5]
    made = scores([params for params, _, _ in rows], sandbox=ROOM.sandbox(kind))
    for (params, points, reason), score in zip(rows, made, strict=True):
        assert (score.status, score.points, score.out_of) == ("scored", points, 1), params
        assert reason in score.reason, (params, score.reason)


@pytest.mark.sandbox
def test_every_snippet_gets_a_fresh_copy() -> None:
    first = {"code": "agent_response['post_list'].clear()\nreturn True"}
    second = {"code": "return len(agent_response['post_list']) == 2"}
    assert [score.points for score in scores([first, second])] == [1, 1]


@pytest.mark.sandbox
@pytest.mark.parametrize("version", [name for name in REAL if name != "about"])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_real_rounds_of_taskweaver(version: str) -> None:
    rounds = REAL[version]["rounds"]
    for number, one in enumerate(rounds):
        posts = one["post_list"]
        last = posts[-1]["message"]
        checks: list[dict[str, Any]] = [
            {"code": f"return len(agent_response['post_list']) == {len(posts)}"},
            {"code": f"return agent_response['message'] == {last!r}", "post_index": -1},
            {"code": f"assert agent_response['id'] == {posts[0]['id']!r}", "post_index": 0},
            {"code": f"assert len(rounds) == {number + 1}"},
            {"code": "return any(a['type'] for p in agent_response['post_list'] for a in"
                     " p['attachment_list'])"},
        ]  # fmt: skip
        made = scores(checks, rounds=rounds[: number + 1])
        has = any(post["attachment_list"] for post in posts)
        assert [score.points for score in made] == [1, 1, 1, 1, float(has)], version


@pytest.mark.sandbox
def test_files_that_the_agent_left_are_there_and_read_only() -> None:
    contents = {"k1": b"a,b\n1,2\n", "k2": b"\x00\xff"}
    left = {"out/result.csv": "k1", "raw.bin": "k2", "huge.db": ""}
    checks = [
        {"code": "return open('out/result.csv').read().splitlines()[1] == '1,2'"},
        {"code": "assert open('raw.bin', 'rb').read() == bytes([0, 255])"},
        {"code": "open('out/result.csv', 'w').write('x')"},
        {"code": "open('new.txt', 'w').write('x')"},
        {"code": "assert os.path.exists('huge.db')"},
        {"code": "import json as real\nassert real.loads('1') == 1"},
    ]
    made = scores(checks, contents=contents, left=left)
    assert [score.points for score in made] == [1, 1, 0, 0, 0, 1]
    assert "PermissionError" in made[2].reason
    assert "PermissionError" in made[3].reason
    assert "not kept, and so not there: huge.db" in made[4].reason


@pytest.mark.sandbox
def test_a_file_of_the_agent_cannot_stand_in_for_the_library() -> None:
    left = {"decimal.py": "k", "made.py": "k"}
    checks = [
        {"code": "import decimal\nreturn hasattr(decimal, 'Decimal')"},
        {"code": "import made\nreturn made.HERE"},
    ]
    made = scores(checks, contents={"k": b"HERE = True\n"}, left=left)
    assert [score.points for score in made] == [1, 1]


@pytest.mark.sandbox
def test_files_of_the_case_stand_in_where_there_was_no_folder(tmp_path: Path) -> None:
    place = tmp_path / "data.txt"
    place.write_text("seven")
    file = CaseFile(name="in/data.txt", digest=digest_bytes(b"seven"), path=str(place))
    there = {"code": "return open('in/data.txt').read() == 'seven'"}
    gone = {"code": "assert os.listdir() == []"}
    assert scores([there], files=[file])[0].points == 1
    assert scores([gone], files=[file], left={})[0].points == 1, "it was deleted"
    assert scores([there], files=[file], left={})[0].points == 0
    place.write_text("eight")
    changed = scores([there], files=[file])[0]
    assert (changed.points, "has changed since" in changed.reason) == (None, True)


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_model_has_rounds_too() -> None:
    scorer = build("scorer", Spec(name="eval_code", params={
        "code": "assert agent_response['post_list'][-1]['message'] == 'four'\n"
                "assert rounds[0]['user_query'] == 'two and two?'"}))  # fmt: skip

    async def run() -> Score:
        sandbox = Bubblewrap()
        try:
            ctx = ScoreContext.of("four", prompt="two and two?")
            return await run_scorer_async(scorer, replace(ctx, sandbox=sandbox))
        finally:
            await sandbox.close()

    made = asyncio.run(run())
    assert made.points == 1, made.reason


class Broken(Sandbox):
    """A sandbox that breaks in one of several ways."""

    tier = "broken"

    def __init__(self, outcome: Ran | Exception) -> None:
        self.outcome = outcome

    async def run(self, program: Program) -> Ran:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.mark.parametrize(
    "outcome",
    [
        SandboxError("there is no room"),
        Ran(code=127, step=0, finished=False, not_started="python3: No such file or directory"),
        Ran(code=None, step=0, finished=False, not_started="the sandbox did not start"),
    ],
)
def test_a_broken_sandbox_is_nobodys_miss(outcome: Ran | Exception) -> None:
    score = scores([{"code": "return True"}], sandbox=Broken(outcome))[0]
    assert (score.status, score.points, score.out_of) == ("failed", None, 1)


@pytest.mark.parametrize(
    "outcome",
    [
        Ran(code=127, step=0, finished=False, stderr="python3: No such file or directory"),
        Ran(code=96, step=0, finished=False, stderr="the sandbox failed"),
        Ran(code=None, step=0, finished=False, stderr="lost with its supervisor"),
        Ran(code=0, step=0, finished=True),
    ],
)
def test_what_a_program_says_does_not_make_it_one_that_was_not_run(outcome: Ran) -> None:
    score = scores([{"code": "return True"}], sandbox=Broken(outcome))[0]
    assert (score.status, score.points, score.out_of) == ("scored", 0.0, 1)


def test_no_sandbox_is_a_failed_score() -> None:
    scorer = build("scorer", Spec(name="eval_code", params={"code": "return True"}))
    score = asyncio.run(run_scorer_async(scorer, ScoreContext.of("x")))
    assert (score.status, score.out_of) == ("failed", 1)
    assert "no sandbox" in score.reason


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"code": "return ("}, "the code is not Python: '(' was never closed (line 1)"),
        ({"code": "x = 1\nif x\n  y"}, "the code is not Python: expected ':' (line 2)"),
        ({"code": ""}, "the code is empty"),
        ({"code": "# nothing"}, "the code is empty"),
        ({"code": "from os import *\nreturn True"}, "import * only allowed at module level"),
        ({"code": "break"}, "'break' outside loop"),
        ({"code": "a\0b"}, "the code is not Python"),
        ({"code": "return True", "timeout": 0}, "the timeout is from 0 to 3600 seconds, not 0"),
    ],
)
def test_what_is_reported_at_load(params: dict[str, Any], problem: str) -> None:
    found = list(build("scorer", Spec(name="eval_code", params=params)).problems())
    assert len(found) == 1
    assert problem in found[0]


@pytest.mark.parametrize("wrong", [True, "1", 1.5])
@pytest.mark.parametrize("name", ["eval_code", "scoring_point"])
def test_a_post_index_is_a_whole_number(name: str, wrong: Any) -> None:
    main = {"eval_code": "code", "scoring_point": "statement"}[name]
    with pytest.raises(PluginError, match="post_index"):
        build("scorer", Spec(name=name, params={main: "x", "post_index": wrong}))
