"""Files that people write: values with their places, and limits that hold."""

import os
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import SuiteError
from proctor.io import row_files, text_files, yaml_files


def yaml_of(tmp_path: Path, text: str | bytes) -> text_files.Document:
    path = tmp_path / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return yaml_files.read_yaml(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1", {"a": 1}),
        ("a: 1.10", {"a": 1.1}),
        ("a: '1'", {"a": "1"}),
        ("a: yes", {"a": "yes"}),
        ("a: true", {"a": True}),
        ("a: null", {"a": None}),
        ("a: ~", {"a": None}),
        ("a: 0x10", {"a": "0x10"}),
        ("a: 1e3", {"a": 1000.0}),
        ("a: .5", {"a": 0.5}),
        ("a: 2024-01-01", {"a": "2024-01-01"}),
        ("a: 12:30", {"a": "12:30"}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("[1, [2, {a: b}]]", [1, [2, {"a": "b"}]]),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("a: !!str 1", {"a": "1"}),
        ("a: !!int '3'", {"a": 3}),
        ("1: a", {"1": "a"}),
        ("\ufeffa: 1", {"a": 1}),
    ],
)
def test_yaml(tmp_path: Path, text: str, expected: Any) -> None:
    assert yaml_of(tmp_path, text).data == expected


def test_places_and_spelling(tmp_path: Path) -> None:
    document = yaml_of(tmp_path, "cases:\n  - id: x\n    weight: 1.10\n")
    assert document.place(("cases", 0, "weight")) == text_files.Place(3, 5)
    assert document.place(("cases", 0, "missing")) == text_files.Place(2, 5)
    assert document.spelt(("cases", 0, "weight"), 1.1) == "1.10"
    problem = document.problem(("cases", 0, "weight"), "wrong", hint="right")
    assert (problem.line, problem.column, problem.field) == (3, 5, "cases[0].weight")
    assert "    weight: 1.10" in str(problem)
    assert str(problem).rstrip().endswith("fix: right")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028", "\u2029"])
def test_lines_end_as_yaml_says(tmp_path: Path, end: str) -> None:
    document = yaml_of(tmp_path, f"a: 1{end}b: 2{end}a: 3")
    (warning,) = document.warnings
    assert (warning.line, warning.column, warning.excerpt) == (3, 1, "a: 3")
    assert document.problem(("b",), "wrong").excerpt == "b: 2"


def test_a_key_that_occurs_twice_is_warned_of(tmp_path: Path) -> None:
    document = yaml_of(tmp_path, "a: 1\nb: 2\na: 3\n")
    assert document.data == {"a": 3, "b": 2}
    assert [(w.line, w.column, w.severity) for w in document.warnings] == [(3, 1, "warning")]


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "empty"),
        ("# only a comment\n", 1, "empty"),
        ("a: [1\nb: 2", 2, "not valid YAML"),
        ("a: 1\n---\nb: 2\n", 2, "second YAML document"),
        ("a: !!python/object:os.system x", 1, "not allowed"),
        ("a: &x\n  b: *x\n", 2, "contains itself"),
        ("a: *nothing", 1, "points to nothing"),
        ("a: {<<: {b: 1}}", 1, "merge keys"),
        ("? [a]\n: b", 1, "plain text"),
        (BOMB, 5, "values"),
        ("[" * 100 + "]" * 100, 1, "deep"),
        (b"a: \xff\xfe", 1, "not valid UTF-8"),
        (b"a: 1\nb: \x00", 2, "binary file"),
        ("a: " + "x" * 1_000_001, 1, "characters"),
    ],
)
def test_broken_yaml(tmp_path: Path, text: str | bytes, line: int, words: str) -> None:
    with pytest.raises(SuiteError, match=words) as caught:
        yaml_of(tmp_path, text)
    (problem,) = caught.value.problems
    assert problem.line == line
    assert problem.file


def rows_of(tmp_path: Path, name: str, text: str) -> list[Any]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return [document.data for document in row_files.read_rows(path)]


