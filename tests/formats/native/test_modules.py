"""Python modules that a native suite names travel with it, and run in the real sandbox."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.dialect import Reading
from proctor.core.fingerprint import case_key
from proctor.errors import Problem, SuiteError
from proctor.formats.carried_modules import MOST
from proctor.formats.native.dialect import Native
from proctor.formats.native.writer import write_native

DOCS = Path(__file__).resolve().parents[3] / "docs"
CHECKS = """\
from beside import FULL


def grade(answer):
    with open("data/words.txt", encoding="utf-8") as file:
        words = file.read().split()
    return sum(word in answer for word in words), FULL, None


def half(points, out_of, statuses):
    return points / 2, out_of, statuses
"""
FILES = {
    "checks.py": CHECKS,
    "beside.py": "FULL = 2\n",
    "data/words.txt": "one two\n",
    "lib/__init__.py": "",
    "lib/deep.py": "from lib import part\nfrom . import near\n",
    "lib/part.py": "",
    "lib/near.py": "",
    "cases/own.py": "import beside, helper\n",
    "cases/helper.py": "",
    "cases/checks.py": "# beside the case\n",
}
CARRIED = {"beside.py": FILES["beside.py"], "data/words.txt": FILES["data/words.txt"]}
GRADE = {"module": "checks", "func": "grade"}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return folder


def read(folder: Path, criterion: Any, **files: str) -> Reading:
    suite = json.dumps({"cases": [{"id": "c", "ask": "a", "criteria": criterion}]})
    write(folder / "suite", {**FILES, "suite.yaml": suite, **files})
    return Native().read(folder / "suite" / "suite.yaml")


def function_of(reading: Reading) -> dict[str, Any]:
    ((criterion,),) = (case.criteria for case in reading.suite.cases)
    params = criterion.scorer.params
    found: dict[str, Any] = dict(params.get("post_handler", params))
    return found


def problems_of(folder: Path, criterion: Any, **files: str) -> list[Problem]:
    with pytest.raises(SuiteError) as caught:
        read(folder, criterion, **files)
    return list(caught.value.problems)


BLANKS = {"template": "a [blank]", "targets": ["b"]}


@pytest.mark.parametrize(
    "criterion",
    [
        {"python_check": GRADE},
        {"scorer": "python_check", "with": GRADE, "weight": 2},
        {"keywords": {"rules": ["a"], "post_handler": GRADE}},
        {"scorer": "keywords", "with": {"rules": ["a"], "post_handler": GRADE}},
        {"blanks": {**BLANKS, "post_handler": GRADE}},
        {"scorer": "blanks", "with": {**BLANKS, "post_handler": GRADE}},
    ],
    ids="-".join,
)
def test_a_module_is_carried_however_the_criterion_is_written(
    tmp_path: Path, criterion: Any
) -> None:
    reading = read(tmp_path, criterion)
    assert function_of(reading) == {**GRADE, "source": CHECKS, "files": CARRIED}
    assert reading.warnings == ()


@pytest.mark.parametrize(
    ("module", "source", "files"),
    [
        ("beside", FILES["beside.py"], None),
        ("lib.deep", FILES["lib/deep.py"], ["lib/__init__.py", "lib/near.py", "lib/part.py"]),
        ("lib.part", "", None),
        ("cases.helper", "", None),
    ],
)
def test_a_dotted_name_is_a_path(
    tmp_path: Path, module: str, source: str, files: list[str] | None
) -> None:
    found = function_of(read(tmp_path, {"python_check": {"module": module, "func": "f"}}))
    assert found["source"] == source
    assert (sorted(found["files"]) if "files" in found else None) == files


def test_lines_of_a_module_end_alike_everywhere(tmp_path: Path) -> None:
    reading = read(tmp_path, {"python_check": GRADE}, **{"checks.py": "a = 1\r\nb = 2\r\n"})
    assert function_of(reading)["source"] == "a = 1\nb = 2\n"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"source": "x = 1"}, {"source": "x = 1"}),
        ({"source": ""}, {"source": ""}),
        ({"source": "x", "files": {"a": "b"}}, {"source": "x", "files": {"a": "b"}}),
        ({"files": {"a": "b"}}, {"source": CHECKS, "files": {**CARRIED, "a": "b"}}),
        (
            {"files": {"beside.py": "FULL = 9"}},
            {"source": CHECKS, "files": {**CARRIED, "beside.py": "FULL = 9"}},
        ),
    ],
)
def test_what_is_written_stays(
    tmp_path: Path, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = function_of(read(tmp_path, {"python_check": {**GRADE, **given}}))
    assert found == {**GRADE, **expected}


def test_a_module_that_is_not_there_is_fine_where_its_text_is_given(tmp_path: Path) -> None:
    function = {"module": "gone.away", "func": "f", "source": "x"}
    assert function_of(read(tmp_path, {"python_check": function})) == function


CASE = """\
ask: a
criteria:
  - python_check: {module: MODULE, func: grade}
