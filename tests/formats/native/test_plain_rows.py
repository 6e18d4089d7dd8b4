"""Files of plain cases: read without models, exactly as the full reader reads them, or left to it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from proctor.errors import SuiteError
from proctor.formats.native.dialect import Native
from proctor.formats.native.plain_rows import read_plain
from proctor.formats.native.reader import CaseLoader

PLAIN: list[dict[str, Any]] = [
    {"id": "a", "ask": "What?", "criteria": {"number": 7}},
    {"ask": "What?", "criteria": {"number": -0.5}},
    {"ask": "", "criteria": {"contains": "x"}},
    {"ask": "Où?", "criteria": {"contains": "references"}, "references": "là"},
    {"ask": "What?", "references": ["one", "two"]},
    {"ask": "What?", "criteria": {"exact_match": True}, "references": "é 巴"},
    {"ask": "What?", "criteria": {"matches": "a+"}, "tags": {"lang": "de", "kind": ["x", "y"]}},
    {"ask": "What?", "criteria": {"token_f1": True}, "references": "one two"},
]
OTHER: list[Any] = [
    7, None, [], "text", {}, {"suite": {"name": "x"}},
    {"id": "", "ask": "What?", "criteria": {"number": 7}},
    {"id": 7, "ask": "What?", "criteria": {"number": 7}},
    {"id": "a\nb", "ask": "What?", "criteria": {"number": 7}},
    {"id": None, "ask": "What?", "criteria": {"number": 7}},
    {"ask": 7, "criteria": {"number": 7}}, {"ask": None, "criteria": {"number": 7}},
    {"criteria": {"number": 7}}, {"ask": "What?"}, {"ask": "What?", "criteria": None},
    {"ask": "What?", "criteria": {}}, {"ask": "What?", "criteria": []},
    {"ask": "What?", "criteria": "text"}, {"ask": "What?", "criteria": {"number": None}},
    {"ask": "What?", "criteria": {"number": "seven"}}, {"ask": "What?", "criteria": {"number": "7"}},
    {"ask": "What?", "criteria": {"number": True}}, {"ask": "What?", "criteria": {"numbr": 7}},
    {"ask": "What?", "criteria": {"number": 10**400}},
    {"ask": "What?", "criteria": {"contains": 7}}, {"ask": "What?", "criteria": {"contains": ""}},
    {"ask": "What?", "criteria": {"contains": "references"}},
    {"ask": "What?", "criteria": {"exact_match": True}}, {"ask": "What?", "criteria": {"rouge": "rougeL"}},
    {"ask": "What?", "criteria": {"matches": "("}}, {"ask": "What?", "criteria": {"matches": "a|(a+)+$"}},
    {"ask": "What?", "criteria": {"number": {"value": 7}}},
    {"ask": "What?", "criteria": {"number": 7, "weight": 2}},
    {"ask": "What?", "criteria": {"number": 7, "contains": "x"}},
    {"ask": "What?", "criteria": [{"number": 7}]}, {"ask": "What?", "criteria": {"keywords": "x"}},
    {"ask": "What?", "criteria": {"a:b": 7}}, {"ask": "What?", "criteria": {"judged": "Good?"}},
    {"ask": "What?", "references": []}, {"ask": "What?", "references": ""},
    {"ask": "What?", "references": [7]}, {"ask": "What?", "references": {"file": "x"}},
    {"ask": "What?", "reference": "x"}, {"ask": "What?", "references": "x", "weight": 2},
    {"ask": "What?", "references": "x", "tags": {}}, {"ask": "What?", "references": "x", "tags": []},
    {"ask": "What?", "references": "x", "tags": {"a": 1}}, {"ask": "\ud800", "references": "x"},
    {"ask": "What?", "references": "\ud800"}, {"prompt": "What?", "references": "x"},
    {"ask": "What?", "references": "x", "strange": 1}, {"ask": "What?", "criteria": {"bleu": "x"}},
    {"id": "taken", "ask": "What?", "references": "x"},
]  # fmt: skip


def write(folder: Path, rows: list[Any], name: str = "suite.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_fully(path: Path, root: Path) -> Any:
    """Read a file by the full reader alone: a suite with its warnings, or its problems."""
    loader = CaseLoader(root, path.parent)
    loader.file(path, loader.defaults(None, path.stem), top=True)
    loader.check_clusters()
    try:
        loader.findings.check()
    except SuiteError as error:
        return error.problems
    return loader.suite(path.stem), tuple(loader.findings.warnings)


@pytest.mark.parametrize("row", PLAIN)
def test_a_plain_case_is_read_as_the_full_reader_reads_it(tmp_path: Path, row: Any) -> None:
    path = write(tmp_path, [row, {"ask": "More?", "criteria": {"number": 1}}])
    plain = read_plain(path, tmp_path)
    assert plain is not None
    assert (plain, ()) == read_fully(path, tmp_path)
    assert [
        type(value) for case in plain.cases for value in case.criteria[0].scorer.params.values()
    ]
    assert Native().read(path).suite == plain


@pytest.mark.parametrize("row", OTHER)
def test_any_other_file_is_read_by_the_full_reader(tmp_path: Path, row: Any) -> None:
    before = {"id": "taken", "ask": "First?", "criteria": {"number": 1}}
    path = write(tmp_path, [before, row])
    plain = read_plain(path, tmp_path)
    full = read_fully(path, tmp_path)
    assert plain is None or (plain, ()) == full
    if isinstance(full, tuple):
        reading = Native().read(path)
        assert (reading.suite, reading.warnings) == full
    else:
        with pytest.raises(SuiteError) as caught:
            Native().read(path)
        assert caught.value.problems == full


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-10, 10), st.floats(-5, 5), st.text(max_size=3),
    st.sampled_from(["references", "x", "exact_match"]), st.lists(st.text(max_size=2), max_size=2),
    st.dictionaries(st.sampled_from(["value", "texts", "a"]), st.integers(0, 3), max_size=2),
)  # fmt: skip
CRITERIA = st.dictionaries(
    st.sampled_from(
        ["number", "contains", "exact_match", "matches", "token_f1", "weight", "length", "nothing"]
    ),
    VALUES,
    max_size=2,
)
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.one_of(st.sampled_from(["a", "b", "c"]), VALUES),
        "ask": st.one_of(st.text(max_size=5), VALUES),
        "criteria": st.one_of(CRITERIA, CRITERIA, VALUES),
        "references": VALUES,
        "tags": st.one_of(VALUES, st.dictionaries(st.text(max_size=2), VALUES, max_size=2)),
        "weight": st.integers(0, 2),
    },
)


@settings(
    max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@example(rows=PLAIN)
@given(rows=st.lists(ROWS, max_size=3))
def test_whatever_the_plain_reader_takes_is_what_the_full_one_makes(
    tmp_path: Path, rows: list[Any]
) -> None:
    path = write(tmp_path, rows)
    plain = read_plain(path, tmp_path)
    if plain is not None:
        assert (plain, ()) == read_fully(path, tmp_path)


def test_only_files_of_json_lines_are_looked_at(tmp_path: Path) -> None:
    path = write(tmp_path, PLAIN, "suite.csv")
    assert read_plain(path, tmp_path) is None
    assert read_plain(tmp_path / "none.jsonl", tmp_path) is None
    assert read_plain(write(tmp_path, []), tmp_path) is None
    (tmp_path / "broken.jsonl").write_text('{"ask": "What?"')
    assert read_plain(tmp_path / "broken.jsonl", tmp_path) is None


def test_criteria_for_cases_without_any_are_those_of_the_full_reader(tmp_path: Path) -> None:
    path = write(tmp_path, [{"ask": "What?", "references": "x"}])
    suite = Native(criteria={"contains": "x"}).read(path).suite
    assert suite.cases[0].criteria[0].id == "contains"
