"""Notes on a file: where it says something odd, and which files it may name."""

from pathlib import Path
from typing import Any

import pytest

from proctor.io.yaml_files import read_yaml
from proctor.origins.infibench.notes import Notes, near, shortest


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    case = tmp_path / "cases" / "case.yaml"
    case.parent.mkdir()
    case.write_text("a: 1.10\nb: True\nc: {x: 1, y: 2}\n")
    return Notes(document=read_yaml(case), root=tmp_path, home=tmp_path)


def messages(notes: Notes) -> list[str]:
    return [problem.message for problem in notes.findings.errors]


def test_a_value_is_taken_as_it_is_spelt_and_that_is_told(notes: Notes) -> None:
    assert notes.spelt(("a",), 1.1) == "1.10"
    assert notes.spelt(("b",), True) == "True"
    assert notes.spelt(("c",), "text") == "text"
    number, truth = notes.findings.warnings
    assert "number" in number.message
    assert "truth value" in truth.message
    assert number.line == 1
    assert notes.keys_at(("c",)) == ("x", "y")


@pytest.mark.parametrize(
    ("compat", "reproduced", "end"),
    [
        ("", True, "Proctor reads it"),
        ("original", True, "this is kept (compat original)"),
        ("original", False, "Proctor reads it"),
    ],
)
def test_a_difference_says_what_happens_here(
    notes: Notes, compat: str, reproduced: bool, end: str
) -> None:
    notes.compat = compat
    notes.differs((), "odd", "loses it", "reads it", reproduced=reproduced)
    assert notes.findings.warnings[0].message == f"odd: the original loses it; {end}"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../../out.txt", "leaves the folder of the suite"),
        ("gone.txt", "there is no file 'gone.txt' beside the case"),
        ("a\0b", ""),
    ],
)
def test_a_file_lies_inside_the_suite(notes: Notes, name: str, words: str) -> None:
    assert notes.text_of(("a",), name) == ""
    (message,) = messages(notes)
    assert words in message


def test_files_are_read_relative_to_the_case(notes: Notes, tmp_path: Path) -> None:
    (tmp_path / "shared.txt").write_bytes(b"a\r\nb")
    assert notes.text_of(("a",), "../shared.txt") == "a\nb"
    assert messages(notes) == []


def test_a_module_is_found_by_the_longest_ending_of_its_name(notes: Notes, tmp_path: Path) -> None:
    (tmp_path / "cases" / "check.py").write_text("x = 1")
    assert notes.module_params((), "suites.cases.check") == {"source": "x = 1"}
    assert notes.module_params((), "not there") == {"source": ""}
    assert notes.module_params((), "cases.gone") == {"source": ""}
    assert len(messages(notes)) == 2


@pytest.mark.parametrize(
    ("text", "lowered", "problems", "warnings"),
    [("a+", False, 0, 0), ("(", False, 1, 0), ("\\D", True, 0, 1), ("\\D", False, 0, 0),
     ("[A-Z]", True, 0, 1)],
)  # fmt: skip
def test_a_pattern_that_small_letters_change_is_warned_of(
    notes: Notes, text: str, lowered: bool, problems: int, warnings: int
) -> None:
    notes.pattern((), text, lowered=lowered)
    assert (len(notes.findings.errors), len(notes.findings.warnings)) == (problems, warnings)


@pytest.mark.parametrize(
    ("node", "short"),
    [({"text": "a"}, "a"), ({"text": "a", "neg": True}, None), ({"any": []}, None)],
)
def test_a_node_that_is_a_text_is_written_as_one(node: dict[str, Any], short: Any) -> None:
    assert shortest(node) == (node if short is None else short)


def test_what_was_meant_is_named(tmp_path: Path) -> None:
    (tmp_path / "case.txt").write_text("")
    assert "case.txt" in near(tmp_path / "csae.txt")
    assert near(tmp_path / "none" / "x") == "there is no folder 'none' either"
