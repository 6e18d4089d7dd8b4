"""Blanks: where they stand, what is stripped, what counts as right, in both modes."""

from typing import Any

import pytest

from proctor import ScoreContext, Spec
from proctor.core.score import Score
from proctor.registry import build

MIDDLE = "let x equal [blank] here"


def judged(template: str, targets: list[Any], output: str, **params: Any) -> Score:
    spec = Spec(name="blanks", params={"template": template, "targets": targets, **params})
    score: Score = build("scorer", spec).score(ScoreContext.of(output))
    return score


def fillings(score: Score) -> list[str]:
    return [blank["text"] for blank in score.detail["blanks"]]


@pytest.mark.parametrize(
    ("targets", "output", "points", "out_of"),
    [
        (["42"], "let x equal 42 here", 1, 1),
        (["42"], "let x equal 43 here", 0, 1),
        (["42"], "let x equal '42' here", 1, 1),
        (["42"], "let x equal `42` here", 1, 1),
        (["42"], 'let x equal "42" here', 1, 1),
        (["42"], "let x equal <42> here", 0, 1),
        (["42"], "let x equal ·42· here", 1, 1),
        ([{"any": ["41", "42"]}], "let x equal 42 here", 1, 1),
        ([{"any": "42"}], "let x equal 42 here", 1, 1),
        ([{"any": ["42"], "weight": 3}], "let x equal 42 here", 3, 3),
        ([{"any": ["4"]}], "let x equal 42 here", 0, 1),
        ([{"any": ["4"], "substring": True}], "let x equal 42 here", 1, 1),
        ([{"any": ["9"], "substring": True}], "let x equal 42 here", 0, 1),
        ([{"any": [{"text": r"\d+", "regex": True}]}], "let x equal 42 here", 1, 1),
        ([{"any": [{"text": r"\d", "regex": True}]}], "let x equal 42 here", 0, 1),
        ([{"any": [{"text": r"\d", "regex": True}], "substring": True}], "let x equal 42 here", 1, 1),
        ([{"any": [{"text": r"\d+", "regex": False}]}], "let x equal 42 here", 0, 1),
        (["ABC"], "let x equal abc here", 0, 1),
        ([{"any": ["ABC"], "ignore_case": True}], "let x equal abc here", 1, 1),
        ([{"any": ["ABC"], "ignore_case": True, "substring": True}], "let x equal <abc> here", 1, 1),
        ([{"any": [{"text": "ABC", "ignore_case": True}]}], "let x equal abc here", 1, 1),
        ([{"any": [{"text": "ABC", "ignore_case": False}], "ignore_case": True}], "let x equal abc here", 0, 1),
        ([{"any": [{"text": "42", "cond": "response_str == '42'"}]}], "let x equal 42 here", 1, 1),
        ([{"any": [{"text": "42", "cond": "ans_re"}]}], "let x equal 42 here", 0, 1),
        ([{"any": [{"text": "42", "cond": "ans_re"}, "42"]}], "let x equal 42 here", 1, 1),
        ([{"any": [{"text": "42", "cond": "grading_details == []"}]}], "let x equal 42 here", 1, 1),
        # too little of the template is there
        (["42"], "42", 0, 1),
        (["42"], "", 0, 1),
    ],
)  # fmt: skip
def test_one_blank(targets: list[Any], output: str, points: float, out_of: float) -> None:
    score = judged(MIDDLE, targets, output)
    assert (score.status, score.points, score.out_of) == ("scored", points, out_of)


@pytest.mark.parametrize(
    ("template", "targets", "output", "ours"),
    [
        ("[blank] is the answer", ["42"], "42 is the answer", ["42"]),
        ("the answer is [blank]", ["42"], "the answer is 42", ["42"]),
        ("the answer is [blank]", ["42"], "the answer is 42!!", ["42!!"]),
        ("a = [blank][blank] end.", ["12", "ab"], "a = 12ab end.", ["12", "ab"]),
        ("a = [blank][blank] end.", ["1", "2"], "a = 9 end.", ["", "9"]),
        ("[blank][blank]", ["12", "ab"], "12ab", ["12", "ab"]),
        ("[blank]", ["all of it"], "all of it", ["all of it"]),
        ("one [blank] two [blank] three", ["x", "y"], "one x two y three", ["x", "y"]),
    ],
)
def test_places_of_blanks(template: str, targets: list[str], output: str, ours: list[str]) -> None:
    assert fillings(judged(template, targets, output)) == ours


