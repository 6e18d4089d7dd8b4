"""Tools, their results and the shape of a reply in native suites: every way to write them."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.core.fingerprint import case_key
from proctor.core.suite import Case, Message, Spec, Suite, Tool, ToolCall
from proctor.errors import SuiteError
from proctor.formats.native.dialect import Native
from proctor.formats.native.writer import write_native
from proctor.io.yaml_files import yaml_text

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = Tool(name="get_weather", parameters=SCHEMA)
DESCRIBED = Tool(name="get_weather", description="The weather.", parameters=SCHEMA)
ALL = {"name": "get_weather", "description": "The weather."}


def read(folder: Path, case: dict[str, Any], **suite: Any) -> Case:
    path = folder / "s.yaml"
    whole = {"name": "s", **suite, "cases": [{"id": "a", "ask": "Well?", "criteria": "x", **case}]}
    path.write_text(yaml_text(whole), encoding="utf-8")
    (read_case,) = Native().read(path).suite.cases
    return read_case


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ([{"name": "get_weather", "parameters": SCHEMA}], (WEATHER,)),
        ({"name": "get_weather", "parameters": SCHEMA}, (WEATHER,)),
        ("ping", (Tool(name="ping"),)),
        (["ping", {"name": "get_weather", "parameters": SCHEMA}], (Tool(name="ping"), WEATHER)),
        ([{"type": "function", "function": {**ALL, "parameters": SCHEMA}}], (DESCRIBED,)),
        ([{"type": "function", **ALL, "parameters": SCHEMA, "strict": True}], (DESCRIBED,)),
        ([{**ALL, "input_schema": SCHEMA}], (DESCRIBED,)),
        ([{**ALL, "inputSchema": SCHEMA}], (DESCRIBED,)),
        ([{"functionDeclarations": [{**ALL, "parameters": SCHEMA}, "ping"]}],
         (DESCRIBED, Tool(name="ping"))),
        ([], ()),
    ],
)  # fmt: skip
def test_tools_are_read_short_and_as_providers_write_them(
    tmp_path: Path, written: Any, tools: tuple[Tool, ...]
) -> None:
    assert read(tmp_path, {"tools": written}).tools == tools


@pytest.mark.parametrize(
    ("written", "choice"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("any", "required"),
        ("get_weather", "get_weather"),
        ({"type": "function", "function": {"name": "get_weather"}}, "get_weather"),
        ({"type": "function", "name": "get_weather"}, "get_weather"),
        ({"type": "tool", "name": "get_weather"}, "get_weather"),
        ({"type": "any"}, "required"),
        ({"type": "auto"}, "auto"),
    ],
)
def test_the_choice_of_a_tool(tmp_path: Path, written: Any, choice: str) -> None:
    case = {"tools": [{"name": "get_weather"}], "tool_choice": written}
    assert read(tmp_path, case).tool_choice == choice


@pytest.mark.parametrize(
    ("written", "schema"),
    [
        (SCHEMA, SCHEMA),
        ({"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}, SCHEMA),
        ({"type": "json_schema", "name": "x", "schema": SCHEMA, "strict": True}, SCHEMA),
        ({"type": "json_object"}, {"type": "object"}),
        ("json_object", {"type": "object"}),
        ({"type": "text"}, {}),
        ("text", {}),
        ({"file": "schema.json"}, SCHEMA),
    ],
)
def test_the_shape_of_a_reply(tmp_path: Path, written: Any, schema: Any) -> None:
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    assert read(tmp_path, {"response_format": written}).response_format == schema


def test_a_suite_says_it_once_and_a_case_says_otherwise(tmp_path: Path) -> None:
    suite = {"tools": ["ping"], "tool_choice": "required", "response_format": SCHEMA}
    case = read(tmp_path, {}, **suite)
    assert (case.tools, case.tool_choice) == ((Tool(name="ping"),), "required")
    assert case.response_format == SCHEMA
    other = read(tmp_path, {"tools": ["pong"], "tool_choice": "pong"}, **suite)
    assert (other.tools, other.tool_choice) == ((Tool(name="pong"),), "pong")


@pytest.mark.parametrize(
    ("case", "params"),
    [
        ({"tool_results": {"ping": "pong"}}, {"results": [{"name": "ping", "result": "pong"}]}),
        ({"tool_results": {"ping": {"t": 3}}}, {"results": [{"name": "ping", "result": {"t": 3}}]}),
        (
            {"tool_results": [{"name": "ping", "arguments": {"n": 1}, "error": "down"}]},
            {"results": [{"name": "ping", "arguments": {"n": 1}, "error": "down"}]},
        ),
        (
            {"tool_results": {"ping": "x"}, "dialogue": {"tool_loop": {"max_turns": 3}}},
            {"max_turns": 3, "results": [{"name": "ping", "result": "x"}]},
        ),
        ({"mcp": "python3 -m s"}, {"mcp": {"command": "python3 -m s"}}),
        ({"mcp": ["python3", 1]}, {"mcp": {"command": ["python3", "1"]}}),
        (
            {"mcp": {"command": "python3 srv.py", "files": "sub/srv.py", "timeout": 5}},
            {"mcp": {"command": "python3 srv.py", "files": {"srv.py": "x = 1\n"}, "timeout": 5}},
        ),
        (
            {"mcp": {"command": "python3 srv.py", "files": {"srv.py": "y"}}},
            {"mcp": {"command": "python3 srv.py", "files": {"srv.py": "y"}}},
        ),
    ],
)
def test_results_and_servers_make_the_dialogue(
    tmp_path: Path, case: dict[str, Any], params: dict[str, Any]
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "srv.py").write_text("x = 1\n", encoding="utf-8")
    read_case = read(tmp_path, {"tools": ["ping"], **case})
    assert read_case.dialogue == Spec(name="tool_loop", params=params)


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"tools": [{"nmae": "x"}]}, "the tool has no 'name'", "name"),
    ({"tools": [3]}, "a tool is a name, or a mapping", ""),
    ({"tools": [{"type": "web_search_20250305"}]}, "a tool of one provider", ""),
    ({"tools": [{"name": "x", "paramters": {}}]}, "unknown key 'paramters'", "parameters"),
    ({"tools": [{"name": "x", "parameters": 3}]}, "a JSON Schema is a mapping", ""),
    ({"tools": [{"name": "x", "parameters": {}, "input_schema": {}}]}, "the same thing", ""),
    ({"tools": [{"name": "x", "description": [1]}]}, "expected a text", ""),
    ({"tools": ["x", "x"]}, "two tools have the name 'x'", ""),
    ({"tools": ["get"], "tool_choice": "gte"}, "no tool 'gte' to choose", "did you mean 'get'"),
    ({"tool_choice": 3}, "which tool is to be called", "auto"),
    ({"response_format": 3}, "expected a JSON Schema", ""),
    ({"response_format": {"type": "json_schema"}}, "json_schema has no 'schema'", ""),
    ({"response_format": {"file": "none.json"}}, "there is no file", ""),
    ({"response_format": {"file": "../x.json"}}, "leads out of the suite's folder", ""),
    ({"response_format": {"file": "broken.json"}}, "is not valid JSON", ""),
    ({"tool_results": 3}, "the names of tools with their results", ""),
    ({"tool_results": [3]}, "a result is a mapping", ""),
    ({"tool_results": [{"result": 3}]}, "of which tool", ""),
    ({"tool_results": [{"name": "x"}]}, "either a 'result' or an 'error'", ""),
    ({"tool_results": [{"name": "x", "result": 1, "error": "y"}]}, "either a 'result'", ""),
    ({"tool_results": [{"name": "x", "reslt": 1}]}, "unknown key 'reslt'", "result"),
    ({"tool_results": [{"name": "x", "arguments": 1, "result": 1}]}, "are a mapping", ""),
    ({"tool_results": {"x": 1}, "dialogue": "clarify"}, "given in the dialogue 'tool_loop'", ""),
    ({"mcp": 3}, "an MCP server is a command", ""),
    ({"mcp": {"files": []}}, "no 'command'", ""),
    ({"mcp": {"command": "x", "file": "y"}}, "unknown key 'file'", "files"),
    ({"mcp": {"command": ""}}, "expected a command", ""),
    ({"mcp": {"command": "x", "files": "../x"}}, "leads out of the suite's folder", ""),
    ({"ask": None, "messages": [{"role": "user"}]}, "has no 'content'", ""),
    (
        {"ask": None, "messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]}]},
        "a tool call has no 'name'",
        "",
    ),
]


@pytest.mark.parametrize(("case", "words", "hint"), WRONG)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, case: dict[str, Any], words: str, hint: str
) -> None:
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        read(tmp_path, case)
    (problem,) = [one for one in caught.value.problems if words in one.message]
    assert problem.line
    assert hint in problem.hint


CALLED = (
    Message(role="user", content="Weather?"),
    Message(
        role="assistant",
        content="",
        tool_calls=(ToolCall(name="get_weather", arguments={"city": "Paris"}, id="1"),),
    ),
    Message(role="tool", content="21 °C", tool_call_id="1"),
)


def test_a_conversation_may_have_calls_already(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "1", "type": "function",
                 "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "21 °C"},
    ]  # fmt: skip
    assert read(tmp_path, {"ask": None, "messages": messages}).messages == CALLED


@pytest.mark.parametrize(
    "schema", [SCHEMA, {"type": "object"}, {"type": "json_object"}, {"file": "x"}, {"type": "text"}]
)
def test_what_is_written_is_read_again(tmp_path: Path, schema: dict[str, Any]) -> None:
    case = Case(
        id="a",
        messages=CALLED,
        criteria=read(tmp_path, {}).criteria,
        tools=(DESCRIBED, Tool(name="ping")),
        tool_choice="required",
        response_format=schema,
        dialogue=Spec(
            name="tool_loop",
            params={
                "results": [{"name": "ping", "result": None}],
                "mcp": {"command": "x", "files": {"a.py": "print()\n"}},
            },
        ),
    )
    path = write_native(Suite(name="s", cases=(case,)), tmp_path / "out")
    (again,) = Native().read(path).suite.cases
    assert case_key(again) == case_key(case)


def test_rows_of_a_table_have_tools_as_json(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    row = {"id": "a", "ask": "q", "criteria": "x", "tools": ["ping"], "tool_choice": "ping"}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (case,) = Native().read(path).suite.cases
    assert (case.tools, case.tool_choice) == ((Tool(name="ping"),), "ping")
