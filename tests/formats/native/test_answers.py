"""Answers in native files: numbered, streamed, and refused with their place when wrong."""

import datetime
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from proctor.core.attempt import AttemptStatus
from proctor.core.fingerprint import digest
from proctor.core.suite import Case, Message, Suite, ToolCall
from proctor.errors import DialectError, SuiteError
from proctor.formats.native import answers
from proctor.formats.native.dialect import Native

ASKED = (Message(role="user", content="q"),)
SUITE = Suite(
    name="s", cases=tuple(Case(id=name, messages=ASKED, criteria=()) for name in ("a", "b", "7"))
)


def read(folder: Path, text: str, name: str = "x.jsonl") -> list[tuple[str, int, str, str]]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    found = Native().answers(path, SUITE)
    return [(a.case_id, a.index, a.output, a.status.value) for a in found]


def rows(*data: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in data)


READ = [
    ([{"case": "a", "output": "x"}], [("a", 0, "x", "answered")]),
    ([{"case": "a", "output": ""}], [("a", 0, "", "answered")]),
    ([{"case": "a", "output": None}, {"case": "b", "output": "x"}],
     [("a", 0, "", "unanswered"), ("b", 0, "x", "answered")]),
    ([{"case": "a"}, {"case": "b", "output": "x"}],
     [("a", 0, "", "unanswered"), ("b", 0, "x", "answered")]),
    ([{"case": "a", "output": "x"}, {"case": "b", "output": "y"}, {"case": "a", "output": "z"}],
     [("a", 0, "x", "answered"), ("b", 0, "y", "answered"), ("a", 1, "z", "answered")]),
    ([{"case": "a", "output": "x", "attempt": 3}, {"case": "a", "output": "y"}],
     [("a", 3, "x", "answered"), ("a", 4, "y", "answered")]),
    ([{"case": "a", "output": 1.5}, {"case": "a", "output": True}],
     [("a", 0, "1.5", "answered"), ("a", 1, "true", "answered")]),
    ([{"case": 7, "output": "x"}], [("7", 0, "x", "answered")]),
    ([{"case": "a", "messages": [{"role": "assistant", "content": "x"}]}],
     [("a", 0, "x", "answered")]),
    ([{"case": "a", "messages": [{"role": "user", "content": "q"}]}], [("a", 0, "", "unanswered")]),
    ([{"case": "a", "output": "\ud83d\ude00 \ud800"}], [("a", 0, "😀 \ufffd", "answered")]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), READ)
def test_rows(tmp_path: Path, data: list[Any], expected: list[Any]) -> None:
    assert read(tmp_path, rows(*data)) == expected


def test_the_question_may_be_part_of_the_transcript(tmp_path: Path) -> None:
    said = [{"role": "assistant", "content": "x"}, {"role": "user", "content": "more"},
            {"role": "assistant", "content": "y"}]  # fmt: skip
    asked = [{"role": "user", "content": "q"}]
    path = tmp_path / "x.jsonl"
    path.write_text(rows({"case": "a", "messages": asked + said}, {"case": "a", "messages": said}))
    one, two = Native().answers(path, SUITE)
    assert one.messages == two.messages == tuple(Message(**message) for message in said)
    assert one.output == "y"


def test_other_keys_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(rows({"case": "a", "output": "x", "attempt": 0, "model": "m", "t": [1, None]}))
    (attempt,) = Native().answers(path, SUITE)
    assert attempt.meta == {"model": "m", "t": [1, None]}


def test_csv(tmp_path: Path) -> None:
    text = 'case,output,attempt,note\na,"x\ny",,n\na,,,\nb,z,2,\n'
    assert read(tmp_path, text, "x.csv") == [
        ("a", 0, "x\ny", "answered"),
        ("a", 1, "", "unanswered"),
        ("b", 2, "z", "answered"),
    ]
    attempts = list(Native().answers(tmp_path / "x.csv", SUITE))
    assert [attempt.meta for attempt in attempts] == [{"note": "n"}, {}, {}]
    cell = json.dumps([{"role": "assistant", "content": "x"}]).replace('"', '""')
    assert read(tmp_path, f'case,messages\na,"{cell}"\n', "y.csv") == [("a", 0, "x", "answered")]


