"""ROUGE against the package that the published numbers were made with."""

from random import Random
from typing import Any

import pytest
from rouge_score.rouge_scorer import RougeScorer

from proctor import ScoreContext, Spec
from proctor.core.score import Score
from proctor.registry import build

METRICS = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "Model",
    "model's",
    "answer",
    "42",
    "3.14",
    "isn't",
    "no.",
    "Yes,",
    "(because)",
    "of_it",
    "state-of-the-art",
    "x",
    "running",
    "runs",
    "quick;",
    "brown",
    "fox!",
    "https://example.org/a?b=c",
    "It",
    "...",
    "&",
    "café",
]


def judged(output: str, references: list[str], **params: Any) -> Score:
    spec = Spec(name="rouge", params={"references": references, **params})
    score: Score = build("scorer", spec).score(ScoreContext.of(output))
    return score


def texts(count: int) -> list[tuple[str, str]]:
    random = Random(7)

    def text() -> str:
        lines = [
            " ".join(random.choices(WORDS, k=random.randint(0, 14)))
            for _ in range(random.randint(1, 5))
        ]
        return random.choice(["\n", "\n\n", " \n"]).join(lines)

    return [(text(), text()) for _ in range(count)]


@pytest.mark.parametrize("compat", ["", "original"])
@pytest.mark.sampled(2)
def test_equal_to_the_package(compat: str) -> None:
    package = RougeScorer(METRICS, use_stemmer=False)
    above_zero = 0
    for reference, answer in texts(300):
        wanted = {name: made.fmeasure for name, made in package.score(reference, answer).items()}
        detail = judged(answer, [reference], compat=compat).detail
        found = {name: detail[name] for name in METRICS}
        assert found == pytest.approx(wanted, abs=1e-12), (reference, answer)
        above_zero += wanted["rougeLsum"] > 0
    assert above_zero > 200


@pytest.mark.parametrize("metric", METRICS)
def test_chinese(metric: str) -> None:
    text = "巴黎是法国的首都。\n它很大。"
    assert judged(text, [text], metric=metric).points == 1.0
    assert judged(text, [text], metric=metric, compat="original").points == 0.0


@pytest.mark.parametrize(
    ("params", "points"),
    [
        ({"metric": "rouge1"}, 0.5),
        ({"metric": "rouge1", "low": 0.25, "high": 0.75}, 0.5),
        ({"metric": "rouge1", "low": 0.5, "high": 1.0}, 0.0),
        ({"metric": "rouge1", "low": 0.0, "high": 0.4}, 1.0),
        ({"metric": "rouge2"}, 0.0),
    ],
)
def test_rescaling(params: dict[str, Any], points: float) -> None:
    score = judged("one two", ["two three"], **params)
    assert (score.points, score.out_of) == (pytest.approx(points), 1.0)
    assert score.detail["normalized_score"] == score.points


def test_the_best_reference_counts_and_is_named() -> None:
    score = judged("one two", ["three", "one two", "one"], metric="rougeL")
    assert (score.points, score.detail["best_reference"]) == (1.0, 1)
    assert "reference 2 of 3" in score.reason


def test_references_of_the_case_are_used_where_none_are_given() -> None:
    scorer = build("scorer", Spec(name="rouge"))
    assert scorer.score(ScoreContext.of("a b", references=["a b"])).points == 1.0
    score = scorer.score(ScoreContext.of("a b"))
    assert (score.status, score.out_of) == ("failed", 1.0)


@pytest.mark.parametrize("output", ["", "\n\n", "!!!"])
def test_answers_without_words_get_nothing(output: str) -> None:
    assert judged(output, ["a b"]).points == 0.0
