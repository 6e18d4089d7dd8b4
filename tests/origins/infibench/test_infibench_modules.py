"""The files that an InfiBench case's function needs travel with the suite."""

from pathlib import Path

import pytest

from proctor.contracts.dialect import Reading
from proctor.formats.carried_modules import MOST
from proctor.origins.infibench.dialect import InfiBench

CASE = """\
id: one
prompt_path: prompt.txt
type: code completion
lang: python
grading:
  customized: {module: MODULE, func: f}
"""
BESIDE = {
    "cases/near.py": "from . import far\n",
    "cases/far.py": "NAME = 'deep.txt'\n",
    "cases/deep.txt": "deep",
    "cases/data/a.txt": "a\r\nb",
    "cases/data/b.txt": "b",
    "cases/data/more/c.txt": "c",
    "cases/pack/__init__.py": "",
    "cases/pack/inner.py": "",
    "cases/json.py": "",
    "cases/blob.bin": "\0\0",
    "top.py": "",
    "top.txt": "top",
    "lib/__init__.py": "",
    "lib/part.py": "",
}


def read(folder: Path, source: str, module: str = "cases.check") -> Reading:
    case = CASE.replace("MODULE", module)
    own = {"suite.yaml": "cases: [cases/one.yaml]\n", "cases/one.yaml": case}
    files = {**own, "cases/prompt.txt": "p", "cases/check.py": source, **BESIDE}
    for name, text in files.items():
        path = folder / "suite" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (folder / "outside.txt").write_text("outside", encoding="utf-8")
    return InfiBench().read(folder / "suite" / "suite.yaml")


def files_of(reading: Reading) -> dict[str, str]:
    (criterion,) = reading.suite.cases[0].criteria
    files: dict[str, str] = criterion.scorer.params.get("files", {})
    return files


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import re, json, os.path", []),
        ("import numpy, near_miss", []),
        ("import near", ["cases/deep.txt", "cases/far.py", "cases/near.py"]),
        ("from cases import near", ["cases/deep.txt", "cases/far.py", "cases/near.py"]),
        ("from cases.far import NAME", ["cases/deep.txt", "cases/far.py"]),
        ("from .far import NAME", ["cases/deep.txt", "cases/far.py"]),
        ("from . import far", ["cases/deep.txt", "cases/far.py"]),
        ("def f(r):\n    import far", ["cases/deep.txt", "cases/far.py"]),
        ("from pack import inner", ["cases/pack/__init__.py", "cases/pack/inner.py"]),
        ("import pack.inner", ["cases/pack/__init__.py", "cases/pack/inner.py"]),
        ("from lib.part import x", ["lib/__init__.py", "lib/part.py"]),
        ("import top", ["top.py"]),
        ("from . import json", ["cases/json.py"]),
        ("from .. import top", ["top.py"]),
        ("from .... import outside", []),
        ("open('data/a.txt')", ["cases/data/a.txt"]),
        ("open('./data/a.txt')", ["cases/data/a.txt"]),
        ("open('cases/data/a.txt')", ["cases/data/a.txt"]),
        ("join(here, 'data', 'a.txt')", ["cases/data/a.txt"]),
        ("HERE / 'data' / 'more' / 'c.txt'", ["cases/data/more/c.txt"]),
        ("open('top.txt')", ["top.txt"]),
        ("open('../../outside.txt'); open('/etc/passwd'); ''; '.'; 'x' * 9; b'top.txt'", []),
        ("'check.py'", []),
        ("'data'", []),
        ("'" + "y" * 300 + "'; 'a\\0b'; 'a\\nb'", []),
    ],
)
def test_what_a_module_imports_or_names_travels_with_it(
    tmp_path: Path, source: str, expected: list[str]
) -> None:
    reading = read(tmp_path, source)
    assert sorted(files_of(reading)) == expected
    assert all(text == BESIDE[name] for name, text in files_of(reading).items())
    assert reading.warnings == ()


def test_files_are_named_from_where_the_dotted_name_begins(tmp_path: Path) -> None:
    reading = read(tmp_path, "from above.cases import far\n", "above.cases.check")
    assert sorted(files_of(reading)) == ["above/cases/deep.txt", "above/cases/far.py"]


def test_the_folder_of_the_case_is_the_root_for_a_plain_name(tmp_path: Path) -> None:
    assert sorted(files_of(read(tmp_path, "import far\n", "check"))) == ["deep.txt", "far.py"]


@pytest.mark.parametrize(
    ("source", "warning"),
    [
        ("open('blob.bin')", "will not find the file 'blob.bin': this is a binary file"),
        ("open('big.txt')", "will not find the file 'big.txt': the file has"),
        (
            "'half.txt', 'half2.txt'",
            "will not find the file 'half2.txt': all files beside a module",
        ),
        ("def f(:\n", "check.py is not valid Python (line 1): invalid syntax"),
    ],
)
def test_what_cannot_travel_is_said(tmp_path: Path, source: str, warning: str) -> None:
    cases = tmp_path / "suite" / "cases"
    cases.mkdir(parents=True)
    (cases / "big.txt").write_text("x" * (MOST + 1), encoding="utf-8")
    (cases / "half.txt").write_text("x" * (MOST - 10), encoding="utf-8")
    (cases / "half2.txt").write_text("x" * 11, encoding="utf-8")
    reading = read(tmp_path, source)
    (said,) = reading.warnings
    assert warning in said.message
    assert (said.line, said.severity) == (6, "warning")
    assert set(files_of(reading)) <= {"cases/half.txt"}


def test_a_link_that_leads_out_of_the_suite_is_not_followed(tmp_path: Path) -> None:
    cases = tmp_path / "suite" / "cases"
    cases.mkdir(parents=True)
    (cases / "link.txt").symlink_to(tmp_path / "outside.txt")
    assert files_of(read(tmp_path, "open('link.txt')")) == {}
