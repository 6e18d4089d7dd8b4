"""The unit-test criterion: points, reasons, what is unscored and what is the candidate's fault."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from proctor import registry
from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext
from proctor.core.program import SECRET, Program, Ran, Stopped
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Spec
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.sandboxes.plain_process import PlainProcess
from proctor.scorers.programs.languages import named
from proctor.scorers.programs.toolchains import toolchain
from proctor.scorers.programs.unit_tests import UnitTest, UnitTests

PASS = Ran(code=0, step=0, finished=True, proved=True)
ANSWER = "```python\ndef f(x):\n    return x + 1\n```"
SLEEPER = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()"


@dataclass
class Scripted(Sandbox):
    """Answer with what it was told, and keep the programs."""

    tier: ClassVar[str] = "scripted"

    answers: Sequence[Ran]
    warm: bool = True
    programs: list[Program] = field(default_factory=list)
    cold: int = 0

    async def run(self, program: Program) -> Ran:
        self.cold += 1
        self.programs.append(program)
        return self.answers[len(self.programs) - 1]

    async def run_python(self, program: Program) -> Ran | None:
        if not self.warm:
            return None
        self.programs.append(program)
        return self.answers[len(self.programs) - 1]


def judge(scorer: UnitTests, sandbox: Sandbox | None, answer: str = ANSWER) -> Score:
    ctx = ScoreContext.of(answer)
    ctx = ScoreContext(case=ctx.case, attempt=ctx.attempt, sandbox=sandbox)

    async def run() -> Score:
        try:
            return await scorer.score(ctx)
        finally:
            if sandbox is not None:
                await sandbox.close()

    return asyncio.run(run())


def criterion(*contents: str, **options: Any) -> UnitTests:
    return UnitTests(tests=tuple(UnitTest(content=text, **options) for text in contents))


def test_points_are_the_weights_of_the_tests_that_passed() -> None:
    failed = Ran(
        code=1, step=0, finished=False, stderr='  File "main.py", line 8\nAssertionError: x'
    )
    scorer = UnitTests(
        tests=(
            UnitTest(content="assert f(1) == 2", weight=2.0),
            UnitTest(content="assert f(1) == 3", weight=0.5),
            UnitTest(content="assert f(2) == 3"),
        )
    )
    made = judge(scorer, Scripted([PASS, failed, PASS]))
    assert (made.status, made.points, made.out_of) == (ScoreStatus.SCORED, 3.0, 3.5)
    assert made.reason == "2 of 3 tests passed; test 2: AssertionError: x at line 7"
    rows = made.detail["tests"]
    assert [row["passed"] for row in rows] == [True, False, True]
    assert rows[1]["program"].endswith("    return x + 1\nassert f(1) == 3")


@pytest.mark.parametrize(
    ("ran", "passed", "text"),
    [
        (PASS, True, "passed"),
        (Ran(code=0, step=0, finished=True), False, "ended early: exit status 0 before the end"),
        (Ran(code=1, step=0, finished=False, proved=True), False, "exit status 1"),
        (Ran(code=-11, step=0, finished=False), False, "ended by signal SIGSEGV"),
        (Ran(code=137, step=0, finished=False), False, "ended by signal SIGKILL"),
        (
            Ran(code=None, step=0, finished=False, stopped=Stopped.TIME),
            False,
            "timed out after 10 s",
        ),
        (Ran(code=None, step=0, finished=False, stopped=Stopped.MEMORY), False, "used more memory"),
        (Ran(code=None, step=0, finished=False, stopped=Stopped.OUTPUT), False, "printed more"),
        (
            Ran(code=1, step=0, finished=False, stderr="\x1b[31mKeyError: 1\x07"),
            False,
            "KeyError: 1�",
        ),
    ],
)
def test_how_a_test_ended(ran: Ran, passed: bool, text: str) -> None:
    made = judge(criterion("pass"), Scripted([ran]))
    (row,) = made.detail["tests"]
    assert (made.points, row["passed"]) == (float(passed), passed)
    assert row["result"].startswith(text)
    assert "\x1b" not in row["stderr"]


@pytest.mark.parametrize(
    ("sandbox", "reason"),
    [
        (None, "--sandbox"),
        (Scripted([Ran(code=None, step=0, finished=False, not_started="no bwrap")]), "no bwrap"),
        (Scripted([Ran(code=127, step=0, finished=False, not_started="no cc")]), "no cc"),
    ],
)
def test_a_sandbox_that_fails_costs_no_points(sandbox: Sandbox | None, reason: str) -> None:
    made = judge(criterion("pass", weight=3.0), sandbox)
    assert (made.status, made.points, made.out_of) == (ScoreStatus.FAILED, None, 3.0)
    assert reason in made.reason


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (127, "main.sh: line 1: foo: command not found"),
        (127, "bash: No such file or directory"),
        (126, "bash: Permission denied"),
        (96, "the sandbox failed"),
        (None, "lost with its supervisor"),
    ],
)
def test_a_program_that_ran_fails_by_itself_whatever_it_says(code: int | None, said: str) -> None:
    ran = Ran(code=code, step=0, finished=False, stderr=said)
    made = judge(UnitTests(tests=(UnitTest(content="foo"),), lang="bash"), Scripted([ran]))
    assert (made.status, made.points) == (ScoreStatus.SCORED, 0.0)


def test_the_same_program_is_the_same_and_carries_no_secret_of_its_own() -> None:
    sandbox = Scripted([PASS, PASS])
    judge(criterion("assert f(1) == 2", "assert f(1) == 2"), sandbox)
    first, second = sandbox.programs
    assert first == second
    assert SECRET.encode() in first.stdin
    assert not any(SECRET.encode() in data for data in first.files.values())
    assert first.toolchain.startswith("python 3.")


def test_the_timeout_is_the_tests_own_or_the_languages() -> None:
    sandbox = Scripted([PASS])
    judge(criterion("pass", timeout=3.5), sandbox)
    assert sandbox.programs[0].limits.wall == 3.5
    for lang, wall in {"javascript": 10.0, "r": 20.0, "c++": 60.0}.items():
        sandbox = Scripted([PASS])
        made = judge(UnitTests(tests=(UnitTest(content=""),), lang=lang), sandbox)
        if made.status is ScoreStatus.SCORED:
            assert sandbox.programs[0].steps[-1].wall == wall


def test_without_a_warm_interpreter_the_cold_one_runs() -> None:
    sandbox = Scripted([PASS], warm=False)
    assert judge(criterion("pass"), sandbox).points == 1.0
    assert sandbox.cold == 1


def test_clearing_up_runs_as_a_step_of_its_own() -> None:
    sandbox = Scripted([PASS])
    assert judge(criterion("pass", cleanup="import os"), sandbox).points == 1.0
    (program,) = sandbox.programs
    assert len(program.steps) == 2
    assert b"import os" in program.files.values()


@pytest.mark.parametrize(
    ("scorer", "problem"),
    [
        (UnitTests(tests=()), "no tests are given"),
        (UnitTests(tests=(UnitTest(content=""),), lang="pyton"), "did you mean 'python'?"),
        (UnitTests(tests=(UnitTest(content="", timeout=0),)), "test 1: the timeout must be more"),
    ],
)
def test_problems_are_named_before_anything_runs(scorer: UnitTests, problem: str) -> None:
    assert any(problem in text for text in scorer.problems())


@pytest.mark.parametrize(
    ("lang", "content", "missing"),
    [
        ("python", "import json\nimport nosuchpackage\n", "nosuchpackage"),
        ("python", "def f():\n    import nosuchpackage", ""),
        ("python", "import numpy", ""),
        ("javascript", "const x = require('nosuchpackage/part')", "nosuchpackage/part"),
        ("javascript", "const x = require('fs'); require('./mine'); require('node:assert')", ""),
        ("r", "library(nosuchpackage)\nlibrary(assert)", "nosuchpackage"),
    ],
)
def test_packages_that_the_tests_need_are_named(lang: str, content: str, missing: str) -> None:
    scorer = UnitTests(tests=(UnitTest(content=content),), lang=lang)
    language = named(lang)
    assert language is not None
    if lacks := toolchain(language).missing:
        pytest.skip(f"{', '.join(lacks)} not installed")
    assert [missing in text for text in scorer.missing()] == ([True] if missing else [])


def test_a_package_that_only_the_tests_need_leaves_the_criterion_unscored() -> None:
    made = judge(criterion("import nosuchpackage"), Scripted([PASS]))
    assert made.status is ScoreStatus.FAILED
    assert "pip install nosuchpackage" in made.reason


def test_the_parameters_are_checked() -> None:
    spec = Spec(
        name="unit_tests", params={"lang": "js", "tests": [{"content": "f()", "weight": 2}]}
    )
    built = registry.build("scorer", spec)
    assert built.full_marks == 2.0


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("answer", "content", "passed"),
    [
        (ANSWER, "assert f(1) == 2", True),
        (ANSWER, "assert f(1) == 3", False),
        (ANSWER, "print('x' * 200_000)", True),
        (ANSWER, "import sys; sys.stdout.write('no newline at the end')", True),
        (ANSWER, SLEEPER, True),
        ("```python\nif __name__ == '__main__':\n    raise ValueError\n```", "", True),
        ("```\nfrom dataclasses import *\n@dataclass\nclass A:\n    x: 'int'\n```", "A(1)", True),
        ("```\nopen('kept.txt', 'w').write('x')\n```", "assert open('kept.txt').read()", True),
        ("```python\nimport sys\nsys.stdout.close()\n```", "", False),
        ("```python\nx = '\\ud800'\n```", "assert x", True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["warm", "cold", "process"])
@pytest.mark.sampled(18)
@pytest.mark.slow
def test_python_means_the_same_everywhere(
    kind: str, answer: str, content: str, passed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox: Sandbox = PlainProcess() if kind == "process" else Bubblewrap()
    if kind == "cold":

        async def none(program: Program) -> None:
            return None

        monkeypatch.setattr(sandbox, "run_python", none)
    made = judge(criterion(content), sandbox, answer)
    assert made.status is ScoreStatus.SCORED, made.reason
    assert made.points == float(passed), made.detail


@pytest.mark.sandbox
@pytest.mark.slow
def test_messages_show_the_lines_of_a_test_that_the_process_never_had() -> None:
    made = judge(criterion("x = 1\nassert f(x) == 3", isolate=False), Bubblewrap())
    (row,) = made.detail["tests"]
    assert '  File "main.py", line 8, in <module>\n    assert f(x) == 3\n' in row["stderr"]
    assert row["line"] == 8
