"""Which name was probably meant."""

import pytest
from ruamel.yaml import YAML

from proctor import registry
from proctor.core.suite import Spec
from proctor.suggestions import (
    LOOSELY,
    SCORERS_ELSEWHERE,
    closest,
    did_you_mean,
    similar,
    suggest,
    suggest_scorer,
)


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("weigth", ["width", "weight"], "weight"),
        ("WEIGHT", ["width", "weight"], "weight"),
        ("weight", ["Weight"], "Weight"),
        ("zzz", ["width", "weight"], ""),
        ("zzz", [], ""),
        ("", ["width"], ""),
        ("twin", ["TWIN", "Twin"], "TWIN"),
    ],
)
def test_closest(name: str, known: list[str], expected: str) -> None:
    assert closest(name, known) == expected


def test_how_alike() -> None:
    assert closest("bleu_score", ["bleu"]) == ""
    assert closest("bleu_score", ["bleu"], cutoff=LOOSELY) == "bleu"
    assert closest("output", ["input"], cutoff=0.8) == ""
    assert similar("run-2", ["run-1", "run-3", "other"], most=3) == ["run-3", "run-1"]


def test_suggest() -> None:
    assert suggest("weigth", ["weight", "width"]) == "did you mean 'weight'?"
    assert suggest("zzz", ["b", "a"]) == "known are: a, b"
    assert suggest("zzz", ["b", "a"], listed=["b"]) == "known are: b"
    assert suggest("zzz", []) == ""
    assert suggest("?", map(str, range(10, 31))).endswith("28, 29, …")


@pytest.mark.parametrize("name", sorted(SCORERS_ELSEWHERE))
def test_names_of_other_tools_lead_to_a_criterion_that_exists(name: str) -> None:
    scorers = registry.names("scorer")
    [(scorer, written)] = YAML(typ="safe").load(SCORERS_ELSEWHERE[name]).items()
    params = {} if written is True else registry.params_from("scorer", scorer, written)
    registry.build("scorer", Spec(name=scorer, params=params))
    assert name not in scorers
    assert suggest_scorer(name, scorers) == f"did you mean '{SCORERS_ELSEWHERE[name]}'?"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("regex", "did you mean 'matches: PATTERN'?"),
        ("LLM-Rubric", "did you mean 'judged: QUESTION'?"),
        ("is-json", "did you mean 'is_json'?"),
        ("contians", "did you mean 'contains'?"),
    ],
)
def test_suggest_scorer(name: str, expected: str) -> None:
    assert suggest_scorer(name, registry.names("scorer")) == expected


def test_did_you_mean() -> None:
    assert did_you_mean("a", "b") == "did you mean 'a', 'b'?"
    assert did_you_mean("") == did_you_mean() == ""
