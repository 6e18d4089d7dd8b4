"""The dialect itself: tasks set apart, tasks that run elsewhere, and where results go."""

import json
from pathlib import Path

import pytest

from proctor.contracts.dialect import Reading
from proctor.errors import Problem, SuiteError
from proctor.io.findings import MAX_ALIKE
from proctor.origins.askbench.dialect import AskBench, Elsewhere, OutputPlace, _once

ROW = json.dumps({"ori_question": "2 + 2?", "expected_answer": "4"}) + "\n"
BASE = """\
[generateconfig]
max_tokens = 100
[tasks]
enabled = {enabled}
tasks_config_path = {folder}
"""


@pytest.fixture(autouse=True)
def no_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GUIDANCE_MODE", raising=False)
    monkeypatch.delenv("STRICT_MODE", raising=False)


def write(path: Path, text: str = ROW) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def base(root: Path, enabled: str, folder: str = "config/common", more: str = "") -> Path:
    text = BASE.format(enabled=enabled, folder=folder)
    return write(root / "config" / "base.ini", text + more)


def rows(root: Path, name: str, text: str = ROW) -> Path:
    return write(root / "data" / "common" / name / "test.jsonl", text)


def messages(reading: Reading) -> list[str]:
    return [problem.message for problem in (*reading.problems, *reading.warnings)]


def test_a_broken_task_stands_at_its_place_and_spoils_no_other(tmp_path: Path) -> None:
    rows(tmp_path, "math500")
    rows(tmp_path, "bbh", "{\n")
    path = base(tmp_path, "gpqa, bbh, math500")
    lacking, broken, sound = AskBench().read_each(path)
    assert [one.suite.name for one in (lacking, broken, sound)] == ["gpqa", "bbh", "math500"]
    assert "there are no rows for 'gpqa'" in messages(lacking)[0]
    assert lacking.suite.cases == ()
    assert "not valid JSON" in messages(broken)[0]
    assert (messages(sound), len(sound.suite.cases)) == ([], 1)
    with pytest.raises(SuiteError) as caught:
        AskBench().read_all(path)
    assert [*caught.value.problems] == [*lacking.problems, *broken.problems]


@pytest.mark.slow
def test_very_many_alike_rows_are_counted_once_for_all_tasks_that_share_them(
    tmp_path: Path,
) -> None:
    shared = rows(tmp_path, "math500", '{"ori_question": "2 + 2?"}\n' * 2_000)
    rows(tmp_path, "bbh", '{"expected_answer": "4"}\n')
    own = f"[path]\ndata_dir = {shared.parent.parent}\n[evalset]\nevalsetname = math500\n"
    write(tmp_path / "config" / "common" / "again.ini", own)
    first, second, other = AskBench().read_each(base(tmp_path, "math500, again, bbh"))
    assert len(first.problems) == MAX_ALIKE
    assert [problem.line for problem in first.problems] == [*range(1, MAX_ALIKE + 1)]
    assert first.problems[0].message == "the row has no 'expected_answer'"
    assert sum(1 + problem.unlisted for problem in first.problems) == 2_000
    assert second.problems == first.problems
    with pytest.raises(SuiteError, match="and 1,999 more like it") as caught:
        AskBench().read_all(tmp_path / "config" / "base.ini")
    assert caught.value.problems == [*first.problems, *other.problems]
    assert "'problem' or 'ori_question'" in messages(other)[0]


def test_rows_of_no_kind_name_the_task_that_was_probably_meant(tmp_path: Path) -> None:
    write(tmp_path / "math50" / "test.jsonl", '{"x": 1}\n')
    write(tmp_path / "math50" / "math50.ini", "[evalset]\nevalsetname = math50\n")
    (reading,) = AskBench().read_each(tmp_path / "math50")
    (problem,) = reading.problems
    assert "of no kind that AskBench has, and 'math50' is no task" in problem.message
    assert "math500" in problem.hint
    assert problem.place.endswith("test.jsonl:1")


