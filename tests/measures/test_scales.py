"""The scale of points: from full marks, from the scorer, and open where nobody knows."""

import pytest

from proctor.core.fingerprint import digest
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec
from proctor.measures.scales import Scales

RATING = Spec(name="rating", params={"question": "Polite?", "low": 2, "high": 7})
GONE = Spec(name="no_such_scorer")
CASE = Case(
    id="c",
    messages=(),
    criteria=(Criterion(id="rated", scorer=RATING), Criterion(id="gone", scorer=GONE)),
)


@pytest.mark.parametrize(
    ("criterion", "out_of", "expected"),
    [
        ("rated", None, (2, 7)),
        ("rated", 3.0, (0, 3)),
        ("gone", None, (None, None)),
        ("gone", 1.0, (0, 1)),
        ("of another suite", None, (None, None)),
    ],
)
def test_scale_of_one_score(
    criterion: str, out_of: float | None, expected: tuple[float | None, float | None]
) -> None:
    scales = Scales()
    scales.add(CASE, criterion, Score(points=2.5, out_of=out_of))
    assert scales.scale == expected


def test_a_scale_holds_all_that_was_seen() -> None:
    scales = Scales()
    scales.add_scorer(RATING, digest(RATING))
    scales.add_value(0.0)
    assert scales.scale == (0, 7)
    scales.add_scorer(GONE, digest(GONE))
    assert scales.scale == (None, None)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (Spec(name="text_metrics", params={"metrics": ["bleu"]}), (0, 1)),
        (Spec(name="rating_metric", params={"metric": "a", "definition": "b"}), (1, 5)),
        (Spec(name="bert_score"), (-1, 1)),
        (Spec(name="bert_score", params={"baseline": "file.tsv"}), (None, 1)),
        (Spec(name="readability"), (None, None)),
        (Spec(name="word_count_match"), (0, 1)),
    ],
)
def test_scales_that_scorers_have(spec: Spec, expected: tuple[float | None, float | None]) -> None:
    scales = Scales()
    scales.add_scorer(spec, digest(spec))
    assert scales.scale == expected
