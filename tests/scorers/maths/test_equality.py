"""Mathematical equality: golden pairs with a person's labels, and ways of writing of our own."""

import asyncio
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.suite import Spec
from proctor.judging import ModelJudge
from proctor.registry import build
from proctor.scorers.maths import comparing
from proctor.scorers.maths.comparing import equal, final_expression, score_of
from proctor.scorers.maths.forms import number_words, plain_number, quantity
from proctor.testing import ScriptedModel, try_scorer

pytest.importorskip("math_verify")
PAIRS = json.loads(
    (Path(__file__).resolve().parents[2] / "golden" / "askbench_math.json").read_text("utf-8")
)["pairs"]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine take its time: an alarm that goes off in between is nobody's to catch."""
    monkeypatch.setattr(comparing, "PARSE_SECONDS", 60)
    monkeypatch.setattr(comparing, "COMPARE_SECONDS", 60)


@pytest.mark.slow
def test_golden_pairs_are_judged_as_a_person_judges_them() -> None:
    wrong = [
        pair["category"]
        for pair in PAIRS
        if bool(score_of(pair["prediction"], [pair["reference"]]).points) is not pair["human"]
    ]
    assert (len(PAIRS), wrong) == (39, [])


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        # Ways of writing that math-verify does not know.
        ("1.5e3", "1500"), ("2E-3", "0.002"), ("five", "5"), ("twenty-one", "21"),
        ("one hundred and five", "105"), ("minus two", "-2"), ("three quarters", "0.75"),
        ("3+4j", "3+4i"), ("j", "i"), ("The answer is 5.", "5"), ("Therefore, x is 5.", "5"),
        ("So the value of x is $5$.", "5"), (r"The final answer is \boxed{5}.", "5"),
        ("There are 12 apples in total.", "12"), ("5", "five apples"), ("3 1/2", "7/2"),
        ("The roots are $2$ and $3$.", "2,3"), ("answer: 7 (since 3+4)", "7"),
        ("12.5%", "12.5"), ("12.5%", "0.125"), ("fifty percent", "50%"), ("50 percent", "1/2"),
        ("5 cm", "0.05 m"), ("5 minutes", "300 s"), ("36 square feet", "36 ft^2"),
        ("36 cm^2", r"36\text{ cm}^2"), ("7 in", r"7\text{ inches}"), ("50 cents", "0.5 dollars"),
        (r"\$5", "5 dollars"), ("1,000,000", "10^6"), ("10 000", "10000"), ("−5", "-5"),
        ("sqrt(2)/2", r"\frac{\sqrt{2}}{2}"), ("2*pi", r"2\pi"), ("2π", r"2\pi"),
        ("x**2+1", "x^2+1"), ("x≤3", r"x \le 3"), ("30°", "30"), ("∞", r"\infty"),
        (r"\varnothing", r"\emptyset"), (r"x \in [0,1]", "[0,1]"), ("x>3", r"(3,\infty)"),
        (r"x=\frac{-1\pm\sqrt5}{2}", r"\frac{-1 \pm \sqrt{5}}{2}"), ("±3", r"\pm 3"),
        ("no solution", r"\text{No solution}"), (r"\text{(B)}", "B"), ("$$x = 7$$", "7"),
        # What it does know must stay right.
        (r"\frac{\sqrt{3}}{2}", r"\frac{1}{2}\sqrt{3}"), ("x^2-1", "(x-1)(x+1)"),
        ("x=1 or x=2", "1,2"), (r"-\frac{1}{2}", r"\frac{-1}{2}"), ("2^{10}", "1024"),
        (r"\sum_{k=1}^{10} k", "55"), (r"\int_0^1 x^2 dx", "1/3"),
    ],
)  # fmt: skip
@pytest.mark.sampled(11)
def test_equal(answer: str, reference: str) -> None:
    assert score_of(answer, [reference]).points == 1


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("5 cm", "5 m"), ("5m", "5 cm"), ("5 cm", "5 s"), ("36 cm^2", "36 cm"), ("[0,1]", "(0,1)"),
        ("0.33333", "1/3"), ("0.3333333", r"\frac{1}{3}"), ("5000", "50"), ("0.5", "50"),
        ("50%", "5"), ("0.0000001", "0.0000002"), ("1e-8", "2e-8"), ("1.41421", r"\sqrt{2}"),
        ("(1,2)", "(2,1)"), ("A", "B"), ("x-y", "y-x"), (r"-\infty", r"\infty"), ("1 2", "12"),
        ("5 apples", "6"), ("3 dozen", "3"), ("1+2i", "1-2i"), (r"\cos x", r"\sin x"),
        ("Evelyn", "Briana"), ("I do not know", "5"), ("", "5"), ("a+b", "b"), ("101_2", "5"), (r"2\pm\sqrt{3}", r"2\pm\sqrt{5}"),
    ],
)  # fmt: skip
@pytest.mark.sampled(12)
def test_not_equal(answer: str, reference: str) -> None:
    assert score_of(answer, [reference]).points == 0


