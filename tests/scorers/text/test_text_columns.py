"""Text scorers column by column, on texts of all kinds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from column_checks import COLUMNS, assert_same
from level import LEVEL
from proctor.contracts.scorer import ScoreContext
from proctor.scorers.text.comparisons import Number

EXAMPLES = LEVEL.of(quick=40, ci=400, full=4000)
NUMBERS = st.builds(
    Number,
    st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([42.0, 1000.0])),
    st.sampled_from([1e-9, 0.5]),
)


@pytest.mark.scaled
@settings(max_examples=EXAMPLES, deadline=None)
@given(COLUMNS, st.lists(NUMBERS, min_size=6, max_size=6))
def test_numbers(contexts: list[ScoreContext], scorers: list[Number]) -> None:
    assert_same(scorers[: len(contexts)], contexts)
