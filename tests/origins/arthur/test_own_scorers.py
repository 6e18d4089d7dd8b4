"""Scorers of one's own: functions and classes, in one line; saved by their path, never pickled."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from origins.arthur.mood_scorer import Mood
from proctor.bench import (
    Category,
    InternalError,
    ScoreResult,
    TestSuite,
    UserValueError,
)

INPUTS, REFERENCES, OUTPUTS = ["a?", "b?"], ["one", "two words"], ["one", "something else"]


def suite_of(folder: Path, scorer: Any = None, name: str = "own", **more: Any) -> TestSuite:
    given = {"input_text_list": INPUTS, "reference_output_list": REFERENCES, **more}
    return TestSuite(name, scorer, store=folder / "store.db", **given)


def same_length(output: str, reference: str) -> bool:
    return len(output) == len(reference)


@pytest.mark.parametrize(
    ("function", "scores"),
    [
        (same_length, [1.0, 0.0]),
        (lambda output: len(output) / 2, [1.5, 7.0]),
        (lambda a, b: a == b, [1.0, 0.0]),
        (lambda reference, output: len(reference) - len(output), [0.0, -5.0]),
        (lambda prompt, candidate, context: f"{prompt}{context}" == "a?x", [1.0, 0.0]),
        (lambda a, strict=True: float(strict), [1.0, 1.0]),
    ],
)
def test_a_function_in_one_line(tmp_path: Path, function: Any, scores: list[float]) -> None:
    run = suite_of(tmp_path, function).run(
        "x", candidate_output_list=OUTPUTS, context_list=["x", "y"]
    )
    assert run.scores == scores


def test_a_function_of_a_notebook_is_marked(tmp_path: Path) -> None:
    def mine(output: str) -> float:
        return 0.5

    suite = suite_of(tmp_path, mine)
    assert not suite.reloadable
    suite.run("x", candidate_output_list=OUTPUTS)
    again = TestSuite("own", store=tmp_path / "store.db")
    assert (again.scoring_method, again.reloadable) == ("mine", False)
    assert again.test_run("x").scores == [0.5, 0.5]
    with pytest.raises(UserValueError, match=r"mine, which is not here \(fix: pass it again"):
        again.run("y", candidate_output_list=OUTPUTS)
    assert TestSuite("own", mine, store=tmp_path / "store.db").run(
        "y", candidate_output_list=OUTPUTS
    ).scores == [0.5, 0.5]


def test_a_changed_function_changes_only_new_runs(tmp_path: Path) -> None:
    def made(worth: float) -> Any:
        def mine(output: str) -> float:
            return worth

        return mine

    suite_of(tmp_path, made(0.25)).run("old", candidate_output_list=OUTPUTS)
    suite = suite_of(tmp_path, made(0.75))
    assert suite.run("new", candidate_output_list=OUTPUTS).scores == [0.75, 0.75]
    assert suite.test_run("old").scores == [0.25, 0.25]


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import own_scorers_to_import as module

    yield module
    sys.modules.pop("own_scorers_to_import", None)


def test_a_class_is_saved_by_its_path(tmp_path: Path, importable: Any) -> None:
    suite = suite_of(tmp_path, importable.Longest(limit=7))
    assert suite.reloadable
    assert suite.run("x", candidate_output_list=OUTPUTS).scores == [pytest.approx(3 / 7), 1.0]
    place = tmp_path / "store.db"
    with pytest.raises(UserValueError, match="allow_import=True imports own_scorers_to_import"):
        TestSuite("own", store=place).run("y", candidate_output_list=OUTPUTS)
    again = TestSuite("own", store=place, allow_import=True)
    assert again.run("y", candidate_output_list=OUTPUTS).scores == [pytest.approx(3 / 7), 1.0]
    with pytest.raises(UserValueError, match=r"{'limit': 7}, not {'limit': 8}"):
        TestSuite("own", importable.Longest(limit=8), store=place)
    with pytest.raises(UserValueError, match="scored by longest, not by same_length"):
        TestSuite("own", same_length, store=place)
    with pytest.raises(UserValueError, match="scored by longest, not by exact_match"):
        TestSuite("own", "exact_match", store=place)
    named = suite_of(tmp_path, "own_scorers_to_import:Longest", name="by path")
    assert named.run("x", candidate_output_list=OUTPUTS).scores == [0.3, 1.0]


def mood(folder: Path, scorer: Mood, count: int) -> TestSuite:
    return TestSuite("moods", scorer, input_text_list=["?"] * count, store=folder / "store.db")


@pytest.mark.slow
def test_categories_and_batches(tmp_path: Path) -> None:
    scorer = Mood()
    suite = mood(tmp_path, scorer, 5)
    run = suite.run("x", candidate_output_list=["yes", "", "no", "yes", ""], batch_size=2)
    assert scorer.batches == [2, 2, 1]
    assert run.scores == [1.0, 0.0, 0.0, 1.0, 0.0]
    assert run.categories == ["glad", "sad", "glad", "glad", "sad"]
    assert [found and found.name for found in suite.test_run("x").categories] == [
        "glad", "sad", "glad", "glad", "sad",
    ]  # fmt: skip
    assert run.test_cases[0].score_result == ScoreResult(score=1.0, category=Category("glad"))


def test_waiting_batches(tmp_path: Path) -> None:
    suite = mood(tmp_path, Mood(), 3)
    run = asyncio.run(suite.arun("x", candidate_output_list=["a", "b", "c"], batch_size=2))
    assert run.scores == [0.25] * 3


def test_one_bad_row_costs_only_itself(tmp_path: Path) -> None:
    run = mood(tmp_path, Mood(), 3).run(
        "x", candidate_output_list=["yes", "boom", "yes"], batch_size=3
    )
    assert run.scores == [1.0, None, 1.0]
    assert run.test_cases[1].reason == "mood: ValueError: a bomb"


class Patient:
    """A scorer that waits, and divides by what it is told."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    @staticmethod
    def name() -> str:
        return "patient"

    @staticmethod
    def requires_reference() -> bool:
        return False

    def run_batch(self, candidate_batch: list[str], *more: Any) -> list[float]:
        return [1 / float(text) for text in candidate_batch]

    async def arun_batch(self, candidate_batch: list[str], *more: Any) -> list[Any]:
        self.batches.append(len(candidate_batch))
        await asyncio.sleep(0)
        made: list[Any] = self.run_batch(candidate_batch)
        return ["x" if score == 0.125 else score for score in made]


