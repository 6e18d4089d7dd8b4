"""Calls of tools against what is wanted: a table of what was called, how it is compared, points."""

from typing import Any

import pytest

from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Message, Spec, Tool, ToolCall
from proctor.errors import PluginError
from proctor.testing import try_scorer

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (Tool(name="weather", parameters=CITY), Tool(name="time"))


def paris(**more: Any) -> dict[str, Any]:
    return {"name": "weather", "arguments": {"city": "Paris"}, **more}


def oslo() -> dict[str, Any]:
    return {"name": "weather", "arguments": {"city": "Oslo"}}


W = ("weather", {"city": "Paris"})
O = ("weather", {"city": "Oslo"})  # noqa: E741 - a city
T = ("time", {})
N = ("add", {"n": 10.0})
ROWS: list[tuple[Any, dict[str, Any], list[tuple[str, Any]], float]] = [
    # Names.
    ("weather", {}, [W], 1),
    ("weather", {}, [], 0),
    ("weather", {}, [T], 0),
    ("weather", {}, [W, W], 0),
    (["weather"], {}, [W], 1),
    (["weather"], {}, [("Weather", {})], 0),
    (["weather", "time"], {}, [W, T], 1),
    (["weather", "time"], {}, [T, W], 1),
    (["weather", "time"], {}, [W], 0),
    (["weather", "weather"], {}, [W], 0),
    (["weather", "weather"], {}, [W, O], 1),
    # No call is wanted.
    ([], {}, [], 1),
    ([], {}, [W], 0),
    ([], {"extra_calls": True}, [W], 1),
    ([], {"partial": True}, [], 1),
    ([], {"partial": True}, [W], 0),
    # Order.
    (["weather", "time"], {"in_order": True}, [W, T], 1),
    (["weather", "time"], {"in_order": True}, [T, W], 0),
    (["weather", "time"], {"in_order": True, "extra_calls": True}, [T, W, T], 1),
    (["weather", "time"], {"in_order": False, "extra_calls": True}, [T, W], 1),
    ([paris(), oslo()], {"in_order": True}, [O, W], 0),
    ([paris(), oslo()], {"in_order": False}, [O, W], 1),
    # Extra calls.
    (["weather"], {"extra_calls": True}, [W, T], 1),
    (["weather"], {"extra_calls": False}, [W, T], 0),
    (["weather"], {"extra_calls": True}, [T], 0),
    # A part of the wanted calls.
    (["weather", "time"], {"at_least": 1}, [T], 1),
    (["weather", "time"], {"at_least": 1}, [], 0),
    (["weather", "time"], {"at_least": 0}, [], 1),
    (["weather", "time"], {"at_least": 0}, [W], 1),
    (["weather", "time"], {"at_least": 0}, [("add", {})], 0),
    (["weather", "time"], {"at_least": 1}, [T, ("add", {})], 0),
    (["weather", "time"], {"at_least": 1, "extra_calls": True}, [T, ("add", {})], 1),
    (["weather", "time"], {"at_least": 2}, [T, W], 1),
    # Arguments by value.
    ([paris()], {}, [W], 1),
    ([paris()], {}, [O], 0),
    ([paris()], {}, [("weather", {})], 0),
    ([paris()], {}, [("weather", {"city": "paris"})], 0),
    ([paris()], {"ignore_case": True}, [("weather", {"city": "paris"})], 1),
    ([paris()], {}, [("weather", {"city": "Paris", "unit": "C"})], 0),
    ([paris()], {"extra_arguments": True}, [("weather", {"city": "Paris", "unit": "C"})], 1),
    ([paris()], {"extra_arguments": True}, [("weather", {"unit": "C"})], 0),
    ([{"name": "time", "arguments": {}}], {}, [T], 1),
    ([{"name": "time", "arguments": {}}], {}, [("time", {"zone": "UTC"})], 0),
    ([{"name": "time"}], {}, [("time", {"zone": "UTC"})], 1),
    ([paris()], {}, [("weather", '{"city"')], 0),
    ([paris()], {}, [("weather", ["Paris"])], 0),
    (["weather"], {}, [("weather", '{"city"')], 1),
    ([{"name": "f", "arguments": {"a": [1, {"b": None}]}}], {}, [("f", {"a": [1.0, {"b": None}]})],
     1),
    ([{"name": "f", "arguments": {"a": [1, 2]}}], {}, [("f", {"a": [2, 1]})], 0),
    ([{"name": "f", "arguments": {"a": 1}}], {}, [("f", {"a": True})], 0),
    ([{"name": "f", "arguments": {"a": 1}}], {}, [("f", {"a": "1"})], 0),
    ([{"name": "f", "arguments": {"a": None}}], {}, [("f", {})], 0),
    # Numbers.
    ([{"name": "add", "arguments": {"n": 10}}], {}, [N], 1),
    ([{"name": "add", "arguments": {"n": 10.5}}], {}, [N], 0),
    ([{"name": "add", "arguments": {"n": 10.5}}], {"tolerance": 0.1}, [N], 1),
    ([{"name": "add", "arguments": {"n": 12}}], {"tolerance": 0.1}, [N], 0),
    ([{"name": "add", "arguments": {"n": 10.5}, "tolerance": 0.1}], {}, [N], 1),
    ([{"name": "add", "arguments": {"n": 10.5}, "tolerance": 0}], {"tolerance": 0.1}, [N], 0),
    ([{"name": "add", "arguments": {"n": [10.5]}, "tolerance": 1}], {}, [("add", {"n": [10]})], 1),
    # Patterns.
    ([{"name": "weather", "patterns": {"city": "^Par"}}], {}, [W], 1),
    ([{"name": "weather", "patterns": {"city": "^par"}}], {}, [W], 0),
    ([{"name": "weather", "patterns": {"city": "^par"}}], {"ignore_case": True}, [W], 1),
    ([{"name": "weather", "patterns": {"city": "x"}}], {}, [("weather", {})], 0),
    ([{"name": "add", "patterns": {"n": r"^\d+$"}}], {}, [("add", {"n": 7})], 1),
    ([{"name": "weather", "arguments": {}, "patterns": {"city": "P"}}], {}, [W], 1),
    ([{"name": "weather", "arguments": {}, "patterns": {"city": "P"}}], {},
     [("weather", {"city": "P", "unit": 1})], 0),
    # Schemas.
    ([{"name": "weather", "schema": CITY}], {}, [W], 1),
    ([{"name": "weather", "schema": CITY}], {}, [("weather", {})], 0),
    ([{"name": "weather", "schema": CITY}], {}, [("weather", {"city": 3})], 0),
    ([{"name": "weather", "schema": CITY}], {}, [("weather", {"city": "X", "unit": 1})], 1),
    ([{"name": "weather", "schema": {"properties": {"city": {"enum": ["Paris", "Oslo"]}}}}], {},
     [O], 1),
    ([{"name": "weather", "arguments": {"city": "Paris"},
       "schema": {"properties": {"unit": {"enum": ["C"]}}}}], {},
     [("weather", {"city": "Paris", "unit": "C"})], 1),
    ([{"name": "weather", "arguments": {"city": "Paris"},
       "schema": {"properties": {"unit": {"enum": ["C"]}}}}], {},
     [("weather", {"city": "Paris", "unit": "F"})], 0),
    # What the case's own tools take.
    (["weather"], {"valid": True}, [W], 1),
    (["weather"], {"valid": True}, [("weather", {"city": 3})], 0),
    (["weather"], {"valid": False}, [("weather", {"city": 3})], 1),
    (["weather"], {"valid": True, "extra_calls": True}, [W, ("none", {})], 0),
    (["weather"], {"valid": False, "extra_calls": True}, [W, ("none", {})], 1),
    (["time"], {"valid": True}, [T], 1),
    (["time"], {"valid": True}, [("time", "{")], 0),
    # Calls that could each stand for several: the best way to pair them counts.
    (["weather", paris()], {}, [W, O], 1),
    (["weather", paris()], {}, [O, W], 1),
    ([paris(), "weather"], {"in_order": True}, [O, W], 0),
    ([{"name": "weather", "patterns": {"city": "."}}, paris()], {}, [W, O], 1),
    # Partial credit: name and arguments count one each, extra calls as wanted ones.
    (["weather", "time"], {"partial": True}, [W], 0.5),
    (["weather", "time"], {"partial": True}, [W, T], 1),
    (["weather"], {"partial": True}, [W, T], 0.5),
    (["weather"], {"partial": True, "extra_calls": True}, [W, T], 1),
    ([paris()], {"partial": True}, [O], 0.5),
    ([paris()], {"partial": True}, [T], 0),
    ([paris()], {"partial": True}, [], 0),
    ([paris()], {"partial": True}, [("weather", {"city": "Paris", "unit": "C"})], 2 / 3),
    ([paris()], {"partial": True, "extra_arguments": True},
     [("weather", {"city": "Paris", "unit": "C"})], 1),
    ([paris(), oslo()], {"partial": True}, [O, W], 1),
    ([paris(), oslo()], {"partial": True, "in_order": True}, [O, W], 0.5),
    ([paris(), oslo()], {"partial": True}, [W, W], 0.75),
    ([paris()], {"partial": True}, [("weather", "{")], 0.25),
]  # fmt: skip


