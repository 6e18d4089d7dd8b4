"""Plain comparisons, with both values of every flag."""

from typing import Any

import pytest

from proctor import ScoreContext, Spec
from proctor.core.score import Score
from proctor.origins.arthur.scorers import ArthurExactMatch
from proctor.registry import build
from proctor.scorers.text.comparisons import ExactMatch
from proctor.testing import try_scorer


def blank_of(alternative: dict[str, Any], template: str = "[blank]") -> dict[str, Any]:
    return {"template": template, "targets": [{"any": [alternative]}]}


def judged(
    name: str, params: dict[str, Any], output: str, references: tuple[str, ...] = ()
) -> Score:
    scorer = build("scorer", Spec(name=name, params=params))
    score: Score = scorer.score(ScoreContext.of(output, references=references))
    return score


@pytest.mark.parametrize(
    ("params", "references", "output", "points"),
    [
        ({}, ("Paris",), "Paris", 1),
        ({}, ("Paris",), " Paris\n", 1),
        ({"strip": False}, ("Paris",), " Paris\n", 0),
        ({"strip": False}, ("Paris",), "Paris", 1),
        ({}, (" Paris ",), "Paris", 1),
        ({"strict": True}, ("Paris",), "paris", 0),
        ({"ignore_case": True}, ("Paris",), "pARIS", 1),
        ({"ignore_case": True}, ("Straße",), "STRASSE", 1),
        ({"strict": True}, ("Paris",), "Paris.", 0),
        ({}, ("Lyon", "Paris"), "Paris", 1),
        ({}, ("",), "", 1),
        ({}, ("Paris",), "", 0),
    ],
)
def test_exact_match(
    params: dict[str, Any], references: tuple[str, ...], output: str, points: float
) -> None:
    score = judged("exact_match", params, output, references)
    assert (score.points, score.out_of, score.status) == (points, 1.0, "scored")


def test_exact_match_needs_a_reference() -> None:
    score = judged("exact_match", {}, "Paris")
    assert (score.status, score.out_of, score.points) == ("failed", 1.0, None)
    assert "no reference" in score.reason


@pytest.mark.parametrize(
    ("params", "output", "points", "spans"),
    [
        ({"texts": "b"}, "abc", 1, [[1, 2]]),
        ({"texts": ["b"]}, "abc", 1, [[1, 2]]),
        ({"texts": ["a", "c"]}, "abc", 1, [[0, 1], [2, 3]]),
        ({"texts": ["a", "x"]}, "abc", 0, [[0, 1], None]),
        ({"texts": ["a", "x"], "all": False}, "abc", 1, [[0, 1], None]),
        ({"texts": ["x", "y"], "all": False}, "abc", 0, [None, None]),
        ({"texts": ["B"]}, "abc", 0, [None]),
        ({"texts": ["B"], "ignore_case": True}, "abc", 1, [[1, 2]]),
        ({"texts": ["a.c"], "ignore_case": True}, "abc", 0, [None]),
        ({"texts": ["STRASSE"], "ignore_case": True}, "die Straße", 1, [[0, 10]]),
        ({"texts": ["巴黎"]}, "是巴黎。", 1, [[1, 3]]),
    ],
)
def test_contains(
    params: dict[str, Any], output: str, points: float, spans: list[list[int] | None]
) -> None:
    score = judged("contains", params, output)
    assert (score.points, score.out_of) == (points, 1.0)
    assert [row["span"] for row in score.detail["texts"]] == spans


@pytest.mark.parametrize(
    ("params", "output", "points", "reason"),
    [
        ({"none": "sorry"}, "Yes, gladly.", 1, "does not contain 'sorry'"),
        ({"none": "sorry"}, "I am sorry.", 0, "contains 'sorry'"),
        ({"none": "sorry"}, "Sorry!", 1, "does not contain 'sorry'"),
        ({"none": "sorry", "ignore_case": True}, "Sorry!", 0, "contains 'sorry'"),
        ({"none": ["no", "never"]}, "It never does.", 0, "contains 'never'"),
        ({"none": ["no", "never"]}, "It does.", 1, "does not contain 'no' or 'never'"),
        ({"texts": "does", "none": "never"}, "It does.", 1, "contains what is wanted"),
        ({"texts": "does", "none": "never"}, "It never does.", 0, "contains 'never'"),
        ({"texts": "does", "none": "never"}, "It did.", 0, "does not contain 'does'"),
        ({"any": "references", "none": "Lyon"}, "Paris or Lyon", 0, "contains 'Lyon'"),
        ({"any": "references", "none": "Lyon"}, "paris", 1, "contains what is wanted"),
    ],
)
def test_contains_none_of_some_texts(
    params: dict[str, Any], output: str, points: float, reason: str
) -> None:
    score = judged("contains", params, output, references=("Paris",))
    assert (score.points, score.reason) == (points, reason)


