"""Scorers bug for bug: where a blank begins, what C is run as, and case by lowering."""

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Spec
from proctor.origins.infibench.scorers import (
    InfiBenchBlanks,
    InfiBenchKeywords,
    InfiBenchUnitTests,
)
from proctor.registry import build
from proctor.testing import try_scorer


def blanks(template: str, target: str, answer: str, compat: str) -> Score:
    params = {"template": template, "targets": [target], "compat": compat}
    scorer = build("scorer", Spec(name="blanks", params=params))
    return try_scorer(scorer, ScoreContext.of(answer))


@pytest.mark.parametrize(("compat", "points"), [("", 1.0), ("original", 0.0)])
def test_a_first_blank_begins_one_character_late(compat: str, points: float) -> None:
    assert blanks("[blank] is it", "red", "red is it", compat).points == points


def test_a_template_that_ends_in_a_blank_cannot_be_graded() -> None:
    assert blanks("it is [blank]", "red", "it is red", "").points == 1.0
    lost = blanks("it is [blank]", "red", "it is red", "original")
    assert lost.status is ScoreStatus.FAILED
    assert "ending in a blank" in lost.reason


def test_the_variants_are_found_by_their_mode() -> None:
    tests = [{"content": "assert True"}]
    for name, params, kind in (
        ("keywords", {"rules": ["a"]}, InfiBenchKeywords),
        ("blanks", {"template": "a [blank] b", "targets": ["x"]}, InfiBenchBlanks),
        ("unit_tests", {"tests": tests}, InfiBenchUnitTests),
    ):
        spec = Spec(name=name, params={**params, "compat": "original"})
        assert type(build("scorer", spec)) is kind


def test_c_is_run_as_cpp() -> None:
    params = {"tests": [{"content": "x"}], "lang": "c", "compat": "original"}
    scorer = build("scorer", Spec(name="unit_tests", params=params))
    assert scorer._language.name == "c++"


@pytest.mark.parametrize(("pattern", "ours", "theirs"), [("\\D", 1.0, 0.0), ("RED", 1.0, 1.0)])
def test_case_is_ignored_by_lowering_the_pattern_too(
    pattern: str, ours: float, theirs: float
) -> None:
    rule = {"text": pattern, "regex": True, "ignore_case": True}
    for compat, points in (("", ours), ("original", theirs)):
        spec = Spec(name="keywords", params={"rules": [rule], "compat": compat})
        assert try_scorer(build("scorer", spec), ScoreContext.of("red")).points == points
