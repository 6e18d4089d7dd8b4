"""Data as notebooks hold it: frames of any make and CSV files, as texts with gaps."""

from pathlib import Path
from typing import Any

import pytest

from proctor.origins.arthur.errors import MissingFileError, UserTypeError, UserValueError
from proctor.origins.arthur.tables import Columns, listed, texts_of


class _Series:
    def __init__(self, cells: list[Any]) -> None:
        self.cells = cells

    def tolist(self) -> list[Any]:
        return self.cells


class _Frame:
    columns = ("a", 1)

    def __getitem__(self, name: Any) -> _Series:
        return _Series([f"{name}0", None])


class _Dataset:
    column_names = ("a",)

    def __getitem__(self, name: str) -> list[str]:
        return [name]


class _Splits(dict[str, Any]):
    column_names = {"train": ["a"], "test": ["a"]}  # noqa: RUF012 - as the data set has it


class NAType:
    pass


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (["a", 1, 2.5, True], ["a", "1", "2.5", "True"]),
        ([1.0, 2.0], ["1.0", "2.0"]),
        ([1.0, None, 2.0], ["1", None, "2"]),
        ([1.5, None], ["1.5", None]),
        ([float("nan"), "x"], [None, "x"]),
        ([NAType(), 3.0], [None, "3"]),
        ([], []),
    ],
)
def test_cells_are_texts_and_what_is_missing_is_none(
    cells: list[Any], texts: list[str | None]
) -> None:
    assert texts_of(cells) == texts


def test_frames_of_any_make_are_read() -> None:
    assert Columns.of_frame(_Frame(), "data").texts("1") == ["10", None]
    assert Columns.of_frame(_Dataset(), "data").texts("a") == ["a"]
    mapping = Columns.of_frame({"a": (1, 2)}, "data")
    assert mapping.texts("a") == ["1", "2"]
    assert ("a" in mapping, "b" in mapping) == (True, False)
    with pytest.raises(UserTypeError, match=r"several splits, 'train', 'test'.*data\['train'\]"):
        Columns.of_frame(_Splits(), "data")
    with pytest.raises(UserTypeError, match="expected a data frame"):
        Columns.of_frame(3, "data")


def test_a_column_that_is_not_there_has_near_ones_named() -> None:
    columns = Columns.of_frame({"input": [], "output": []}, "data")
    with pytest.raises(UserValueError, match=r"no column 'inputs' .*'input'"):
        columns.texts("inputs")
    with pytest.raises(UserValueError, match="its columns are: 'input', 'output'"):
        columns.texts("zzz")


def test_a_csv_file_is_read_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,x\n,y\n")
    columns = Columns.of_file(path, "data")
    assert columns.texts("b") == ["x", "y"]
    with pytest.raises(UserValueError, match=r"is no \.csv file"):
        Columns.of_file(tmp_path / "t.xlsx", "data")
    with pytest.raises(MissingFileError, match="there is no file"):
        Columns.of_file(tmp_path / "none.csv", "data")


def test_one_text_is_no_list() -> None:
    assert listed(("a", "b"), "answers") == ["a", "b"]
    for wrong in ("abc", b"abc", 3):
        with pytest.raises(UserTypeError, match="answers: expected a list"):
            listed(wrong, "answers")