@pytest.mark.parametrize(
    "tower",
    [r"10^{10^{10}}", r"9^{9^{9^{9}}}", "2^{2^{2^{2^{2}}}}", "7^{123456}", "100000!", "3!!!"],
)
def test_what_would_fill_the_memory_is_not_calculated(tower: str) -> None:
    assert equal(tower, "5") is None
    assert equal(tower, tower) is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"Let $x=2$. Then \boxed{x+1}", "x+1"),
        ("x = 5", "x = 5"),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}"),
        ("First we add.\nIt equals 3.5 meters", "3.5 meters"),
        ("Adding up all of the terms that we found before, we see $x=1$ at last, as was to be shown", "x=1"),
        ("Some long reasoning that has the number 5 and then the number 8 somewhere", "8"),
        ("**42**", "42"),
    ],
)  # fmt: skip
def test_final_expression(text: str, expected: str) -> None:
    assert final_expression(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zero", 0), ("nineteen", 19), ("ninety nine", 99), ("two hundred", 200),
        ("one thousand two hundred and thirty-four", 1234), ("three million", 3_000_000),
        ("two thirds", Fraction(2, 3)), ("a half", Fraction(1, 2)), ("negative one", -1),
        ("one two", None), ("hundred", None), ("and", None), ("five and", None), ("apples", None),
        ("twenty thirty", None), ("", None), ("thousand", None),
    ],
)  # fmt: skip
def test_number_words(text: str, expected: Any) -> None:
    assert number_words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234", 1234), (r"1,\!234", 1234), ("1,23", None), ("-7.50", Fraction(-15, 2)),
        (r"1.5\times 10^{3}", 1500), ("-1 1/2", Fraction(-3, 2)), ("1/0", None), (r"\frac{1}{0}", None),
        (r"\dfrac12", Fraction(1, 2)), ("x", None), ("1e3", 1000), ("1e9999", None), ("9" * 500, None),
    ],
)  # fmt: skip
def test_plain_numbers(text: str, expected: Any) -> None:
    assert plain_number(text) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [("5 cm", "length^1"), ("5 km^2", "length^2"), ("5 m³", "length^3"), ("5m", "length^1"),
     ("x m", None), ("5 apples", None), ("12 hours", "time^1"), ("5", None)],
)  # fmt: skip
def test_quantities(text: str, kind: str | None) -> None:
    found = quantity(text)
    assert (None if found is None else found.kind) == kind


def context(output: str, *references: str, judge: Any = None) -> ScoreContext:
    made = ScoreContext.of(output, prompt="How much?", references=references)
    return ScoreContext(case=made.case, attempt=made.attempt, judge=judge)


def judge_saying(result: str) -> tuple[ModelJudge, ScriptedModel]:
    model = ScriptedModel(json.dumps({"reason": "said so", "result": result}))
    return ModelJudge(model=model), model


