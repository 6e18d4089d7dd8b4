"""Blanks as the scorer takes them: templates checked, alternatives with what holds around them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.io.yaml_files import read_yaml
from proctor.origins.infibench.blank_parameters import NEVER, ORIGINAL_STRIP, STRIP, blank_params
from proctor.origins.infibench.format import BlankFilling
from proctor.origins.infibench.notes import Notes

Read = Callable[..., tuple[dict[str, Any], Notes]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def make(
        targets: str, template: str = "a [blank] b", compat: str = ""
    ) -> tuple[dict[str, Any], Notes]:
        path = tmp_path / "case.yaml"
        path.write_text(f"template: '{template}'\ntargets: {targets}\n", encoding="utf-8")
        document = read_yaml(path)
        notes = Notes(document=document, root=tmp_path, home=tmp_path, compat=compat)
        return blank_params(notes, BlankFilling.model_validate(document.data), ()), notes

    return make


@pytest.mark.parametrize(
    ("targets", "params"),
    [
        ("[x]", ["x"]),
        ("[{content: x}]", ["x"]),
        ("[{content: [x, y], weight: 2}]", [{"any": ["x", "y"], "weight": 2.0}]),
        ("[{content: X, to_lower: true, substr_match: true}]",
         [{"any": ["X"], "ignore_case": True, "substring": True}]),
        ("[{content: [{content: 'x+', regex: true}, y]}]",
         [{"any": [{"text": "x+", "regex": True}, "y"]}]),
        ("[{content: [{or: [a, b], cond: 'ok'}]}]",
         [{"any": [{"text": "a", "cond": "ok"}, {"text": "b", "cond": "ok"}]}]),
    ],
)  # fmt: skip
def test_targets_have_their_shortest_form(read: Read, targets: str, params: list[Any]) -> None:
    found, notes = read(targets)
    assert (found["targets"], notes.findings.errors) == (params, [])
    assert (found["template"], found["blank"], found["strip"]) == ("a [blank] b", "[blank]", STRIP)


@pytest.mark.parametrize(
    ("template", "targets", "words"),
    [
        (" ", "[x]", "the template is empty"),
        ("a [blank]b[blank]c", "[x]", "1 targets for 2 blanks"),
        ("a", "[x]", "1 targets for 0 blanks"),
    ],
)
def test_a_template_has_a_target_for_each_blank(
    read: Read, template: str, targets: str, words: str
) -> None:
    _, notes = read(targets, template)
    assert words in notes.findings.errors[0].message


@pytest.mark.parametrize(
    ("template", "targets", "words"),
    [
        ("[blank] b", "[x]", "a blank at the start"),
        ("a [blank]", "[x]", "a blank at the end"),
        ("a [blank][blank] b", "[x, y]", "two blanks side by side"),
    ],
)
def test_where_the_original_stumbles_is_warned_of(
    read: Read, template: str, targets: str, words: str
) -> None:
    _, notes = read(targets, template)
    assert notes.findings.errors == []
    assert notes.findings.warnings[0].message.startswith(words)


def test_the_original_takes_keys_for_answers_and_lists_inside_for_nothing(read: Read) -> None:
    old, _ = read("[{content: {or: [x, y]}}]", compat="original")
    assert old["targets"] == ["or"]
    assert old["strip"] == ORIGINAL_STRIP
    new, notes = read("[{content: {or: [x, y]}}]")
    assert new["targets"] == [{"any": ["x", "y"]}]
    assert "takes its keys ('or') for the right answers" in notes.findings.warnings[0].message
    nested, _ = read("[{content: [{content: [x]}, y]}]", compat="original")
    assert nested["targets"] == [{"any": [NEVER, "y"]}]
