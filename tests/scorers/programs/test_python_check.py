"""Functions of suites that judge an answer, in the real sandbox."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from level import LEVEL
from proctor import ScoreContext, Spec
from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scoring import run_scorer, run_scorer_async
from proctor.core.program import SECRET, Limits
from proctor.core.score import Score
from proctor.origins.infibench.dialect import InfiBench
from proctor.registry import build
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.sandboxes.plain_process import PlainProcess
from proctor.scorers.programs import python_check
from room import ROOM, Cold


def judged(
    source: str,
    answer: str = "abc",
    *,
    sandbox: type[Sandbox] = Bubblewrap,
    files: Mapping[str, str] | None = None,
    module: str = "cases.check_1-2",
) -> Score:
    params = {"module": module, "func": "f", "source": dedent(source), "files": dict(files or {})}
    return ROOM.run(_judged(Spec(name="python_check", params=params), [answer], sandbox))[0]


async def _judged(spec: Spec, answers: list[str], kind: type[Sandbox]) -> list[Score]:
    scorer = build("scorer", spec)
    contexts = [replace(ScoreContext.of(answer), sandbox=ROOM.sandbox(kind)) for answer in answers]
    return [await run_scorer_async(scorer, ctx) for ctx in contexts]


RETURNS = [
    ("return 2, 3, None", (2.0, 3.0, None)),
    ("return len(r), 10, r", (3.0, 10.0, "abc")),
    ("return [1.5, 2, {'a': [1, (2, 'x')]}]", (1.5, 2.0, {"a": [1, [2, "x"]]})),
    ("return -1, 2, {1: True, None: {3}}", (-1.0, 2.0, {"1": True, "None": "{3}"})),
    ("return True, 1, float('nan')", (1.0, 1.0, "nan")),
    ("import fractions; return fractions.Fraction(1, 2), 1, f", (0.5, 1.0, "<function f")),
    ("print('said'); return 0, 0, 2 ** 70", (0.0, 0.0, str(2**70))),
    ("return 1, 1, __name__", (1.0, 1.0, "cases.check_1-2")),
    ("return 1, 1, '\\ud800'", (1.0, 1.0, "\ud800")),
]


@pytest.mark.sandbox
@pytest.mark.parametrize(("body", "expected"), RETURNS)
def test_what_a_function_returns_is_the_score(body: str, expected: tuple[Any, ...]) -> None:
    score = judged(f"def f(r):\n    {body}\n")
    assert (score.status, score.points, score.out_of) == ("scored", *expected[:2]), score.reason
    if isinstance(expected[2], str) and expected[2].startswith("<"):
        assert score.detail.startswith(expected[2])
    else:
        assert score.detail == expected[2]
    assert score.reason == f"cases.check_1-2.f gave {expected[0]:g} of {expected[1]:g} points"


@pytest.mark.sandbox
@pytest.mark.parametrize("answer", ["", "ü 漢字 \U0001f600", "\0\r\n\x1b[31m", "\udc80", SECRET])
def test_the_answer_reaches_the_function_unchanged(answer: str) -> None:
    score = judged("def f(r): return 1, 1, [hex(ord(c)) for c in r]\n", answer)
    assert score.detail == [hex(ord(c)) for c in answer]


@pytest.mark.sandbox
def test_a_long_detail_is_cut() -> None:
    score = judged("def f(r): return 1, 2, ['x' * 100] * 5000\n")
    assert (score.points, score.out_of) == (1.0, 2.0)
    assert score.detail.endswith("[cut: too long]")
    assert len(score.detail) < 10_000


BROKEN_TEXT = "class B({base}):\n    def __{name}__(self): raise KeyError\ndef f(r): {end}\n"
FAILS = [
    ("def f(r):\n    raise ValueError('no')", "ValueError: no (line 2 of cases/check_1-2.py)"),
    ("import json\ndef f(r):\n    return json.loads('{')", "JSONDecodeError: Expecting"),
    ("import json\ndef f(r):\n    return json.loads('{')", "(line 3 of cases/check_1-2.py)"),
    ("def f(r:\n", "SyntaxError: '(' was never closed (line 1 of cases/check_1-2.py)"),
    ("import not_there\n", "ModuleNotFoundError: No module named 'not_there' (line 1 of"),
    ("def g(r): return 1, 1, 1", "AttributeError: module 'cases.check_1-2' has no attribute 'f'"),
    ("#", "has no attribute 'f'"),
    ("f = 3", "TypeError: 'int' object is not callable"),
    ("def f(): return 1, 1, 1", "TypeError: f() takes 0 positional arguments but 1 was given"),
    ("def f(r): return 1, 1", "returned (1, 1), not (points, full marks, detail)"),
    ("def f(r): pass", "returned None, not (points"),
    ("async def f(r): return 1, 1, 1", "returned <coroutine object f"),
    ("def f(r): return '1', 1, 1", "returned '1' as its points, not a finite number"),
    ("def f(r): return 1, None, 1", "returned None as its full marks, not a finite number"),
    ("def f(r): return float('nan'), 1, 1", "returned nan as its points, not a finite number"),
    ("def f(r): return 1, float('inf'), 1", "returned inf as its full marks, not a finite number"),
    ("def f(r): return 1, -1, 1", "less than nothing"),
    ("def f(r): return 10 ** 400, 1, 1", "OverflowError"),
    ("def f(r): return f(r)", "RecursionError"),
    (BROKEN_TEXT.format(base="Exception", name="str", end="raise B"), "failed: B (line 3"),
    (BROKEN_TEXT.format(base="object", name="repr", end="return 1, 1, B()"), "KeyError (line 2"),
]


@pytest.mark.sandbox
@pytest.mark.parametrize(("source", "reason"), FAILS)
@pytest.mark.sampled(3)
def test_what_goes_wrong_is_a_failed_score_with_its_line(source: str, reason: str) -> None:
    score = judged(source)
    assert (score.status, score.points, score.out_of) == ("failed", None, None)
    assert score.reason.startswith("the function cases.check_1-2.f failed: "), score.reason
    assert reason in score.reason


FAKE = json.dumps({"points": 9.0, "out_of": 9.0, "detail": "faked"})
PRINTS_A_REPORT = f"""
import os
def f(r):
    print({FAKE!r}, {SECRET!r}, sep="\\n", flush=True)
    os._exit(0)
