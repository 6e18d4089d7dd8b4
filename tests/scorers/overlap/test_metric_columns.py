"""Overlap metrics column by column, on texts of all kinds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from column_checks import COLUMNS, assert_same, context
from level import LEVEL
from proctor import ScoreContext
from proctor.origins.colossal.scorers import ColossalTextMetrics
from proctor.scorers.overlap.metrics import TextMetrics
from proctor.scorers.overlap.values import ROWS

METRICS = st.lists(st.sampled_from(sorted(ROWS)), unique=True, max_size=5).map(tuple)
LANGUAGES = st.sampled_from(["", "zh", "en"])


@pytest.mark.scaled
@settings(max_examples=LEVEL.of(quick=8, ci=80, full=3000), deadline=None)
@given(st.data(), COLUMNS, st.sampled_from([TextMetrics, ColossalTextMetrics]))
@pytest.mark.slow
def test_texts_of_all_kinds(
    data: st.DataObject, contexts: list[ScoreContext], cls: type[TextMetrics]
) -> None:
    scorers = st.builds(cls, METRICS, LANGUAGES)
    assert_same([data.draw(scorers) for _ in contexts], contexts)


@pytest.mark.slow
def test_columns_of_several_parts() -> None:
    contexts = [context(f"word {n} 今天", [f"word {n % 7}", "今天天气"]) for n in range(300)]
    assert_same([TextMetrics()] * 300, contexts)