def context(made: list[tuple[str, Any]], tools: tuple[Tool, ...] = TOOLS) -> ScoreContext:
    calls = tuple(ToolCall(name=name, arguments=arguments) for name, arguments in made)
    case = Case(id="c", messages=(), criteria=(), tools=tools)
    # In one reply or in several: it is all the same.
    split = [calls[:1], calls[1:]] if len(calls) > 2 else [calls]
    messages = tuple(Message(role="assistant", content="", tool_calls=part) for part in split)
    return ScoreContext(case=case, attempt=Attempt(case_id="c", messages=messages))


def scorer(calls: Any, **how: Any) -> Any:
    return registry.build("scorer", Spec(name="tool_calls", params={"calls": calls, **how}))


@pytest.mark.parametrize(("wanted", "how", "made", "points"), ROWS)
def test_points(
    wanted: Any, how: dict[str, Any], made: list[tuple[str, Any]], points: float
) -> None:
    built = scorer(wanted, **how)
    assert list(built.problems()) == []
    score = try_scorer(built, context(made))
    assert score.points == pytest.approx(points)
    assert score.out_of == 1.0
    assert score.reason


def test_the_table_is_long_enough() -> None:
    assert len(ROWS) >= 80


@pytest.mark.parametrize(
    ("wanted", "how", "made", "reason"),
    [
        (["weather"], {}, [], "no tool was called; wanted: weather"),
        ([paris()], {}, [O], 'weather: city is "Oslo", not "Paris"'),
        ([paris()], {}, [("weather", {})], "weather: city is missing"),
        (["weather"], {}, [T], "weather was not called"),
        (["weather"], {}, [W, T], "not wanted: time()"),
        (["weather", "time"], {"in_order": True}, [T, W],
         "weather was not called in the wanted order"),
        (["weather"], {}, [W], "called weather, as wanted"),
        ([], {}, [], "no tool was called, as wanted"),
        (["time"], {"valid": True}, [W, ("none", {})], "none is none of the case's tools"),
        ([{"name": "weather", "schema": CITY}], {}, [("weather", {"city": 3})],
         "weather: city: 3 is not of type 'string'"),
        ([paris()], {"partial": True}, [O], 'weather: city is "Oslo", not "Paris"'),
    ],
)  # fmt: skip
def test_reasons(
    wanted: Any, how: dict[str, Any], made: list[tuple[str, Any]], reason: str
) -> None:
    assert try_scorer(scorer(wanted, **how), context(made)).reason == reason