@pytest.mark.parametrize(
    ("params", "output", "points", "span"),
    [
        ({"pattern": r"\d+"}, "abc 42", 1, [4, 6]),
        ({"pattern": r"\d+"}, "abc", 0, None),
        ({"pattern": r"\d+", "full": True}, "42", 1, [0, 2]),
        ({"pattern": r"\d+", "full": True}, "42!", 0, None),
        ({"pattern": r"a|ab", "full": True}, "ab", 1, [0, 2]),
        ({"pattern": "B"}, "abc", 0, None),
        ({"pattern": "B", "ignore_case": True}, "abc", 1, [1, 2]),
        ({"pattern": r"\S+b", "ignore_case": True}, "XB", 1, [0, 2]),
        ({"pattern": "a.b"}, "a\nb", 0, None),
    ],
)
def test_matches(
    params: dict[str, Any], output: str, points: float, span: list[int] | None
) -> None:
    score = judged("matches", params, output)
    assert (score.points, score.out_of, score.detail) == (points, 1.0, {"span": span})


@pytest.mark.parametrize(
    ("params", "output", "points"),
    [
        ({"value": 42}, "42", 1),
        ({"value": 42}, "first 7, then 42.", 1),
        ({"value": 42}, "42, not 7", 0),
        ({"value": 42}, "no number", 0),
        ({"value": 42}, "", 0),
        ({"value": -3}, "it is -3", 1),
        ({"value": -3}, "it is −3", 1),
        ({"value": 1234567}, "1,234,567 people", 1),
        ({"value": 0.5}, "about .5", 1),
        ({"value": 1e6}, "1e6", 1),
        ({"value": 3.14}, "3.14159", 0),
        ({"value": 3.14, "tolerance": 0.01}, "3.14159", 1),
        ({"value": 1000.0, "tolerance": 0.01}, "1009", 1),
        ({"value": 0.0}, "0.000", 1),
        ({"value": 5}, "9" * 5000, 0),
    ],
)
def test_number(params: dict[str, Any], output: str, points: float) -> None:
    score = judged("number", params, output)
    assert (score.points, score.out_of, score.status) == (points, 1.0, "scored")


@pytest.mark.parametrize(
    ("name", "params", "word"),
    [
        ("contains", {"texts": []}, "no text"),
        ("contains", {"texts": ["a", ""]}, "empty"),
        ("contains", {"none": ["a", ""]}, "empty"),
        ("matches", {"pattern": "("}, "does not compile"),
        ("keywords", {"rules": []}, "no keywords"),
        ("keywords", {"rules": [""]}, "empty keyword"),
        ("keywords", {"rules": [{"any": []}]}, "any is empty"),
        ("keywords", {"rules": [{}]}, "not none"),
        ("keywords", {"rules": [{"text": "a", "any": ["b"]}]}, "not text and any"),
        ("keywords", {"rules": [{"text": "[", "regex": True}]}, "does not compile"),
        ("keywords", {"rules": [{"any": ["ok", "["], "regex": True}]}, "does not compile"),
        ("keywords", {"rules": [{"text": "a", "cond": "1 +"}]}, "not a Python expression"),
        ("keywords", {"rules": [{"text": "a", "cond": "(x := 1)"}]}, "may only compute"),
        ("keywords", {"rules": [{"text": "a", "cond": "1+" * 4000 + "1"}]}, "more than"),
        ("blanks", {"template": "", "targets": []}, "template is empty"),
        ("blanks", {"template": "a", "blank": "", "targets": []}, "marks a blank is empty"),
        ("blanks", {"template": "[blank]", "targets": ["a", "b"]}, "2 targets for 1 blanks"),
        ("blanks", {"template": "a", "targets": ["a"]}, "1 targets for 0 blanks"),
        ("blanks", {"template": "[blank]", "targets": [{"any": []}]}, "no right answer"),
        ("blanks", blank_of({"text": "(", "regex": True}), "does not compile"),
        ("blanks", blank_of({"text": "a", "cond": ")"}), "not a Python expression"),
        ("rouge", {"low": 1.0, "high": 1.0}, "must be greater"),
        ("unit_tests", {"tests": []}, "no tests"),
    ],
)  # fmt: skip
def test_problems(name: str, params: dict[str, Any], word: str) -> None:
    found = list(build("scorer", Spec(name=name, params=params)).problems())
    assert any(word in problem for problem in found), found


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("contains", {"texts": ["a", "b"]}),
        ("matches", {"pattern": r"\d{3}-[ab]"}),
        ("matches", {"pattern": r"\w+", "full": True}),
        ("number", {"value": 2.5}),
        ("keywords", {"rules": ["x", {"any": ["a", {"text": r"b+\d", "regex": True}]}]}),
        ("blanks", blank_of({"text": r"\d+", "regex": True}, "let x = [blank];")),
        ("rouge", {"references": ["some words here"]}),
    ],
)  # fmt: skip
def test_probes_get_full_marks(name: str, params: dict[str, Any]) -> None:
    scorer = build("scorer", Spec(name=name, params=params))
    probes = list(scorer.probes(ScoreContext.of("").case))
    assert probes
    for probe in probes:
        score = scorer.score(ScoreContext.of(probe.answer))
        assert score.points == score.out_of, probe


@pytest.mark.parametrize(
    ("ignore_case", "compat", "points"),
    [(False, "", 0.0), (True, "", 1.0), (True, "original", 0.0)],
)
def test_lower_case_is_not_casefold(ignore_case: bool, compat: str, points: float) -> None:
    kind = ArthurExactMatch if compat else ExactMatch
    scorer = kind(ignore_case=ignore_case, strip=False)
    assert try_scorer(scorer, ScoreContext.of("STRASSE", references=["straße"])).points == points