@pytest.mark.parametrize("batch_size", [1, 2, 5])
def test_a_row_that_raises_while_others_wait_costs_only_itself(
    tmp_path: Path, batch_size: int
) -> None:
    outputs = ["1", "0", "2", "8", "4"]
    suite = TestSuite("waits", Patient(), input_text_list=["?"] * 5, store=tmp_path / "store.db")
    run = asyncio.run(suite.arun("x", candidate_output_list=outputs, batch_size=batch_size))
    assert run.scores == [1.0, None, 0.5, None, 0.25]
    assert run.test_cases[1].reason == "patient: ZeroDivisionError: float division by zero"
    assert run.test_cases[3].reason.startswith("patient: ValueError")
    assert suite.test_run("x").scores == run.scores
    with pytest.raises(InternalError, match="no output could be scored: patient: ZeroDivision"):
        asyncio.run(suite.arun("y", candidate_output_list=["0"] * 5))
    assert suite.runs == ["x"]


def test_a_category_that_nobody_named_costs_only_its_row(tmp_path: Path) -> None:
    run = mood(tmp_path, Mood(), 3).run("x", candidate_output_list=["yes", "odd", "yes"])
    assert run.scores == [1.0, None, 1.0]
    assert "category 'odd'" in run.test_cases[1].reason


def test_waiting_scores_of_another_number(tmp_path: Path) -> None:
    class Few(Patient):
        async def arun_batch(self, *columns: Any) -> list[Any]:
            return [1.0]

    suite = TestSuite("few", Few(), input_text_list=["?"] * 2, store=tmp_path / "store.db")
    with pytest.raises(InternalError, match="gave 1 scores for 2 outputs"):
        asyncio.run(suite.arun("x", candidate_output_list=["1", "2"], batch_size=2))


@pytest.mark.parametrize(
    ("outputs", "words"),
    [(["boom"], "no output could be scored: mood: ValueError"), (["odd"], "category 'odd'")],
)
def test_a_scorer_that_scores_nothing_saves_nothing(
    tmp_path: Path, outputs: list[str], words: str
) -> None:
    suite = mood(tmp_path, Mood(), 1)
    with pytest.raises(InternalError, match=words):
        suite.run("x", candidate_output_list=outputs)
    assert suite.runs == []


def test_scores_of_another_number(tmp_path: Path) -> None:
    class Few:
        def run_batch(self, *columns: Any) -> list[float]:
            return [1.0]

    with pytest.raises(InternalError, match="gave 1 scores for 2 outputs"):
        suite_of(tmp_path, Few()).run("x", candidate_output_list=OUTPUTS, batch_size=2)


def test_a_result_must_say_something() -> None:
    with pytest.raises(UserValueError, match="a score, a category, or both"):
        ScoreResult()
