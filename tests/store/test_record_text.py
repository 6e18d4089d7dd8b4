"""Documents of core objects: the text that the general encoder writes, for every field."""

from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any

import pytest

from proctor.core import late_code
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.score import Score
from proctor.core.suite import Case, CaseFile, Criterion, Message, Spec, Tool, ToolCall
from proctor.store import record_text
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


@pytest.fixture
def code_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile code for the first object of a class, and for the first one that is otherwise."""
    monkeypatch.setattr(late_code, "WORTH_CODE", 1)
    tables: list[dict[Any, Any]] = [record_text._WRITERS, record_text._RECORDS]
    before = [dict(table) for table in tables]
    record_text._RECORDS.clear()
    for kind in [kind for kind in record_text._WRITERS if is_dataclass(kind)]:
        del record_text._WRITERS[kind]
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)


@pytest.mark.parametrize("name", ["", *(one.name for one in fields(Case))])
@pytest.mark.usefixtures("code_at_once")
def test_code_for_one_case_writes_others_as_they_are(name: str) -> None:
    first = replace(CASE, **({name: OTHER[name]} if name else {}))
    others = [replace(CASE, **{other: value}) for other, value in OTHER.items()]
    # The second time all of them find the code that is there for any case.
    for case in (first, first, CASE, *others, CASE, *others):
        assert encode_record(case, without="source") == as_before(case)
        assert encode_record(case) == encode(case)


@pytest.mark.parametrize(
    "attempt",
    [
        Attempt.of("a", "yes"),
        Attempt.of("a", None, index=3),
        Attempt(case_id="a", status=AttemptStatus.ERROR, error="no", seconds=1e-7),
        Attempt(case_id="\ud800", usage={"candidate": {"cost": 0.1}}, notes={"n": [{}, None]}),
        Attempt(case_id="a", meta={"big": 1 << 70, "one": "text"}),
    ],
)
@pytest.mark.usefixtures("code_at_once")
def test_attempts_are_written_as_before(attempt: Attempt) -> None:
    for one in (Attempt.of("b", "first"), attempt, attempt):
        assert encode_record(one) == encode(one)


def test_no_default_is_forgotten() -> None:
    defaults = {one.name for one in fields(Case) if one.default is not MISSING}
    assert defaults <= OTHER.keys()
    assert encode_record(Case(id="", messages=(), criteria=())).startswith('{"id":"","messages":[]')
