"""Python tests as programs: what a warm interpreter is handed instead of texts."""

import dis
import marshal
import subprocess
import sys
import warnings
from typing import Any

import pytest

from proctor.core.program import Program
from proctor.scorers.programs.extraction import Composed
from proctor.scorers.programs.isolation import isolation
from proctor.scorers.programs.python_test_programs import in_two_processes


def program_of(test: str) -> Program:
    composed = Composed(text=f"def f(x): return x\n\n{test}", test_line=3)
    return in_two_processes(Program(steps=()), composed, isolation(test, "", ""))


def arguments_of(program: Program | None) -> Any:
    assert program is not None
    assert program.call is not None
    return program.call[1]


def test_a_call_says_what_the_text_says() -> None:
    program = program_of("assert f(1) == 1")
    asked: list[tuple[int, Any]] = []
    for half in (program, program.partner):
        assert half is not None
        assert half.call is not None
        name, arguments = half.call
        text = half.files["main.py"].decode()
        module = type("Module", (), {"main": lambda fd, given: asked.append((fd, given))})
        exec(text.replace(f"import {name}", ""), {name: module})
        fd, given = asked.pop()
        extra = {"code"} if isinstance(arguments, dict) else set()
        rest = {k: v for k, v in arguments.items() if k != "code"} if extra else arguments
        assert (fd, given) == (3, rest)


def test_a_test_comes_as_bytecode_with_its_lines_and_asserts() -> None:
    code = marshal.loads(arguments_of(program_of("assert f(1) == 1"))["code"])
    assert code.co_filename == "main.py"
    assert {line for *_, line in code.co_lines() if line} == {3}
    assert "LOAD_ASSERTION_ERROR" in {step.opname for step in dis.get_instructions(code)}


@pytest.mark.parametrize("test", ["assert f(1) is 1", "assert (f(1), 'always')", "assert f('\\d')"])
def test_a_test_that_python_complains_about_is_left_to_its_own_process(test: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "invalid escape")  # by who reads the text first
        assert "code" not in arguments_of(program_of(test))


@pytest.mark.slow
def test_asserts_stay_where_proctor_itself_runs_without() -> None:
    text = """
import dis, marshal
from test_python_test_programs import arguments_of, program_of
code = marshal.loads(arguments_of(program_of("assert f(1) == 1"))["code"])
print("LOAD_ASSERTION_ERROR" in {step.opname for step in dis.get_instructions(code)})
"""
    here = __file__.rpartition("/")[0]
    done = subprocess.run(
        [sys.executable, "-O", "-c", f"import sys; sys.path.insert(0, {here!r})\n{text}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True\n", done.stderr
