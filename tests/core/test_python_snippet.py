"""Snippets of Python in suites: which can run at all, and on which line they cannot."""

import ast

import pytest

from proctor.core.python_snippet import Flaw, flaw_in, parsable, returns


@pytest.mark.parametrize(
    "code",
    [
        "x = 1",
        "return 1",
        "if x:\n    return 1\nreturn 2",
        "    x = 1\n    y = 2",
        "    return 1\n",
        "def f():\n    return 1",
        "for x in y:\n    break",
    ],
)
def test_code_that_can_run_has_no_flaw(code: str) -> None:
    assert flaw_in(code) is None


@pytest.mark.parametrize(
    ("code", "line", "words"),
    [
        ("", None, "is empty"),
        ("# only a comment", None, "is empty"),
        ("x = 1\ny = (", 2, "never closed"),
        ("x = 1\n  y = 2", 2, "unexpected indent"),
        ("break", 1, "outside loop"),
        ("return 1\nbreak", 2, "outside loop"),
        ("class A:\n    return 1", 2, "outside function"),
        ("x = 'a\x00b'", None, "not Python"),
        ("(" * 500 + ")" * 500, None, "not Python"),
    ],
)
def test_a_flaw_is_named_with_its_line(code: str, line: int | None, words: str) -> None:
    flaw = flaw_in(code)
    assert flaw is not None
    assert words in flaw.message
    if line is not None:
        assert flaw.line == line
        assert str(flaw).endswith(f"(line {line})")


def test_a_flaw_without_a_line_is_its_message() -> None:
    assert str(Flaw(message="the code is empty")) == "the code is empty"


@pytest.mark.parametrize(
    ("code", "same"),
    [
        ("  x = 1\n  y = 2", "x = 1\ny = 2"),
        ("x = 1\n  y = 2", "x = 1\n  y = 2"),
        ("x = (", "x = ("),
        ("if x:\n    y", "if x:\n    y"),
    ],
)
def test_only_an_indentation_that_all_lines_have_is_taken_away(code: str, same: str) -> None:
    assert parsable(code) == same


@pytest.mark.parametrize(
    ("code", "own"),
    [
        ("return", True),
        ("while x:\n    if y:\n        return 1", True),
        ("def f():\n    return 1", False),
        ("async def f():\n    return 1", False),
        ("class A:\n    def f(self):\n        return 1", False),
        ("x = lambda: 1", False),
    ],
)
def test_what_a_function_inside_returns_is_not_the_snippet_s(code: str, own: bool) -> None:
    assert returns(ast.parse(code)) is own
