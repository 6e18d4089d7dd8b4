"""Runs in a notebook: how outputs find their cases, what is scored, stored and said."""

import asyncio
import json
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from proctor.bench import (
    InternalError,
    MissingParameterError,
    TestSuite,
    UserError,
    UserValueError,
)
from proctor.cli.main import _run
from proctor.core.suite import Spec, Suite
from proctor.store.store import Store

INPUTS = ["a?", "b?", "c?"]
REFERENCES = ["A", "b", "C"]


def quiz(folder: Path, method: Any = "exact_match", **more: Any) -> TestSuite:
    given = {"input_text_list": INPUTS, "reference_output_list": REFERENCES, **more}
    return TestSuite("quiz", method, store=folder / "store.db", **given)


def test_scores_categories_outputs(tmp_path: Path) -> None:
    run = quiz(tmp_path).run("first", candidate_output_list=["A", "B", "C "])
    assert run.scores == [1.0, 0.0, 0.0]
    assert run.categories == ["match", "non match", "non match"]
    assert Counter(run.categories) == {"match": 1, "non match": 2}
    assert json.dumps(run.categories[0]) == '"match"'
    assert run.categories[0] is not None
    assert run.categories[0].name == "match"
    assert run.categories[0].description == "the output equals the reference"
    assert run.output == run.outputs == ["A", "B", "C "]
    assert (run.average, run.unscored, len(run)) == (pytest.approx(1 / 3), 0, 3)
    assert "'first': mean 0.3333" in repr(run)


@pytest.mark.parametrize(
    ("compat", "sensitive", "wanted"),
    [("", True, 0.0), ("", False, 1.0), ("original", True, 1.0), ("original", False, 0.0)],
)
def test_case_counts_as_the_document_says(
    tmp_path: Path, compat: str, sensitive: bool, wanted: float
) -> None:
    from proctor.bench import ScoringMethod

    method = ScoringMethod("exact_match", case_sensitive=sensitive)
    suite = quiz(tmp_path, method, compat=compat)
    assert suite.run("x", candidate_output_list=["A", "B", "C"]).scores == [1.0, wanted, 1.0]
    assert suite.compat == compat


def test_what_is_told_of_a_run_is_kept(tmp_path: Path) -> None:
    told = {
        "model_name": "gpt",
        "model_version": "2",
        "foundation_model": "gpt-base",
        "prompt_template": "Say {x}",
    }
    quiz(tmp_path).run(
        "first",
        candidate_output_list=REFERENCES,
        context_list=["one", "", ["two", "three"]],
        **told,
    )
    again = quiz(tmp_path)
    assert again.runs == ["first"]
    run = again.test_run("first")
    assert {name: getattr(run, name) for name in told} == told
    assert run.contexts == [("one",), (), ("two", "three")]
    assert isinstance(run.id, UUID)
    assert run.test_suite_id == again.id


def test_outputs_by_id_or_by_place(tmp_path: Path) -> None:
    table = {"id": ["x", "y", "z"], "input": INPUTS, "reference_output": REFERENCES}
    suite = TestSuite("named", "exact_match", reference_data=table, store=tmp_path / "store.db")
    turned = {"id": ["z", "x", "y"], "candidate_output": ["C", "A", "no"]}
    assert suite.run("by id", candidate_data=turned).scores == [1.0, 0.0, 1.0]
    plain = {"candidate_output": ["C", "A", "no"]}
    assert suite.run("by place", candidate_data=plain).scores == [0.0, 0.0, 0.0]
    numbered = {"id": [0, 1, 2], "candidate_output": ["A", "b", "C"]}
    assert quiz(tmp_path).run("others' ids", candidate_data=numbered).scores == [1.0, 1.0, 1.0]
    with pytest.raises(UserValueError, match="no case with the id 'q'"):
        suite.run("strange", candidate_data={**turned, "id": ["z", "x", "q"]})
    with pytest.raises(UserValueError, match="'z' twice"):
        suite.run("twice", candidate_data={**turned, "id": ["z", "x", "z"]})


def test_a_csv_of_outputs_with_context(tmp_path: Path) -> None:
    path = tmp_path / "outputs.csv"
    path.write_text("answer,passage\nA,first\n,second\nC,third\n", encoding="utf-8")
    run = quiz(tmp_path).run(
        "csv", candidate_data_path=path, candidate_column="answer", context_column="passage"
    )
    assert run.scores == [1.0, 0.0, 1.0]
    assert run.output == ["A", "", "C"]
    assert run.contexts == [("first",), ("second",), ("third",)]


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({}, MissingParameterError, "no candidate outputs"),
        ({"candidate_output_list": ["A"]}, UserValueError, "has 1 tests but expected 3 tests"),
        (
            {"candidate_output_list": REFERENCES, "context_list": ["x"]},
            UserValueError,
            "1 contexts for 3",
        ),
        ({"candidate_output_list": REFERENCES, "batch_size": 0}, UserValueError, "batch_size"),
        (
            {"candidate_data": {"output": REFERENCES}},
            UserValueError,
            "no column 'candidate_output'",
        ),
        ({"candidate_data_path": "outputs.txt"}, UserValueError, "no .csv"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, more: dict[str, Any], error: type[Exception], words: str
) -> None:
    suite = quiz(tmp_path)
    with pytest.raises(error, match=words):
        suite.run("x", **more)
    assert suite.runs == []