def test_rows(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "a.jsonl", '{"a": 1}\n\n[2]\n') == [{"a": 1}, [2]]
    assert rows_of(tmp_path, "a.csv", 'a,b\n1,"x\ny"\n,z\n') == [
        {"a": "1", "b": "x\ny"},
        {"a": "", "b": "z"},
    ]


@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [
        ("a.jsonl", '{"a": 1}\n{"a": }\n', 2, "not valid JSON"),
        ("a.jsonl", "[" * 100_000 + "\n", 1, "deep|not valid JSON"),
        ("a.csv", "", 1, "header"),
        ("a.csv", "a,a\n1,2\n", 1, "twice"),
        ("a.csv", "a,b\n1,2\n1\n", 3, "1 fields under a header of 2"),
        ("a.csv", 'a,b\n1,"2\n', 2, "not readable as CSV"),
        ("a.csv", ",".join(f"c{n}" for n in range(10_001)), 1, "more than 10,000 columns"),
        ("a.csv", ",".join(["a"] * 9_999) + "\n", 1, "columns that occur twice: a"),
        ("a.jsonl", '{"a": [' + "1," * 60 + "1" * 400 + "]}\n", 1, "a number has too many digits"),
        (
            "a.jsonl",
            '{"a": "' + "[" * 70 + '", "b": ' + "[" * 70 + "]" * 70 + "}",
            1,
            "nested more than 60 deep",
        ),
        ("a.jsonl", "1\n[" + "{}," * 2_600_000 + "1]\n", 2, "more than 5,000,000 values"),
        ("a.parquet", "no parquet", None, "not readable as Parquet"),
        ("a.txt", "x", None, "rows are read from"),
    ],
)
def test_broken_rows(tmp_path: Path, name: str, text: str, line: int | None, words: str) -> None:
    with pytest.raises(SuiteError, match=words) as caught:
        rows_of(tmp_path, name, text)
    assert caught.value.problems[0].line == line


@pytest.mark.parametrize(
    ("name", "fits"),
    [("a.txt", True), ("sub/../a.txt", True), ("../b.txt", False), ("/etc/passwd", False),
     ("sub/../../b.txt", False)],
)  # fmt: skip
def test_paths_stay_inside(tmp_path: Path, name: str, fits: bool) -> None:
    root = tmp_path / "root"
    root.mkdir()
    assert (text_files.inside(root, root, name) is not None) is fits


def test_links_do_not_lead_outside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    assert text_files.inside(root, root, "link/secret.txt") is None


def test_missing_files(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(SuiteError, match=r"no such file|folder"):
            yaml_files.read_yaml(path)


def test_the_head_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"0123456789")
    assert text_files.read_head(path, 4) == b"0123"
    assert text_files.read_head(tmp_path) == text_files.read_head(tmp_path / "none") == b""
    os.mkfifo(tmp_path / "pipe")
    assert text_files.read_head(tmp_path / "pipe") == b""


LINES = [
    *('{"a": 1}', '{"a": 1.0, "b": [1, {"c": null}]}', " [1] ", "7", '"text"', '{"a": 1, "a": 2}'),
    *('{"a": NaN}', '{"a": 1e400}', '{"a": 12345678901234567890123}', '{"a": "\\ud800"}'),
    *('{"a": "\\u0000"}', '{"a": "é\u2028"}', "[" * 60 + "]" * 60, "[" * 61 + "]" * 61),
    *('{"a": "\0"}', "{", '{"a": 1} x', "nothing", '{"a": "\t"}', "[" * 200 + "]" * 200),
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:30])
@pytest.mark.parametrize("before", ["", "\ufeff", " \n"], ids=repr)
def test_a_line_is_read_as_its_text_is(tmp_path: Path, line: str, before: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{before}{line}\r\n\n", encoding="utf-8", newline="")

    def read() -> str:
        try:
            return repr([(one.row, one.data) for one in text_files.read_jsonl(path)])
        except SuiteError as error:
            return str(error)

    quickly = read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_files, "_ordinary_json", lambda _: text_files._UNREAD)
        assert read() == quickly
