"""Every scorer used alone: ``Scorer.score_text``."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import proctor
from proctor.errors import PluginError, UsageError
from proctor.scorers import (
    Contains,
    ExactMatch,
    Judged,
    Maths,
    Number,
    PythonCheck,
    Rouge,
    TokenF1,
    UnitTests,
)
from proctor.testing import ScriptedJudge

PROGRAM = "```python\ndef double(x):\n    return 2 * x\n```"
TESTS: Any = [{"content": "assert double(2) == 4"}, {"content": "assert double(2) == 5"}]


def yes(text: str) -> str:
    return '{"reason": "it says please", "result": "yes"}'


@pytest.mark.parametrize(
    ("scorer", "output", "given", "points"),
    [
        (Contains("Paris"), "It is Paris.", {}, 1.0),
        (ExactMatch(), "b", {"reference": "b"}, 1.0),
        (ExactMatch(), "b", {"references": ["a", "b"]}, 1.0),
        (ExactMatch(), "b", {"reference": "a"}, 0.0),
        (ExactMatch(), None, {"reference": "a"}, 0.0),
        (Number(42), "about 42", {}, 1.0),
        (Rouge(), "a b c", {"reference": "a b d"}, 2 / 3),
        (TokenF1(), "red green", {"reference": "red blue"}, 0.5),
        (Judged("Is it polite?"), "please", {"judge": yes, "prompt": "Ask."}, 1.0),
    ],
)
def test_a_text_is_scored(
    scorer: proctor.Scorer, output: str | None, given: dict[str, Any], points: float
) -> None:
    score = scorer.score_text(output, **given)
    assert score.points == pytest.approx(points)
    assert score.out_of == 1.0


@pytest.mark.sandbox
@pytest.mark.slow
def test_programs_run_in_the_sandbox() -> None:
    score = UnitTests(TESTS).score_text(PROGRAM)
    assert (score.points, score.out_of) == (1.0, 2.0)


def test_a_judge_may_be_an_object() -> None:
    judge = ScriptedJudge([{"reason": "no", "result": "no"}])
    assert Judged("Is it polite?").score_text("hey", judge=judge).points == 0.0


def test_it_works_under_a_running_loop_and_in_threads() -> None:
    def score(_: int = 0) -> float | None:
        return Judged("Is it polite?").score_text("please", judge=yes).points

    async def under_a_loop() -> float | None:
        return score()

    assert asyncio.run(under_a_loop()) == 1.0
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(score, range(3))) == [1.0, 1.0, 1.0]


def test_a_plain_function_is_a_scorer_too() -> None:
    @proctor.scorer
    def short(output: str) -> bool:
        return len(output) < 5

    assert short.score_text("four").points == 1.0


def test_what_cannot_be_scored_says_so() -> None:
    @proctor.scorer
    def broken(output: str) -> bool:
        raise ValueError("no idea")

    score = broken.score_text("text")
    assert (score.points, "ValueError: no idea" in score.reason) == (None, True)


def test_what_is_missing_is_raised() -> None:
    with pytest.raises(UsageError, match="Judged asks a judge"):
        Judged("Is it polite?").score_text("please")
    with pytest.raises(PluginError, match="tests"):
        UnitTests("assert True").score_text("pass")  # type: ignore[arg-type]


def test_the_documentation_is_the_docstring() -> None:
    for scorer in (Maths, PythonCheck, Rouge):
        assert scorer.__doc__
    assert "Score one text" in str(proctor.Scorer.score_text.__doc__)
