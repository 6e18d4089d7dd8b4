"""Tools of a case, results that are written down for them, and the wanted shape of the reply."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import WithJsonSchema

from proctor.core.suite import Json, Spec, Tool
from proctor.formats.native.criteria import SCALAR
from proctor.formats.native.spot import Spot
from proctor.io.described import describe
from proctor.io.text_files import parse_json
from proctor.suggestions import suggest

TOOL_LOOP = "tool_loop"
"""The dialogue that answers the candidate's calls."""
STATEFUL_TOOLS, STATEFUL_USER = "stateful_tools", "stateful_user"
"""The dialogues in which the tools of a module are called, without a user and with one."""
MODULE = "module"
CHOICES = ("auto", "none", "required")
PROVIDER_TYPES = ("json_object", "json_schema", "text")
"""What providers write as the type of a reply's format; none of them is a type of JSON Schema."""

_TOOL_SCHEMA: Json = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "What the model calls it by."},
                "description": {"type": "string", "description": "What it is for."},
                "parameters": {"type": "object", "description": "JSON Schema of its arguments."},
            },
        },
    ]
}
_RESULT_SCHEMA: Json = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "description": "The tool that is called."},
        "arguments": {"type": "object", "description": "Which calls; any where left out."},
        "result": {"description": "What the tool gives: a text, or any JSON value."},
        "error": {"type": "string", "description": "What the tool says instead, failing."},
    },
    "additionalProperties": False,
}
_SERVER_SCHEMA: Json = {
    "type": "object",
    "required": ["command"],
    "properties": {
        "command": {"type": ["string", "array"], "description": "Starts the server."},
        "files": {"description": "Files of the suite that it finds in its working folder."},
        "timeout": {"type": "number", "description": "Seconds for starting it and all calls."},
    },
    "additionalProperties": False,
}
_MODULE_SCHEMA: Json = {
    "type": "object",
    "required": [MODULE],
    "properties": {
        MODULE: {"type": "string", "description": "A Python file whose functions are the tools."},
        "only": {"description": "The tools that the candidate may call; all where left out."},
        "user": {"description": "Tools that the simulated user may call, and nobody else."},
        "timeout": {"type": "number", "description": "Seconds for the calls of one reply."},
    },
    "additionalProperties": False,
}
State = Annotated[
    Any,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "description": "A JSON file."},
                {"type": "object", "description": "The state itself, or a file and actions."},
            ]
        }
    ),
]
Tools = Annotated[
    Any,
    WithJsonSchema(
        {"anyOf": [_TOOL_SCHEMA, {"type": "array", "items": _TOOL_SCHEMA}, _MODULE_SCHEMA]}
    ),
]
ToolChoice = Annotated[Any, WithJsonSchema({"type": ["string", "object"]})]
ResponseFormat = Annotated[Any, WithJsonSchema({"type": ["string", "object"]})]
ToolResults = Annotated[
    Any,
    WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "array", "items": _RESULT_SCHEMA}]}),
]
McpServer = Annotated[Any, WithJsonSchema({"anyOf": [{"type": SCALAR[0]}, _SERVER_SCHEMA]})]


def read_tools(spot: Spot) -> tuple[Tool, ...]:
    """Read one tool or a list of them, as we or providers write them, noting every problem."""
    tools: dict[str, Tool] = {}
    for entry in spot.items():
        for at in _declared(entry):
            tool = _tool(at)
            if tool is None:
                continue
            if tool.name in tools:
                at.error(f"two tools have the name {tool.name!r}")
            tools[tool.name] = tool
    return tuple(tools.values())


def _declared(spot: Spot) -> Iterator[Spot]:
    """Point at the tools of an entry: Gemini puts several into one."""
    value = spot.value
    if isinstance(value, dict):
        for key in ("functionDeclarations", "function_declarations"):
            if isinstance(value.get(key), list):
                yield from spot.at(key).items()
                return
        if isinstance(value.get("function"), dict):
            spot = spot.at("function")
    yield spot


_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
_OTHER_KEYS = ("name", "description", "type", "strict", "cache_control", "response")


