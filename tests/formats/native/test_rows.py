"""Cases as rows: columns of a case, tags, JSON in cells, and what is wrong with a table."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.formats.native.rows import case_rows
from proctor.io.findings import Findings


def read(tmp_path: Path, text: str, ending: str = "csv") -> tuple[list[Any], list[str]]:
    path = tmp_path / f"cases.{ending}"
    path.write_text(text, encoding="utf-8")
    findings = Findings()
    rows = [document.data for document in case_rows(findings, path)]
    return rows, [f"{one.message} ({one.hint})" for one in findings.errors]


def test_a_row_has_the_keys_of_a_case_and_empty_cells_none(tmp_path: Path) -> None:
    rows, problems = read(
        tmp_path, "id,ask,reference,tags.lang,tag:level\n1,Q?,A,go,\n2,[x,,,hard\n"
    )
    assert problems == []
    assert rows == [
        {"id": "1", "ask": "Q?", "references": ["A"], "tags": {"lang": "go"}},
        {"id": "2", "ask": "[x", "tags": {"level": "hard"}},
    ]


def test_a_list_or_a_mapping_is_written_as_json(tmp_path: Path) -> None:
    cells = ['["a","b"]', '{"contains":"x"}', '["p"]', "[odd", '["go","c"]']
    header = "references,criteria,context,ask,tags.lang\n"
    line = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    rows, problems = read(tmp_path, f"{header}{line}\n")
    assert problems == []
    assert rows == [
        {
            "references": ["a", "b"],
            "criteria": {"contains": "x"},
            "context": ["p"],
            "ask": "[odd",
            "tags": {"lang": ["go", "c"]},
        }
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("question,answer\nQ,A\n", "no column of this file has a name that cases know"),
        (
            "ask,shoe size\nQ,9\n",
            "for a tag, call the column 'tags.shoe size'",
        ),
        ("ask,refrence\nQ,A\n", "unknown column 'refrence' (did you mean 'reference'"),
        ("ask,reference,references\nQ,A,B\n", "say the same thing"),
        ('ask,criteria\nQ,"[{"\n', "starts like JSON and is not valid JSON"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path: Path, text: str, words: str) -> None:
    rows, problems = read(tmp_path, text)
    assert rows == []
    assert len(problems) == 1
    assert words in problems[0]


def test_a_column_that_others_call_so_is_named(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, "Question,Expected\nQ,A\n")[1]
    assert "call 'Question' 'ask', 'Expected' 'references'" in problem


def test_lines_of_json_are_objects_whose_texts_can_be_written(tmp_path: Path) -> None:
    lines = [json.dumps({"ask": "Q", "n": 1}), "[1]", '{"ask": "\\ud800"}', '{"ask": "漢"}']
    rows, problems = read(tmp_path, "\n".join(lines), "jsonl")
    assert rows == [{"ask": "Q", "n": 1}, {"ask": "漢"}]
    assert ["an object" in problems[0], "surrogate" in problems[1]] == [True, True]