def test_details_name_calls_and_what_was_not_wanted() -> None:
    score = try_scorer(scorer([paris(), "add"]), context([W, T]))
    assert score.detail == {
        "calls": ['weather({"city": "Paris"})', "time()"],
        "missing": ["add"],
        "extra": ["time"],
    }


@pytest.mark.parametrize(
    ("wanted", "how", "words"),
    [
        (["a"], {"at_least": 2}, "at_least is from 0 to 1, not 2"),
        (["a"], {"at_least": 1, "partial": True}, "either a share of the calls counts"),
        ([""], {}, "has no name"),
        (["a"] * 101, {}, "more than 100 calls"),
        ([{"name": "a", "patterns": {"x": "("}}], {}, "does not compile"),
        ([{"name": "a", "schema": {"type": "objct"}}], {}, "the schema is not valid"),
        ([{"name": "a", "tolerance": -1}], {}, "0 or more, not -1"),
        (["a"], {"tolerance": -1}, "0 or more, not -1"),
        ([{"name": "a", "arguments": {"x": 1}, "patterns": {"x": "1"}}], {}, "by pattern"),
    ],
)
def test_problems(wanted: Any, how: dict[str, Any], words: str) -> None:
    (problem,) = scorer(wanted, **how).problems()
    assert words in problem


@pytest.mark.parametrize(("calls", "how"), [([{"nmae": "a"}], {}), ([3], {}), (["a"], {"ordr": 1})])
def test_parameters_that_are_not_there(calls: Any, how: dict[str, Any]) -> None:
    with pytest.raises(PluginError):
        scorer(calls, **how)


@pytest.mark.parametrize(
    ("wanted", "how", "instant"),
    [
        (["a"], {}, True),
        ([paris()], {"partial": True}, True),
        ([{"name": "a", "schema": CITY}], {}, True),
        ([{"name": "a", "patterns": {"x": "(a+)+b"}}], {}, False),
        ([{"name": "a", "schema": {"properties": {"x": {"pattern": "(a+)+b"}}}}], {}, False),
        (["a"], {"valid": True}, False),
    ],
)
def test_what_may_run_away_is_scored_in_a_process(
    wanted: Any, how: dict[str, Any], instant: bool
) -> None:
    assert scorer(wanted, **how).is_instant is instant


def test_a_call_of_an_unknown_tool_is_doubted() -> None:
    case = Case(id="c", messages=(), criteria=(), tools=TOOLS)
    assert list(scorer(["weather", "tme"]).doubts(case)) == [
        "tool_calls wants a call of 'tme', which is none of the case's tools"
    ]
    assert list(scorer(["weather"]).doubts(case)) == []
    assert list(scorer(["x"]).doubts(Case(id="c", messages=(), criteria=()))) == []


def test_very_many_calls_are_extra_ones() -> None:
    score = try_scorer(scorer(["time"] * 100, extra_calls=True), context([T] * 2000))
    assert score.points == 1.0
