"""Core objects from the JSON values that ``fingerprint.plain`` makes of them.

Whatever is not what it must be is a TypeError or a ValueError: what others wrote may be anything.
"""

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.exchange import Reply, ReplyShape, Request, Sampling, Usage
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import (
    VARIANT,
    CandidatePrompt,
    Case,
    CaseFile,
    Criterion,
    Json,
    Message,
    Spec,
    Suite,
    Tool,
    ToolCall,
)

if TYPE_CHECKING:
    from proctor.core.comparison import Comparison


def _is_text(value: Json) -> bool:
    return type(value) is str


def _is_number(value: Json) -> bool:
    return type(value) is float or type(value) is int


def _is_number_or_none(value: Json) -> bool:
    return value is None or type(value) is float or type(value) is int


def _is_whole(value: Json) -> bool:
    return type(value) is int


def _is_list(value: Json) -> bool:
    return isinstance(value, list | tuple)


def _is_object(value: Json) -> bool:
    return isinstance(value, Mapping)


def _is_anything(_: Json) -> bool:
    return True


_Checks = Mapping[str, Callable[[Json], bool]]
_SPEC: _Checks = {"name": _is_text, "params": _is_object}
_CRITERION: _Checks = {
    "id": _is_text, "scorer": _is_object, "weight": _is_number, "metric": _is_text,
    "turn": lambda value: value is None or type(value) is int,
}  # fmt: skip
_MESSAGE: _Checks = {
    "role": _is_text, "content": _is_text, "images": _is_list, "thinking": _is_text,
    "marks": _is_list, "tool_calls": _is_list, "tool_call_id": _is_text, "carried": _is_object,
}  # fmt: skip
_PROMPT: _Checks = {
    "name": _is_text, "text": _is_text, "messages": _is_list, "place": _is_text,
}  # fmt: skip
_TOOL: _Checks = {"name": _is_text, "description": _is_text, "parameters": _is_object}
_TOOL_CALL: _Checks = {"name": _is_text, "arguments": _is_anything, "id": _is_text}
_FILE: _Checks = {"name": _is_text, "digest": _is_text, "path": _is_text}
_CASE: _Checks = {
    "id": _is_text, "messages": _is_list, "criteria": _is_list, "references": _is_list,
    "context": _is_list, "hidden": _is_object, "dialogue": _is_object, "tags": _is_object,
    "weight": _is_number, "full_score": _is_number, "null_score": _is_number,
    "min_points": _is_number_or_none, "max_points": _is_number_or_none,
    "out_of": _is_number_or_none, "files": _is_list, "setup": _is_object, "source": _is_text,
    "cluster": _is_text, "tools": _is_list, "tool_choice": _is_text, "response_format": _is_object,
    "vars": _is_object,
}  # fmt: skip
_SUITE: _Checks = {
    "name": _is_text, "version": _is_text, "description": _is_text, "language": _is_text,
    "reduce": _is_text, "measures": _is_list, "dialect": _is_text, VARIANT: _is_text,
    "cluster": _is_text, "cases": _is_list, "prompts": _is_list,
}  # fmt: skip
_ATTEMPT: _Checks = {
    "case_id": _is_text, "index": _is_whole, "messages": _is_list, "status": _is_text,
    "error": _is_text, "seconds": _is_number_or_none, "usage": _is_object, "meta": _is_object,
    "notes": _is_object,
}  # fmt: skip
_SCORE: _Checks = {
    "status": _is_text, "points": _is_number_or_none, "out_of": _is_number_or_none,
    "reason": _is_text, "detail": _is_anything,
}  # fmt: skip
_USAGE: _Checks = {
    "calls": _is_number, "prompt_tokens": _is_number, "completion_tokens": _is_number,
    "cost": _is_number_or_none, "cached_tokens": _is_number, "cache_write_tokens": _is_number,
    "cache_write_long_tokens": _is_number, "reasoning_tokens": _is_number,
}  # fmt: skip
_COMPARISON: _Checks = {
    "case_id": _is_text, "first": _is_text, "second": _is_text, "first_index": _is_whole,
    "second_index": _is_whole, "judge": _is_text, "asked": _is_text, VARIANT: _is_text,
    "outcome": _is_text, "scores": lambda value: value is None or _is_list(value),
    "reason": _is_text, "raw": _is_list, "usage": _is_object,
    "imported": lambda value: type(value) is bool,
}  # fmt: skip


def _check(what: str, data: Json, checks: _Checks) -> None:
    if not isinstance(data, Mapping):
        raise TypeError(f"{what} is no object")
    for name, value in data.items():
        check = checks.get(name)
        if check is None:
            raise TypeError(f"{what} has no {name!r}")
        if not check(value):
            raise TypeError(f"{name!r} of {what} is {type(value).__name__}")


def _texts(what: str, values: Json) -> tuple[str, ...]:
    if not all(type(value) is str for value in values):
        raise TypeError(f"{what} are not all texts")
    return tuple(values)


def spec_from(data: Mapping[str, Json]) -> Spec:
    """Make a Spec of its JSON."""
    _check("a spec", data, _SPEC)
    return Spec(name=data["name"], params=data.get("params", {}))


def criterion_from(data: Mapping[str, Json]) -> Criterion:
    """Make a Criterion of its JSON."""
    _check("a criterion", data, _CRITERION)
    return Criterion(**{**data, "scorer": spec_from(data["scorer"])})


