"""ROUGE column by column, on texts of all kinds."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from column_checks import COLUMNS, REFERENCES, TEXTS, assert_same, context, silent_context
from level import LEVEL
from proctor import ScoreContext
from proctor.contracts.columns import ScoreRows, run_scorer_column
from proctor.origins.infibench.scorers import InfiBenchRouge
from proctor.scorers.overlap import rouge_columns
from proctor.scorers.overlap.rouge import Rouge
from proctor.scorers.overlap.rouge_texts import METRICS

LIMITS = st.sampled_from([0.0, 0.25, 1.0, -1.0, 1e308, -1e308, float("nan"), float("inf")])


@pytest.mark.scaled
@settings(max_examples=LEVEL.of(quick=20, ci=100, full=6000), deadline=None)
@given(st.data(), COLUMNS, st.sampled_from([Rouge, InfiBenchRouge]))
@pytest.mark.slow
def test_texts_of_all_kinds(data: st.DataObject, contexts: list[ScoreContext], cls: type) -> None:
    scorers = st.builds(
        cls,
        metric=st.sampled_from(METRICS),
        references=st.one_of(st.just(()), REFERENCES),
        low=st.one_of(st.just(0.0), LIMITS),
        high=st.one_of(st.just(1.0), LIMITS),
    )
    assert_same([data.draw(scorers) for _ in contexts], contexts)


@pytest.mark.scaled
@settings(max_examples=LEVEL.of(quick=8, ci=80, full=3000), deadline=None)
@given(st.lists(st.tuples(TEXTS, REFERENCES), min_size=1, max_size=30), st.integers(1, 40))
def test_chunks_of_all_sizes(rows: list[tuple[str, tuple[str, ...]]], size: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rouge_columns, "_AT_ONCE", size)
        contexts = [context(output, references) for output, references in rows]
        assert_same([Rouge()] * len(contexts), contexts)


def test_tokens_by_many_thousands() -> None:
    many = " ".join(f"word{number}" for number in range(70_000))
    assert_same(
        [Rouge()] * 3, [context(many, ["word1", many[-99:]]), silent_context(), context("a")]
    )


def test_empty_columns_and_texts() -> None:
    assert_same([], [])
    assert_same([Rouge()] * 2, [context(""), context("", [""])])
    assert_same([Rouge()], [context(" \n ", ["", "...", "\n"])])


@pytest.mark.parametrize(
    ("output", "reference", "longest", "union"),
    [
        ("c d\na b", "a b c d", 0.5, 1.0),
        ("a b c d", "c d\na b", 0.5, 1.0),
        ("c d\n\n...\na b\n", "a b\nc d", 0.5, 1.0),
        ("\nc d a b\n", "a b c d", 0.5, 0.5),
        ("今\n天", "天今", 0.5, 1.0),
    ],
)
def test_lines_are_joined_for_the_sum_alone(
    output: str, reference: str, longest: float, union: float
) -> None:
    contexts = [context(output, [reference])]
    assert_same([Rouge("rougeLsum")], contexts)
    column = run_scorer_column([Rouge("rougeLsum")], ScoreRows.of(contexts))
    detail = column.score(0).detail
    assert (detail["rougeL"], detail["rougeLsum"]) == (longest, union)


WITHOUT_PANDAS = """
import sys
from proctor.scorers.overlap.rouge_columns import rouge_values
values = list(rouge_values([("a b c", "a c"), ("", "a")], False))
print(*values[0][:3], "pandas" in sys.modules, "pyarrow" in sys.modules)
"""


@pytest.mark.slow
def test_numbering_tokens_does_not_load_pandas() -> None:
    pytest.importorskip("pandas")
    told = subprocess.run([sys.executable, "-c", WITHOUT_PANDAS], capture_output=True, check=True)
    assert told.stdout.split() == b"0.8 0.0 0.8 False True".split()