def _tool(spot: Spot) -> Tool | None:
    value = spot.value
    if isinstance(value, str) and value:
        return Tool(name=value)
    if not isinstance(value, dict):
        spot.error(f"a tool is a name, or a mapping with a 'name', not {describe(value)}")
        return None
    name = value.get("name")
    if not isinstance(name, str) or not name:
        if isinstance(value.get("type"), str) and value["type"] != "function":
            spot.error(
                f"{value['type']!r} is a tool of one provider; only functions can be declared here",
                key="type",
            )
        else:
            spot.error("the tool has no 'name'", hint="write its 'name'")
        return None
    spot.unknown_keys((*_SCHEMA_KEYS, *_OTHER_KEYS))
    written = [key for key in _SCHEMA_KEYS if value.get(key) is not None]
    if len(written) > 1:
        spot.error(f"{' and '.join(written)} say the same thing; write one of them")
    parameters = _schema_at(spot.at(written[0])) if written else {}
    description = value.get("description") or ""
    if not isinstance(description, str):
        spot.error(f"expected a text, not {describe(description)}", key="description")
        description = ""
    return Tool(name=name, description=description, parameters=parameters)


def _schema_at(spot: Spot) -> dict[str, Json]:
    if not isinstance(spot.value, dict):
        spot.error(f"a JSON Schema is a mapping, not {describe(spot.value)}")
        return {}
    return dict(spot.value) if _is_json(spot) else {}


