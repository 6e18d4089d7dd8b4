"""Cases as rows: columns of a case, tags, JSON in cells, and what is wrong with a table."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.formats.native.case import CaseKeys
from proctor.formats.native.rows import _NUMBERS, case_rows
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


def test_a_decimal_comma_is_read_where_a_number_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text(
        "id;ask;reference;weight;null_score;tags.size\n"
        "a;How much?;2,5;1,5;0,125;1,5\n"
        "b;And now?;3;2;;x\n"
        "c;And then?;3;0,5;;x\n",
        encoding="utf-8",
    )
    findings = Findings()
    rows = [document.data for document in case_rows(findings, path)]
    assert findings.errors == []
    assert [row["weight"] for row in rows] == [1.5, "2", 0.5]
    assert rows[0]["null_score"] == 0.125
    assert rows[0]["references"] == ["2,5"], "a text stays what it is"
    assert rows[0]["tags"] == {"size": "1,5"}
    assert [one.message for one in findings.warnings] == [
        "the column 'weight' has numbers with a decimal comma; they are read as such"
        " (1 more like it)",
        "the column 'null_score' has numbers with a decimal comma; they are read as such",
    ]


def test_a_comma_that_may_mean_two_things_is_not_guessed(tmp_path: Path) -> None:
    rows, problems = read(tmp_path, 'id,ask,reference,weight\na,Q?,A,"1,500"\n')
    assert (problems, rows[0]["weight"]) == ([], "1,500")


def test_every_number_of_a_case_may_have_a_comma() -> None:
    numbers = {
        name
        for name, one in CaseKeys.model_fields.items()
        if "float" in str(one.annotation) and "list" not in str(one.annotation)
    }
    assert numbers == _NUMBERS
