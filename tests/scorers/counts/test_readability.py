"""How easy an answer is to read."""

from importlib.util import find_spec

import pytest

from proctor import ScoreContext
from proctor.core.score import ScoreStatus
from proctor.origins.arthur.scorers import (
    ArthurReadability,
)
from proctor.scorers.counts.readability import Readability, reading_ease
from proctor.testing import try_scorer

hyphenates = pytest.mark.skipif(find_spec("pyphen") is None, reason="pyphen is not installed")


def test_the_formula_of_flesch() -> None:
    assert reading_ease(100, 5, 150) == round(206.835 - 1.015 * 20 - 84.6 * 1.5, 2)
    assert reading_ease(7, 3, 10) != reading_ease(7, 3, 10, rounded=True)
    assert reading_ease(0, 1, 0, rounded=True) == 206.84


@hyphenates
@pytest.mark.parametrize("counts", [False, True])
def test_readability(counts: bool) -> None:
    easy = try_scorer(Readability(counts=counts), ScoreContext.of("The cat sat on the mat."))
    hard = try_scorer(
        Readability(counts=counts),
        ScoreContext.of("Institutional accountability necessitates comprehensive documentation."),
    )
    assert easy.points is not None
    assert hard.points is not None
    assert easy.points > 90 > 10 > hard.points
    assert easy.out_of == (100.0 if counts else None)


@hyphenates
def test_readability_of_chinese_and_of_nothing() -> None:
    chinese = "我们今天去北京大学看朋友。他们明天要去上海工作。"
    new = try_scorer(Readability(), ScoreContext.of(chinese))
    assert new.detail["sentences"] == 2
    assert new.detail["words"] > 8
    assert try_scorer(Readability(), ScoreContext.of("?!")).status is ScoreStatus.FAILED
    assert try_scorer(ArthurReadability(), ScoreContext.of("?!")).points == 206.84
