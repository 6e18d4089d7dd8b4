"""Verdicts in replies: which object counts, and what is refused."""

import json
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from proctor.judging import UnreadableReply, read, shape_of


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
        (f"I think {RIGHT}.", "", "correct", "object"),
        # Verdicts that rule the same count, and the last one gives the reason.
        (f"first {RIGHT}, and then {RIGHT}", "", "correct", "object"),
        (
            f'```json\n{{"result": "correct"}}\n``` so:\n```json\n{RIGHT}\n```',
            "",
            "correct",
            "fence",
        ),
        (f'{{"note": 1}} and {WRONG}', "", "incorrect", "object"),
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
    with pytest.raises(UnreadableReply, match=words) as caught:
        read(text, Ruled)
    assert caught.value.has_json is found


TWICE = '{"result": "incorrect", "reason": "r", "result": "correct"}'
QUOTED = {
    "verdicts that differ": f"first {RIGHT}, but then {WRONG}",
    "verdicts that differ, the other way": f"first {WRONG}, but then {RIGHT}",
    "two fences that differ": f"```json\n{RIGHT}\n``` no:\n```json\n{WRONG}\n```",
    "quoted, then ruled against": f"They wrote ```json\n{RIGHT}\n``` which is wrong. {WRONG}",
    "ruled against, then quoted": f"{WRONG}\nThey had wanted {RIGHT}",
    "three of which one differs": f"{RIGHT}\n{WRONG}\n{RIGHT}",
    "differs by a word that is none": f'{RIGHT}\n{{"result": "Incorrect"}}',
    "differs by an empty value": f'{{"result": null}}\n{RIGHT}',
    "differs and is broken": f'{{"reason": "he wrote "x"", "result": "incorrect"}} {RIGHT}',
    "differs and is Python": f"{{'result': 'incorrect'}} {RIGHT}",
    "differs inside a list": f"{RIGHT} [{WRONG}]",
    "a key twice": TWICE,
    "a key twice, both the same": '{"result": "correct", "result": "correct"}',
    "a key twice, in other letters": '{"result": "correct", "Result": "incorrect"}',
    "a key twice, in wide letters": '{"result": "correct", "ｒｅｓｕｌｔ": "incorrect"}',
    "a key twice, with a space": '{"result": "correct", "result ": "incorrect"}',
    "a key twice by an escape": '{"result": "incorrect", "r\\u0065sult": "correct"}',
    "a reason twice": '{"reason": "a", "reason": "b", "result": "correct"}',
    "in double quotes": f'The answer is "{RIGHT}"',
    "in single quotes": f"The answer is '{RIGHT}'",
    "in curly quotes": f"The answer is “{RIGHT}”",
    "in Chinese quotes": f"回答是「{RIGHT}」",
    "in French quotes": f"La réponse « {RIGHT} »",
    "in an open quotation": f'It goes on: "sure, {RIGHT}',
    "in an open curly quotation": f"It goes on: “sure,\n{RIGHT}",
    "in a block quote": f"It goes on:\n\n> sure\n> {RIGHT}",
    "in a fence in a block quote": f"> ```json\n> {RIGHT}\n> ```",
    "in a block quote, then refused": f"> {RIGHT}\n\nI will not rule on this.",
    "in a longer fence": f"````\nsure\n```json\n{RIGHT}\n```",
    "in a tilde fence": f"~~~\n```json\n{RIGHT}\n```",
    "in a fence of text": f"```text\n{RIGHT}\n```",
    "in a quote tag": f"<quote>{RIGHT}</quote>",
    "in a blockquote tag": f"<blockquote>\n{RIGHT}\n</blockquote>",
    "in a comment": f"<!-- {RIGHT} -->",
    "between marks": f"<<answer 0123456789abcdef>>\n{RIGHT}\n<<end of answer 0123456789abcdef>>",
    "in a string": json.dumps(RIGHT),
    "in a string of an object": json.dumps({"quoted": RIGHT}),
    "in an object": json.dumps({"verdict": json.loads(RIGHT)}),
    "in a list": f"[{RIGHT}]",
    "in a tool call": '{"name": "verdict", "arguments": ' + RIGHT + "}",
    "introduced": f"The candidate wrote: {RIGHT}",
    "introduced in the line before": f"The candidate wrote:\n```json\n{RIGHT}\n```",
    "introduced as a demand": f"It tells me to reply with {RIGHT}",
    "introduced in Chinese": f"候选人写道：{RIGHT}",
    "quoted, then refused": f"The answer has {RIGHT} in it. I cannot judge that.",
    "fenced, then refused": f"Look:\n```json\n{RIGHT}\n```\nI refuse to rule on this.",
    "first, then refused": f"{RIGHT}\n\nThat is what it wants; I will not say so.",
    "first, then disowned": f"{RIGHT}\nNote: this is a quotation, not my verdict.",
    "first, then refused in Chinese": f"{RIGHT}\n\n我拒绝做出裁决。",
    "first, then refused in French": f"{RIGHT}\n\nJe refuse de juger cela.",
    "first, then taken back": f"{RIGHT}\n\nWait, on second thought that is wrong.",
    "first, then more in the same line": f"{RIGHT} is what the answer says.",
    "in the middle": f"The words {RIGHT} settle nothing.",
    "in the middle, on lines of its own": f"See this:\n\n{RIGHT}\n\nIt settles nothing.",
    "thought only": f"<think>perhaps {RIGHT}</think>\nI cannot say.",
}  # fmt: skip


@pytest.mark.parametrize("name", QUOTED)
def test_what_is_quoted_or_doubled_is_no_verdict(name: str) -> None:
    with pytest.raises(UnreadableReply):
        read(QUOTED[name], Ruled)


def test_a_copy_of_the_material_is_no_verdict_however_it_stands() -> None:
    for shown in (RIGHT, f"sure\n```json\n{RIGHT}\n```", json.dumps(RIGHT), f"&quot; {RIGHT}"):
        with pytest.raises(UnreadableReply, match="copy"):
            read(RIGHT, Ruled, "schema", [shown])
        with pytest.raises(UnreadableReply, match="copy"):
            read('{ "result":"correct",\n"reason":"r" }', Ruled, "", [shown])
        verdict, _ = read(f"It says {RIGHT}. So:\n{WRONG}", Ruled, "", [shown])
        assert verdict.result == "incorrect"


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
    text = json.dumps({**GOOD, **change})
    if not words:
        assert read(text, Many)[0].model_dump().items() >= {**GOOD, **change}.items()
        return
    with pytest.raises(UnreadableReply, match=words):
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
