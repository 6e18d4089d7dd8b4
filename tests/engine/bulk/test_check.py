"""Answers of a share: by columns where a table has texts alone, and the same as row by row."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proctor.contracts.shares import AnswerRow, RowProblem, TextRows
from proctor.engine.bulk.check import answer_rows, case_rows, file_rows, reader_of
from proctor.engine.bulk.tasks import RowFile
from proctor.io.parquet_files import parquet_limits
from proctor.io.row_shares import Share, TextColumns, texts_or_rows

CASES = ["a", "b", "Müller", "数", "", "f"]
OUTPUTS = ["one", None, "zwei", "", "five", "six"]
TABLES: dict[str, dict[str, Any]] = {
    "texts": {"case": CASES, "output": OUTPUTS},
    "turned": {"output": OUTPUTS, "case": CASES},
    "more": {"case": CASES, "output": OUTPUTS, "attempt": [0, 1, 0, 0, 2, 0]},
    "large": {"case": pa.array(CASES, pa.large_string()), "output": OUTPUTS},
    "repeated": {"case": CASES, "output": pa.array(OUTPUTS).dictionary_encode()},
    "numbers": {"case": [1, 2, 3, 4, 5, 6], "output": OUTPUTS},
    "alone": {"case": CASES},
}


KEYWORDS = '[{"keywords": ["a"]}, {"rouge": "rougeL"}]'
IDS = ["c1", "c2", None, "Müller", "", "c6"]
ASKS = ["one?", "two?", "three?", "vier?", "five?", "six?"]
REFERENCES = ["a b", "b", "", "数", None, "c"]
SUITES: dict[str, dict[str, Any]] = {
    "asked alone": {"ask": ASKS, "reference": ["a"] * 6},
    "criteria": {"id": [f"c{n}" for n in range(6)], "ask": ASKS, "reference": ["a"] * 6, "criteria": [KEYWORDS] * 6},
    "gaps": {"criteria": [KEYWORDS, "exact_match"] * 3, "reference": [*REFERENCES[:4], "x", "c"], "ask": ASKS, "id": IDS},
    "tags": {"ask": ASKS, "reference": ["a"] * 6, "tags.kind": list("xyxyxy"), "tag:level": ["1", "[2]", "", "4", None, '["5", "6"]']},
    "tags twice": {"ask": ASKS, "reference": ["a"] * 6, "tags.kind": ["x"] * 6, "tag:kind": ["y"] * 6},
    "large": {"ask": pa.array(ASKS, pa.large_string()), "reference": ["a"] * 6},
    "repeated": {"ask": pa.array(ASKS).dictionary_encode(), "reference": ["a"] * 6},
    "numbers": {"ask": ASKS, "reference": ["1"] * 6, "criteria": ['{"number": 1}'] * 6, "weight": [1, 2, 1, 2, 1, 2]},
    "vars": {"ask": ASKS, "reference": ["a"] * 6, "vars.name": ["x"] * 6},
    "other column": {"ask": ASKS, "reference": ["a"] * 6, "colour": ["red"] * 6},
    "damaged": {"ask": ASKS, "criteria": [KEYWORDS] * 5 + ["[{"]},
    "empty": {"ask": [*ASKS[:5], ""], "reference": ["a"] * 6},
    "deep": {"ask": ASKS, "reference": ["a"] * 6, "criteria": [KEYWORDS] * 5 + ["[" * 80 + "]" * 80]},
    "long number": {"ask": ASKS, "reference": ["a"] * 6, "criteria": [KEYWORDS] * 5 + ['{"number": 1234567890123456789}']},
}  # fmt: skip


def share_of(file: Path, table: dict[str, Any], first: int, rows: int) -> tuple[RowFile, Share]:
    pq.write_table(pa.table(table), file, row_group_size=4)
    source = RowFile(path=str(file), dialect="native", limits=parquet_limits(file))
    groups = tuple(range(first // 4, -(-(first + rows) // 4)))
    share = Share(path=str(file), rows=rows, groups=groups, skip=first % 4, first=first)
    return source, share


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("first", "rows"), [(0, 6), (1, 4), (5, 1)])
def test_answers_by_columns_are_those_of_the_rows(
    tmp_path: Path, name: str, first: int, rows: int
) -> None:
    source, share = share_of(tmp_path / "a.parquet", TABLES[name], first, rows)
    reader = reader_of(source)
    one_by_one = list(reader.answers(file_rows(source, share)))
    assert list(answer_rows(reader, source, share)) == one_by_one
    assert len(one_by_one) == rows
    columns = list(texts_or_rows(share, source.limits, ("case", "output")))
    plain = name in ("texts", "turned", "large", "repeated")
    assert all(isinstance(some, TextColumns) == plain for some in columns)


def test_a_row_without_a_case_is_a_problem_in_columns_too(tmp_path: Path) -> None:
    table = {"case": ["a", None], "output": ["one", "two"]}
    source, share = share_of(tmp_path / "a.parquet", table, 0, 2)
    rows = answer_rows(reader_of(source), source, share)
    assert next(iter(rows)) == AnswerRow("a", None, "one", None)
    with pytest.raises(RowProblem):
        list(rows)


@pytest.mark.parametrize("name", SUITES)
@pytest.mark.parametrize(("first", "rows"), [(0, 6), (1, 4), (5, 1)])
def test_cases_by_columns_are_those_of_the_rows(
    tmp_path: Path, name: str, first: int, rows: int
) -> None:
    source, share = share_of(tmp_path / "s.parquet", SUITES[name], first, rows)
    by_row, by_column = reader_of(source), reader_of(source)
    columns = list(case_rows(by_column, source, share))
    assert any(isinstance(some, TextRows) for some in columns) == (name != "numbers")
    try:
        expected = by_row.cases(file_rows(source, share), first)
    except RowProblem:
        with pytest.raises(RowProblem):
            by_column.cases(columns, first)
        return
    assert len(expected.ids) == rows
    assert by_column.cases(columns, first) == expected