def test_a_mistake_that_tasks_share_is_said_once() -> None:
    first, second = Problem(message="a", file="x"), Problem(message="b", file="x")
    assert _once([first, second, Problem(message="a", file="x")]) == [first, second]


@pytest.mark.parametrize(
    ("folder", "family"), [("config/evalscope", "EvalScope"), ("OpenCompass/x", "OpenCompass")]
)
def test_tasks_that_another_tool_runs_are_told_with_their_results(
    tmp_path: Path, folder: str, family: str
) -> None:
    path = base(tmp_path, "ceval, cmmlu", folder)
    expected = Elsewhere(family, ("ceval", "cmmlu"), Path("results"))
    assert AskBench().elsewhere(path) == expected
    assert AskBench().elsewhere(path.parent) == expected
    base(tmp_path, "ceval", folder, "[path]\nsave_dir = out/here\n")
    assert AskBench().elsewhere(path) == Elsewhere(family, ("ceval",), Path("out/here"))


def test_our_own_tasks_run_nowhere_else(tmp_path: Path) -> None:
    assert AskBench().elsewhere(base(tmp_path, "math500")) is None
    assert AskBench().elsewhere(write(tmp_path / "EvalScope" / "a.jsonl")) is None
    assert AskBench().elsewhere(tmp_path / "EvalScope") is None


def test_results_go_where_the_file_of_each_task_says(tmp_path: Path) -> None:
    for name in ("math500", "bbh"):
        file = rows(tmp_path, name)
    path = base(tmp_path, "math500, bbh", more="[path]\nsave_dir = out\n")
    places = AskBench().output_places(path)
    assert [(one.task, one.save_dir, one.evalset) for one in places] == [
        ("math500", "out", "math500"), ("bbh", "out", "bbh"),
    ]  # fmt: skip
    assert [one.task for one in AskBench().output_places(path, tasks=["bbh"])] == ["bbh"]
    (alone,) = AskBench().output_places(file)
    assert isinstance(alone, OutputPlace)
    assert (alone.task, alone.save_dir) == ("bbh", "")


def test_a_section_of_the_tasks_name_changes_how_that_task_is_asked(tmp_path: Path) -> None:
    own = "[math500]\nn_attempts = 3\ncolour = red\n"
    for name in ("math500", "bbh"):
        rows(tmp_path, name)
    first, second = AskBench().read_each(base(tmp_path, "math500, bbh", more=own))
    assert (first.attempts, second.attempts) == (3, None)
    said = [one for one in messages(first) if "[math500] is no section" in one]
    assert [one.partition("; ")[2] for one in said] == [
        "'n_attempts' is taken as if it stood in [generateconfig]", "'colour' has no effect",
    ]  # fmt: skip


def test_attempts_of_the_hand_go_before_those_of_the_file(tmp_path: Path) -> None:
    rows(tmp_path, "math500")
    path = base(tmp_path, "math500", more="[evalset]\nn_attempts = 2\n")
    assert AskBench().read(path).attempts == 2
    (chosen,) = AskBench().read_each(path, options={"attempts": "5"})
    assert chosen.attempts == 5


def test_examples_are_shown_where_they_lie_beside_the_rows(tmp_path: Path) -> None:
    from proctor.origins.askbench.files import EXAMPLES

    file = rows(tmp_path, "math500")
    path = base(tmp_path, "math500", more="[evalset]\nshot = 1\n")
    lacking = AskBench().read(path)
    assert "no examples are shown: there is no" in messages(lacking)[0]
    write(file.with_name(EXAMPLES), ROW.replace("2 + 2", "1 + 1"))
    shown = AskBench().read(path)
    assert messages(shown) == []
    (before,), (after,) = lacking.suite.cases, shown.suite.cases
    assert "1 + 1" not in repr(before)
    assert "1 + 1" in repr(after)
    (original,) = AskBench().read_each(path, compat="original")
    assert "1 + 1" not in repr(original.suite.cases)
