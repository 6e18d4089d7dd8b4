"""What users of Arthur Bench have on disk: written as it writes it, and found again by name."""

import asyncio
import json
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from proctor.bench import TestSuite, UserValueError
from proctor.cli.main import _run
from proctor.store.store import Store
from proctor.web.app import make_app

INPUTS, REFERENCES = ["a?", "b?"], ["A", "b"]
SUITE_ID = "11111111-2222-4333-8444-555555555555"
CASE_ID = "aaaaaaaa-2222-4333-8444-555555555555"
RUN_ID = "bbbbbbbb-2222-4333-8444-555555555555"
MADE, RUN_AT = "2023-08-01T10:11:12.123456", "2023-08-02T08:00:00.000001"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of one's own, as a notebook does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BENCH_FILE_DIR", raising=False)
    return tmp_path


def quiz(name: str = "quiz", **more: Any) -> TestSuite:
    given = {"input_text_list": INPUTS, "reference_output_list": REFERENCES}
    return TestSuite(name, "exact_match", **{**given, **more})


def loaded(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def kept_by_arthur(root: Path) -> None:
    """Write a folder as Arthur Bench itself does."""
    cases = [{"id": CASE_ID, "input": "a?", "reference_output": "A"}]
    method = {"name": "exact_match", "type": "built_in", "config": {"case_sensitive": True}}
    suite = {"id": SUITE_ID, "name": "old", "scoring_method": method, "test_cases": cases,
             "created_at": MADE, "updated_at": MADE, "num_runs": 1}  # fmt: skip
    outputs = [{"id": CASE_ID, "output": "a", "score": 1.0}]
    run = {"id": RUN_ID, "name": "first", "test_cases": outputs, "created_at": RUN_AT}
    (root / "old" / "first").mkdir(parents=True)
    (root / "old" / "suite.json").write_text(json.dumps(suite))
    (root / "old" / "first" / "run.json").write_text(json.dumps(run))


def test_suites_and_runs_are_written_where_arthur_bench_writes_them(here: Path) -> None:
    suite = quiz(description="a quiz")
    run = suite.run("first", candidate_output_list=["A", "B"], model_name="gpt")
    root = here / "bench_runs"
    assert loaded(root / "suite_id_to_name.json") == {str(suite.id): "quiz"}
    assert loaded(root / "quiz" / "run_id_to_name.json") == {str(run.id): "first"}
    told = loaded(root / "quiz" / "suite.json")
    assert (told["id"], told["name"], told["description"]) == (str(suite.id), "quiz", "a quiz")
    assert told["scoring_method"]["name"] == "exact_match"
    assert told["scoring_method"]["output_type"] == "categorical"
    assert [(row["input"], row["reference_output"]) for row in told["test_cases"]] == [
        ("a?", "A"),
        ("b?", "b"),
    ]
    assert told["num_runs"] == 1
    assert datetime.fromisoformat(told["last_run_time"]) >= datetime.fromisoformat(
        told["created_at"]
    )
    made = loaded(root / "quiz" / "first" / "run.json")
    assert (made["id"], made["test_suite_id"]) == (str(run.id), str(suite.id))
    assert [row["id"] for row in made["test_cases"]] == [row["id"] for row in told["test_cases"]]
    assert all(UUID(row["id"]) for row in made["test_cases"])
    assert [(row["output"], row["score"]) for row in made["test_cases"]] == [("A", 1.0), ("B", 0.0)]
    assert made["test_cases"][0]["score_result"]["category"]["name"] == "match"


def test_a_run_is_written_when_it_is_saved_and_counted_once(here: Path) -> None:
    suite = quiz()
    run = suite.run("later", candidate_output_list=["A", "b"], save=False)
    file = here / "bench_runs" / "quiz" / "later" / "run.json"
    assert not file.exists()
    run.save()
    assert loaded(file)["id"] == str(run.id)
    asyncio.run(quiz().arun("more", candidate_output_list=["A", "b"]))
    assert loaded(here / "bench_runs" / "quiz" / "suite.json")["num_runs"] == 2


@pytest.mark.parametrize(
    ("more", "variable", "written"),
    [
        ({}, None, "bench_runs"),
        ({}, "elsewhere", "elsewhere"),
        ({"directory": "mine"}, "elsewhere", "mine"),
        ({"directory": ""}, None, None),
        ({"store": "own.db"}, None, None),
        ({"store": "own.db", "directory": "mine"}, None, "mine"),
    ],
)
def test_where_files_go(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: dict[str, str],
    variable: str | None,
    written: str | None,
) -> None:
    if variable is not None:
        monkeypatch.setenv("BENCH_FILE_DIR", variable)
    quiz(**more)
    found = {str(path.relative_to(here)) for path in here.rglob("suite.json")}
    assert found == (set() if written is None else {f"{written}/quiz/suite.json"})


def test_a_folder_that_cannot_be_written_is_said(here: Path) -> None:
    (here / "bench_runs").write_text("a file")
    with pytest.raises(UserValueError, match="cannot be written to bench_runs"):
        quiz()


def test_another_suite_of_the_name_is_left_as_it_is(here: Path) -> None:
    kept_by_arthur(here / "bench_runs")
    before = (here / "bench_runs" / "old" / "suite.json").read_bytes()
    with pytest.warns(UserWarning, match="holds another of this name"):
        suite = quiz("old")
    with pytest.warns(UserWarning, match="holds another of this name"):
        suite.run("first", candidate_output_list=["A", "b"])
    assert (here / "bench_runs" / "old" / "suite.json").read_bytes() == before


def test_a_suite_that_arthur_bench_kept_is_found_by_its_name(here: Path) -> None:
    kept_by_arthur(here / "bench_runs")
    suite = TestSuite("old")
    assert str(suite.id) == SUITE_ID
    assert suite.runs == ["first"]
    run = suite.run("second", candidate_output_list=["a"])
    assert run.scores == [1.0]
    assert str(run.test_suite_id) == SUITE_ID
    told = loaded(here / "bench_runs" / "old" / "suite.json")
    assert (told["id"], told["created_at"], told["num_runs"]) == (SUITE_ID, MADE, 2)


def test_what_is_imported_keeps_its_id_and_its_time(here: Path) -> None:
    kept_by_arthur(here / "elsewhere")
    assert _run(["import", "elsewhere", "--store", "s.db"]) == 0
    with Store.open("s.db") as store:
        (row,) = store.suites.newest()
    assert row.created == datetime.fromisoformat(MADE).timestamp()
    with TestClient(make_app("s.db"), base_url="http://127.0.0.1") as client:
        root = "/api/v3/bench/test_suites"
        (listed,) = client.get(root).json()["test_suites"]
        assert listed["id"] == SUITE_ID
        made = datetime.fromisoformat(listed["created_at"]).timestamp()
        assert made == datetime.fromisoformat(MADE).timestamp()
        assert client.get(f"{root}/{SUITE_ID}").json()["id"] == SUITE_ID
        runs = client.get(f"{root}/{SUITE_ID}/runs").json()
        assert runs["test_suite_id"] == SUITE_ID
        assert runs["test_runs"][0]["id"] == RUN_ID
        run = client.get(f"{root}/{SUITE_ID}/runs/{RUN_ID}").json()
        assert run["test_suite_id"] == SUITE_ID


def test_files_of_ones_own_are_not_taken_for_something_new(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quiz().run("first", candidate_output_list=["A", "B"])
    assert _run(["bench", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["suites"] == [
        {"suite": "quiz", "runs": [], "there": 1}
    ]
    # In another store they are, with the numbers that they were written with.
    assert _run(["bench", "--json", "--store", "other.db"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["suites"]
    assert [(run["name"], run["avg_score"]) for run in found["runs"]] == [("first", 0.5)]
    assert TestSuite("quiz", store="other.db").compat == ""


def test_the_command_that_its_users_know(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import tomllib

    from proctor.cli import main

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    assert project["project"]["scripts"]["bench"] == "proctor.cli.main:bench"
    monkeypatch.setattr("sys.argv", ["bench", "--json"])
    with pytest.raises(SystemExit, match="0"):
        main.bench()
    assert json.loads(capsys.readouterr().out)["suites"] == []