def test_the_originals_places() -> None:
    start = judged("[blank] is the answer", ["42"], "42 is the answer", compat="original")
    assert fillings(start) == ["2"]
    end = judged("the answer is [blank]", ["42"], "the answer is 42", compat="original")
    assert (end.status, end.out_of) == ("failed", 1.0)
    beside = judged("a = [blank][blank] end.", ["12", "34"], "a = 1234 end.", compat="original")
    assert fillings(beside) == ["", "1234"]


def test_spans_point_into_the_answer() -> None:
    output = "let x equal '42' here"
    (blank,) = judged(MIDDLE, ["42"], output).detail["blanks"]
    start, end = blank["span"]
    assert output[start:end].strip(" '") == "42"
    prefixed = "equal '42' here"
    (blank,) = judged(MIDDLE, ["42"], prefixed, prefix="let x ").detail["blanks"]
    start, end = blank["span"]
    assert prefixed[start:end].strip(" '") == "42"


@pytest.mark.parametrize(
    ("params", "output", "points"),
    [
        ({"prefix": "let x "}, "equal 42 here", 1),
        ({"prefix": ""}, "equal 42 here", 0),
        ({"min_match": 0.5}, "equal 42 here", 1),
        ({"strip": "<>"}, "let x equal <42> here", 1),
        ({"strip": "<"}, "let x equal <42> here", 0),
        ({"strip": ""}, "let x equal 42 here", 1),
        ({"min_match": 0.99}, "let x equal 42 her", 0),
        ({"min_match": 0.0}, "42", 0),
        ({"blank": "___", "template": "let x equal ___ here"}, "let x equal 42 here", 1),
    ],
)
def test_parameters(params: dict[str, Any], output: str, points: float) -> None:
    assert (
        judged(**{"template": MIDDLE, "targets": ["42"], "output": output, **params}).points
        == points
    )


@pytest.mark.parametrize("compat", ["", "original"])
def test_lines_are_the_originals_own(compat: str) -> None:
    template = "one [blank] two [blank] three"
    score = judged(template, ["x", {"any": ["y", "z"]}], "one x two w three", compat=compat)
    assert [blank["line"] for blank in score.detail["blanks"]] == [
        "matched: response string: x, ans: x",
        "unmatched: response string: w, ans: z",
    ]
    low = judged(template, ["x", "y"], "no", compat=compat)
    assert {blank["line"] for blank in low.detail["blanks"]} == {
        f"unmatched: match rate too low - {low.detail['match_rate']}"
    }
    assert "of the template was found" in low.reason


def test_later_conditions_see_earlier_lines() -> None:
    cond = "grading_details[0].startswith('matched')"
    targets = ["x", {"any": [{"text": "y", "cond": cond}]}]
    template = "one [blank] two [blank] three"
    assert judged(template, targets, "one x two y three").points == 2
    assert judged(template, targets, "one w two y three").points == 0


@pytest.mark.parametrize(
    ("alternative", "output", "ours", "originals"),
    [
        ({"text": r"\S+", "regex": True}, "let x equal AB here", 1, 0),
        ({"text": "Straße"}, "let x equal STRASSE here", 1, 0),
        ({"text": "AB"}, "let x equal aB here", 1, 1),
    ],
)
def test_ignoring_case(
    alternative: dict[str, Any], output: str, ours: float, originals: float
) -> None:
    targets = [{"any": [alternative], "ignore_case": True}]
    assert judged(MIDDLE, targets, output).points == ours
    assert judged(MIDDLE, targets, output, compat="original").points == originals


@pytest.mark.parametrize("targets", [[], ["a", "b"]])
@pytest.mark.parametrize("compat", ["", "original"])
def test_a_wrong_number_of_targets_fails(targets: list[str], compat: str) -> None:
    score = judged(MIDDLE, targets, "let x equal 42 here", compat=compat)
    assert (score.status, score.out_of) == ("failed", float(len(targets)))
    assert "1 blanks" in score.reason


def test_a_condition_that_breaks_fails_the_criterion() -> None:
    score = judged(MIDDLE, [{"any": [{"text": "42", "cond": "1/0"}]}], "let x equal 42 here")
    assert (score.status, score.out_of) == ("failed", 1.0)