@pytest.mark.parametrize("name", ["../x", "", "a/b"])
def test_names_of_runs(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserValueError):
        quiz(tmp_path).run(name, candidate_output_list=REFERENCES)


def test_a_name_is_used_once(tmp_path: Path) -> None:
    suite = quiz(tmp_path)
    suite.run("x", candidate_output_list=REFERENCES)
    for save in (True, False):
        with pytest.raises(UserValueError, match="has a run 'x' already"):
            suite.run("x", candidate_output_list=REFERENCES[::-1], save=save)
        with pytest.raises(UserValueError, match="has a run 'x' already"):
            suite.run("x", candidate_output_list=REFERENCES, save=save, model_name="other")


def test_a_notebook_may_be_run_from_the_top_again(tmp_path: Path) -> None:
    contexts = [["passage"], [], ["one", "two"]]
    found = [
        quiz(tmp_path).run(
            "x", candidate_output_list=["A", None, "C"], context_list=contexts, model_name="m"
        )
        for _ in range(2)
    ]
    assert found[0].scores == found[1].scores
    assert found[0].id == found[1].id
    assert quiz(tmp_path).runs == ["x"]


def test_saving_later(tmp_path: Path) -> None:
    suite = quiz(tmp_path)
    run = suite.run("x", candidate_output_list=["A", None, "C"], save=False, model_name="m")
    assert (run.id, suite.runs) == (None, [])
    saved = run.save()
    assert suite.runs == ["x"]
    again = suite.test_run("x")
    assert (again.id, again.scores, again.model_name) == (saved, [1.0, 0.0, 1.0], "m")
    with pytest.raises(UserError, match="saved already"):
        run.save()


def test_in_a_loop_that_runs(tmp_path: Path) -> None:
    async def notebook() -> list[Any]:
        suite = quiz(tmp_path)
        first = suite.run("sync", candidate_output_list=REFERENCES)
        second = await suite.arun("async", candidate_output_list=REFERENCES)
        return [first.scores, second.scores]

    assert asyncio.run(notebook()) == [[1.0] * 3] * 2


def test_more_than_a_hundred_runs(tmp_path: Path) -> None:
    suite = quiz(tmp_path)
    first = suite.run("first", candidate_output_list=REFERENCES)
    with Store.open(str(tmp_path / "store.db")) as store:
        done = store.runs.get(first.run_id)
        with store.batch():
            for number in range(150):
                store.runs.save(replace(done, id=f"{number:012x}", name=f"run {number}"))
    assert suite.run("last", candidate_output_list=REFERENCES).scores == [1.0, 1.0, 1.0]
    assert len(suite.runs) == 152


@pytest.mark.slow
def test_chinese_words_are_words(tmp_path: Path) -> None:
    pytest.importorskip("rjieba")
    given = {"input_text_list": ["?"], "reference_output_list": ["我们今天去北京大学。"]}
    new = TestSuite("zh", "word_count_match", store=tmp_path / "store.db", **given)
    assert new.run("x", candidate_output_list=["我们今天去。"]).scores[0] == pytest.approx(3 / 4)
    old = TestSuite("o", "word_count_match", compat="original", store=tmp_path / "s.db", **given)
    assert old.run("x", candidate_output_list=["我们今天去。"]).scores == [1.0]


def test_the_command_line_sees_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = quiz(tmp_path).run(
        "first",
        candidate_output_list=REFERENCES,
        model_name="gpt",
        context_list=["a passage", "", ""],
    )
    assert _run(["report", run.run_id, "--store", str(tmp_path / "store.db")]) == 0
    shown = capsys.readouterr().out
    assert "quiz" in shown
    assert "gpt" in shown
    assert _run(["show", run.run_id, "row-1", "--store", str(tmp_path / "store.db")]) == 0
    assert "a passage" in capsys.readouterr().out


