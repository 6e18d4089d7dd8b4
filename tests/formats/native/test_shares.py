"""Rows that are read share by share: the cases and attempts that reading the file gives."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.shares import AnswerRow, FileRow, RowProblem, ShareReader
from proctor.core.encoding import case_from
from proctor.core.fingerprint import case_key, plain
from proctor.core.suite import Json
from proctor.formats.native.dialect import Native
from proctor.formats.native.shares import NativeShares

CRITERIA: list[Json] = [
    [{"keywords": ["a", "b"]}, {"rouge": "rougeL"}],
    [{"keywords": ["c", 'd"\\\n\u2028']}, {"rouge": "rougeL"}],
    [{"keywords": ["references", "é"]}],
    {"keywords": "only"},
    {"keywords": [1, True]},
    [{"contains": "x"}],
    [{"contains": "y y"}, {"contains": ["z", "\x7f"]}, {"contains": "z"}],
    [{"contains": "references"}],
    ["a text", "another"],
    "text",
    ["exact_match"],
    [{"keywords": ["a"], "weight": 0.1}, {"keywords": ["b"], "id": "k"}],
    [{"scorer": "contains", "with": {"texts": "a", "ignore_case": True}}],
    None,
]


def shares(path: Path, first_row: FileRow | None = None) -> ShareReader:
    reader = Native().shares(path, first_row=first_row)
    assert isinstance(reader, NativeShares)
    return reader


def rows() -> list[dict[str, Json]]:
    made = []
    for number, criteria in enumerate([*CRITERIA, *CRITERIA]):
        row: dict[str, Json] = {"id": f"c{number}", "ask": f"Q\t{number} ü", "criteria": criteria}
        if number % 3 or criteria is None:
            row["references"] = [f"r{number}", "s"][: 1 + number % 2]
        if number % 4 == 1:
            row["tags"] = {"b": "x", "a": ["y", f"z{number}"]}
        if criteria is None:
            del row["criteria"]
        if number % 5 == 4:
            del row["id"]
        made.append(row)
    return made


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize("first", [False, True])
def test_cases_are_those_of_the_whole_file(tmp_path: Path, ending: str, first: bool) -> None:
    path = tmp_path / f"suite.{ending}"
    header = {"suite": {"tags": {"all": "q"}, "system": "Be brief.", "full_score": 2}}
    data: list[Any] = rows()
    if ending == "parquet":
        import pyarrow
        import pyarrow.parquet

        cells = []
        for row in data:
            tags = {f"tags.{k}": json.dumps(v) if isinstance(v, list) else v
                    for k, v in row.pop("tags", {}).items()}  # fmt: skip
            references = row.pop("references", None)
            if references:
                row["reference"] = references[0]
            if "criteria" in row and not isinstance(row["criteria"], str):
                row["criteria"] = json.dumps(row["criteria"])
            cells.append({**row, **tags})
        names = dict.fromkeys(name for row in cells for name in row)
        cells = [{name: row.get(name) for name in names} for row in cells]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(cells), path)
        numbered = [
            FileRow(n, {key: value for key, value in row.items() if value is not None})
            for n, row in enumerate(pyarrow.parquet.read_table(path).to_pylist(), 1)
        ]
        reader = shares(path)
    else:
        lines = [header, *data] if first else data
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        numbered = [FileRow(n, row) for n, row in enumerate(data, 1 + first)]
        reader = shares(path, FileRow(1, header) if first else None)
    suite = Native().read(path).suite
    share = reader.cases(numbered, 0)
    assert share.ids == [case.id for case in suite.cases]
    assert share.sources == [case.source for case in suite.cases]
    for document, case, shape in zip(share.documents, suite.cases, share.shapes, strict=True):
        read = case_from(json.loads(document))
        assert case_key(read) == case_key(case)
        assert plain(read) == {k: v for k, v in plain(case).items() if k != "source"}
        labels = [c.id for c in share.examples[shape].criteria]
        assert labels == [c.id for c in case.criteria]
    assert len(share.examples) < len(share.ids)


@pytest.mark.parametrize(
    "row", [{"ask": "x", "criteria": [{"keywords": [""]}]}, {"id": "a\n", "ask": "x"}, {}, [1]]
)
def test_a_wrong_row_is_a_problem(tmp_path: Path, row: Json) -> None:
    good = {"id": "g", "ask": "x", "criteria": [{"keywords": ["k"]}]}
    with pytest.raises(RowProblem):
        shares(tmp_path / "s.jsonl").cases([FileRow(1, good), FileRow(2, row)], 0)


def test_answers_are_read_as_from_the_whole_file(tmp_path: Path) -> None:
    answers: list[Json] = [
        {"case": "a", "output": "x"},
        {"case": "a", "output": "é", "attempt": "3"},
        {"case": "b", "output": None},
        {"case": "b", "output": 5, "model": "m"},
        {"case": "a", "messages": [{"role": "user", "content": "?"},
                                   {"role": "assistant", "content": "y"}]},
    ]  # fmt: skip
    suite_file, file = tmp_path / "s.jsonl", tmp_path / "a.jsonl"
    suite_file.write_text('{"id": "a", "ask": "?", "criteria": "x"}\n'
                          '{"id": "b", "ask": "?", "criteria": "x"}\n')  # fmt: skip
    file.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    suite = Native().read(suite_file).suite
    expected = list(Native().answers(file, suite))
    reader = shares(file)
    read = list(reader.answers(FileRow(n, row) for n, row in enumerate(answers, 1)))
    numbers = [0, 3, 0, 1, 4]
    asked = suite.cases[0].messages
    made = [reader.attempt(row, number, asked) for row, number in zip(read, numbers, strict=True)]
    assert made == expected
    assert read[0] == AnswerRow("a", None, "x", None)
    with pytest.raises(RowProblem):
        list(reader.answers([FileRow(1, {"output": "x"})]))
