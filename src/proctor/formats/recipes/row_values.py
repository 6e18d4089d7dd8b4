"""Values that recipes make of the columns of a row: a closed list, by name."""

import hashlib
import random
import re
from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from proctor.core.suite import Json
from proctor.io.text_files import parse_json

Row = Mapping[str, Any]
KINDS = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    "double": "number",
    "long": "integer",
    "HashMap": "object",
    "ArrayList": "array",
    "Array": "array",
    "String": "string",
    "Boolean": "boolean",
    "any": "",
}
"""Types of the tool-calling set that JSON Schema calls otherwise; any type is left out."""


class UnusableRow(ValueError):
    """A row that is not as its recipe describes it."""


def row_values(spec: Mapping[str, Mapping[str, Any]], row: Row) -> dict[str, Json]:
    """Return the columns of a row with what a recipe makes of them."""
    values: dict[str, Json] = dict(row)
    for name, parts in spec.items():
        kind, *_ = parts
        maker = MAKERS.get(kind)
        if maker is None:
            raise UnusableRow(f"a recipe cannot make {kind!r} (known are: {', '.join(MAKERS)})")
        try:
            values[name] = maker(parts, values)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise UnusableRow(f"{name!r} cannot be made of this row: {error}") from None
    return values


def _after(parts: Row, row: Row) -> str:
    """Return what follows the last mark in a text."""
    text, mark = str(row[parts["after"]]), parts["mark"]
    if mark not in text:
        raise UnusableRow(f"there is no {mark!r} in {parts['after']!r}")
    return text.rpartition(mark)[2].strip()


def _column(parts: Row, row: Row) -> Json:
    """Return a column whose name is none that a template can hold."""
    return row[parts["column"]]


def _options(parts: Row, row: Row) -> str:
    """Write options with their letters, one a line: a column with a list, or several columns."""
    named = parts["options"]
    texts = row[named] if isinstance(named, str) else [row[name] for name in named]
    return _lettered(texts)


def _letter(parts: Row, row: Row) -> str:
    """Return the letter of an option, from its place counted from 0."""
    place = int(row[parts["letter"]])
    if place < 0:
        raise UnusableRow(f"{parts['letter']!r} is {place}, and no place")
    return ascii_uppercase[place]


def _shuffled(parts: Row, row: Row) -> str:
    """Write options in an order that depends on the row alone, with their letters."""
    return _lettered([text for text, _ in _order(parts, row)])


def _shuffled_letter(parts: Row, row: Row) -> str:
    """Return the letter of the right option in that order."""
    order = _order({"shuffled": parts["shuffled_letter"], **parts}, row)
    return ascii_uppercase[[right for _, right in order].index(True)]


def _order(parts: Row, row: Row) -> list[tuple[str, bool]]:
    names: Sequence[str] = parts["shuffled"]
    options = [(str(row[name]).strip(), place == 0) for place, name in enumerate(names)]
    seed = hashlib.sha256(str(row[parts["by"]]).encode()).digest()
    random.Random(seed).shuffle(options)  # noqa: S311 - an order, not a secret  # nosec B311
    return options


def _lettered(texts: Sequence[Any]) -> str:
    if not 0 < len(texts) <= len(ascii_uppercase):
        raise UnusableRow(f"there are {len(texts)} options")
    pairs = zip(ascii_uppercase, texts, strict=False)
    return "\n".join(f"{letter}. {str(text).strip()}" for letter, text in pairs)


def _pattern(parts: Row, row: Row) -> str:
    """Write a text as a regular expression that matches it alone, white space apart."""
    words = str(row[parts["pattern"]]).split()
    return r"\s+".join(re.escape(word) for word in words)


def _instructions(parts: Row, row: Row) -> list[dict[str, Json]]:
    """List instructions with their parameters, those without a value left out."""
    kinds, parameters = row[parts["instructions"]], row[parts["parameters"]]
    return [
        {"id": kind, **{name: value for name, value in (one or {}).items() if value is not None}}
        for kind, one in zip(_json(kinds), _json(parameters), strict=True)
    ]