def maths_with(**params: Any) -> Any:
    return build("scorer", Spec(name="maths", params=params))


def test_the_scorer() -> None:
    scorer = maths_with()
    assert not scorer.finishes
    assert not scorer.needs_judge
    assert not scorer.needs_sandbox
    assert scorer.prompt_key("en") == ""
    assert list(scorer.missing()) == list(scorer.problems()) == []
    assert "math-verify" in scorer.toolchain()
    score = try_scorer(scorer, context("so it is 1/2", "7", "0.5"))
    assert (score.status, score.points, score.out_of) == ("scored", 1.0, 1.0)
    assert score.detail == {"answer": "1/2", "readable": True}
    failed = try_scorer(scorer, context("1/2"))
    assert (failed.status, failed.out_of) == ("failed", 1.0)
    case = context("", r"\frac12").case
    for probe in scorer.probes(case):
        assert try_scorer(scorer, context(probe.answer, r"\frac12")).points == 1


def test_without_extraction_the_answer_is_taken_whole() -> None:
    text = "Let it be 3. The answer is 5"
    assert try_scorer(maths_with(), context(text, "5")).detail["answer"] == "5"
    assert try_scorer(maths_with(extract=False), context(text, "5")).detail["answer"] == text


TOWER = "10^{10^{10}}"


@pytest.mark.parametrize(
    ("output", "reference", "params", "points", "asked"),
    [
        (TOWER, "5", {}, 0, 0),
        (TOWER, "5", {"judge_fallback": True}, 1, 1),
        ("6", "5", {"judge_fallback": True}, 0, 0),
        ("5", "5", {"judge_fallback": True}, 1, 0),
    ],
)
def test_the_judge_is_asked_only_about_what_mathematics_leaves_open(
    output: str, reference: str, params: dict[str, Any], points: float, asked: int
) -> None:
    judge, model = judge_saying("correct")
    scorer = maths_with(**params)
    score = try_scorer(scorer, context(output, reference, judge=judge))
    assert (score.points, len(model.requests)) == (points, asked)
    assert scorer.needs_judge is scorer.finishes is bool(params)
    assert not scorer.needs_sandbox
    assert bool(scorer.prompt_key("en")) is bool(params)


def test_a_fallback_without_a_judge_fails() -> None:
    score = try_scorer(maths_with(judge_fallback=True), context(TOWER, "5"))
    assert score.status == "failed"


def test_mathematics_first_then_the_judge() -> None:
    scorer = build("scorer", Spec(name="judged_correct", params={"maths_first": True}))
    assert (scorer.is_async, scorer.finishes, scorer.needs_sandbox) == (False, True, False)
    rows = [("0.5", "1/2", 1, 0), ("0.6", "1/2", 0, 0), (TOWER, "5", 1, 1)]
    for output, reference, points, asked in rows:
        judge, model = judge_saying("correct")
        score = try_scorer(scorer, context(output, reference, judge=judge))
        assert (score.points, len(model.requests)) == (points, asked), output
        assert score.detail.get("by", "judge") == ("judge" if asked else "math-verify")


def test_without_mathematics_the_judge_decides_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "find_spec", lambda name: None)
    scorer = build("scorer", Spec(name="judged_correct", params={"maths_first": True}))
    judge, model = judge_saying("correct")
    score = try_scorer(scorer, context("0.5", "1/2", judge=judge))
    assert (score.points, len(model.requests)) == (1, 1)


def test_where_math_verify_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "find_spec", lambda name: None)
    assert "proctor[maths]" in "".join(maths_with().missing())
    judged = build("scorer", Spec(name="judged_correct", params={"maths_first": True}))
    assert "proctor[maths]" in "".join(judged.missing())
    assert list(build("scorer", Spec(name="judged_correct")).missing()) == []


def test_comparing_off_the_main_thread_has_no_alarm() -> None:
    assert asyncio.run(asyncio.to_thread(equal, "x^2-1", "(x-1)(x+1)")) is True
