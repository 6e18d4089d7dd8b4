"""Keywords column by column: every kind of rule, on texts of all kinds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from column_checks import COLUMNS, TEXTS, assert_same, context
from level import LEVEL
from proctor import ScoreContext, Spec
from proctor.contracts.columns import ScoreRows, run_scorer_column, takes_columns
from proctor.contracts.scoring import run_scorer
from proctor.origins.infibench.scorers import InfiBenchKeywords
from proctor.registry import build
from proctor.scorers.text.keywords import KeywordRule, Keywords, Node

NEEDLES = st.one_of(
    TEXTS,
    st.sampled_from(["a", "cat", "Paris", "今天", "ss", "İ", "x" * 60]),
)
WEIGHTS = st.one_of(
    st.sampled_from([1.0, 0.5, 0.1, -2.0, 0.0, -0.0, 3, True, 1e308, float("nan"), float("inf")]),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
)
NODES = st.builds(Node, text=NEEDLES, ignore_case=st.sampled_from([None, True, False]))
RULES = st.one_of(
    NEEDLES,
    st.builds(KeywordRule, text=NEEDLES, weight=WEIGHTS, neg=st.booleans()),
    st.builds(
        KeywordRule,
        text=NEEDLES,
        weight=WEIGHTS,
        neg=st.booleans(),
        ignore_case=st.booleans(),
    ),
    st.builds(KeywordRule, any=st.lists(NODES, max_size=3).map(tuple), weight=WEIGHTS),
    st.builds(KeywordRule, all=st.lists(NODES, max_size=3).map(tuple), ignore_case=st.booleans()),
    st.just(KeywordRule()),
)
MANY_RULES = st.lists(RULES, max_size=4).map(tuple)
SCORERS = st.one_of(st.builds(Keywords, MANY_RULES), st.builds(InfiBenchKeywords, MANY_RULES))


@pytest.mark.scaled
@settings(max_examples=LEVEL.of(quick=20, ci=100, full=6000), deadline=None)
@given(COLUMNS, st.lists(SCORERS, min_size=6, max_size=6))
def test_rules_of_all_kinds(contexts: list[ScoreContext], scorers: list[Keywords]) -> None:
    assert_same(scorers[: len(contexts)], contexts)


@settings(max_examples=20, deadline=None)
@given(COLUMNS, SCORERS)
def test_one_scorer_for_all_rows(contexts: list[ScoreContext], scorer: Keywords) -> None:
    assert_same([scorer] * len(contexts), contexts)


CODE = [
    {"rules": [{"text": "a+", "regex": True}]},
    {"rules": [{"any": ["a", {"text": "b", "cond": "len(response) > 2"}]}]},
    {"rules": [{"all": [{"any": ["x", "y"]}], "regex": True}]},
    {"rules": ["a", {"text": "b", "cond": "context[0] == 'match'", "neg": True}]},
]


@pytest.mark.parametrize("params", CODE)
def test_patterns_and_conditions_need_a_process_that_can_be_killed(
    params: dict[str, object],
) -> None:
    scorer = build("scorer", Spec(name="keywords", params=params))
    assert not scorer.is_instant
    assert not takes_columns(scorer)


@pytest.mark.parametrize("params", CODE)
def test_in_such_a_process_their_columns_are_right(params: dict[str, object]) -> None:
    scorer = build("scorer", Spec(name="keywords", params=params))
    contexts = [context(text, ["ab"]) for text in ("ab", "", "xa", "bbb", "\ud800")]
    column = run_scorer_column([scorer] * len(contexts), ScoreRows.of(contexts))
    assert [column.score(i) for i in range(5)] == [run_scorer(scorer, ctx) for ctx in contexts]


@pytest.mark.parametrize(
    ("params", "length"),
    [
        ({"rules": ["a" * 2000]}, 1_000_000),
        ({"rules": ["a", {"any": ["b", "c"], "weight": 2}]}, 1_000_000),
        ({"rules": [{"text": "a" * 200, "ignore_case": True}]}, 100_000),
        ({"rules": ["x", {"any": ["b", "a" * 1999], "ignore_case": True}]}, 10_000),
    ],
)
def test_texts_need_no_process_up_to_some_length(params: dict[str, object], length: int) -> None:
    scorer = build("scorer", Spec(name="keywords", params=params))
    assert scorer.is_instant
    assert not scorer.takes_long("a" * length, ())
    assert scorer.takes_long("a" * (length + 1), ())


def test_a_handler_of_the_suite_needs_one() -> None:
    handler = {"module": "m", "func": "f", "source": "def f(*_): return 1, 1, None"}
    scorer = build(
        "scorer", Spec(name="keywords", params={"rules": ["a"], "post_handler": handler})
    )
    assert not takes_columns(scorer)


def test_equal_weights_that_are_written_differently() -> None:
    weights = [0.0, -0.0, 1.0, 1, True, 0, 7]
    scorers = [Keywords((KeywordRule(text="a", weight=weight),)) for weight in weights]
    taken = [Keywords((KeywordRule(text="a", weight=weight, neg=True),)) for weight in weights]
    assert_same([*scorers, *taken], [context("a")] * 14)
