"""Keyword rules as the scorer takes them: settings inherited, and what the original ignores."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.io.yaml_files import read_yaml
from proctor.origins.infibench.format import Grading
from proctor.origins.infibench.keyword_parameters import full_marks, keyword_rules
from proctor.origins.infibench.notes import Notes

Read = Callable[..., tuple[list[Any], Notes, float]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def make(text: str, compat: str = "") -> tuple[list[Any], Notes, float]:
        path = tmp_path / "case.yaml"
        path.write_text(f"keywords:\n{text}\n", encoding="utf-8")
        document = read_yaml(path)
        notes = Notes(document=document, root=tmp_path, home=tmp_path, compat=compat)
        items = Grading.model_validate(document.data).keywords
        assert items is not None
        return keyword_rules(notes, items, ("keywords",)), notes, full_marks(items)

    return make


@pytest.mark.parametrize(
    ("text", "rules", "full"),
    [
        ("- red\n- green", ["red", "green"], 2.0),
        ("- {content: red, weight: 2.5}", [{"text": "red", "weight": 2.5}], 2.5),
        ("- {content: bad, neg: true}\n- red", [{"text": "bad", "neg": True}, "red"], 1.0),
        ("- {content: {or: [a, b]}}", [{"any": ["a", "b"]}], 1.0),
        ("- {content: {and: [a, {content: 'b+', regex: true}]}}",
         [{"all": ["a", {"regex": True, "text": "b+"}]}], 1.0),
        ("- {content: Red, to_lower: true}", [{"ignore_case": True, "text": "Red"}], 1.0),
        ("- {content: {content: a, cond: 'len(x) > 1'}}",
         [{"cond": "len(x) > 1", "text": "a"}], 1.0),
        ("- red\n- {post_handler: {module: m, func: f}}", ["red"], 1.0),
    ],
)  # fmt: skip
def test_rules_have_their_shortest_form(
    read: Read, text: str, rules: list[Any], full: float
) -> None:
    found, notes, marks = read(text)
    assert (found, marks, notes.findings.errors) == (rules, full, [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- ''", "an empty keyword matches every answer"),
        ("- {content: {content: '(', regex: true}}", "does not compile"),
        ("- {content: {content: a, cond: 'x ='}}", "is not a Python expression"),
        ("- {post_handler: {module: m, func: f}}", "no keyword is given"),
    ],
)
def test_what_is_wrong_is_a_problem(read: Read, text: str, words: str) -> None:
    _, notes, _ = read(text)
    assert words in notes.findings.errors[0].message


@pytest.mark.parametrize(
    ("text", "ours", "theirs"),
    [
        ("- {content: a, regex: true}", [{"regex": True, "text": "a"}], ["a"]),
        ("- {content: {content: A, to_lower: true}}", [{"ignore_case": True, "text": "A"}], ["A"]),
        ("- 1.10", ["1.10"], ["1.10"]),
    ],
)
def test_what_the_original_does_otherwise_is_warned_of_and_kept(
    read: Read, text: str, ours: list[Any], theirs: list[Any]
) -> None:
    new, notes, _ = read(text)
    old, kept, _ = read(text, "original")
    assert (new, old) == (ours, theirs)
    assert len(notes.findings.warnings) == len(kept.findings.warnings) == 1
    assert "the original" in notes.findings.warnings[0].message


def test_keys_without_effect_are_warned_of(read: Read) -> None:
    _, notes, _ = read("- {content: {content: a, weight: 3, or: [b]}}")
    messages = " ".join(warning.message for warning in notes.findings.warnings)
    assert "'weight' inside 'content' has no effect" in messages
    assert "'or' comes first" in messages