"""
WRITES_EVERYWHERE = f"""
import os
def f(r):
    for fd in range(3, 256):
        try:
            os.write(fd, b"9" * 32 + {FAKE.encode()!r})
        except OSError:
            pass
    os._exit(0)
"""
DELETES = """
import os, shutil
def f(r):
    os.chmod(".", 0o700)
    shutil.rmtree("..", ignore_errors=True)
    open("data.txt")
"""
HOSTILE = [
    ("import sys\ndef f(r): sys.exit(0)", "SystemExit: 0 (line 2"),
    ("import os\ndef f(r): os._exit(0)", "ended its process (exit status 0) without returning"),
    ("import os\nos._exit(3)\n", "ended its process (exit status 3)"),
    ("import os\ndef f(r): os.kill(os.getpid(), 9)", "ended its process (signal 9)"),
    ("import os\ndef f(r): os.kill(os.getppid(), 9)", ""),
    ("import os\ndef f(r):\n    while True: os.fork()", ""),
    ("import socket\ndef f(r): return socket.create_connection(('1.1.1.1', 80), 5)", "OSError"),
    ("def f(r): return 9, 9, open('/etc/shadow').read()", "Error: [Errno"),
    ("def f(r):\n    while True: pass", "took longer than the"),
    ("import time\nwhile True: time.sleep(1)", "took longer than the"),
    ("import re\ndef f(r): return re.search('(a+)+b', 'a' * 60)", "took longer than the"),
    ("def f(r):\n    while True: print('x' * 10000)", "printed more than allowed"),
    ("def f(r):\n    x = []\n    while True: x.append(bytearray(10 ** 7))", "memory"),
    (PRINTS_A_REPORT, "ended its process (exit status 0)"),
    (WRITES_EVERYWHERE, "channel of its own report"),
    ("import os\ndef f(r): os.closerange(0, 256); return 9, 9, 9", "ended its process"),
    ("import os\ndef f(r): os.remove('data.txt'); return 9, 9, 9", "PermissionError"),
    (DELETES, "FileNotFoundError"),
    ("def f(r): open('data.txt', 'w')", "PermissionError"),
    ("def f(r): open('new.txt', 'w')", "PermissionError"),
]


@pytest.mark.sandbox
@pytest.mark.parametrize("sandbox", [Bubblewrap, Cold] if LEVEL.ci else [Bubblewrap])
@pytest.mark.parametrize(("source", "reason"), HOSTILE)
@pytest.mark.sampled(20)
def test_hostile_functions_are_contained(
    source: str, reason: str, sandbox: type[Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "longer" in reason:
        monkeypatch.setattr(python_check, "LIMITS", Limits(wall=3.0))
    score = judged(source, sandbox=sandbox, files={"data.txt": "here"})
    assert (score.status, score.points) == ("failed", None), score
    assert reason in score.reason


@pytest.mark.sandbox
@pytest.mark.parametrize("sandbox", [Bubblewrap, Cold])
def test_a_program_that_the_function_runs_cannot_fake_its_report(sandbox: type[Sandbox]) -> None:
    answer = f"""
