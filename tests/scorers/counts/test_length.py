"""The length of answers, in every unit and with every limit."""

from typing import Any

import pytest

from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.core.suite import Spec
from proctor.testing import try_scorer

TEXT = "One two three four. Five six seven eight!\n\nNine ten."


def scorer(**params: Any) -> Any:
    return registry.build("scorer", Spec(name="length", params=params))


@pytest.mark.parametrize(
    ("text", "how", "points", "out_of"),
    [
        (TEXT, {"max": 10}, 1, 1),
        (TEXT, {"max": 9}, 0, 1),
        (TEXT, {"min": 10}, 1, 1),
        (TEXT, {"min": 11}, 0, 1),
        (TEXT, {"min": 5, "max": 15}, 1, 1),
        (TEXT, {}, 10, None),
        (TEXT, {"unit": "lines"}, 2, None),
        (TEXT, {"unit": "sentences"}, 2, None),
        (TEXT, {"unit": "characters", "max": len(TEXT)}, 1, 1),
        (f"  {TEXT}\n", {"unit": "characters", "max": len(TEXT) - 1}, 0, 1),
        ("", {"max": 0}, 1, 1),
        ("", {"unit": "sentences"}, 0, None),
        ("你好世界", {"unit": "characters"}, 4, None),
        ("don't well-known", {"max": 2}, 1, 1),
    ],
)
def test_points(text: str, how: dict[str, Any], points: float, out_of: float | None) -> None:
    assert list(scorer(**how).problems()) == []
    score = try_scorer(scorer(**how), ScoreContext.of(text))
    assert (score.points, score.out_of) == (points, out_of)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"max": -1}, "max is 0 or more, not -1"),
        ({"min": -1}, "min is 0 or more, not -1"),
        ({"min": 3, "max": 2}, "min (3) is greater than max (2)"),
    ],
)
def test_problems(how: dict[str, Any], words: str) -> None:
    assert list(scorer(**how).problems()) == [words]
