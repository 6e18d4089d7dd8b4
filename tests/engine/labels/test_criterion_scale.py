"""The scale of a criterion, and what people may give on it."""

from typing import Any

import pytest

from proctor.core.score import Score
from proctor.core.suite import Criterion, Spec
from proctor.engine.labels.criterion_scale import CriterionScale, scale_of

ASKED = {"question": "How good?"}


@pytest.mark.parametrize(
    ("spec", "out_of", "ends", "marks"),
    [
        (Spec(name="judged", params=ASKED), 1.0, (0, 1, False, True), ["1", "0"]),
        (Spec(name="judged", params=ASKED), None, (0, 1, False, True), ["1", "0"]),
        (Spec(name="rating", params=ASKED), None, (1, 5, True, False), list("12345")),
        (Spec(name="rating", params={**ASKED, "counts": True}), 5.0, (1, 5, True, True),
         list("12345")),
        (Spec(name="rating", params={**ASKED, "counts": True, "scale": "range"}), 4.0,
         (0, 4, True, True), list("01234")),
        (Spec(name="rating", params={**ASKED, "high": 100}), None, (1, 100, True, False),
         ["1", "0"]),
        (Spec(name="strangers:Own"), 3.0, (0, 3, False, True), ["1", "0"]),
        (Spec(name="strangers:Own"), None, (0, 1, False, True), ["1", "0"]),
    ],
)  # fmt: skip
def test_scales(spec: Spec, out_of: float | None, ends: Any, marks: list[str]) -> None:
    score = None if out_of is None else Score(points=0.0, out_of=out_of)
    scale = scale_of(Criterion(id="c", scorer=spec), score)
    assert (scale.low, scale.high, scale.rates, scale.counts) == ends
    assert [name for name, _ in scale.marks()] == marks


@pytest.mark.parametrize(
    ("scale", "points", "share", "shown"),
    [
        (CriterionScale(), 1.0, 1.0, 1.0),
        (CriterionScale(high=4.0), 1.0, 0.25, 0.25),
        (CriterionScale(low=1, high=5, rates=True, counts=False), 3.0, 0.5, 3.0),
        (CriterionScale(low=1, high=5, rates=True), 3.0, 0.6, 0.6),
    ],
)
def test_shares_and_points(
    scale: CriterionScale, points: float, share: float, shown: float
) -> None:
    assert scale.share(points) == pytest.approx(share)
    assert scale.points(scale.share(points)) == pytest.approx(shown)
    assert scale.holds(points)
    assert not scale.holds(scale.high + 1)