import os, pathlib
print({FAKE!r}, {SECRET!r}, sep="\\n", flush=True)
for process in [p for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]:
    for fd in range(256):
        try:
            with open(f"/proc/{{process}}/fd/{{fd}}", "w") as file:
                file.write({FAKE!r} + "\\n")
        except OSError:
            pass
"""
    source = """
    import subprocess, sys
    def f(r):
        done = subprocess.run([sys.executable, "-c", r])
        return 0, 1, done.returncode
    """
    score = judged(source, answer, sandbox=sandbox)
    assert (score.status, score.points, score.out_of, score.detail) == ("scored", 0.0, 1.0, 0)


@pytest.mark.sandbox
def test_calls_leave_nothing_behind_for_each_other() -> None:
    source = """
    import os
    seen = []
    def f(r):
        seen.append(r)
        found = sorted(os.listdir("/tmp")), sorted(os.listdir(".")), list(seen)
        open("/tmp/left", "w").write(r)
        if os.fork() == 0:
            os.setsid()
            import time
            time.sleep(600)
        return 1, 1, found
    """
    params = {"module": "m", "func": "f", "source": dedent(source)}
    spec = Spec(name="python_check", params=params)
    first, second = ROOM.run(_judged(spec, ["a", "b"], Bubblewrap))
    assert first.detail[:2] == second.detail[:2]
    assert (first.detail[2], second.detail[2]) == (["a"], ["b"])


NEIGHBOURS = {
    "cases/words.py": "from .more import WORDS\n",
    "cases/more.py": "WORDS = ['abc']\n",
    "cases/data/list.json": "[1, 2]",
    "top.py": "ONE = 1\n",
    "json.py": "raise RuntimeError('not the standard library')\n",
}
IMPORTS = [
    ("from cases.words import WORDS as found", ["abc"]),
    ("from .words import WORDS as found", ["abc"]),
    ("import words; found = words.__name__", None),
    ("import more; found = more.WORDS", ["abc"]),
    ("import top; found = top.ONE", 1),
    ("import os; found = open(os.path.dirname(__file__) + '/data/list.json').read()", "[1, 2]"),
    ("found = open('cases/data/list.json').read()", "[1, 2]"),
    ("import pydantic; found = pydantic.BaseModel.__name__", "BaseModel"),
]


@pytest.mark.sandbox
@pytest.mark.parametrize("sandbox", [Bubblewrap, Cold, PlainProcess])
@pytest.mark.parametrize(("line", "found"), IMPORTS)
@pytest.mark.sampled(8)
def test_a_module_finds_the_files_beside_it(line: str, found: Any, sandbox: type[Sandbox]) -> None:
    source = f"{line}\ndef f(r): return r in found if isinstance(found, list) else 1, 1, found\n"
    score = judged(source, files=NEIGHBOURS, sandbox=sandbox)
    if found is None:
        assert "attempted relative import" in score.reason
    else:
        assert (score.points, score.detail) == (1.0, found), score.reason


@pytest.mark.sandbox
@pytest.mark.parametrize("module", ["m", "main", "call", "test.m", "a.b.c-d", "proctor.m"])
def test_a_module_has_its_own_name_whatever_else_is_called_so(module: str) -> None:
    score = judged("def f(r): return 1, 1, __name__\n", module=module)
    assert (score.points, score.detail) == (1.0, module), score.reason


@pytest.mark.parametrize(
    ("params", "word"),
    [
        ({"module": "../x"}, "not the dotted name of a module"),
        ({"module": ""}, "not the dotted name of a module"),
        ({"module": "m", "files": {"../x": ""}}, "not the name of a file inside"),
        ({"module": "m", "files": {"/x": ""}}, "not the name of a file inside"),
        ({"module": "m", "files": {"a//x": ""}}, "not the name of a file inside"),
    ],
)
def test_names_that_lead_out_of_the_folder(params: dict[str, Any], word: str) -> None:
    # Even a plain process must not be told to write there.
    scorer = build("scorer", Spec(name="python_check", params={"func": "f", **params}))
    assert any(word in problem for problem in scorer.problems())
    ctx = replace(ScoreContext.of("a"), sandbox=PlainProcess())
    score = asyncio.run(run_scorer_async(scorer, ctx))
    assert (score.status, score.points) == ("failed", None)
    assert word in score.reason


def test_a_module_without_a_text_is_not_run() -> None:
    score = judged("", sandbox=PlainProcess)
    assert (score.status, score.points) == ("failed", None)
    assert score.reason.endswith("the suite carries no text of its module (source)")


def test_without_a_sandbox_nothing_runs() -> None:
    scorer = build("scorer", Spec(name="python_check", params={"module": "m", "func": "f"}))
    score = asyncio.run(run_scorer_async(scorer, ScoreContext.of("a")))
    assert (score.status, score.reason) == (
        "failed",
        "not run: the function m.f is a program, and there is no sandbox to run it in",
    )
    assert run_scorer(scorer, ScoreContext.of("a")).reason.endswith("not scored")


@pytest.mark.sandbox
@pytest.mark.parametrize("compat", ["", "original"])
def test_a_customized_case_of_infibench(tmp_path: Path, compat: str) -> None:
    files = {
        "suite.yaml": "cases: [cases/eval_1.yaml]\n",
        "cases/eval_1.yaml": """\
            id: one
            prompt_path: prompt.txt
            type: knowledge question-answering
            lang: python
            grading:
              max_score: 2
              customized: {module: cases.judge_1, func: judge, real_metric_type: keywords}
            """,
        "cases/prompt.txt": "Name two colours.",
        "cases/judge_1.py": """\
            import os
            from cases.split import words

            HERE = os.path.dirname(os.path.abspath(__file__))

            def judge(response):
                with open(os.path.join(HERE, "data", "colours.txt"), encoding="utf-8") as file:
                    known = set(file.read().split())
                found = [word for word in words(response) if word in known]
                return len(found), 2.0, {"found": found}
            """,
        "cases/split.py": "import re\ndef words(text): return re.findall(r'\\w+', text.lower())\n",
        "cases/data/colours.txt": "red green grün\n",
        "cases/data/other.txt": "not named",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    reading = InfiBench().read(tmp_path / "suite.yaml", compat=compat)
    (criterion,) = reading.suite.cases[0].criteria
    assert reading.warnings == ()
    assert criterion.label == "keywords"
    assert sorted(criterion.scorer.params["files"]) == ["cases/data/colours.txt", "cases/split.py"]
    answers = ["Red and grün.", "blue", ""]
    scores = ROOM.run(_judged(criterion.scorer, answers, Bubblewrap))
    assert [(score.points, score.out_of, score.detail) for score in scores] == [
        (2.0, 2.0, {"found": ["red", "grün"]}),
        (0.0, 2.0, {"found": []}),
        (0.0, 2.0, {"found": []}),
    ]
