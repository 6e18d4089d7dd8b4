"""What makes a function another one, and what does not."""

import functools
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.api.function_identity import identify

BEFORE = """
import helpers
from helpers import suffix
GREETING = "Hello"
class Bot:
    def __init__(self, tone):
        self.tone = tone
    def answer(self, question):
        return GREETING + self.tone + suffix(question)
def answer(question, tone="!"):
    # Greet.
    return GREETING + tone + suffix(question)
def unrelated():
    return 1
def reads(question):
    return open("prompt.txt").read() + question
bot = Bot("!")
"""
CHANGES = [
    ("text", "answer", 'tone="!"):\n    # Greet.\n    return', 'tone="!"):\n    return ""+', True),
    ("default", "answer", 'tone="!"', 'tone="?"', True),
    ("constant", "answer", 'GREETING = "Hello"', 'GREETING = "Hi"', True),
    ("comment", "answer", "# Greet.", "# Say hello to whoever asks.", False),
    ("another function", "answer", "return 1", "return 2", False),
    ("field of an object", "bot.answer", 'Bot("!")', 'Bot("?")', True),
    ("method of a class", "bot.answer", "GREETING + self.tone", "self.tone + GREETING", True),
]


def key_of(folder: Path, source: str, what: str = "answer") -> str:
    """Return the identity of a function of a module, in a process of its own."""
    (folder / "project.py").write_text(source)
    code = f"import project\nfrom proctor.api.function_identity import identify\nfound = identify(project.{what})\nassert not found.unknown, found\nprint(found.key)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env={"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "helpers.py").write_text("def suffix(text):\n    return text[-1:]\n")
    (tmp_path / "prompt.txt").write_text("Be brief.")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(("what", "target", "old", "new", "differs"), CHANGES)
def test_what_changes_a_function(
    project: Path, what: str, target: str, old: str, new: str, differs: bool
) -> None:
    assert old in BEFORE
    before = key_of(project, BEFORE, target)
    assert before == key_of(project, BEFORE, target)
    assert (key_of(project, BEFORE.replace(old, new), target) != before) is differs


@pytest.mark.slow
def test_modules_and_files_of_the_project_count(project: Path) -> None:
    before = key_of(project, BEFORE)
    reads = key_of(project, BEFORE, "reads")
    (project / "prompt.txt").write_text("Be long.")
    assert key_of(project, BEFORE, "reads") != reads
    (project / "helpers.py").write_text("def suffix(text):\n    return text[:1]\n")
    assert key_of(project, BEFORE) != before


def closing_over(value: Any) -> Callable[[str], str]:
    return lambda question: f"{question}{value}"


PAIRS: list[tuple[str, Any, Any, bool]] = [
    ("closures", closing_over("a"), closing_over("b"), True),
    ("the same closure", closing_over("a"), closing_over("a"), False),
    ("lists", closing_over([1, 2]), closing_over([2, 1]), True),
    ("numbers", closing_over(1), closing_over(1.0), True),
    ("sets", closing_over({"a", "b"}), closing_over({"b", "a"}), False),
    ("paths", closing_over(Path("a")), closing_over(Path("b")), True),
    ("lambdas of one line", lambda q: q + "1", lambda q: q + "2", True),
    ("partials", functools.partial(max, "a"), functools.partial(max, "b"), True),
]


@pytest.mark.parametrize(("what", "one", "two", "differs"), PAIRS, ids=[p[0] for p in PAIRS])
def test_pairs_of_functions(what: str, one: Any, two: Any, differs: bool) -> None:
    assert (identify(one).key != identify(two).key) is differs


def test_a_function_that_calls_itself_has_an_end() -> None:
    def count(question: str) -> str:
        return count(question[1:]) if question else ""

    assert identify(count).unknown == ()


def test_what_has_a_state_that_nobody_can_read() -> None:
    script = iter(["a", "b"])
    assert identify(lambda question: next(script)).unknown == ("script (builtins.list_iterator)",)


CALLS: list[str] = []
COUNTS = {"calls": 0}
TOTAL = 0
LOCK = threading.Lock()


class Counting:
    def __init__(self, city: str) -> None:
        self.city, self.calls = city, 0
        self.log: list[str] = []

    def answer(self, question: str) -> str:
        self.calls += 1
        self.log.append(question)
        return self.city


def appends(question: str) -> str:
    with LOCK:
        CALLS.append(question)
    return question


def counts(question: str) -> str:
    global TOTAL  # noqa: PLW0603
    TOTAL += 1
    COUNTS["calls"] += 1
    return f"{question}{len(CALLS)}" if appends(question) else ""


def counting_closure() -> Callable[[str], str]:
    calls = 0
    seen: list[str] = []

    def answer(question: str) -> str:
        nonlocal calls
        calls += 1
        seen.append(question)
        return question

    return answer


def logging_lambda() -> Callable[[str], str]:
    seen: list[str] = []
    return lambda question: seen.append(question) or question


@pytest.mark.parametrize(
    "function",
    [appends, counts, counting_closure(), logging_lambda(), Counting("Paris").answer],
    ids=["list", "globals", "closure", "lambda", "field"],
)
def test_what_a_function_counts_does_not_change_it(function: Callable[[str], str]) -> None:
    before = identify(function)
    function("x")
    assert identify(function) == before
    assert before.unknown == ()


def test_other_fields_of_an_object_that_counts_matter() -> None:
    assert identify(Counting("Paris").answer) != identify(Counting("Lyon").answer)


def test_functions_without_a_text_are_known_by_their_code() -> None:
    scopes: list[dict[str, Any]] = [{}, {}, {}]
    for scope, text in zip(scopes, ["1", "1", "2"], strict=True):
        exec(f"def answer(question):\n    return question + '{text}'", scope)
    keys = [identify(scope["answer"]).key for scope in scopes]
    assert keys[0] == keys[1] != keys[2]
