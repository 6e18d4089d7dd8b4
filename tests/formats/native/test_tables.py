"""Tables as spreadsheets save them: other separators, marks at the beginning, other names."""

import csv
import json
from pathlib import Path

import pytest

from proctor.core.suite import Suite
from proctor.engine.run.read_suite import find_dialect
from proctor.errors import SuiteError
from proctor.formats.native.case import CaseKeys
from proctor.formats.native.dialect import Native
from proctor.io.text_files import csv_delimiter, read_csv
from proctor.origins.arthur.dialect import Bench

COMMAS = 'id,ask,reference\na,"Who, me?",you\nb,Naïve?,yes\n'


def suite(path: Path) -> Suite:
    return Native().read(path).suite


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path: Path, separator: str, encoding: str) -> None:
    path = tmp_path / "table.csv"
    quoted = COMMAS.replace(",", separator)
    path.write_bytes(quoted.encode(encoding))
    cases = suite(path).cases
    assert [case.id for case in cases] == ["a", "b"]
    assert [case.prompt for case in cases] == [f"Who{separator} me?", "Naïve?"]
    assert [case.references for case in cases] == [("you",), ("yes",)]
    assert find_dialect(path).name == "native"


def test_a_file_of_tab_separated_values_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text(COMMAS.replace(",", "\t"))
    assert find_dialect(path).name == "native"
    assert [case.references for case in suite(path).cases] == [("you",), ("yes",)]
    answers = tmp_path / "answers.tsv"
    answers.write_text("case\toutput\na\tyou\nb\t\n")
    attempts = list(Native().answers(answers, suite(path)))
    assert [attempt.output for attempt in attempts] == ["you", ""]
    path.write_text("Frage\tAntwort\na\tb\n")
    assert "there are 'Frage', 'Antwort'" in problems(path)[0][0]


def test_a_folder_of_cases_may_hold_other_data(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text(COMMAS)
    (tmp_path / "data.tsv").write_text("name\tsize\nx\t1\n")
    assert len(suite(tmp_path).cases) == 2


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ("id,ask", ","),
        ("id", ","),
        ("", ","),
        ("id;ask;reference", ";"),
        ('"a;b;c",ask', ","),
        ('"a,b";ask', ";"),
        ('"a "",,,"" b";ask', ";"),
        ("id,tags.a;b", ","),
        ("id\task", "\t"),
    ],
)
def test_what_stands_between_fields(header: str, separator: str) -> None:
    assert csv_delimiter(header) == separator


def test_a_row_that_is_too_long_names_the_separator(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("id;ask\na;b;c\n")
    with pytest.raises(SuiteError, match="contain semicolons or line breaks"):
        list(read_csv(path))


def problems(path: Path) -> list[tuple[str, str]]:
    with pytest.raises(SuiteError) as caught:
        suite(path)
    return [(problem.message, problem.hint) for problem in caught.value.problems]


OPTION = "(or leave the file as it is, and say --columns"


def test_columns_of_other_names_are_named(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("Question,Answer\nWhat?,Paris\n")
    ((message, hint),) = problems(path)
    assert message.endswith("there are 'Question', 'Answer'")
    assert "'Question' 'ask', 'Answer' 'references'" in hint
    assert "cases know id, ask, reference," in hint
    path.write_text("ID;Prompt;expected;level\n1;What?;Paris;easy\n")
    ((message, hint),) = problems(path)
    assert "'ID', 'Prompt', 'expected', 'level'" in message
    assert "'ID' 'id', 'Prompt' 'ask', 'expected' 'references'" in hint
    path.write_text("id;Prompt;expected;level\n1;What?;Paris;easy\n")
    assert problems(path) == [
        ("unknown column 'Prompt'", f"did you mean 'ask'? {OPTION} ask=Prompt)"),
        ("unknown column 'expected'", f"did you mean 'references'? {OPTION} references=expected)"),
        ("unknown column 'level'", "for a tag, call the column 'tags.level'"),
    ]


def test_many_columns_are_not_all_named(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(",".join(f"c{number}" for number in range(500)) + "\n" + "," * 499 + "\n")
    ((message, _),) = problems(path)
    assert message.endswith("'c19', …")


def test_answers_in_a_table_of_semicolons(tmp_path: Path) -> None:
    table, answers = tmp_path / "table.csv", tmp_path / "answers.csv"
    table.write_text(COMMAS)
    answers.write_text("\ufeffcase;output\na;you\nb;no, never\n")
    made = list(Native().answers(answers, suite(table)))
    assert [(attempt.case_id, attempt.output) for attempt in made] == [
        ("a", "you"), ("b", "no, never"),
    ]  # fmt: skip
    answers.write_text("question;reply\na;you\n")
    with pytest.raises(
        SuiteError, match=r"'case' and 'output'.*'question', 'reply': .*--columns case=NAME"
    ):
        list(Native().answers(answers, suite(table)))


def test_a_table_of_arthur_bench_with_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("input;reference_output\nWhat, then?;Paris\n")
    assert Bench().recognises(path)
    (case,) = Bench().read(path).suite.cases
    assert (case.prompt, case.references) == ("What, then?", ("Paris",))


CELLS = {
    "id": "[a]",
    "ask": "[1, 2, 3][1] is what?",
    "system": "{Be brief.}",
    "source": "[p. 3]",
    "images": ["one.png", "two.png"],
    "references": ["2", "two"],
    "context": ["Lists count from 0."],
    "criteria": [{"contains": "2"}, {"number": 2}],
    "hidden": {"note": "not 1"},
    "full_score": 3,
    "null_score": -1,
    "weight": 2,
    "examples": [{"ask": "[5][0] is what?", "answer": "5"}],
    "dialogue": {"tool_loop": {"max_turns": 3}},
    "tags": {"topic": ["lists", "python"]},
    "min_points": 0,
    "max_points": 2,
    "out_of": 2,
    "files": [{"file": "one.png", "name": "data/one.png"}],
    "setup": {"dependencies": ["numpy"]},
    "solution": ["echo 2 >two.txt"],
    "cluster": "17",
    "vars": {"question": "[1][0]?", "rows": [1, 2]},
    "tools": [{"name": "ping", "parameters": {"type": "object"}}],
    "tool_choice": {"type": "tool", "name": "ping"},
    "response_format": {"type": "object"},
    "tool_results": [{"name": "ping", "result": "pong"}],
    "mcp": {"command": ["python3", "-m", "server"]},
}


def test_every_key_of_a_case_can_be_a_column(tmp_path: Path) -> None:
    """`ask_file` and `messages` stand in place of `ask`, and `reference` in place of `references`."""
    assert CELLS.keys() == CaseKeys.model_fields.keys() - {
        *("ask_file", "messages", "reference"),
        "state",  # it goes with tools of a module, which have none of the keys for other tools
    }
    for name in ("one.png", "two.png"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "table.jsonl").write_text(json.dumps(CELLS) + "\n")
    with open(tmp_path / "table.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(CELLS)
        rows.writerow(v if isinstance(v, str) else json.dumps(v) for v in CELLS.values())
    (by_row,) = suite(tmp_path / "table.csv").cases
    (by_line,) = suite(tmp_path / "table.jsonl").cases
    assert by_row == by_line
