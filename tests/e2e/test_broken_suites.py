"""Broken suites and answers through the command line: one clear error with its place, exit 2."""

import json
import os
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from proctor.cli.main import _run
from waiting import PATIENCE

BROKEN = Path(__file__).resolve().parents[1] / "broken"
MEMORY = 3 * 1024**3

ROWS = [row.split(" | ") for row in (BROKEN / "table.txt").read_text().splitlines()[1:]]
GOOD = "name: good\ncases:\n  - id: red\n    ask: What is red?\n    criteria: colour\n"
KEYS = {"severity", "message", "file", "line", "column", "field", "hint"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "runs.db"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl"
    path.write_text('{"case": "red", "output": "a colour"}\n')
    return path


def proctor(capsys: pytest.CaptureFixture[str], *args: str | Path) -> tuple[str, str]:
    """Run a command that must end with exit code 2; return what it printed."""
    code = _run([str(arg) for arg in args])
    out, err = capsys.readouterr()
    assert code == 2, (out, err)
    assert "Traceback" not in err
    return out, err


def one_error(capsys: pytest.CaptureFixture[str], *args: str | Path) -> dict[str, str | int | None]:
    """Return the one error that a command prints as JSON."""
    shown = json.loads(proctor(capsys, *args, "--json")[0])
    found = shown["problems"] if "problems" in shown else shown["error"]["problems"]
    errors = [problem for problem in found if problem["severity"] == "error"]
    assert len(errors) == 1, errors
    assert set(errors[0]) == KEYS
    return errors[0]


def place_of(problem: dict[str, str | int | None]) -> str:
    parts = (problem["file"], problem["line"], problem["column"])
    return ":".join(str(part) for part in parts if part is not None)


def spec_in(folder: Path) -> str:
    return next(p.name for p in sorted(folder.glob("suite.*")))


def test_the_table_names_every_folder() -> None:
    assert sorted(name for name, _, _ in ROWS) == sorted(
        p.name for p in BROKEN.iterdir() if p.is_dir()
    )
    assert len(ROWS) >= 100


@pytest.mark.parametrize(("name", "place", "words"), ROWS, ids=[row[0] for row in ROWS])
@pytest.mark.sampled(7)
def test_a_broken_suite_is_one_error_with_its_place(
    name: str,
    place: str,
    words: str,
    store: Path,
    answers: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(BROKEN / name)
    spec = spec_in(BROKEN / name)
    out, err = proctor(capsys, "check", spec)
    shown = [line for line in err.splitlines() if ": error: " in line]
    assert [line.startswith(f"{place}: error: {words}") for line in shown] == [True], err
    assert f"0 cases, {len(shown)} error" in out or "1 case, 1 error" in out
    checked = one_error(capsys, "check", spec)
    assert (place_of(checked), str(checked["message"]).startswith(words)) == (place, True)
    ran = one_error(capsys, "run", spec, "--answers", answers, "--store", store)
    assert ran == checked
    assert proctor(capsys, "run", spec, "--answers", answers, "--store", store)[0] == ""


def text(content: str, name: str = "suite.yaml") -> Callable[[Path], str]:
    return data(content.encode(), name)


def data(content: bytes, name: str = "suite.yaml") -> Callable[[Path], str]:
    def make(folder: Path) -> str:
        (folder / name).write_bytes(content)
        return name

    return make


def pipe(folder: Path) -> str:
    os.mkfifo(folder / "suite.yaml")
    return "suite.yaml"


def link_outside(folder: Path) -> str:
    (folder / "inner").mkdir()
    (folder / "secret.txt").write_text("What is red?")
    (folder / "inner" / "ask.txt").symlink_to(folder / "secret.txt")
    return text("cases: [{ask_file: ask.txt, criteria: a}]\n", "inner/suite.yaml")(folder)


def link_in_a_circle(folder: Path) -> str:
    (folder / "ask.txt").symlink_to(folder / "ask.txt")
    return text("cases: [{ask_file: ask.txt, criteria: a}]\n")(folder)


def near_name(folder: Path) -> str:
    text(GOOD)(folder)
    return "siute.yaml"


def empty_folder(folder: Path) -> str:
    (folder / "inner").mkdir()
    return "inner"


def cut_parquet(folder: Path) -> str:
    pyarrow.parquet.write_table(pyarrow.table({"ask": ["a"] * 99}), folder / "suite.parquet")
    path = folder / "suite.parquet"
    path.write_bytes(path.read_bytes()[:-40])
    return "suite.parquet"


def binary_prompt(folder: Path) -> str:
    (folder / "ask.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    return text("cases: [{ask_file: ask.txt, criteria: a}]\n")(folder)


def keyword_bomb() -> str:
    lines = ["cases:", "  - ask: a", "    criteria:", "      - keywords:"]
    lines.append("          - any: &a [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]")
    for old, new in zip("abcde", "bcdef", strict=True):
        inner = ", ".join([f"{{any: *{old}}}"] * 10)
        lines.append(f"          - any: &{new} [{inner}]")
    return "\n".join(lines)


def text_bomb() -> str:
    many = ", ".join(["*a"] * 100_000)
    return f"cases:\n  - ask: &a {'x' * 900_000}\n    criteria: b\n    hidden: {{x: [{many}]}}\n"


def long_name(key: str) -> str:
    return f"cases:\n  - {key}{'x' * 5000}.yaml\n    criteria: b\n"


MADE: list[tuple[str, Callable[[Path], str], str, str]] = [
    ("invalid_utf8", data(b"name: caf\xe9\ncases: []\n"), "suite.yaml:1:10", "not valid UTF-8"),
    ("utf16", data(GOOD.encode("utf-16")), "suite.yaml:1:1", "this is UTF-16"),
    ("utf16_without_mark", data(GOOD.encode("utf-16-le")), "suite.yaml:1:2", "this is a binary"),
    ("nul_byte", data(b"name: a\ncases: [\0]\n"), "suite.yaml:2:9", "this is a binary file"),
    ("png", data(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "suite.yaml:3:1", "this is a binary file"),
    ("control_character", data(b"name: a\x07\n"), "suite.yaml:1:1", "not valid YAML"),
    ("line_of_10_mb", text("name: " + "x" * 10_000_000), "suite.yaml:1:1", "a line of 10,000,006"),
    ("random_10_mb", data(Random(1).randbytes(10_000_000)), "suite.yaml:1:108", "this is a binary"),
    ("text_10_mb", text("%@`x\n" * 2_000_000), "suite.yaml:1:", "not valid YAML"),
    ("open_brackets", text("cases: " + "[" * 100_000), "suite.yaml:1:67", "nested more than 60"),
    ("keys_again", text("name: a\n" + "b: c\n" * 100_000), "suite.yaml:503:1", "more than 500"),
    ("keyword_bomb", text(keyword_bomb()), "suite.yaml:9:", "more than 100,000 values, aliases"),
    ("text_bomb", text(text_bomb()), "suite.yaml:4:", "more than 33,554,432 characters"),
    ("pipe", pipe, "suite.yaml", "this is a pipe or a device"),
    ("device", lambda _: "/dev/zero", "/dev/zero", "this is a pipe or a device"),
    ("link_outside", link_outside, "inner/suite.yaml:1:10", "the path 'ask.txt' leads out"),
    ("link_in_a_circle", link_in_a_circle, "suite.yaml:1:10", "there is no file 'ask.txt'"),
    ("near_name", near_name, "siute.yaml", "there is no such file or folder"),
    ("empty_folder", empty_folder, "inner", "no suite in this folder"),
    ("cut_parquet", cut_parquet, "suite.parquet", "not readable as Parquet"),
    ("no_parquet", data(b"PAR1 no", "suite.parquet"), "suite.parquet", "not readable as Parquet"),
    ("binary_prompt", binary_prompt, "ask.txt:3:1", "this is a binary file"),
    ("long_name", text(long_name("ask_file: ")), "suite.yaml:2:5", "a name in this path has more"),
    ("digits", text(f'{{"ask": {"9" * 5000}}}', "s.jsonl"), "s.jsonl:1:1", "a number has too many"),
    ("jsonl_utf8", data(b'{"ask": "a", "criteria": "b"}\n{"ask": "\xff"}\n', "s.jsonl"),
     "s.jsonl:2:10", "not valid UTF-8"),
    ("jsonl_line_of_10_mb", text('{"ask": "' + "x" * 10_000_000, "s.jsonl"), "s.jsonl:1:9",
     "not valid JSON"),
    ("infibench_long_name", text("prompt_path: " + "x" * 500 + "\ngrading: {keywords: [a]}\n"),
     "suite.yaml:1:1", "a name in this path has more"),
]  # fmt: skip


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@pytest.mark.parametrize(("make", "place", "words"), [row[1:] for row in MADE],
                         ids=[row[0] for row in MADE])  # fmt: skip
@pytest.mark.sampled(9)
def test_what_is_large_or_no_text_is_one_error_in_little_memory(
    tmp_path: Path, cli: Any, make: Callable[[Path], str], place: str, words: str
) -> None:
    done = subprocess.run(
        [cli.program, "check", make(tmp_path), "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        preexec_fn=limited,
    )
    assert (done.returncode, done.stderr) == (2, "")
    (problem,) = json.loads(done.stdout)["problems"]
    assert place_of(problem).startswith(place)
    assert problem["message"].startswith(words)


def test_files_that_include_each_other_many_times_come_to_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for level in range(12):
        names = "".join(f"  - {level + 1}.yaml\n" for _ in range(10))
        (tmp_path / f"{level}.yaml").write_text(f"name: a\ncases:\n{names}")
    (tmp_path / "12.yaml").write_text("ask: a\ncriteria: b\n")
    monkeypatch.chdir(tmp_path)
    _, err = proctor(capsys, "check", "0.yaml")
    assert "is included more than 5 times" in err


def test_a_flood_of_errors_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f'{{"{"x" * (1 + number)}": 1}}\n' for number in range(2_000))
    (tmp_path / "suite.jsonl").write_text(rows)
    monkeypatch.chdir(tmp_path)
    found = json.loads(proctor(capsys, "check", "suite.jsonl", "--json")[0])["problems"]
    assert (len(found), found[-1]["message"]) == (501, "… and 1,500 more problems")


def test_every_equal_error_is_counted_and_leaves_room_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = '{"aks": 1}\n' * 1_319 + '{"ask": "a", "criteria": {"contians": "b"}}\n'
    (tmp_path / "suite.jsonl").write_text(rows)
    monkeypatch.chdir(tmp_path)
    out, err = proctor(capsys, "check", "suite.jsonl")
    assert "and 1,318 more like it: suite.jsonl:2:1" in err
    assert "there is no scorer 'contians'" in err
    assert "1320 errors" in out
    found = json.loads(proctor(capsys, "check", "suite.jsonl", "--json")[0])
    assert found["counts"]["error"] == 1_320
    assert sum(1 + problem.get("unlisted", 0) for problem in found["problems"]) == 1_320


def red(**keys: object) -> str:
    return json.dumps({"case": "red", "output": "a colour", **keys}) + "\n"


ANSWERS: list[tuple[str, Callable[[Path], str], str, str]] = [
    ("missing", lambda _: "answer.jsonl", "answer.jsonl", "there is no such file or folder"),
    ("unknown_case", text(red() + red(case="rad"), "a.jsonl"), "a.jsonl:2:1",
     "the suite has no case 'rad'"),
    ("attempt_twice", text(red(attempt=0) + red(attempt=0), "a.jsonl"), "a.jsonl:2:1",
     "attempt 0 at the case 'red' is there twice (first on line 1)"),
    ("attempt_a_text", text(red(attempt="first"), "a.jsonl"), "a.jsonl:1:1",
     "'attempt' is a whole number from 0"),
    ("output_a_list", text(red(output=["a"]), "a.jsonl"), "a.jsonl:1:1", "'output' is a text"),
    ("messages_a_number", text(red(output=None, messages=5), "a.jsonl"), "a.jsonl:1:1",
     "'messages' is a list"),
    ("row_a_list", text("[1]\n", "a.jsonl"), "a.jsonl:1:1", "a row is an object"),
    ("no_case", text('{"id": "red", "output": "a"}\n', "a.jsonl"), "a.jsonl:1:1",
     "the row does not say which 'case'"),
    ("broken_line", text(red() + '{"case": "red"\n', "a.jsonl"), "a.jsonl:2:15",
     "not valid JSON"),
    ("deep_line", text(red() + "[" * 5000 + "]" * 5000, "a.jsonl"), "a.jsonl:2:1",
     "nested more than 60 deep"),
    ("binary", data(b"\0\1\2\n", "a.jsonl"), "a.jsonl:1:1", "this is a binary file"),
    ("ragged", text("case,output\nred,a,b\n", "a.csv"), "a.csv:2:1", "a row of 3 fields"),
    ("column_twice", text("case,output,output\nred,a,b\n", "a.csv"), "a.csv:1:1",
     "columns that occur twice"),
    ("empty_table", text("", "a.csv"), "a.csv:1:1", "the file is empty"),
    ("cut_parquet", data(b"PAR1 no", "a.parquet"), "a.parquet", "not readable as Parquet"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "place", "words"), [row[1:] for row in ANSWERS],
                         ids=[row[0] for row in ANSWERS])  # fmt: skip
@pytest.mark.sampled(2)
def test_broken_answers_are_one_error_with_its_place(
    tmp_path: Path,
    make: Callable[[Path], str],
    place: str,
    words: str,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "suite.yaml").write_text(GOOD.replace("good", tmp_path.name))
    monkeypatch.chdir(tmp_path)
    problem = one_error(capsys, "run", "suite.yaml", "--answers", make(tmp_path), "--store", store)
    assert place_of(problem) == place
    assert str(problem["message"]).startswith(words)


def test_a_misspelt_path_is_answered_with_the_near_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "suite.yaml").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    assert "did you mean suite.yaml?" in proctor(capsys, "check", "siute.yaml")[1]
