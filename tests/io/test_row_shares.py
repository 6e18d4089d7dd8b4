"""Shares of rows: together they are the rows of the file, whatever its groups and blank lines."""

import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from proctor.io.parquet_files import parquet_limits, read_parquet
from proctor.io.row_shares import FilePlan, Share, UnreadableShare, plan_parquet, plan_text, rows_of
from proctor.io.text_files import read_jsonl


@pytest.mark.parametrize("cut", [1, 3, 7, 100])
def test_shares_of_a_text_are_its_rows(tmp_path: Path, cut: int) -> None:
    lines = [json.dumps({"n": n, "t": "é" * n}) for n in range(23)]
    lines[4] = "\n  \n" + lines[4]
    lines[9] = '{"n": 12345678901234567890123, "x": NaN}'
    path = tmp_path / "rows.jsonl"
    path.write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8")
    plan = plan_text(path, 5)
    assert plan.rows == 23
    rows = [
        row
        for first in range(0, 23, cut)
        for row in rows_of(plan.cut(first, min(cut, 23 - first)), {})
    ]
    expected = [(document.row, document.data) for document in read_jsonl(path)]
    assert repr(rows) == repr(expected)


@pytest.mark.parametrize("cut", [1, 4, 9, 100])
@pytest.mark.slow
def test_shares_of_a_parquet_file_are_its_rows(tmp_path: Path, cut: int) -> None:
    rows = [{"a": f"t{n}", "b": None if n % 3 else n, "c": [n, n]} for n in range(25)]
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=6)
    limits = parquet_limits(path)
    plan = plan_parquet(path, limits)
    assert (plan.rows, plan.groups, plan.columns) == (25, (6, 6, 6, 6, 1), ("a", "b", "c"))
    read = [
        row
        for first in range(0, 25, cut)
        for row in rows_of(plan.cut(first, min(cut, 25 - first)), limits)
    ]
    assert read == [(document.row, document.data) for document in read_parquet(path)]


@pytest.mark.parametrize(
    ("name", "most"), [("rows", 20), ("decoded", 100), ("columns", 0), ("depth", 0), ("row", 2)]
)
def test_what_passes_a_limit_is_not_read(tmp_path: Path, name: str, most: int) -> None:
    path = tmp_path / "rows.parquet"
    rows = [{"a": "text " * 20} for _ in range(25)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    limits = {**parquet_limits(path), name: most}
    with pytest.raises(UnreadableShare):
        list(rows_of(Share(path=str(path), rows=25, groups=(0,)), limits))


def test_a_file_that_is_shorter_than_its_plan_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"a": \n')
    assert plan_text(path, 10).rows == 2
    with pytest.raises(UnreadableShare):
        list(rows_of(Share(path=str(path), rows=2), {}))
    with pytest.raises(UnreadableShare):
        list(rows_of(Share(path=str(path), rows=1, skip=5), {}))
    with pytest.raises(UnreadableShare):
        plan_text(tmp_path / "gone.jsonl", 10)


def test_a_share_names_the_row_groups_that_it_lies_in() -> None:
    groups = (6, 0, 6, 1, 0, 12)
    starts = [sum(groups[:number]) for number in range(len(groups))]
    plan = FilePlan(path="x.parquet", rows=25, groups=groups)
    for first in range(25):
        for rows in range(1, 26 - first):
            share = plan.cut(first, rows)
            expected = [
                number
                for number, (start, size) in enumerate(zip(starts, groups, strict=True))
                if start + size > first and start < first + rows
            ]
            assert list(share.groups) == expected
            assert share.skip == first - starts[expected[0]]
