"""Keywords: alternatives, inheritance, conditions, penalties, and the original's own ways."""

from typing import Any

import pytest

from proctor import ScoreContext, Spec
from proctor.core.score import Score
from proctor.registry import build
from proctor.scorers.text.keywords import Keywords


def judged(rules: list[Any], output: str, compat: str = "") -> Score:
    spec = Spec(name="keywords", params={"rules": rules, "compat": compat})
    score: Score = build("scorer", spec).score(ScoreContext.of(output))
    return score


@pytest.mark.parametrize(
    ("rules", "output", "points", "out_of"),
    [
        (["a", "b"], "a b", 2, 2),
        (["a", "b"], "b", 1, 2),
        (["a"], "", 0, 1),
        (["A"], "a", 0, 1),
        ([{"text": "A", "ignore_case": True}], "a", 1, 1),
        ([{"text": "A", "ignore_case": False}], "a", 0, 1),
        ([{"text": "a", "weight": 2.5}, "b"], "a", 2.5, 3.5),
        ([{"text": "a", "weight": 0}], "a", 0, 0),
        # regular expressions
        ([{"text": "a.c", "regex": True}], "abc", 1, 1),
        ([{"text": "a.c", "regex": False}], "abc", 0, 1),
        ([{"text": "a.c"}], "a.c", 1, 1),
        ([{"text": "a.c", "regex": True}], "a\nc", 0, 1),
        # any and all
        ([{"any": ["x", "b"]}], "b", 1, 1),
        ([{"any": ["x", "y"]}], "b", 0, 1),
        ([{"all": ["a", "b"]}], "b a", 1, 1),
        ([{"all": ["a", "x"]}], "b a", 0, 1),
        ([{"any": [{"all": ["a", "x"]}, {"all": ["b", "c"]}]}], "b c", 1, 1),
        ([{"all": [{"any": ["a", "x"]}, {"any": ["y", "b"]}]}], "a b", 1, 1),
        ([{"all": [{"any": ["a", "x"]}, {"any": ["y", "z"]}]}], "a b", 0, 1),
        # regex and ignore_case are inherited until somebody says otherwise
        ([{"any": ["a.c"], "regex": True}], "abc", 1, 1),
        ([{"any": [{"text": "a.c", "regex": False}], "regex": True}], "abc", 0, 1),
        ([{"all": [{"any": ["a.c"]}], "regex": True}], "abc", 1, 1),
        ([{"any": ["A"], "ignore_case": True}], "a", 1, 1),
        ([{"any": [{"text": "A", "ignore_case": False}], "ignore_case": True}], "a", 0, 1),
        ([{"any": [{"text": "A", "ignore_case": True}]}], "a", 1, 1),
        # penalties
        ([{"text": "bad", "neg": True}, "ok"], "bad ok", 0, 1),
        ([{"text": "bad", "neg": True, "weight": 2}, "ok"], "bad ok", -1, 1),
        ([{"text": "bad", "neg": True}, "ok"], "ok", 1, 1),
        ([{"text": "bad", "neg": True}], "bad", -1, 0),
        # conditions
        ([{"text": "a", "cond": "ans"}], "a", 1, 1),
        ([{"text": "a", "cond": "False"}], "a", 0, 1),
        ([{"text": "x", "cond": "1 / 0"}], "a", 0, 1),
        (["a", {"text": "b", "cond": "context[-1] == 'match'"}], "a b", 2, 2),
        (["a", {"text": "b", "cond": "context[-1] == 'match'"}], "b", 0, 2),
        (["a", {"text": "b", "cond": "'unmatch' in context"}], "b", 1, 2),
        ([{"text": "a", "cond": "len(response) < 3"}], "a!", 1, 1),
        ([{"text": "a", "cond": "len(response) < 3"}], "a!!!", 0, 1),
        ([{"any": [{"text": "a", "cond": "False"}, "b"]}], "a b", 1, 1),
        ([{"any": [{"text": "a", "cond": "False"}, "c"]}], "a b", 0, 1),
        ([{"all": ["a", "b"], "cond": "context == []"}], "a b", 1, 1),
    ],
)
@pytest.mark.parametrize("compat", ["", "original"])
def test_points(rules: list[Any], output: str, points: float, out_of: float, compat: str) -> None:
    score = judged(rules, output, compat)
    assert (score.status, score.points, score.out_of) == ("scored", points, out_of)


@pytest.mark.parametrize(
    ("rule", "output", "ours", "originals"),
    [
        # the original lower-cases the pattern as well: \S becomes \s, \D becomes \d
        ({"text": r"A\SC", "regex": True, "ignore_case": True}, "abc", 1, 0),
        ({"text": r"A\SC", "regex": True, "ignore_case": True}, "a c", 0, 1),
        ({"text": r"x\D", "regex": True, "ignore_case": True}, "X1", 0, 1),
        ({"text": "[A-C]x", "regex": True, "ignore_case": True}, "bX", 1, 1),
        ({"text": "straße", "ignore_case": True}, "STRASSE", 1, 0),
        ({"text": "ÄPFEL", "ignore_case": True}, "äpfel", 1, 1),
    ],
)
def test_ignoring_case(rule: dict[str, Any], output: str, ours: float, originals: float) -> None:
    assert judged([rule], output).points == ours
    assert judged([rule], output, "original").points == originals


def test_the_detail_says_what_was_found_where() -> None:
    rules = [{"any": ["two", "three"]}, {"text": r"f\w+", "regex": True, "neg": True}, "six"]
    score = judged(rules, "one two three four")
    assert score.detail == {
        "rules": [
            {"keyword": "(two or three)", "status": "match", "points": 1.0, "spans": [[4, 7], [8, 13]]},
            {"keyword": "/f\\w+/", "status": "match", "neg": True, "points": -1.0, "spans": [[14, 18]]},
            {"keyword": "six", "status": "unmatch", "points": 0.0, "spans": []},
        ]
    }  # fmt: skip
    assert score.reason.startswith("2 of 3 keywords found")
    assert "not found: six" in score.reason


@pytest.mark.parametrize("cond", ["context[-1] == 'match'", "1 / 0", "no_such_name", "open('x')"])
def test_a_condition_that_breaks_fails_the_criterion(cond: str) -> None:
    score = judged([{"text": "a", "cond": cond}, "b"], "a b")
    assert (score.status, score.points, score.out_of) == ("failed", None, 2.0)
    assert "keyword 1" in score.reason


def test_plain_texts_may_be_given_from_python() -> None:
    score = Keywords(rules=("a", "b")).score(ScoreContext.of("a"))  # type: ignore[arg-type]
    assert (score.points, score.out_of) == (1.0, 2.0)