def _input_output(parts: Row, row: Row) -> list[dict[str, Json]]:
    """List tests of a program by what it reads and prints, from lists of inputs and of outputs."""
    pairs = _json(row[parts["input_output"]])
    if pairs.get("fn_name"):
        raise UnusableRow(f"its tests call the function {pairs['fn_name']!r}, and print nothing")
    return [
        {"stdin": _lines(read), "stdout": _lines(printed)}
        for read, printed in zip(pairs["inputs"], pairs["outputs"], strict=True)
    ]


def _stdin_tests(parts: Row, row: Row) -> list[dict[str, Json]]:
    """List tests of a program by what it reads and prints, from a list of them in JSON."""
    tests = _json(row[parts["stdin_tests"]])
    if any(test.get("testtype", "stdin") != "stdin" for test in tests):
        raise UnusableRow("its tests call a function, and print nothing")
    return [{"stdin": _lines(test["input"]), "stdout": _lines(test["output"])} for test in tests]


def _messages(parts: Row, row: Row) -> list[dict[str, Json]]:
    """Return the messages of the first turn of a dialogue."""
    turns = _json(row[parts["messages"]])
    first = turns[0] if isinstance(turns[0], list) else turns
    return [{"role": one["role"], "content": one["content"]} for one in first]


def _tools(parts: Row, row: Row) -> list[dict[str, Json]]:
    """List tools, with the types of their parameters as JSON Schema calls them."""
    functions = _json(row[parts["tools"]])
    functions = [functions] if isinstance(functions, dict) else functions
    return [
        {
            "name": _tool_name(function["name"]),
            "description": function.get("description", ""),
            "parameters": _schema(function["parameters"]),
        }
        for function in functions
    ]


def _wanted_calls(parts: Row, row: Row) -> list[dict[str, Json]]:
    """List calls that are wanted, from the values that each argument may have."""
    return [
        {"name": _tool_name(name), "schema": _accepted(arguments)}
        for call in _json(row[parts["wanted_calls"]])
        for name, arguments in call.items()
    ]


def _accepted(arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Return the schema of accepted arguments; an empty text says that one may be left out.

    Each argument has a list of accepted values, and so has each entry of an object among them.
    """
    return {
        "type": "object",
        "properties": {name: _one_of(values) for name, values in arguments.items()},
        "required": [name for name, values in arguments.items() if "" not in _listed(values)],
        "additionalProperties": False,
    }


def _listed(values: Json) -> Sequence[Json]:
    return values if isinstance(values, list) else [values]


def _one_of(values: Json) -> dict[str, Json]:
    if not _has_object(values):
        return {"enum": list(_listed(values))}
    return {"anyOf": [_accepted_value(value) for value in _listed(values)]}


def _has_object(value: Json) -> bool:
    if isinstance(value, list):
        return any(_has_object(entry) for entry in value)
    return isinstance(value, dict)


def _accepted_value(value: Json) -> dict[str, Json]:
    if isinstance(value, dict):
        return _accepted(value)
    if isinstance(value, list) and _has_object(value):
        return {
            "type": "array",
            "prefixItems": [_accepted_value(entry) for entry in value],
            "minItems": len(value),
            "maxItems": len(value),
        }
    return {"const": value}


def _tool_name(name: str) -> str:
    """Write a tool's name as the model APIs allow it: without points."""
    return re.sub(r"[^\w-]", "_", name)


def _schema(value: Any) -> Any:
    if isinstance(value, list):
        return [_schema(part) for part in value]
    if not isinstance(value, dict):
        return value
    schema = {key: _schema(part) for key, part in value.items() if key != "optional"}
    if isinstance(kind := value.get("type"), str):
        schema["type"] = KINDS.get(kind, kind)
        if not schema["type"]:
            del schema["type"]
    return schema


def _json(value: Any) -> Any:
    """Return a value that may be written as JSON in a text."""
    return parse_json(value) if isinstance(value, str) else value


def _lines(value: Any) -> str:
    """Return the text of a test, which may be a list of lines."""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


MAKERS: Mapping[str, Callable[[Row, Row], Json]] = {
    "after": _after,
    "column": _column,
    "options": _options,
    "letter": _letter,
    "shuffled": _shuffled,
    "shuffled_letter": _shuffled_letter,
    "pattern": _pattern,
    "instructions": _instructions,
    "input_output": _input_output,
    "stdin_tests": _stdin_tests,
    "messages": _messages,
    "tools": _tools,
    "wanted_calls": _wanted_calls,
}
