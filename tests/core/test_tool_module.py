"""Tools read off the source of a module: what they take, and what is wrong with it, by line."""

from typing import Any

import pytest

from proctor.core.tool_module import functions_of, wrong_calls


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        ("str", {"type": "string"}),
        ("int", {"type": "integer"}),
        ("float", {"type": "number"}),
        ("bool", {"type": "boolean"}),
        ("'str'", {"type": "string"}),
        ("dict", {"type": "object"}),
        ("Any", {}),
        ("typing.Any", {}),
        ("list[str]", {"type": "array", "items": {"type": "string"}}),
        ("list[Any]", {"type": "array"}),
        ("dict[str, int]", {"type": "object", "additionalProperties": {"type": "integer"}}),
        ("str | None", {"type": ["string", "null"]}),
        ("Optional[int]", {"type": ["integer", "null"]}),
        ("Union[int, str, None]", {"type": ["integer", "string", "null"]}),
        ("list[str] | None",
         {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}),
        ("Literal['a', 'b']", {"enum": ["a", "b"]}),
    ],
)  # fmt: skip
def test_types_become_json_schemas(annotation: str, schema: Any) -> None:
    (function,), problems = functions_of(f"def f(state, x: {annotation}): ...")
    assert not problems
    assert function.tool.parameters["properties"] == {"x": schema}


SOURCE = '''\
"""A module."""
LIMIT = 3

def pay(state: dict, member: str, amount: float = 1.0, *, note: str, kind: str = "") -> str:
    """Pay a fine.

    In full or in part.
    """
    return "ok"

def _own(state: dict) -> None: ...

def helper(amount: float) -> float: ...

class Thing:
    def method(state, x): ...

def look(state): ...
'''


def test_public_functions_of_a_state_are_the_tools() -> None:
    functions, problems = functions_of(SOURCE)
    assert not problems
    assert [(one.name, one.line) for one in functions] == [("pay", 4), ("look", 18)]
    assert functions[0].tool.description == "Pay a fine.\n\nIn full or in part."
    assert functions[0].tool.parameters["required"] == ["member", "note"]
    assert functions[1].tool.parameters == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("def f(state:\n", 1, "not Python"),
        ("x = 1\n", 0, "there are no tools"),
        ("\ndef f(state, x): ...", 2, "'x' has no type"),
        ("\n\ndef f(state, x: Book): ...", 3, "the type Book, which JSON has no word for"),
        ("def f(state, x: list[Book]): ...", 1, "list[Book]"),
        ("def f(state, *more: str): ...", 1, "one by one"),
        ("def f(state, **more: str): ...", 1, "one by one"),
        ("async def f(state): ...", 1, "async"),
        ("def f(state): ...\ndef f(state): ...", 2, "two functions"),
        ("def f(state, x: 'str |'): ...", 1, "no word for"),
    ],
)
def test_every_problem_has_its_line(source: str, line: int, words: str) -> None:
    _, problems = functions_of(source)
    assert [(problem.line, words in str(problem)) for problem in problems] == [(line, True)]


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        (("pay", {"member": "a", "note": "b"}), ""),
        (("pay", {"member": "a"}), "'pay' needs 'note'"),
        (("pay", {"member": "a", "note": "b", "sum": 1}), "'pay' has no parameter 'sum'"),
        (("pay", "a"), "the arguments of 'pay' are a mapping"),
        (("look", {}), ""),
        (("lock", {}), "there is no tool 'lock' (there are: pay, look)"),
    ],
)
def test_calls_that_cannot_be(call: tuple[str, Any], wrong: str) -> None:
    functions, _ = functions_of(SOURCE)
    assert list(wrong_calls(functions, [call])) == ([wrong] if wrong else [])