def _is_json(spot: Spot) -> bool:
    """Tell whether a value can be written as JSON, or note that it cannot."""
    try:
        json.dumps(spot.value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        spot.error("expected texts, finite numbers, lists and mappings")
        return False
    return True


def read_tool_choice(spot: Spot) -> str:
    """Read which tool is to be called, as we or providers write it."""
    value = spot.value
    if isinstance(value, str) and value:
        return "required" if value == "any" else value
    if isinstance(value, dict):
        kind = value.get("type")
        named = value.get("function")
        inner: Mapping[str, Json] = named if isinstance(named, dict) else value
        if isinstance(inner.get("name"), str) and inner["name"]:
            return str(inner["name"])
        if kind in ("any", *CHOICES):
            return "required" if kind == "any" else str(kind)
    hint = f"write {', '.join(CHOICES)} or the name of a tool"
    spot.error("this says not which tool is to be called", hint=hint)
    return ""


def check_tool_choice(spot: Spot, choice: str, tools: tuple[Tool, ...], served: bool) -> None:
    """Note a choice of a tool that there is not; those of a server are not known yet."""
    names = [tool.name for tool in tools]
    if choice and choice not in (*CHOICES, *names) and not served:
        where = "tool_choice" if spot.value.get("tool_choice") is not None else ""
        spot.error(
            f"there is no tool {choice!r} to choose",
            hint=suggest(choice, (*CHOICES, *names)),
            key=where,
        )


def read_response_format(spot: Spot) -> dict[str, Json]:
    """Read the shape of the reply: a JSON Schema, its file, or what providers write around it."""
    value = spot.value
    if value in ("json", "json_object"):
        return {"type": "object"}
    if value == "text":
        return {}
    if not isinstance(value, dict):
        spot.error(f"expected a JSON Schema, or json_object, not {describe(value)}")
        return {}
    if set(value) == {"file"}:
        return _schema_file(spot.at("file"))
    kind = value.get("type")
    if kind == "json_object":
        return {"type": "object"}
    if kind == "text":
        return {}
    if kind == "json_schema":
        holder = spot.at("json_schema") if "json_schema" in value else spot
        if not isinstance(holder.value, dict) or "schema" not in holder.value:
            holder.error("json_schema has no 'schema'")
            return {}
        return _schema_at(holder.at("schema"))
    return _schema_at(spot)


def _schema_file(spot: Spot) -> dict[str, Json]:
    text = spot.file_text()
    if text is None:
        return {}
    try:
        schema = parse_json(text)
    except ValueError as error:
        spot.error(f"the file {spot.value!r} is not valid JSON: {error}")
        return {}
    if not isinstance(schema, dict):
        spot.error(f"a JSON Schema is an object, not {describe(schema)}")
        return {}
    return schema


def read_tool_results(spot: Spot) -> tuple[Json, ...]:
    """Read the results of tools: ``{name: result}``, or a list that may say of which calls."""
    if isinstance(spot.value, dict):
        named = [{"name": str(name), "result": value} for name, value in spot.value.items()]
        return tuple(named) if _is_json(spot) else ()
    if not isinstance(spot.value, list):
        spot.error("expected the names of tools with their results, or a list of results")
        return ()
    return tuple(row for item in spot.items() if (row := _result(item)) is not None)


def _result(spot: Spot) -> Json:
    value = spot.value
    if not isinstance(value, dict):
        spot.error(f"a result is a mapping with a 'name' and a 'result', not {describe(value)}")
        return None
    strange = spot.unknown_keys(("name", "arguments", "result", "error"))
    if strange:
        return None
    if not isinstance(value.get("name"), str) or not value["name"]:
        spot.error("the result does not say of which tool it is", hint="write its 'name'")
        return None
    if ("result" in value) == ("error" in value):
        spot.error("a tool gives either a 'result' or an 'error'")
        return None
    arguments = value.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        spot.error(f"arguments are a mapping, not {describe(arguments)}", key="arguments")
        return None
    return dict(value) if _is_json(spot) else None


def read_server(spot: Spot) -> dict[str, Json]:
    """Read an MCP server: its command, and the texts of the files that it needs."""
    value = spot.value
    if isinstance(value, str | list):
        return {"command": _command(spot)}
    if not isinstance(value, dict):
        spot.error(f"an MCP server is a command, or a mapping with one, not {describe(value)}")
        return {}
    spot.unknown_keys(("command", "files", "timeout"))
    if "command" not in value:
        spot.error("the MCP server has no 'command'")
        return {}
    server: dict[str, Json] = {"command": _command(spot.at("command"))}
    if value.get("files"):
        server["files"] = _texts(spot.at("files"))
    if value.get("timeout") is not None:
        server["timeout"] = value["timeout"]
    return server


def _command(spot: Spot) -> Json:
    if isinstance(spot.value, str) and spot.value.strip():
        return spot.value
    if isinstance(spot.value, list) and spot.value:
        return [str(word.text()) for word in spot.items()]
    spot.error(f"expected a command, not {describe(spot.value)}")
    return ""


def _texts(spot: Spot) -> dict[str, str]:
    """Read files by name; a mapping has their texts already."""
    if isinstance(spot.value, dict):
        return {str(name): str(spot.at(name).text()) for name in spot.value}
    texts = {}
    for item in spot.items():
        text = item.file_text()
        if text is not None:
            texts[item.value.rpartition("/")[2]] = text
    return texts


def dialogue_with_tools(
    spot: Spot, dialogue: Spec, results: tuple[Json, ...], server: Mapping[str, Json]
) -> Spec:
    """Return the dialogue that answers a candidate's calls, where there is something to answer."""
    if not results and not server:
        return dialogue
    if dialogue.name not in ("single_turn", TOOL_LOOP):
        key = next((key for key in ("tool_results", "mcp") if spot.value.get(key)), "")
        spot.error(
            f"results of tools are given in the dialogue {TOOL_LOOP!r}, and this case has"
            f" {dialogue.name!r}",
            hint="leave out 'dialogue'",
            key=key,
        )
        return dialogue
    params = dict(dialogue.params) if dialogue.name == TOOL_LOOP else {}
    if results:
        params["results"] = list(results)
    if server:
        params["mcp"] = dict(server)
    return Spec(name=TOOL_LOOP, params=params)


def names_module(value: Json) -> bool:
    """Tell whether what is written under ``tools`` is a module."""
    return isinstance(value, dict) and MODULE in value


def check_no_module(spot: Spot, dialogue: Spec) -> None:
    """Note a state that no tools work on; a dialogue may have brought its own."""
    if dialogue.name not in (STATEFUL_TOOLS, STATEFUL_USER):
        hint = "write 'tools: {module: tools.py}'"
        spot.error("a state is for tools of a module, and there is none", hint=hint, key="state")


_TOOL_READERS: Mapping[str, Callable[[Spot], Any]] = {
    "tools": read_tools,
    "tool_choice": read_tool_choice,
    "response_format": read_response_format,
    "tool_results": read_tool_results,
    "mcp": read_server,
}


def read_offers(spot: Spot, keys: object) -> dict[str, Any]:
    """Read what a header or a case says of tools without a state, by the names of defaults."""
    offers: dict[str, Any] = {}
    for key, read in _TOOL_READERS.items():
        if getattr(keys, key) is None or (key == "tools" and names_module(spot.value[key])):
            continue
        offers |= {key: read(spot.at(key)), **({"module": None} if key == "tools" else {})}
    return offers
