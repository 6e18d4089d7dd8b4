"""Data against models: every error in our words, at its place."""

from pathlib import Path

import pytest

from proctor.errors import SuiteError
from proctor.io.text_files import Document
from proctor.io.validation import Strict, comma_hint, describe, number_with_comma, validate
from proctor.io.yaml_files import read_yaml


class Inner(Strict):
    weight: float = 1.0
    name: str


class Outer(Strict):
    title: str
    parts: tuple[Inner, ...] = ()
    flag: bool = False
    count: int = 0
    choice: Inner | str | None = None


@pytest.mark.parametrize(
    ("text", "line", "column", "words", "hint"),
    [
        ("title: 1", 1, 1, "expected a string, not the number 1", ""),
        ("flag: true", 1, 1, "the key 'title' is missing", ""),
        ("title: t\ntilte: x", 2, 1, "unknown key 'tilte'", "did you mean 'title'?"),
        ("title: t\nparts:\n  - {nmae: x}", 3, 6, "unknown key 'nmae'", "did you mean 'name'?"),
        ("title: t\nparts: x", 2, 1, "expected a list, not the string 'x'", ""),
        ("title: t\nparts: [x]", 2, 9, "expected a mapping, not the string 'x'", ""),
        ("title: t\nflag: 7", 2, 1, "expected true or false", ""),
        ("title: t\ncount: 1.5", 2, 1, "expected a whole number", ""),
        ("title: t\nparts:\n  - name: x\n    weight: heavy", 4, 5, "expected a number", ""),
    ],
)
def test_problems(tmp_path: Path, text: str, line: int, column: int, words: str, hint: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(SuiteError) as caught:
        validate(Outer, read_yaml(path))
    found = [(p.line, p.column, p.message, p.hint) for p in caught.value.problems]
    assert any(
        (row[0], row[1]) == (line, column) and words in row[2] and row[3] == hint for row in found
    ), found


def test_every_problem_at_once(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("flag: 7\ncount: x\nother: 1\n")
    with pytest.raises(SuiteError) as caught:
        validate(Outer, read_yaml(path))
    assert len(caught.value.problems) == 4


def test_right_data(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("title: t\nparts: [{name: x, weight: 2}]\n")
    made = validate(Outer, read_yaml(path))
    assert made == Outer(title="t", parts=(Inner(name="x", weight=2.0),))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("abc", "the string 'abc'"),
        ("x" * 50, f"the string '{'x' * 40}'…"),
        (None, "nothing"),
        (True, "true"),
        (1.5, "the number 1.5"),
        ([1], "a list"),
        ({}, "a mapping"),
    ],
)
def test_describe(value: object, expected: str) -> None:
    assert describe(value) == expected


@pytest.mark.parametrize(
    ("text", "value", "hint"),
    [
        ("1,5", 1.5, "write 1.5: numbers have a decimal point"),
        (" -0,25 ", -0.25, "write -0.25: numbers have a decimal point"),
        ("0,500", 0.5, "write 0.5: numbers have a decimal point"),
        ("1.234,5", 1234.5, "write 1234.5: numbers have a decimal point"),
        ("12 345,678", 12345.678, "write 12345.678: numbers have a decimal point"),
        ("1,500", None, "write 1.500 or 1500: numbers have a point"),
        ("-12,000", None, "write -12.000 or -12000: numbers have a point"),
        ("1.5", None, ""),
        ("1,5 kg", None, ""),
        ("1,234,567", None, ""),
        ("one", None, ""),
    ],
)
def test_numbers_with_a_comma(text: str, value: float | None, hint: str) -> None:
    assert number_with_comma(text) == value
    assert comma_hint(text) == hint


def test_the_error_of_a_number_with_a_comma_says_how_to_write_it(tmp_path: Path) -> None:
    class Weighed(Strict):
        weight: float

    document = Document(path=tmp_path / "cases.csv", data={"weight": "1,500"}, row=7)
    with pytest.raises(SuiteError) as caught:
        validate(Weighed, document)
    (problem,) = caught.value.problems
    assert (problem.line, problem.hint) == (7, "write 1.500 or 1500: numbers have a point")
    assert "expected a number, not the string '1,500' (at weight)" in str(problem)
