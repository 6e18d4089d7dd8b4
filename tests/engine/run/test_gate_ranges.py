"""Ranges of numbers in gates: sums, differences, multiples and what they leave open."""

import pytest

from proctor.engine.run.gate_ranges import (
    COUNT,
    SHARE,
    NumberRange,
    comparison_ranges,
    refuse_impossible,
)
from proctor.errors import UsageError

RANGES = {"rate": {"value": SHARE, "low": SHARE}, "cases": COUNT, "x": NumberRange(-1.0, 2.0)}


@pytest.mark.parametrize(
    ("gate", "possible"),
    [
        ("rate + x <= -1", True),
        ("rate + x < -1.5", False),
        ("rate - x >= 2", True),
        ("rate - x > 2.1", False),
        ("-x > 1.5", False),
        ("2 * x >= 4", True),
        ("2 * x > 4", False),
        ("x / 2 > 1.1", False),
        ("x * rate > 100", True),
        ("x / rate > 100", True),
        ("rate >= 1.0000000001", True),
        ("rate != 5", True),
        ("rate in [5]", True),
        ("0.2 < rate < 0.9", True),
        ("2 < rate < 0.9", False),
        ("rate > 1 or x > 1", True),
        ("rate > 1 and x > 1", False),
        ("not rate > 1", True),
        ("rate.low > 1", False),
        ("unknown > 1", True),
        ("cases < 0", False),
    ],
)
def test_what_can_be(gate: str, possible: bool) -> None:
    if possible:
        refuse_impossible(gate, RANGES)
    else:
        with pytest.raises(UsageError, match="can never hold"):
            refuse_impossible(gate, RANGES)


@pytest.mark.parametrize(
    ("gate", "possible"),
    [
        ("difference >= 5", False),
        ("difference.low > -0.02", True),
        ("difference.low > 1", False),
        ("p < 0", False),
        ("second >= 80", False),
        ("size.small < -2", False),
        ("size.small >= -0.02", True),
        ("to_wrong < 0", False),
        ("effect > 3", True),
        ("verdict != 'worse'", True),
        ("verdict in ('better', 'no_worse')", True),
        ("against.difference > 2", False),
        ("against.difference > 0", True),
    ],
)
def test_numbers_of_a_comparison(gate: str, possible: bool) -> None:
    compared = comparison_ranges({"size": ["small"]}, plain=True)
    if possible:
        refuse_impossible(gate, {**compared, "against": compared})
    else:
        with pytest.raises(UsageError, match="can never hold"):
            refuse_impossible(gate, {**compared, "against": compared})


@pytest.mark.parametrize("gate", ["verdict == 'beter'", "verdict in ('equal', 'beter')"])
def test_a_verdict_that_is_never_given(gate: str) -> None:
    with pytest.raises(UsageError, match=r"is never 'beter' \(did you mean 'better'"):
        refuse_impossible(gate, comparison_ranges({}, plain=True))


def test_penalties_leave_the_ends_open() -> None:
    refuse_impossible("difference > 2 or first > 1", comparison_ranges({}, plain=False))