"""


@pytest.mark.parametrize(
    ("module", "source", "files"),
    [
        ("checks", FILES["cases/checks.py"], []),
        ("own", FILES["cases/own.py"], ["helper.py"]),
        ("beside", FILES["beside.py"], []),
        ("lib.part", "", []),
    ],
)
def test_the_folder_of_an_included_file_comes_first(
    tmp_path: Path, module: str, source: str, files: list[str]
) -> None:
    suite = {"suite.yaml": "cases: [cases/one.yaml]\n"}
    case = {"cases/one.yaml": CASE.replace("MODULE", module)}
    write(tmp_path, {**FILES, **suite, **case})
    found = function_of(Native().read(tmp_path / "suite.yaml"))
    assert found["source"] == source
    assert sorted(found.get("files", {})) == files


def test_criteria_of_the_suite_carry_their_module_into_each_case(tmp_path: Path) -> None:
    suite = "criteria: {python_check: {module: checks, func: grade}}\ncases: [{ask: a}, {ask: b}]\n"
    write(tmp_path, {**FILES, "suite.yaml": suite})
    cases = Native().read(tmp_path / "suite.yaml").suite.cases
    assert [case.criteria[0].scorer.params["files"] for case in cases] == [CARRIED, CARRIED]


def test_a_folder_without_a_suite_file_is_the_place_of_its_modules(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "a.yaml": CASE.replace("MODULE", "checks")})
    assert function_of(Native().read(tmp_path))["source"] == CHECKS


def test_a_missing_module_is_an_error_with_the_places_looked_at(tmp_path: Path) -> None:
    suite = {"suite.yaml": "cases:\n  - cases/one.yaml\n"}
    case = {"cases/one.yaml": CASE.replace("MODULE", "a.gone")}
    write(tmp_path, {**suite, **case})
    with pytest.raises(SuiteError) as caught:
        Native().read(tmp_path / "suite.yaml")
    (problem,) = caught.value.problems
    assert problem.message == "there is no module 'a.gone'"
    assert problem.hint == (
        f"looked for {tmp_path / 'cases' / 'a' / 'gone.py'} and {tmp_path / 'a' / 'gone.py'}"
    )
    assert (problem.file, problem.line, problem.column) == (
        str(tmp_path / "cases" / "one.yaml"), 3, 20
    )  # fmt: skip
    assert problem.field == "criteria[0].python_check.module"


HANDLER = "cases[0].criteria.keywords.post_handler"


@pytest.mark.parametrize(
    ("criterion", "field", "message"),
    [
        ({"python_check": {"module": "gone", "func": "f"}}, "cases[0].criteria.python_check.module",
         "there is no module 'gone'"),
        ({"scorer": "python_check", "with": {"module": "gone", "func": "f"}},
         "cases[0].criteria.with.module", "there is no module 'gone'"),
        ({"keywords": {"rules": ["a"], "post_handler": {"module": "gone", "func": "f"}}},
         f"{HANDLER}.module", "there is no module 'gone'"),
        ({"python_check": {"module": "lib", "func": "f"}}, "cases[0].criteria.python_check.module",
         "there is no module 'lib'"),
        ({"python_check": {"module": "x" * 5000, "func": "f"}},
         "cases[0].criteria.python_check.module", f"there is no module '{'x' * 5000}'"),
        ({"python_check": {"module": "../checks", "func": "f"}}, "cases[0].criteria.python_check",
         "python_check: '../checks' is not the dotted name of a module"),
        ({"keywords": {"rules": ["a"], "post_handler": {"module": "gone"}}}, HANDLER,
         "the key 'func' is missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_found_is_said_where_it_stands(
    tmp_path: Path, criterion: Any, field: str, message: str
) -> None:
    (problem,) = problems_of(tmp_path, criterion)
    assert (problem.field, problem.message) == (field, message)


def test_a_module_that_is_no_text_is_an_error_in_its_file(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, {"python_check": GRADE}, **{"checks.py": "a\n\0"})
    assert problem.file == str(tmp_path / "suite" / "checks.py")
    assert (problem.line, "binary" in problem.message) == (2, True)


@pytest.mark.parametrize("name", ["link", "up.link"])
def test_a_link_out_of_the_suite_is_not_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link.py").write_text("SECRET = 1\n", encoding="utf-8")
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "link.py").symlink_to(tmp_path / "out" / "link.py")
    (tmp_path / "suite" / "up").symlink_to(tmp_path / "out")
    (problem,) = problems_of(tmp_path, {"python_check": {"module": name, "func": "f"}})
    assert problem.message == f"the module {name!r} leads out of the suite's folder"
    reading = read(tmp_path, {"python_check": GRADE}, **{"checks.py": "import link"})
    assert function_of(reading) == {**GRADE, "source": "import link"}


def test_a_wider_root_lets_a_suite_use_what_lies_beside_it_by_links(tmp_path: Path) -> None:
    write(tmp_path, {"shared/checks.py": "x = 1\n", "suite/s.yaml": CASE.replace("MODULE", "m")})
    (tmp_path / "suite" / "m.py").symlink_to(tmp_path / "shared" / "checks.py")
    found = function_of(Native().read(tmp_path / "suite" / "s.yaml", root=tmp_path))
    assert found["source"] == "x = 1\n"


@pytest.mark.parametrize(
    ("source", "warning"),
    [
        ("def f(:\n", "checks.py is not valid Python (line 1): invalid syntax"),
        ("open('big.txt')", "the function will not find the file 'big.txt': the file has"),
    ],
)
def test_what_cannot_travel_is_warned_of_once(tmp_path: Path, source: str, warning: str) -> None:
    files = {"checks.py": source, "big.txt": "x" * (MOST + 1)}
    reading = read(tmp_path, [{"python_check": GRADE}, {"python_check": GRADE}], **files)
    (said,) = reading.warnings
    assert warning in said.message
    assert (said.field, said.severity) == ("cases[0].criteria[0].python_check.module", "warning")


def rows_of(folder: Path, ending: str, criteria: Any) -> Path:
    path = folder / f"rows.{ending}"
    if ending == "jsonl":
        rows = [{"id": "c", "ask": "a", "criteria": criteria}, {"ask": "b", "criteria": criteria}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif ending == "csv":
        cell = json.dumps(criteria).replace('"', '""')
        path.write_text(f'id,ask,criteria\nc,a,"{cell}"\n,b,"{cell}"\n', encoding="utf-8")
    else:
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        table = {"id": ["c", None], "ask": ["a", "b"], "criteria": [criteria, criteria]}
        parquet.write_table(pyarrow.table(table), path)
    return path


ROWS = ("jsonl", "csv", "parquet")


@pytest.mark.parametrize("ending", ROWS)
@pytest.mark.parametrize(
    "criteria",
    [{"python_check": GRADE}, [{"keywords": {"rules": ["a"], "post_handler": GRADE}}]],
    ids=["mapping", "list"],
)
def test_rows_carry_their_modules_and_share_the_text(
    tmp_path: Path, ending: str, criteria: Any
) -> None:
    write(tmp_path, FILES)
    reading = Native().read(rows_of(tmp_path, ending, criteria))
    functions = [
        criterion.scorer.params.get("post_handler", criterion.scorer.params)
        for case in reading.suite.cases
        for criterion in case.criteria
    ]
    assert functions == [{**GRADE, "source": CHECKS, "files": CARRIED}] * 2
    assert functions[0]["source"] is functions[1]["source"]


@pytest.mark.parametrize("ending", ROWS)
def test_a_row_says_that_its_module_is_missing(tmp_path: Path, ending: str) -> None:
    path = rows_of(tmp_path, ending, {"python_check": GRADE})
    with pytest.raises(SuiteError) as caught:
        Native().read(path)
    first, second = caught.value.problems
    assert first.message == second.message == "there is no module 'checks'"
    assert first.hint == f"looked for {tmp_path / 'checks.py'}"
    start = 2 if ending == "csv" else 1
    assert (first.line, second.line) == (start, start + 1)


def test_a_suite_is_written_with_all_that_it_carries(tmp_path: Path) -> None:
    handled = {"keywords": {"rules": ["a"], "post_handler": GRADE}}
    suite = read(tmp_path, [{"python_check": GRADE}, handled]).suite
    written = write_native(suite, tmp_path / "elsewhere")
    again = Native().read(written).suite
    assert list((tmp_path / "elsewhere").iterdir()) == [written]
    assert [case_key(case) for case in again.cases] == [case_key(case) for case in suite.cases]
    assert again.cases[0].criteria == suite.cases[0].criteria


def test_a_change_of_a_module_or_a_file_makes_another_case(tmp_path: Path) -> None:
    variants = [{"x.py": ""}, {"checks.py": CHECKS + "\n"}, {"data/words.txt": "one two three"}]
    keys = [
        case_key(read(tmp_path / str(number), {"python_check": GRADE}, **files).suite.cases[0])
        for number, files in enumerate(variants)
    ]
    assert len(set(keys)) == 3


def run(proctor: str, folder: Path, suite: str, answers: dict[str, str]) -> dict[str, float]:
    """Judge answers with ``proctor run``, and return the value of each case."""
    rows = [json.dumps({"case": case, "output": output}) for case, output in answers.items()]
    (folder / "answers.jsonl").write_text("\n".join(rows), encoding="utf-8")
    env = {key: value for key, value in os.environ.items() if not key.startswith("PROCTOR")}
    done = subprocess.run(
        [proctor, "run", suite, "--answers", "answers.jsonl", "--json", "--cases"],
        cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    result = json.loads(done.stdout)
    assert result["totals"]["unscored"] == 0
    return {case["id"]: case["value"] for case in result["cases"]}


@pytest.mark.sandbox
@pytest.mark.sampled(4)
def test_a_suite_with_functions_runs_in_the_sandbox(tmp_path: Path, proctor: str) -> None:
    suite = """\
