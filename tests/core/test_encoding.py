"""Core objects survive the way to JSON and back."""

from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.encoding import attempt_from, case_from, score_from, spec_from, suite_from
from proctor.core.fingerprint import case_key, plain
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Message, Spec, Suite, Tool, ToolCall
from proctor.io import json_bytes

FEW = settings(max_examples=20, deadline=None)
TEXT = st.text(max_size=12)
NAME = st.text(min_size=1, max_size=8)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
PARAMS = st.dictionaries(NAME, JSON, max_size=3)
SPECS = st.builds(Spec, name=NAME, params=PARAMS)
CALLS = st.lists(
    st.builds(ToolCall, name=NAME, arguments=PARAMS | TEXT.filter(bool), id=TEXT), max_size=2
).map(tuple)
TOOLS = st.lists(st.builds(Tool, name=NAME, description=TEXT, parameters=PARAMS), max_size=2).map(
    tuple
)
MESSAGES = st.lists(
    st.builds(Message, role=NAME, content=TEXT)
    | st.builds(
        Message, role=NAME, content=TEXT, tool_calls=CALLS, tool_call_id=TEXT, carried=PARAMS
    ),
    max_size=3,
).map(tuple)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
MAYBE = st.none() | NUMBER
CRITERIA = st.lists(
    st.builds(Criterion, id=NAME, scorer=SPECS, weight=NUMBER, metric=TEXT), max_size=3
).map(tuple)
CASES = st.builds(
    Case,
    id=NAME,
    messages=MESSAGES,
    criteria=CRITERIA,
    references=TEXTS,
    context=TEXTS,
    hidden=PARAMS,
    dialogue=SPECS,
    tags=st.dictionaries(NAME, st.lists(NAME, min_size=1, max_size=2).map(tuple), max_size=2),
    weight=NUMBER,
    full_score=NUMBER,
    null_score=NUMBER,
    min_points=MAYBE,
    max_points=MAYBE,
    out_of=MAYBE,
    source=TEXT,
    tools=TOOLS,
    tool_choice=TEXT,
    response_format=PARAMS,
)


@FEW
@given(CASES)
def test_cases(case: Case) -> None:
    back = case_from(json_bytes.loads(json_bytes.dumps(plain(case))))
    assert back == case
    assert case_key(back) == case_key(case)


@FEW
@given(
    st.builds(
        Attempt,
        case_id=NAME,
        index=st.integers(0, 99),
        messages=MESSAGES,
        status=st.sampled_from(AttemptStatus),
        error=TEXT,
        seconds=MAYBE,
        usage=PARAMS,
        meta=PARAMS,
    )
)
def test_attempts(attempt: Attempt) -> None:
    assert attempt_from(json_bytes.loads(json_bytes.dumps(plain(attempt)))) == attempt


@FEW
@given(
    st.builds(
        Score,
        status=st.sampled_from(ScoreStatus),
        points=MAYBE,
        out_of=MAYBE,
        reason=TEXT,
        detail=st.dictionaries(NAME, JSON, min_size=1, max_size=3) | st.none(),
    )
)
def test_scores(score: Score) -> None:
    assert score_from(json_bytes.loads(json_bytes.dumps(plain(score)))) == score


@FEW
@given(
    st.builds(
        Suite,
        name=NAME,
        cases=st.just(()),
        version=TEXT,
        description=TEXT,
        language=NAME,
        reduce=NAME,
        measures=st.lists(SPECS, max_size=2).map(tuple),
        dialect=NAME,
        compat=TEXT,
    )
)
def test_suites(suite: Suite) -> None:
    data = json_bytes.loads(json_bytes.dumps(plain(suite)))
    data.pop("cases", None)
    assert suite_from(data, ()) == suite


def test_lone_surrogates_survive() -> None:
    attempt = Attempt.of("c", "half \ud83d of a pair")
    assert attempt_from(json_bytes.loads(json_bytes.dumps(plain(attempt)))) == attempt


def test_a_spec_without_parameters() -> None:
    assert spec_from({"name": "x"}) == Spec(name="x")
