"""InfiBench responses are read from folders, CSV and Parquet files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Suite
from proctor.errors import DialectError, SuiteError
from proctor.origins.infibench.dialect import InfiBench


def suite_of(*sources: str) -> Suite:
    cases = [
        Case(id=f"id-{number}", messages=(), criteria=(), source=source)
        for number, source in enumerate(sources)
    ]
    return Suite(name="s", cases=cases, dialect="infibench")


SUITE = suite_of("cases/eval_a.yaml", "cases/eval_b.yaml")


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


def plain(attempts: Iterator[Attempt]) -> list[tuple[str, int, str]]:
    return [(attempt.case_id, attempt.index, attempt.output) for attempt in attempts]


def read(path: Path, suite: Suite = SUITE) -> list[tuple[str, int, str]]:
    return plain(InfiBench().answers(path, suite))


PARAMS = """\
answer_paths:
  cases/eval_b.yaml: [eval_b_0.txt]
  cases/eval_a.yaml: [eval_a_10.txt, eval_a_2.txt]
  cases/eval_stray.yaml: [gone.txt]
model_name: m
temp: 0.2
"""
FILES = {"eval_a_2.txt": "two", "eval_a_10.txt": "ten", "eval_b_0.txt": "", "eval_c_0.txt": "?"}


def test_a_folder_with_parameters_is_read_in_the_order_of_its_list(tmp_path: Path) -> None:
    write(tmp_path, FILES | {"params.yaml": PARAMS})
    assert read(tmp_path) == [("id-1", 0, ""), ("id-0", 0, "ten"), ("id-0", 1, "two")]


def test_a_folder_without_parameters_is_read_in_numeric_order(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert read(tmp_path) == [("id-0", 0, "two"), ("id-0", 1, "ten"), ("id-1", 0, "")]


@pytest.mark.parametrize(
    ("key", "case"),
    [
        ("cases/eval_a.yaml", "id-0"),
        ("./cases/eval_a.yaml", "id-0"),
        ("cases//x/../eval_b.yaml", "id-1"),
        ("cases\\eval_b.yaml", "id-1"),
        ("elsewhere/eval_b.yaml", "id-1"),
        ("eval_a", "id-0"),
        ("id-1", "id-1"),
    ],
)
def test_cases_are_found_by_path_or_stem(tmp_path: Path, key: str, case: str) -> None:
    write(tmp_path, {"params.yaml": f"answer_paths: {{'{key}': [r.txt]}}\n", "r.txt": "yes"})
    assert read(tmp_path) == [(case, 0, "yes")]


def test_the_exact_path_wins_over_the_stem(tmp_path: Path) -> None:
    text = (
        "answer_paths:\n  old/eval_a.yaml: [old.txt]\n  cases/eval_a.yaml: [new.txt]\n"
        "  older/eval_a.yaml: [old.txt]\n"
    )
    write(tmp_path, {"params.yaml": text, "old.txt": "old", "new.txt": "new"})
    assert read(tmp_path) == [("id-0", 0, "new")]


def test_files_of_several_cases_with_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"eval_a_0.txt": "x"})
    with pytest.raises(SuiteError, match="could belong to several cases"):
        read(tmp_path, suite_of("one/eval_a.yaml", "two/eval_a.yaml"))


def test_every_missing_response_is_named_with_its_line(tmp_path: Path) -> None:
    text = "answer_paths:\n  cases/eval_a.yaml:\n  - a.txt\n  - b.txt\n  - ../up.txt\n"
    write(tmp_path, {"r/params.yaml": text, "r/a.txt": "x", "up.txt": "secret"})
    with pytest.raises(SuiteError) as caught:
        read(tmp_path / "r")
    assert [(p.line, p.column, p.message) for p in caught.value.problems] == [
        (4, 5, "there is no response file 'b.txt'"),
        (5, 5, "there is no response file '../up.txt'"),
    ]


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    text = "answer_paths: {cases/eval_a.yaml: [link.txt]}\n"
    write(tmp_path, {"r/params.yaml": text, "up.txt": "secret"})
    (tmp_path / "r/link.txt").symlink_to(tmp_path / "up.txt")
    with pytest.raises(SuiteError, match=r"no response file 'link\.txt'"):
        read(tmp_path / "r")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model_name: m\n", "the key 'answer_paths' is missing"),
        ("answer_paths: [a]\n", "expected a mapping"),
        ("answer_paths: {cases/eval_a.yaml: a.txt}\n", "expected a list"),
        ("answer_paths: {other.yaml: [a.txt]}\n", "none of the entries names a case"),
        ("answer_paths: {}\n", "none of the entries names a case"),
    ],
)
def test_wrong_parameters(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, {"params.yaml": text})
    with pytest.raises(SuiteError, match=message):
        read(tmp_path)


def test_responses_are_decoded_whatever_they_hold(tmp_path: Path) -> None:
    (tmp_path / "eval_a_0.txt").write_bytes(b"a\xff\r\nb\rc\x00\n")
    assert read(tmp_path) == [("id-0", 0, "a\ufffd\nb\nc\x00\n")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "filename,completion\ncases/eval_a.yaml,x\ncases/eval_a.yaml,\ncases/eval_b.yaml,z\n",
            [("id-0", 0, "x"), ("id-0", 1, ""), ("id-1", 0, "z")],
        ),
        (
            ",filename,completion\n0,eval_b,x\n1,eval_a_7.txt,y\n2,eval_a_3.txt,z\n3,other,?\n",
            [("id-1", 0, "x"), ("id-0", 0, "y"), ("id-0", 1, "z")],
        ),
        (
            'filename,completion\neval_a,"two\r\nlines, ""quoted"""\n',
            [("id-0", 0, 'two\nlines, "quoted"')],
        ),
        ("idx,completion\n1,x\n0,y\n1,z\n", [("id-1", 0, "x"), ("id-0", 0, "y"), ("id-1", 1, "z")]),
    ],
)
def test_csv(tmp_path: Path, text: str, expected: list[tuple[str, int, str]]) -> None:
    write(tmp_path, {"r.csv": text})
    assert read(tmp_path / "r.csv") == expected


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("case,answer\na,b\n", DialectError, "no column 'filename'"),
        ("filename,completion\nother,b\n", SuiteError, "none of the rows names a case"),
        ("filename,completion\n", SuiteError, "no responses in it"),
        ("idx,completion\n2,b\n", SuiteError, "idx '2' is not the position of a case"),
        ("idx,completion\nx,b\n", SuiteError, "idx 'x' is not the position of a case"),
    ],
)
def test_wrong_csv(tmp_path: Path, text: str, error: type[Exception], message: str) -> None:
    write(tmp_path, {"r.csv": text})
    with pytest.raises(error, match=message):
        read(tmp_path / "r.csv")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            {"filename": ["eval_a", "cases/eval_b.yaml"], "completion": ["x", None]},
            [("id-0", 0, "x"), ("id-1", 0, "")],
        ),
        (
            {"filename": [["cases/eval_b.yaml"]], "responses": [["x", "y"]], "idx": [0]},
            [("id-1", 0, "x"), ("id-1", 1, "y")],
        ),
        (
            {"idx": [1, 0], "completions": [["x", "y"], ["z"]]},
            [("id-1", 0, "x"), ("id-1", 1, "y"), ("id-0", 0, "z")],
        ),
        ({"idx": [1], "completion": ["x"]}, [("id-1", 0, "x")]),
    ],
)
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_parquet(
    tmp_path: Path, columns: dict[str, list[object]], expected: list[tuple[str, int, str]]
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(columns), tmp_path / "r.parquet")
    assert read(tmp_path / "r.parquet") == expected
    assert read(tmp_path) == expected


@pytest.mark.parametrize("name", ["r.jsonl", "r.txt", "r.json"])
def test_other_files_are_left_to_other_readers(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: "{}\n"})
    with pytest.raises(DialectError):
        read(tmp_path / name)


def test_a_folder_of_other_things_is_left_to_other_readers(tmp_path: Path) -> None:
    write(tmp_path, {"readme.txt": "x", "eval_z_0.txt": "y"})
    with pytest.raises(DialectError, match=r"no params\.yaml in the folder"):
        read(tmp_path)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="there is no such file or folder"):
        read(tmp_path / "gone")