cases:
  - {id: check, ask: a, criteria: {python_check: {module: checks, func: grade}}}
  - id: keywords
    ask: b
    criteria: {keywords: {rules: [x, y], post_handler: {module: checks, func: half}}}
  - id: blanks
    ask: c
    criteria:
      blanks:
        template: let [blank] = [blank];
        targets: [x, "1"]
        post_handler: {module: checks, func: half}
  - rows.jsonl
"""
    row = {"id": "row", "ask": "d", "criteria": {"python_check": GRADE}}
    write(tmp_path, {**FILES, "suite.yaml": suite, "rows.jsonl": json.dumps(row)})
    answers = {"check": "one", "keywords": "x y", "blanks": "let x = 1;", "row": "two one"}
    assert run(proctor, tmp_path, "suite.yaml", answers) == pytest.approx(
        {"check": 0.5, "keywords": 0.5, "blanks": 0.5, "row": 1.0}
    )


@pytest.mark.sandbox
@pytest.mark.slow
def test_the_functions_on_the_page_judge_as_it_says(tmp_path: Path, proctor: str) -> None:
    page = (DOCS / "suite-format.md").read_text(encoding="utf-8")
    for name in ("checks.py", "functions.yaml"):
        (text,) = re.findall(rf"^`{name}`:\n\n```\w+\n(.*?)^```$", page, re.M | re.S)
        write(tmp_path, {name: text})
    for answers, values in (
        ({"small-json": '{"name": 1}', "colours": "green, white and red"}, [1.0, 1.0]),
        ({"small-json": "[]", "colours": "green and white"}, [0.5, 0.0]),
        ({"small-json": "name", "colours": "blue"}, [0.0, 0.0]),
    ):
        assert list(run(proctor, tmp_path, "functions.yaml", answers).values()) == values
