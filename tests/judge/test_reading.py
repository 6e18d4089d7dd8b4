"""Verdicts in replies: which object counts, and what is refused."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from proctor.judge import Unreadable, read, shape_of


class Ruled(BaseModel):
    """Hold a verdict with every kind of field."""

    reason: str = ""
    result: Literal["correct", "incorrect"]


class Many(BaseModel):
    """Hold a verdict with every kind of field."""

    final: bool
    correct: bool | None
    missing: list[str]
    rating: int = 1
    share: float = 0.5
    title: str = ""
    default: str = ""


RIGHT = '{"reason": "r", "result": "correct"}'
WRONG = '{"reason": "r", "result": "incorrect"}'


@pytest.mark.parametrize(
    ("text", "rung", "result", "found"),
    [
        (RIGHT, "schema", "correct", "schema"),
        (RIGHT, "tool", "correct", "tool"),
        (f"\n {RIGHT}\n", "", "correct", "object"),
        (f"Reasoning: x\n```json\n{RIGHT}\n```", "schema", "correct", "fence"),
        (f"```JSON\n{RIGHT}\n```", "", "correct", "fence"),
        (f"```\n{RIGHT}\n```", "", "correct", "fence"),
        (f"```json {RIGHT}```", "", "correct", "fence"),
        (f"```json\n{RIGHT}", "", "correct", "fence"),
        (f"I think {RIGHT} is it.", "", "correct", "object"),
        # The last one that is a verdict counts, wherever it stands.
        (f"first {RIGHT}, but then {WRONG}", "", "incorrect", "object"),
        (f"```json\n{RIGHT}\n``` no:\n```json\n{WRONG}\n```", "", "incorrect", "fence"),
        (f"They wrote ```json\n{RIGHT}\n``` which is wrong. {WRONG}", "", "incorrect", "object"),
        (f'{WRONG} and {{"note": 1}}', "", "incorrect", "object"),
        # Braces that are not JSON do no harm.
        (rf"So \boxed{{5}} in {{1, 2, 3}} {RIGHT}", "", "correct", "object"),
        ("the set {1, 2 and then " + RIGHT, "", "correct", "object"),
        ("{" + RIGHT + "}", "", "correct", "object"),
        ('{"reason": "uses } and { and ```", "result": "correct"}', "", "correct", "object"),
        ('{"reason": "two\nlines", "result": "correct"}', "", "correct", "object"),
        ('{"reason": "\\ud83d alone", "result": "correct"}', "", "correct", "object"),
        # Keys that nobody asked for are let pass; a missing reason is no harm.
        ('{"result": "correct", "more": [1]}', "", "correct", "object"),
    ],
)
def test_the_verdict_is_found(text: str, rung: str, result: str, found: str) -> None:
    verdict, how = read(text, Ruled, rung)
    assert (verdict.result, how) == (result, found)


@pytest.mark.parametrize(
    ("text", "found", "words"),
    [
        ("I will give no JSON.", False, "no JSON object"),
        ("", False, "no JSON object"),
        (f"[{RIGHT}]", False, "no JSON object"),
        (f"```json\n[{RIGHT}]\n```", False, "no JSON object"),
        ("5", False, "no JSON object"),
        ('"correct"', False, "no JSON object"),
        ("{}", True, "'result' is missing"),
        ('{"result": "maybe"}', True, "not the text 'maybe'"),
        ('{"result": " CORRECT "}', True, "result: one of 'correct' or 'incorrect'"),
        ('{"result": true}', True, "not true"),
        ('{"result": null}', True, "not nothing"),
        ('{"result": ["correct"]}', True, "not a list"),
        ('{"result": "correct", "reason": 5}', True, "reason: a text is wanted"),
        # What stands inside another object is quoted, not said: also when the outer is broken.
        ('{"result": "maybe", "quoted": ' + RIGHT + "}", True, "'maybe'"),
        ('{"reason": "he wrote ' + RIGHT + '", "result": "incorrect"}', False, "no JSON object"),
        ('{"reason": "he wrote ' + RIGHT + ' and', False, "no JSON object"),
        ("{'reason': 'wrote " + RIGHT + "', 'result': 'incorrect'}", False, "no JSON object"),
        ('{"result": "correct", "share": NaN}', False, "no JSON object"),
        ('{"result": "correct", "share": 1e999}', False, "no JSON object"),
        ('{"a":' * 5000, False, "no JSON object"),
        ('{"a":' * 5000 + "1" + "}" * 5000, False, "no JSON object"),
        ("{" * 50_000, False, "no JSON object"),
        ("[{" * 20_000, False, "no JSON object"),
        ('{"a}' * 50_000, False, "no JSON object"),
    ],
)  # fmt: skip
def test_what_is_no_verdict_is_refused(text: str, found: bool, words: str) -> None:
    with pytest.raises(Unreadable, match=words) as caught:
        read(text, Ruled)
    assert caught.value.found is found


GOOD: dict[str, Any] = {"final": True, "correct": None, "missing": ["a"], "rating": 3}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"correct": False}, ""),
        ({"share": 1}, ""),
        ({"final": "false"}, "final: true or false is wanted here, not the text 'false'"),
        ({"final": 1}, "final: true or false is wanted here, not the number 1"),
        ({"final": None}, "final"),
        ({"correct": "null"}, "correct"),
        ({"missing": "a"}, "missing: a list is wanted"),
        ({"missing": [1]}, "missing.0: a text is wanted"),
        ({"missing": None}, "missing"),
        ({"rating": "3"}, "rating: a whole number"),
        ({"rating": 3.5}, "rating"),
        ({"rating": True}, "rating"),
        ({"share": "0.5"}, "share: a number"),
    ],
)
def test_nothing_is_bent_to_fit(change: dict[str, Any], words: str) -> None:
    import json

    text = json.dumps({**GOOD, **change})
    if not words:
        assert read(text, Many)[0].model_dump().items() >= {**GOOD, **change}.items()
        return
    with pytest.raises(Unreadable, match=words):
        read(text, Many)


def test_the_schema_is_closed_and_asks_for_every_key() -> None:
    shape = shape_of(Many)
    assert shape.name == "Many"
    assert shape.schema["additionalProperties"] is False
    assert shape.schema["required"] == list(Many.model_fields)
    assert shape.schema["properties"]["title"] == {"type": "string"}
    assert shape.schema["properties"]["correct"] == {
        "anyOf": [{"type": "boolean"}, {"type": "null"}]
    }
    assert shape_of(Ruled).schema["properties"]["result"]["enum"] == ["correct", "incorrect"]