def case_from(data: Mapping[str, Json]) -> Case:
    """Make a Case of its JSON."""
    _check("a case", data, _CASE)
    fields = dict(data)
    fields["messages"] = _messages(data.get("messages", ()))
    fields["criteria"] = tuple([criterion_from(item) for item in data.get("criteria", ())])
    for name in ("references", "context"):
        if name in fields:
            fields[name] = _texts(name, fields[name])
    if "tags" in fields:
        fields["tags"] = {name: _tag(values) for name, values in fields["tags"].items()}
    if "files" in fields:
        fields["files"] = tuple([_file(item) for item in fields["files"]])
    if "dialogue" in fields:
        fields["dialogue"] = spec_from(fields["dialogue"])
    if "tools" in fields:
        fields["tools"] = _tools(fields["tools"])
    return Case(**fields)


def _tag(values: Json) -> tuple[str, ...]:
    if not _is_list(values):
        raise TypeError("the values of a tag are no list")
    return _texts("the values of a tag", values)


def _tools(items: Json) -> tuple[Tool, ...]:
    for item in items:
        _check("a tool", item, _TOOL)
    return tuple([Tool(**item) for item in items])


def _tool_calls(items: Json) -> tuple[ToolCall, ...]:
    for item in items:
        _check("a tool call", item, _TOOL_CALL)
    return tuple([ToolCall(**item) for item in items])


def _file(data: Mapping[str, Json]) -> CaseFile:
    _check("a file", data, _FILE)
    return CaseFile(**data)


def suite_from(data: Mapping[str, Json], cases: Sequence[Case]) -> Suite:
    """Make a Suite of its JSON and its cases, which are kept apart."""
    _check("a suite", data, _SUITE)
    measures = tuple(spec_from(item) for item in data.get("measures", ()))
    prompts = tuple(prompt_from(item) for item in data.get("prompts", ()))
    return Suite(**{**data, "measures": measures, "cases": cases, "prompts": prompts})


def prompt_from(data: Mapping[str, Json]) -> CandidatePrompt:
    """Make a CandidatePrompt of its JSON."""
    _check("a prompt", data, _PROMPT)
    messages = _messages(data.get("messages", ()))
    return CandidatePrompt(name=data["name"], text=data.get("text", ""), messages=messages)


def attempt_from(data: Mapping[str, Json]) -> Attempt:
    """Make an Attempt of its JSON."""
    _check("an attempt", data, _ATTEMPT)
    for name in ("rounds", "files"):
        noted = data.get("notes", {}).get(name, [])
        if not _is_list(noted) or not all(map(_is_object, noted)):
            raise TypeError(f"the {name} of an attempt are no list of objects")
    status = AttemptStatus(data.get("status", AttemptStatus.ANSWERED))
    return Attempt(**{**data, "messages": _messages(data.get("messages", ())), "status": status})


def request_from(data: Mapping[str, Json]) -> Request:
    """Make a Request of its JSON."""
    sampling = dict(data.get("sampling", {}))
    if "stop" in sampling:
        sampling["stop"] = tuple(sampling["stop"])
    shape = data.get("shape")
    return Request(
        messages=_messages(data.get("messages", ())),
        sampling=Sampling(**sampling),
        shape=None
        if shape is None
        else ReplyShape(name=shape["name"], schema=shape.get("schema", {})),
        salt=data.get("salt", ""),
        top_logprobs=data.get("top_logprobs", 0),
        tools=_tools(data.get("tools", ())),
        tool_choice=data.get("tool_choice", ""),
    )


def reply_from(data: Mapping[str, Json]) -> Reply:
    """Make a Reply of its JSON."""
    usage, calls = _usage(data.get("usage", {})), _tool_calls(data.get("tool_calls", ()))
    return Reply(**{"text": None, **data, "usage": usage, "tool_calls": calls})


def score_from(data: Mapping[str, Json]) -> Score:
    """Make a Score of its JSON."""
    _check("a score", data, _SCORE)
    return Score(**{**data, "status": ScoreStatus(data.get("status", ScoreStatus.SCORED))})


def comparison_from(data: Mapping[str, Json]) -> "Comparison":
    """Make a Comparison of its JSON; a mark that was not a number has become nothing."""
    from proctor.core.comparison import Comparison, Preference

    _check("a comparison", data, _COMPARISON)
    scores = data.get("scores")
    changed: dict[str, Json] = {
        "outcome": Preference(data["outcome"]),
        "raw": _texts("replies", data.get("raw", ())),
        "usage": _usage(data.get("usage", {})),
    }
    if scores is not None:
        if len(scores) != 2 or not all(map(_is_number_or_none, scores)):
            raise TypeError("the marks of a comparison are two numbers")
        changed["scores"] = tuple(nan if score is None else score for score in scores)
    return Comparison(**{**data, **changed})


def _usage(data: Mapping[str, Json]) -> Usage:
    _check("a usage", data, _USAGE)
    return Usage(**data)


def _messages(items: Sequence[Mapping[str, Json]]) -> tuple[Message, ...]:
    return tuple([_message(item) for item in items])


def _message(data: Mapping[str, Json]) -> Message:
    _check("a message", data, _MESSAGE)
    if len(data) == 2 and "content" in data:
        return Message(role=data["role"], content=data["content"])
    return Message(
        role=data["role"],
        content=data.get("content", ""),
        images=_texts("pictures", data.get("images", ())),
        thinking=data.get("thinking", ""),
        tool_calls=_tool_calls(data.get("tool_calls", ())),
        tool_call_id=data.get("tool_call_id", ""),
        carried=data.get("carried", {}),
    )
