"""Ranges of numbers in gates: sums, differences, multiples and what they leave open."""

import pytest

from proctor.engine.run.gate_ranges import COUNT, SHARE, NumberRange, refuse_impossible
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
