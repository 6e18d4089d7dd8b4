"""The page about the suite format, and the schema beside it: every example is read."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from json_schema import fits
from proctor.formats.native.case import CaseKeys
from proctor.formats.native.dialect import Native
from proctor.formats.native.reader import HeaderKeys
from proctor.formats.native.schema import schema_text, suite_schema
from proctor.io.yaml_files import read_yaml

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = DOCS / "suite-format.md"
BLOCK = re.compile(
    r"(?:^`(?P<name>[\w./-]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)


def blocks() -> list[tuple[str | None, str, str]]:
    text = PAGE.read_text(encoding="utf-8")
    return [(m["name"], m["kind"], m["text"]) for m in BLOCK.finditer(text)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, (name, kind, text) in enumerate(blocks()):
        path = tmp_path / (name or f"block-{number}.{kind}")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def yaml_names() -> list[str]:
    found = [
        name or f"block-{i}.yaml" for i, (name, kind, _) in enumerate(blocks()) if kind == "yaml"
    ]
    assert len(found) >= 8
    return found


@pytest.mark.parametrize("name", yaml_names())
def test_every_yaml_example_reads_without_a_warning(folder: Path, name: str) -> None:
    assert Native().recognises(folder / name)
    reading = Native().read(folder / name)
    assert reading.suite.cases
    assert reading.warnings == ()


@pytest.mark.parametrize("name", yaml_names())
def test_every_yaml_example_fits_the_schema(folder: Path, name: str) -> None:
    assert fits(read_yaml(folder / name).data, suite_schema())


def test_the_example_of_several_files_has_all_of_them(folder: Path) -> None:
    suite = Native().read(folder / "suite.yaml").suite
    assert [case.id for case in suite.cases] == [
        "oceans", "rivers-1", "rivers-2", "norway", "peru", "alps", "africa", "here",
    ]  # fmt: skip
    by_id = {case.id: case for case in suite.cases}
    assert by_id["rivers-1"].tags == {"topic": ("geography",), "kind": ("river",)}
    assert by_id["norway"].full_score == 2.0
    assert by_id["alps"].weight == 2.0
    attempts = list(Native().answers(folder / "answers.jsonl", suite))
    assert [(a.case_id, a.index, a.output, str(a.status)) for a in attempts] == [
        ("norway", 0, "Oslo", "answered"),
        ("norway", 1, "Bergen", "answered"),
        ("peru", 0, "Lima.", "answered"),
        ("alps", 0, "", "unanswered"),
    ]


@pytest.mark.parametrize("key", sorted({*HeaderKeys.model_fields, *CaseKeys.model_fields}))
def test_the_page_explains_every_key(key: str) -> None:
    rows = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    ]
    assert any(f"`{key}`" in row.split("|")[1] for row in rows)


def test_the_published_schema_is_the_current_one() -> None:
    published = (DOCS / "suite.schema.json").read_text(encoding="utf-8")
    assert published == schema_text(), "run docs/generate.py"


def test_the_schema_has_the_keys_that_are_read() -> None:
    schema = suite_schema()
    assert set(schema["$defs"]["HeaderKeys"]["properties"]) == set(HeaderKeys.model_fields)
    assert set(schema["$defs"]["CaseKeys"]["properties"]) == set(CaseKeys.model_fields)


@pytest.mark.parametrize(
    "data",
    [
        {"name": "x"},
        {"cases": 5},
        {"cases": [{"ask": "a", "criteria": 1, "wieght": 2}]},
        {"cases": [{"criteria": "a"}]},
        {"cases": [{"ask": "a", "ask_file": "b"}]},
        {"cases": [{"ask": "a", "weight": "much"}]},
        {"cases": [{"ask": "a", "criteria": {"number": {"valeu": 3}}}]},
        {"cases": [{"ask": "a", "criteria": {"blanks": "[blank]"}}]},
        {"cases": [{"messages": [{"role": "usr", "content": "a"}]}]},
        {"cases": ["a.yaml"], "reduce": "best"},
        {"cases": ["a.yaml"], "unknown": 1},
    ],
)
@pytest.mark.slow
def test_the_schema_refuses_what_the_reader_refuses(data: Any) -> None:
    assert not fits(data, suite_schema())


def test_the_schema_is_json() -> None:
    assert json.loads(schema_text()) == suite_schema()
