"""The table of Arthur Bench's methods: what each is scored by, and what its scores are called."""

from typing import Any

import pytest

from proctor.core.score import Score
from proctor.core.suite import Json
from proctor.errors import UsageError
from proctor.origins.arthur.method_table import (
    METHODS,
    Category,
    CategoryName,
    category_of,
    method_named,
    specs_of,
)
from proctor.registry import build


@pytest.mark.parametrize(
    ("name", "config", "compat", "params"),
    [
        ("exact_match", {}, "", {"strip": False}),
        ("exact_match", {"case_sensitive": False}, "", {"strip": False, "ignore_case": True}),
        ("exact_match", {}, "original",
         {"strip": False, "ignore_case": True, "compat": "original"}),
        ("exact_match", {"case_sensitive": False}, "original", {"strip": False}),
        ("bertscore", {}, "", {}),
        ("bertscore", {"precision_weight": 0.0}, "original",
         {"precision_weight": 0.0, "model": "microsoft/deberta-v3-base", "layer": 9}),
        ("bertscore", {"model_type": "own"}, "original", {"model": "own"}),
        ("hedging_language", {"hedging_language": "Hm.", "threshold": None}, "",
         {"sentence": "Hm."}),
        ("readability", {}, "original", {"counts": True, "compat": "original"}),
        ("hallucination", {}, "original", {}),
        ("specificity", {}, "original", {"compat": "original"}),
    ],
)  # fmt: skip
def test_settings_become_parameters(
    name: str, config: dict[str, Json], compat: str, params: dict[str, Json]
) -> None:
    first, second = specs_of(name, config, compat, 2)
    assert first == second
    assert (first.name, dict(first.params)) == (METHODS[name].scorer, params)
    build("scorer", first)


def test_every_case_has_its_own_unit_test() -> None:
    specs = specs_of("python_unit_testing", {"unit_tests": ["assert 1", "assert 2"]}, "", 2)
    assert [spec.params["tests"][0]["content"] for spec in specs] == ["assert 1", "assert 2"]
    with pytest.raises(UsageError, match="1 unit tests for 2 cases; each needs its own"):
        specs_of("python_unit_testing", {"unit_tests": ["assert 1"]}, "", 2)


@pytest.mark.parametrize(
    ("name", "config", "words"),
    [
        ("exact_mach", {}, "unknown scoring method 'exact_mach' .*'exact_match'"),
        ("exact_match", {"colour": 1}, "no setting 'colour' .known are: case_sensitive"),
        ("readability", {"colour": 1}, "no setting 'colour' .known are: nothing"),
    ],
)
def test_what_is_unknown_is_refused(name: str, config: dict[str, Json], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        specs_of(name, config, "", 1)


OWN = {"name": "glad", "description": "happy"}


@pytest.mark.parametrize(
    ("name", "score", "category"),
    [
        ("exact_match", Score(points=1.0, out_of=1.0), "match"),
        ("exact_match", Score(points=0.0, out_of=1.0), "non match"),
        ("exact_match", Score.failed("broke"), None),
        ("hallucination", Score.failed("no verdict"), "invalid"),
        ("hallucination", None, "invalid"),
        ("summary_quality", Score(points=0.5, out_of=1.0), "equal"),
        ("readability", Score(points=50.0), None),
        ("mood", Score(points=0.5, detail={"category": OWN}), Category("glad", "happy")),
        ("mood", Score(points=0.5, detail={"category": "sad"}), Category("sad")),
        ("qa_correctness", Score(points=1.0, detail={"category": "incorrect"}), "incorrect"),
        ("mood", Score(points=0.5, detail=["category"]), None),
    ],
)
def test_scores_have_the_names_of_their_method(
    name: str, score: Score | None, category: Any
) -> None:
    found = category_of(name, score)
    if isinstance(category, str):
        assert found in method_named(name).categories.values()
        assert found is not None
        assert (CategoryName(found), CategoryName(found).description) == (
            category,
            found.description,
        )
    else:
        assert found == category
