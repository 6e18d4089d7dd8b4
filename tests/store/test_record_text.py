"""Documents of core objects: the text that the general encoder writes, for every field."""

from dataclasses import MISSING, fields, replace
from typing import Any

import pytest

from proctor.core.score import Score
from proctor.core.suite import Case, CaseFile, Criterion, Message, Spec, Tool, ToolCall
from proctor.store.record_text import encode_record
from proctor.store.rows import encode

CALL = ToolCall(name="f", arguments={"x": [1.5, None, True]}, id="1")
MESSAGE = Message(role="user", content="What?")
CASE = Case(
    id="a",
    messages=(MESSAGE,),
    criteria=(Criterion(id="c", scorer=Spec(name="contains", params={"texts": ["x"]})),),
    source="suite.jsonl:1",
)
OTHER: dict[str, Any] = {
    "id": '"\\\x00\x07\x1f\x7f\u2028é',
    "messages": (replace(MESSAGE, images=("data:",), tool_calls=(CALL,), carried={"p": {"q": 1}}),),
    "criteria": (Criterion(id="c", scorer=Spec(name="n"), weight=-2, metric="m", turn=0),),
    "references": ("one", "two"),
    "context": ("",),
    "hidden": {"spec": Spec(name="inner"), "n": 1e300},
    "dialogue": Spec(name="clarify", params={"turns": 3}),
    "tags": {"lang": ("a", "b"), "": ()},
    "weight": 1,
    "full_score": 2.5e-7,
    "null_score": -0.0,
    "min_points": 0.0,
    "max_points": 3,
    "out_of": 1e22,
    "files": (CaseFile(name="f", digest="d", path="p"),),
    "setup": {"commands": ["ls"]},
    "tools": (Tool(name="t", parameters={"type": "object"}),),
    "tool_choice": "auto",
    "response_format": {"type": "object"},
    "vars": {"a": {"b": [{}]}},
    "cluster": "k",
    "source": "elsewhere",
}


def as_before(case: Case) -> str:
    values = {one.name: getattr(case, one.name) for one in fields(case)}
    return encode({**values, "source": ""})


@pytest.mark.parametrize("name", [one.name for one in fields(Case)])
def test_each_field_of_a_case_is_written(name: str) -> None:
    case = replace(CASE, **{name: OTHER[name]})
    assert encode_record(case, without="source") == as_before(case)
    assert encode_record(case) == encode(case)


@pytest.mark.parametrize(
    "thing",
    [
        CASE,
        Case(id="all", messages=(), criteria=()),
        replace(CASE, **{name: value for name, value in OTHER.items() if name != "id"}),
        replace(CASE, id="half a pair \ud800"),
        replace(CASE, hidden={"big": 1 << 70}),
        Score(points=0.5, out_of=1.0, reason="\n", detail={"a": [1, {"b": ()}]}),
        MESSAGE,
    ],
)
def test_the_text_is_that_of_the_general_encoder(thing: Any) -> None:
    assert encode_record(thing) == encode(thing)


def test_no_default_is_forgotten() -> None:
    defaults = {one.name for one in fields(Case) if one.default is not MISSING}
    assert defaults <= OTHER.keys()
    assert encode_record(Case(id="", messages=(), criteria=())).startswith('{"id":"","messages":[]')