def test_parquet(tmp_path: Path) -> None:
    table = pyarrow.table(
        {
            "case": ["a", "a", "7"],
            "output": ["x", None, "y"],
            "attempt": [1.0, None, None],
            "day": [datetime.date(2025, 1, 2), None, None],
            "odd": [float("nan"), 1.0, 2.0],
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    attempts = list(Native().answers(tmp_path / "x.parquet", SUITE))
    assert [(a.case_id, a.index, a.output) for a in attempts] == [
        ("a", 1, "x"),
        ("a", 2, ""),
        ("7", 0, "y"),
    ]
    assert attempts[0].meta == {"day": "2025-01-02", "odd": None}
    assert attempts[1].status is AttemptStatus.UNANSWERED
    assert digest(*attempts)


GOOD = {"case": "a", "output": "x"}
WRONG = [
    ([GOOD, [1]], 2, "a row is an object, not a list", ""),
    ([GOOD, {"output": "x"}], 2, "which 'case'", ""),
    ([GOOD, {"id": "a", "output": "x"}], 2, "which 'case'", "call the key 'id' 'case'"),
    ([GOOD, {"case": "aa", "output": "x"}, {"case": "aa"}], 2, "no case 'aa' (in 2 rows)", "'a'"),
    (
        [GOOD, GOOD | {"attempt": 0}],
        2,
        "attempt 0 at the case 'a' is there twice (first on line 1)",
        "",
    ),
    ([GOOD | {"attempt": -1}], 1, "a whole number from 0", ""),
    ([GOOD | {"attempt": 1.5}], 1, "a whole number from 0", ""),
    ([GOOD | {"attempt": "first"}], 1, "a whole number from 0", ""),
    ([GOOD | {"attempt": True}], 1, "a whole number from 0", ""),
    ([GOOD | {"messages": []}], 1, "say the same thing", ""),
    ([{"case": "a", "output": ["x"]}], 1, "'output' is a text, not a list", ""),
    ([GOOD, {"case": "b", "ouput": "x"}], 2, "no 'output', but 'ouput'", "call it 'output'"),
    ([{"case": "a", "messages": "x"}], 1, "not valid JSON", ""),
    ([{"case": "a", "messages": [{"role": "user"}]}], 1, "a list of objects", ""),
    ([{"case": "a", "messages": {"role": "user"}}], 1, "a list of objects", ""),
]


@pytest.mark.parametrize(("data", "line", "words", "hint"), WRONG)
def test_wrong_rows(tmp_path: Path, data: list[Any], line: int, words: str, hint: str) -> None:
    with pytest.raises(SuiteError) as caught:
        read(tmp_path, rows(*data))
    assert [words in problem.message for problem in caught.value.problems] == [True]
    problem = caught.value.problems[0]
    assert (problem.line, Path(problem.file or "").name) == (line, "x.jsonl")
    assert hint in problem.hint


def test_all_wrong_rows_are_told_before_anything_is_returned(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(rows(GOOD, {"case": "c"}, 5, {"case": "d"}, GOOD | {"attempt": 0}))
    with pytest.raises(SuiteError) as caught:
        Native().answers(path, SUITE)
    assert sorted(problem.line or 0 for problem in caught.value.problems) == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.txt", "x"),
        ("x.jsonl", '{"question": "a"}\n'),
        ("x.jsonl", "[1]\n"),
        ("x.jsonl", ""),
        ("x.jsonl", '{"case": "a"}\n'),
        ("x.csv", "filename,completion\na,b\n"),
        ("x.csv", "case,text\na,b\n"),
    ],
)
def test_what_is_no_answers_file_is_refused_as_such(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(DialectError):
        read(tmp_path, text, name)
    with pytest.raises(DialectError):
        Native().answers(tmp_path, SUITE)


@pytest.mark.slow
def test_texts_are_not_held(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with path.open("w") as file:
        for _ in range(200):
            file.write(rows({"case": "a", "output": "x" * 100_000}))
    tracemalloc.start()
    total = sum(len(attempt.output) for attempt in Native().answers(path, SUITE))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 20_000_000
    assert peak < 5_000_000


@pytest.mark.parametrize(("most", "times"), [(answers.MOST_HELD, 1), (1000, 2), (0, 2)])
def test_a_small_file_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, times: int
) -> None:
    opened: list[Path] = []
    read = answers.read_values
    monkeypatch.setattr(answers, "read_values", lambda path: opened.append(path) or read(path))
    monkeypatch.setattr(answers, "MOST_HELD", most)
    file = tmp_path / "answers.jsonl"
    rows = [{"case": "a", "output": f"say {n}", "note": [n]} for n in range(5)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite = Suite(name="s", cases=(Case(id="a", messages=(), criteria=()),))
    attempts = list(answers.read_answers(file, suite))
    assert len(opened) == times
    assert [one.messages[0].content for one in attempts] == [f"say {n}" for n in range(5)]
    assert [(one.index, one.meta) for one in attempts] == [(n, {"note": [n]}) for n in range(5)]


CALL = ToolCall(name="f", arguments={"n": 1})
OPENAI = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}
CALLED = [
    ({"tool_calls": [{"name": "f", "arguments": {"n": 1}}]}, "", [(CALL,)]),
    ({"output": "See.", "tool_calls": [{"name": "f", "arguments": {"n": 1}}]}, "See.", [(CALL,)]),
    ({"tool_calls": {"name": "f", "arguments": {"n": 1}}}, "", [(CALL,)]),
    ({"tool_calls": '[{"name": "f", "arguments": {"n": 1}}]'}, "", [(CALL,)]),
    ({"tool_calls": [OPENAI]}, "", [(replace(CALL, id="1"),)]),
    ({"tool_calls": [], "output": "None."}, "None.", [()]),
    ({"messages": [{"role": "assistant", "content": None, "tool_calls": [OPENAI]},
                   {"role": "tool", "tool_call_id": "1", "content": "2"},
                   {"role": "assistant", "content": "Two."}]},
     "Two.", [(replace(CALL, id="1"),), (), ()]),
]  # fmt: skip


@pytest.mark.parametrize(("row", "output", "calls"), CALLED)
def test_answers_may_be_calls_of_tools(
    tmp_path: Path, row: dict[str, Any], output: str, calls: list[tuple[ToolCall, ...]]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(rows({"case": "a", **row}), encoding="utf-8")
    (attempt,) = Native().answers(path, SUITE)
    assert attempt.status is AttemptStatus.ANSWERED
    assert attempt.output == output
    assert [message.tool_calls for message in attempt.messages] == calls
    assert attempt.meta == {}


def test_no_calls_and_no_words_are_no_answer(tmp_path: Path) -> None:
    (attempt,) = Native().answers(written(tmp_path, {"case": "a", "tool_calls": []}), SUITE)
    assert attempt.status is AttemptStatus.UNANSWERED


def written(folder: Path, row: dict[str, Any]) -> Path:
    path = folder / "x.jsonl"
    path.write_text(rows(row), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"tool_calls": 3}, "expected a list of calls, not the number 3"),
        ({"tool_calls": "{"}, "'tool_calls': "),
        ({"tool_calls": [{"arguments": {}}]}, "a tool call has no 'name'"),
        ({"tool_calls": ["f"], "messages": []}, "go into the message that makes them"),
        ({"tool_calls": ["f"], "output": [1]}, "'output' is a text, not a list"),
        ({"messages": [{"role": "assistant", "tool_calls": [3]}]}, "a tool call is an object"),
        ({"messages": [{"role": "assistant", "content": None}]}, "a 'content' of text"),
    ],
)
def test_calls_that_cannot_be_read(tmp_path: Path, row: dict[str, Any], words: str) -> None:
    with pytest.raises(SuiteError) as caught:
        list(Native().answers(written(tmp_path, {"case": "a", **row}), SUITE))
    assert words in str(caught.value)
