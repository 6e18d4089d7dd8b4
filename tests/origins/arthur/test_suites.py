"""Suites in a notebook: made of data of every kind, found again, refused with reasons."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.bench import (
    MissingFileError,
    MissingParameterError,
    NotFoundError,
    ScoringMethod,
    TestSuite,
    UserTypeError,
    UserValueError,
)

INPUTS = ["What year was FDR elected?", "What is the opposite of down?"]
REFERENCES = ["1932", "up"]
CSV = "input,reference_output\nWhat year was FDR elected?,1932\nWhat is the opposite of down?,up\n"
SPACED = 'input, reference_output\n"What year was FDR elected?", "1932"\n"What is the opposite of down?", "up"\n'

Make = Callable[..., TestSuite]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(name: str = "quiz", method: Any = "exact_match", **more: Any) -> TestSuite:
        return TestSuite(name, method, store=tmp_path / "store.db", **more)

    return made


class Frame:
    """Be a data frame as polars and pandas are: columns by name, cells by to_list."""

    class Series:
        def __init__(self, cells: list[Any]) -> None:
            self.cells = cells

        def to_list(self) -> list[Any]:
            return self.cells

    def __init__(self, **columns: list[Any]) -> None:
        self.table = columns
        self.columns = list(columns)

    def __getitem__(self, name: str) -> Series:
        return self.Series(self.table[name])


@pytest.mark.parametrize("text", [CSV, SPACED])
def test_a_csv_file(make: Make, tmp_path: Path, text: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    suite = make(reference_data_path=path)
    assert suite.input_texts == INPUTS
    assert suite.reference_outputs == REFERENCES
    assert [case.id for case in suite.test_cases] == ["row-1", "row-2"]


def test_frames_with_columns_of_other_names(make: Make) -> None:
    frame = Frame(q=INPUTS, a=[1932, "up"], other=[None, 2.5])
    suite = make(reference_data=frame, input_column="q", reference_column="a")
    assert suite.reference_outputs == ["1932", "up"]


def test_a_frame_of_pandas(make: Make) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"input": INPUTS, "reference_output": REFERENCES, "id": [7, 8]})
    assert [case.id for case in make(reference_data=frame).test_cases] == ["7", "8"]


def test_whole_numbers_stay_whole_beside_missing_ones(make: Make) -> None:
    frame = {"input": INPUTS, "reference_output": REFERENCES}
    suite = make(reference_data=frame)
    run = suite.run("one", candidate_data={"candidate_output": [1932.0, float("nan")]})
    assert run.output == ["1932", None]
    assert run.scores == [1.0, 0.0]
    assert run.test_cases[1].reason == "there is no output"


LISTS = {"input_text_list": INPUTS, "reference_output_list": REFERENCES}


@pytest.mark.parametrize(
    ("method", "more", "error", "words"),
    [
        ("exact_match", {}, MissingParameterError, "no data"),
        (None, LISTS, MissingParameterError, "scoring method"),
        ("exact_mach", LISTS, UserValueError, "did you mean 'exact_match'"),
        ("exact_match", {"input_text_list": INPUTS}, UserValueError, "reference outputs"),
        (
            "exact_match",
            {**LISTS, "reference_output_list": ["1"]},
            UserValueError,
            "2 inputs and 1",
        ),
        ("exact_match", {**LISTS, "input_text_list": []}, UserValueError, "at least 1 test case"),
        ("exact_match", {**LISTS, "reference_output_list": ["1", None]}, UserValueError, "row 2"),
        ("exact_match", {**LISTS, "input_text_list": "abc"}, UserTypeError, "expected a list"),
        ("exact_match", {"reference_data_path": "x.txt"}, UserValueError, "no .csv file"),
        ("exact_match", {"reference_data_path": "x.csv"}, MissingFileError, "no file x.csv"),
        ("exact_match", {"reference_data": 3}, UserTypeError, "data frame"),
        (
            "exact_match",
            {"reference_data": {"inputs": INPUTS, "reference_output": REFERENCES}},
            UserValueError,
            "no column 'input' .did you mean 'inputs'",
        ),
        (
            "exact_match",
            {"reference_data": {"id": [1, 1], "input": INPUTS, "reference_output": REFERENCES}},
            UserValueError,
            "'1' is there twice",
        ),
        ("exact_match", {**LISTS, "compat": "old"}, UserValueError, "unknown compat"),
        ("python_unit_testing", LISTS, MissingParameterError, "unit_tests"),
        (3, LISTS, UserTypeError, "not int"),
    ],
)
def test_what_is_wrong_is_said(
    make: Make, method: Any, more: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        make("quiz", method, **more)


@pytest.mark.parametrize("name", ["", " ", ".", "..", "../x", "a/b", "a\\b", "a\nb", "x" * 300, 3])
def test_names_that_are_none(make: Make, name: Any) -> None:
    with pytest.raises(UserValueError):
        make(name, **LISTS)


@pytest.mark.parametrize("name", ["my suite", "问答", "a.b", "exact_match[x=1]"])
def test_names_with_spaces_and_other_scripts(make: Make, name: str) -> None:
    make(name, **LISTS)
    assert make(name).name == name


def test_configuration_that_no_method_knows() -> None:
    with pytest.raises(UserValueError, match="has no setting 'sensitive'"):
        ScoringMethod("exact_match", sensitive=True)


def test_a_suite_is_found_again_by_name(make: Make) -> None:
    first = make(description="two questions", **LISTS)
    again = make("quiz", "exact_match")
    assert (again.id, again.test_cases) == (first.id, first.test_cases)
    assert again.description == "two questions"
    assert make("quiz", None).scoring_method == "exact_match"
    assert make(**LISTS).id == first.id


@pytest.mark.parametrize(
    ("method", "more", "words"),
    [
        ("readability", {}, "scored by exact_match, not by readability"),
        (ScoringMethod("exact_match", case_sensitive=False), {}, "configured otherwise"),
        (len, {}, "scored by exact_match, not by len"),
        ("exact_match", {"input_text_list": INPUTS[:1], "reference_output_list": ["1"]}, "2 cases"),
        ("exact_match", {**LISTS, "reference_output_list": ["1932", "down"]}, "row 2"),
        ("exact_match", {"compat": "original"}, "compat"),
    ],
)
def test_a_suite_that_differs_is_not_taken(
    make: Make, method: Any, more: dict[str, Any], words: str
) -> None:
    make(**LISTS)
    with pytest.raises(UserValueError, match=f"there is a suite 'quiz', but .*{words}"):
        make("quiz", method, **more)


def test_a_description_may_change(make: Make) -> None:
    first = make(**LISTS)
    assert first.description is None
    make("quiz", None, description="new")
    assert make("quiz", None).description == "new"


def test_methods_without_references(make: Make) -> None:
    suite = make("plain", "readability", input_text_list=INPUTS)
    assert suite.reference_outputs is None
    assert suite.test_cases[0].reference_output is None


def test_a_run_that_is_not_there(make: Make) -> None:
    with pytest.raises(NotFoundError, match="no run 'x'"):
        make(**LISTS).test_run("x")


@pytest.mark.slow
def test_ten_thousand_cases_come_back(make: Make) -> None:
    texts = [f"question {number}" for number in range(10_000)]
    first = make("large", input_text_list=texts, reference_output_list=texts)
    assert make("large", None).input_texts == first.input_texts


class Dataset:
    """What Hugging Face's data sets have: names of columns, and columns by name."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns

    @property
    def column_names(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]


class DatasetDict(dict[str, Dataset]):
    """Several of them by the names of their splits."""

    @property
    def column_names(self) -> dict[str, list[str]]:
        return {name: found.column_names for name, found in self.items()}


def arrow(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pyarrow").table(columns)


@pytest.mark.parametrize("kind", [Dataset, arrow])
def test_data_sets_and_tables_are_taken(tmp_path: Path, kind: Any) -> None:
    data = kind({"input": ["a?", "b?"], "reference_output": ["A", "b"], "extra": [1, None]})
    suite = TestSuite("quiz", "exact_match", reference_data=data, store=tmp_path / "store.db")
    assert suite.input_texts == ["a?", "b?"]
    run = suite.run("x", candidate_data=kind({"candidate_output": ["A", "B"]}))
    assert run.scores == [1.0, 0.0]


def test_a_data_set_of_several_splits_is_refused_with_their_names(tmp_path: Path) -> None:
    data = DatasetDict(train=Dataset({"input": ["a?"]}), test=Dataset({"input": ["b?"]}))
    with pytest.raises(UserTypeError, match=r"several splits, 'train', 'test' \(fix: pass one"):
        TestSuite("quiz", "readability", reference_data=data, store=tmp_path / "store.db")
