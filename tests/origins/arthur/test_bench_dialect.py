"""Arthur Bench's files: CSV tables as suites and answers, and its folders imported whole."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.cli.main import _run
from proctor.engine.run.read_suite import find_dialect
from proctor.engine.transfer.export_import import read_archive
from proctor.errors import DialectError, SuiteError, UsageError
from proctor.origins.arthur.dialect import Bench
from proctor.origins.arthur.folder import BenchFolder
from proctor.store.store import Store

SUITE_ID, RUN_ID = "0a6bc2c8-1b3b-4b47-9f0c-2a2f6e0f3a11", "5a3fd1d1-55b5-4a3e-8a3c-1e1f7a1b9c22"
IDS = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"]


def table(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_is_a_suite(tmp_path: Path) -> None:
    path = table(tmp_path, "quiz.csv", "id,input,reference_output,context\nx,a?,A,\ny,b?,B,c d\n")
    assert find_dialect(path).name == "bench"
    (reading,) = Bench().read_all(path, options={"scoring_method": "word_count_match"})
    suite = reading.suite
    assert (suite.name, suite.dialect) == ("quiz", "bench")
    assert [case.id for case in suite.cases] == ["x", "y"]
    assert suite.cases[1].context == ("c d",)
    assert suite.cases[0].criteria[0].scorer.name == "word_count_match"
    assert Bench().read(path).suite.cases[0].criteria[0].scorer.name == "exact_match"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("input,other\na,b\n", "no column 'reference_output'"),
        ("input,reference_output\n", "at least one case"),
        ("id,input,reference_output\n1,a,b\n1,a,b\n", "an id twice"),
        ("input,input\na,b\n", "occur twice: input"),
        ("", "empty"),
        ("input,reference_output\na\n", "a row of 1 fields"),
        ('input,reference_output\n"a,b\n', "not readable as CSV"),
    ],
)
def test_tables_that_are_wrong(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SuiteError, match=words):
        Bench().read(table(tmp_path, "quiz.csv", text))


def test_options_that_are_not_known(tmp_path: Path) -> None:
    path = table(tmp_path, "quiz.csv", "input,reference_output\na,b\n")
    with pytest.raises(UsageError, match="has no option 'max_turns'"):
        Bench().read_all(path, options={"max_turns": "3"})
    with pytest.raises(UsageError, match="did you mean 'readability'"):
        Bench().read_all(path, options={"scoring_method": "readabilty"})


@pytest.mark.parametrize(
    ("ids", "text", "outputs"),
    [
        (True, "id,candidate_output\ny,two\nx,one\n", {"x": "one", "y": "two"}),
        (True, "candidate_output\none\ntwo\n", {"x": "one", "y": "two"}),
        (False, "id,candidate_output\n7,one\n8,two\n", {"row-1": "one", "row-2": "two"}),
    ],
)
def test_a_table_of_answers(tmp_path: Path, ids: bool, text: str, outputs: dict[str, str]) -> None:
    head = (
        "id,input,reference_output\nx,a,b\ny,a,b\n" if ids else "input,reference_output\na,b\na,b\n"
    )
    suite = Bench().read(table(tmp_path, "quiz.csv", head)).suite
    answers = table(tmp_path, "answers.csv", text)
    found = {attempt.case_id: attempt.output for attempt in Bench().answers(answers, suite)}
    assert found == outputs


@pytest.mark.parametrize(
    ("name", "text", "error", "words"),
    [
        ("a.csv", "candidate_output\none\n", SuiteError, "has 1 tests but expected 2 tests"),
        ("a.csv", "output\none\n", DialectError, "no column 'candidate_output'"),
        ("a.jsonl", "{}\n", DialectError, "CSV file"),
        ("a.csv", "id,candidate_output\nx,one\nq,two\n", SuiteError, "no case with the id 'q'"),
    ],
)
def test_answers_that_are_wrong(
    tmp_path: Path, name: str, text: str, error: type[Exception], words: str
) -> None:
    head = "id,input,reference_output\nx,a,b\ny,a,b\n"
    suite = Bench().read(table(tmp_path, "quiz.csv", head)).suite
    with pytest.raises(error, match=words):
        list(Bench().answers(table(tmp_path, name, text), suite))


def test_the_command_line_scores_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = table(tmp_path, "quiz.csv", "input,reference_output\na?,A\nb?,b\n")
    answers = table(tmp_path, "gpt.csv", "candidate_output\nA\nB\n")
    given = ["run", str(suite), "--answers", str(answers), "--store", str(tmp_path / "s.db")]
    assert _run([*given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["totals"]["score"] == 1.0
    assert _run([*given, "--json", "--compat", "original"]) == 0
    assert json.loads(capsys.readouterr().out)["totals"]["score"] == 2.0


def kept(root: Path, method: Any = None, **changed: Any) -> Path:
    """Write a folder as Arthur Bench 0.3.1 does."""
    folder = root / "my suite"
    (folder / "gpt run").mkdir(parents=True)
    scoring = method or {
        "name": "exact_match",
        "type": "built_in",
        "config": {"case_sensitive": True},
        "output_type": "categorical",
        "categories": [{"name": "non match", "description": None}, {"name": "match"}],
    }
    cases = [
        {"id": IDS[0], "input": "a?", "reference_output": "A"},
        {"id": IDS[1], "input": "b?", "reference_output": "é"},
    ]
    moment = "2023-11-05T14:02:21.551200"
    suite = {
        "id": SUITE_ID, "name": "my suite", "scoring_method": scoring, "test_cases": cases,
        "created_at": moment, "updated_at": moment, "description": "old", "last_run_time": moment,
        "num_runs": 1, "page": None, "page_size": None, "total_pages": None, "total_count": None,
    }  # fmt: skip
    outputs = [
        {"id": IDS[0], "output": "a", "score": 1.0, "input": None, "reference_output": None,
         "score_result": {"score": 1.0, "category": {"name": "match", "description": "same"}}},
        {"id": IDS[1], "output": "no", "score": -1.0},
    ]  # fmt: skip
    run = {
        "id": RUN_ID, "name": "gpt run", "test_suite_id": SUITE_ID, "test_cases": outputs,
        "created_at": moment, "updated_at": moment,
    }  # fmt: skip
    (root / "suite_id_to_name.json").write_text(json.dumps({SUITE_ID: "my suite"}))
    (folder / "suite.json").write_text(json.dumps({**suite, **changed}))
    (folder / "run_id_to_name.json").write_text(json.dumps({RUN_ID: "gpt run"}))
    (folder / "gpt run" / "run.json").write_text(json.dumps(run))
    return root


@pytest.mark.parametrize("inside", ["", "my suite"])
def test_a_folder_is_read_whole(tmp_path: Path, inside: str) -> None:
    root = kept(tmp_path / "bench_runs") / inside
    assert BenchFolder().recognises(root)
    (found,) = BenchFolder().read(root)
    assert (found.suite.name, found.suite.version, found.suite.compat) == (
        "my suite", SUITE_ID, "original",
    )  # fmt: skip
    assert [case.id for case in found.suite.cases] == IDS
    assert found.suite.cases[0].criteria[0].scorer.params["ignore_case"] is True
    (run,) = found.runs
    assert [scores["exact_match"].points for _, _, scores in run.rows] == [1.0, -1.0]


def test_what_was_imported_is_there_in_the_notebook(tmp_path: Path) -> None:
    from proctor.bench import TestSuite

    root, place = kept(tmp_path / "bench_runs"), tmp_path / "store.db"
    assert _run(["import", str(root), "--store", str(place)]) == 0
    assert _run(["import", str(root), "--store", str(place)]) == 0, "and again"
    suite = TestSuite("my suite", "exact_match", store=place)
    assert suite.runs == ["gpt run"]
    run = suite.test_run("gpt run")
    assert (run.scores, run.output, str(run.id)) == ([1.0, -1.0], ["a", "no"], RUN_ID)
    assert run.categories[0] is not None
    assert run.categories[0].name == "match"
    again = suite.run("new", candidate_output_list=["a", "É"])
    assert again.scores == [1.0, 1.0]


def test_scorers_of_somebody_are_named_only(tmp_path: Path) -> None:
    method = {"name": "mine", "type": "custom", "config": {"a": 1}, "output_type": "continuous"}
    (found,) = BenchFolder().read(kept(tmp_path / "b", method))
    spec = found.suite.cases[0].criteria[0].scorer
    assert (spec.name, spec.params["name"]) == ("custom", "mine")
    with Store.open(str(tmp_path / "store.db")) as store:
        ((_, (view,), _),) = read_archive(store, tmp_path / "b")
        assert view.summary.measures["mean_points"].value == 0.0


def test_old_suites_name_their_method_only(tmp_path: Path) -> None:
    (found,) = BenchFolder().read(kept(tmp_path / "b", "readability"))
    case = found.suite.cases[0]
    assert (case.criteria[0].scorer.name, case.full_score) == ("readability", 100.0)


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"name": "../x"}, "no name but a path"), ({"test_cases": []}, "at least one case"),
     ({"test_cases": 3}, "test_cases")],
)  # fmt: skip
def test_folders_that_are_wrong(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    with pytest.raises(SuiteError, match=words):
        list(BenchFolder().read(kept(tmp_path / "b", **changed)))


def test_other_folders_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["import", str(tmp_path), "--store", str(tmp_path / "s.db")]) == 2
    assert "nothing here that can be imported" in capsys.readouterr().err


def test_the_folder_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = kept(tmp_path / "bench_runs")
    given = ["bench", "--directory", str(root), "--store", str(tmp_path / "s.db")]
    assert _run([*given, "--json"]) == 0
    (suite,) = json.loads(capsys.readouterr().out)["suites"]
    assert (suite["suite"], suite["runs"][0]["avg_score"]) == ("my suite", 0.0)
    assert _run([*given, "--json"]) == 0
    (again,) = json.loads(capsys.readouterr().out)["suites"]
    assert (again["runs"], again["there"]) == ([], 1), "what is there is not read again"
    assert _run(["bench", "--directory", str(tmp_path / "no")]) == 2


def test_a_kept_run_is_answers_as_well(tmp_path: Path) -> None:
    root = kept(tmp_path / "b") / "my suite"
    suite = Bench().read(root).suite
    found = list(Bench().answers(root / "gpt run", suite))
    assert [attempt.output for attempt in found] == ["a", "no"]
    assert suite.compat == ""