@pytest.mark.sandbox
def test_unit_tests_run_in_the_sandbox(tmp_path: Path) -> None:
    from proctor.bench import ScoringMethod

    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "0.py").write_text("assert add(1, 2) == 3\n")
    (folder / "1.py").write_text("assert add(1, 2) == 4\n")
    suite = TestSuite(
        "code",
        ScoringMethod("python_unit_testing", unit_test_dir=str(folder)),
        input_text_list=["Add.", "Add."],
        store=tmp_path / "store.db",
    )
    run = suite.run("x", candidate_output_list=["def add(a, b):\n    return a + b"] * 2)
    assert [found and found.name for found in run.categories] == ["pass", "fail"]
    assert run.scores == [1.0, 0.0]


@pytest.mark.sandbox
@pytest.mark.parametrize("compat", ["", "original"])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_a_program_that_imports_nothing_finds_nothing_imported(tmp_path: Path, compat: str) -> None:
    from proctor.bench import ScoringMethod

    program = "def area(r):\n    return math.pi * r * r"
    named = "def first(x: List[int]) -> int:\n    return x[0]"
    outputs = [program, f"import math\n{program}", named, "def one():\n    return 1"]
    tests = [
        "assert round(area(1)) == 3",
        "assert round(area(1)) == 3",
        "assert first([1]) == 1",
        # Nor does the test.
        "assert math.floor(one()) == 1",
    ]
    suite = TestSuite(
        "code",
        ScoringMethod("python_unit_testing", unit_tests=tests),
        input_text_list=["?"] * 4,
        store=tmp_path / "store.db",
        compat=compat,
    )
    run = suite.run("x", candidate_output_list=outputs)
    assert run.scores == [0.0, 1.0, 0.0, 0.0]
    assert "NameError" in run.test_cases[0].reason


def test_a_suite_of_programs_made_before_is_found_with_the_same_tests(tmp_path: Path) -> None:
    from proctor.bench import ScoringMethod
    from proctor.engine.transfer.answers_in_memory import put_suite
    from proctor.origins.arthur.rows import BenchCases, suite_of

    params = {"tests": [{"content": "assert one() == 1", "timeout": 3.0}], "lang": "python"}
    before = suite_of(
        Suite(name="code", cases=()),
        BenchCases(inputs=["?"]),
        "python_unit_testing",
        [Spec(name="unit_tests", params=params)],
        1.0,
    )
    with Store.open(str(tmp_path / "store.db")) as store:
        put_suite(store, before)
    method = ScoringMethod("python_unit_testing", unit_tests=["assert one() == 1"])
    suite = TestSuite("code", method, input_text_list=["?"], store=tmp_path / "store.db")
    assert len(suite.test_cases) == 1
    with pytest.raises(UserValueError, match="configured otherwise"):
        TestSuite(
            "code",
            ScoringMethod("python_unit_testing", unit_tests=["assert one() == 2"]),
            store=tmp_path / "store.db",
        )


@pytest.mark.torch
@pytest.mark.parametrize("method", ["bertscore", "hedging_language"])
def test_an_encoder_that_cannot_be_loaded_is_an_error_and_saves_nothing(
    tmp_path: Path, method: str
) -> None:
    from proctor.bench import ScoringMethod

    (tmp_path / "empty").mkdir()
    suite = quiz(tmp_path, ScoringMethod(method, model_type=str(tmp_path / "empty")))
    with pytest.raises(InternalError, match=r"failed to create run 'x': .* cannot be loaded"):
        suite.run("x", candidate_output_list=REFERENCES)
    assert suite.runs == []


@pytest.mark.parametrize("name", ["run_batch", "arun_batch", "run", "arun", "to_dict", "from_dict"])
def test_a_method_says_that_it_scores_through_a_suite(name: str) -> None:
    from proctor.bench import ScoringMethod

    with pytest.raises(AttributeError, match="scores through a suite"):
        getattr(ScoringMethod("exact_match"), name)
    assert not hasattr(ScoringMethod("exact_match"), "nonsense")


def test_classes_that_are_not_here_are_named_with_what_is() -> None:
    with pytest.raises(ImportError, match=r"TestSuite\(NAME, 'exact_match', …\)"):
        exec("from proctor.bench import ExactMatch")
    with pytest.raises(ImportError, match="cannot import name 'Nonsense'"):
        exec("from proctor.bench import Nonsense")


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")
def test_what_is_not_installed_is_said_at_once(tmp_path: Path) -> None:
    suite = quiz(tmp_path, "bertscore")
    with pytest.raises(InternalError, match="torch"):
        suite.run("x", candidate_output_list=REFERENCES)
    assert suite.runs == []


def test_an_engine_that_fails_saves_nothing(tmp_path: Path) -> None:
    suite = TestSuite(
        "judged",
        "qa_correctness",
        input_text_list=["?"],
        store=tmp_path / "store.db",
        judge="openai:m@http://127.0.0.1:9/v1",
    )
    with pytest.raises(InternalError, match="failed to create run 'x'"):
        suite.run("x", candidate_output_list=["a"], context_list=["c"])
    assert suite.runs == []
