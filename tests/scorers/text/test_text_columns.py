"""Text scorers column by column, on texts of all kinds."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from column_checks import COLUMNS, TEXTS, WORDS, assert_same, context
from level import LEVEL
from proctor import ScoreContext, Scorer
from proctor.contracts.columns import takes_columns
from proctor.origins.arthur.scorers import ArthurExactMatch
from proctor.origins.infibench.scorers import InfiBenchBlanks
from proctor.scorers.text.blanks import Alternative, Blanks, Target
from proctor.scorers.text.comparisons import Contains, ExactMatch, Matches, Number, TokenF1

FLAG = st.booleans()
NEEDLES = st.lists(st.one_of(TEXTS, st.sampled_from(WORDS)), max_size=3).map(tuple)
SCORERS: dict[str, st.SearchStrategy[Scorer]] = {
    "number": st.builds(
        Number,
        st.one_of(st.floats(), st.sampled_from([42.0, 1000.0, 0.5])),
        st.sampled_from([1e-9, 0.5]),
    ),
    "exact_match": st.one_of(
        st.builds(ExactMatch, FLAG, FLAG, FLAG), st.builds(ArthurExactMatch, FLAG, FLAG, FLAG)
    ),
    "contains": st.one_of(
        st.builds(Contains, NEEDLES, all=FLAG, ignore_case=FLAG),
        st.sampled_from([Contains(any="references"), Contains(all="references")]),
    ),
    "token_f1": st.just(TokenF1()),
}


@pytest.mark.scaled
@pytest.mark.parametrize("name", SCORERS)
@settings(max_examples=LEVEL.of(quick=10, ci=80, full=4000), deadline=None)
@given(st.data(), COLUMNS)
def test_comparisons(name: str, data: st.DataObject, contexts: list[ScoreContext]) -> None:
    assert_same([data.draw(SCORERS[name]) for _ in contexts], contexts)


TEMPLATES = st.sampled_from(
    [
        "a [blank] cat",
        "[blank]",
        "x = [blank](y)[blank]",
        "[blank] 今天 [blank]",
        "[blank][blank]b",
        "",
    ]
)
OPTIONS = st.builds(
    Alternative, text=st.sampled_from(WORDS), ignore_case=st.sampled_from([None, True, False])
)
TARGETS = st.one_of(
    st.sampled_from(WORDS),
    st.builds(
        Target,
        any=st.lists(OPTIONS, max_size=3).map(tuple),
        weight=st.sampled_from([1.0, 0.3, float("nan")]),
        ignore_case=FLAG,
        substring=FLAG,
    ),
)
FILLINGS = st.one_of(
    TEXTS,
    st.builds("a {} cat".format, st.sampled_from(WORDS)),
    st.builds("x = {}(y){}".format, st.sampled_from(WORDS), st.sampled_from(WORDS)),
)


@pytest.mark.scaled
@settings(max_examples=LEVEL.of(quick=15, ci=80, full=4000), deadline=None)
@given(
    st.data(),
    st.lists(FILLINGS, min_size=1, max_size=5),
    st.sampled_from([Blanks, InfiBenchBlanks]),
)
def test_blanks(data: st.DataObject, texts: list[str], cls: type[Blanks]) -> None:
    scorers = st.builds(
        cls,
        TEMPLATES,
        st.lists(TARGETS, max_size=2).map(tuple),
        prefix=st.sampled_from(["", "a "]),
        min_match=st.sampled_from([0.8, 0.0]),
    )
    assert_same([data.draw(scorers) for _ in texts], [context(text) for text in texts])


@pytest.mark.parametrize(
    ("option", "template", "columns"),
    [
        ({"text": "a"}, "x [blank]", True),
        ({"text": "a", "regex": True}, "x [blank]", False),
        ({"text": "a", "cond": "True"}, "x [blank]", False),
        ({"text": "a"}, "[blank][blank]", True),
    ],
)
def test_blanks_that_run_code_take_no_columns(
    option: dict[str, Any], template: str, columns: bool
) -> None:
    targets = (Target(any=(Alternative(**option),)),) * template.count("[blank]")
    assert takes_columns(Blanks(template, targets)) is columns
    many = (Target(any=(Alternative(text="b"),) * 9),) * template.count("[blank]")
    assert takes_columns(Blanks(template, many)) is ("][" not in template)


def test_patterns_take_no_columns() -> None:
    assert not takes_columns(Matches("a"))
