"""What a fake server says: scripts, and their replies as chat completions and as messages."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from proctor.core.suite import Json, ToolCall
from proctor.io import json_bytes
from proctor.testing.faults import Fault


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply of a model in full."""

    text: str | None
    finish: str = "stop"
    thinking: str = ""
    tokens: tuple[int, int] | None = None
    """Tokens of the question and of the reply; a quarter of the characters where it is none."""
    logprobs: Mapping[str, float] | None = None
    """Log-probabilities of alternatives to the first token, given to a client that wants them."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The tools that are called, with or without a text; those without an id are numbered."""
    cached_tokens: int = 0
    """The tokens of the question that were in the cache."""
    cache_write_tokens: int = 0
    """The tokens of the question that were written to the cache, where a format tells them."""
    reasoning_tokens: int = 0
    """The tokens of the reply that were thinking, where a format tells them."""


ScriptedReply = str | None | Answer | Fault | Mapping[str, Json]
"""A text, no content, a reply in full, a fault, or the JSON body to send as it is."""
Scripted = ScriptedReply | list[ScriptedReply]
"""A list has one entry for each try of the same request; the last one is repeated."""
Script = (
    None
    | str
    | Mapping[str, Scripted]
    | Sequence[tuple[str, Scripted]]
    | Callable[[list[Json], Json], Scripted]
)
"""Nothing repeats the question; a text is said always; patterns are tried in their order."""


def written_script(data: Json) -> Script:
    """Read a script as a JSON file has it: a reply may be a mapping with the fields of `Answer`."""
    if not isinstance(data, dict):
        return data  # type: ignore[no-any-return]
    return {
        pattern: [_written(one) for one in replies]
        if isinstance(replies, list)
        else _written(replies)
        for pattern, replies in data.items()
    }


def _written(data: Json) -> ScriptedReply:
    field_names = {field.name for field in fields(Answer)}
    if not isinstance(data, dict) or not data.keys() <= field_names or not data:
        return data  # type: ignore[no-any-return]
    calls = tuple(ToolCall(**call) for call in data.get("tool_calls") or ())
    tokens = data.get("tokens")
    values = {"text": None, **data, "tool_calls": calls}
    return Answer(**{**values, "tokens": None if tokens is None else tuple(tokens)})


def messages_of(body: Json) -> list[Json]:
    """Return the messages of a request in any format, the system prompt first."""
    if "contents" in body:
        messages = [_of_content(content) for content in body["contents"]]
    elif "input" in body:
        items = body["input"]
        messages = [{"role": "user", "content": items}] if isinstance(items, str) else list(items)
    else:
        messages = list(body.get("messages") or [])
    system = body.get("system") or body.get("instructions") or body.get("systemInstruction")
    if isinstance(system, dict):
        system = _of_content(system)["content"]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    return messages


def _of_content(content: Json) -> Json:
    """Write what ``generateContent`` calls a content as a message."""
    role = "assistant" if content.get("role") == "model" else content.get("role", "user")
    return {"role": role, "content": content.get("parts") or []}


def text_of(message: Json) -> str:
    """Return the text of a message, whether it is a string or a list of parts."""
    content = message.get("content") if isinstance(message, dict) else None
    if content is None and isinstance(message, dict):
        content = message.get("output")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(text for part in parts if (text := _text_of_part(part)))


def _text_of_part(part: Json) -> str:
    """Return the text of a part, or of the result of a tool that it holds."""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    if part.get("type") == "tool_result":
        return text_of(part)
    if "functionResponse" in part:
        return json_bytes.dumps(part["functionResponse"].get("response")).decode()
    return ""


def all_text(messages: Sequence[Json]) -> str:
    """Return the texts of all messages, one after the other."""
    return "\n".join(text_of(message) for message in messages)


def say(script: Script, body: Json, nth: int) -> ScriptedReply:
    """Look up what a script says to a request that is made for the nth time."""
    messages = messages_of(body)
    if script is None:
        users = [text_of(m) for m in messages if m.get("role") == "user"]
        return users[-1] if users else ""
    if isinstance(script, str):
        return script
    line = script(messages, body) if callable(script) else look_up(script, all_text(messages))
    if isinstance(line, list):
        return line[min(nth, len(line)) - 1]
    return line


def look_up(script: Mapping[str, Scripted] | Sequence[tuple[str, Scripted]], text: str) -> Scripted:
    """Return what stands beside the first pattern that is found in a text."""
    pairs = script.items() if isinstance(script, Mapping) else script
    for pattern, reply in pairs:
        if re.search(pattern, text):
            return reply
    return Fault("error", status=400, message=f"nothing is scripted for {text[-200:]!r}")


def spoiled(answer: Answer, fault: Fault | None) -> Answer:
    """Apply a fault that changes what is said."""
    if fault is not None and fault.kind == "null_content":
        return replace(answer, text=None)
    if fault is not None and fault.kind == "length":
        text = answer.text or ""
        return replace(answer, text=text[: len(text) // 2], finish="length")
    return answer


def chat_completion(answer: Answer, body: Json, number: int) -> Json:
    """Write a reply as chat completions have it."""
    message: Json = {"role": "assistant", "content": answer.text}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    calls = called_tools(answer, number)
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and not calls:
        function = {"name": choice["function"]["name"], "arguments": answer.text or ""}
        call = {"id": f"tool-{number}", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [call]}
    elif calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json_text(call.arguments)},
            }
            for call in calls
        ]
    tokens_in, tokens_out = tokens_of(answer, body)
    finish = "tool_calls" if calls and answer.finish == "stop" else answer.finish
    chosen: Json = {"index": 0, "message": message, "finish_reason": finish}
    if body.get("logprobs") and answer.logprobs:
        chosen["logprobs"] = {"content": [first_token(answer.logprobs, body)]}
    return {
        "id": f"fake-{number}",
        "object": "chat.completion",
        "model": body.get("model") or "fake",
        "choices": [chosen],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
            **details(prompt_tokens_details={"cached_tokens": answer.cached_tokens}),
            **details(completion_tokens_details={"reasoning_tokens": answer.reasoning_tokens}),
        },
    }


def called_tools(answer: Answer, number: int) -> list[ToolCall]:
    """Return the calls of a reply, each with an id."""
    return [
        call if call.id else replace(call, id=f"call-{number}-{place}")
        for place, call in enumerate(answer.tool_calls, 1)
    ]


def details(**counts: dict[str, int]) -> Json:
    """Write the parts of a count, where there are some."""
    return {name: parts for name, parts in counts.items() if any(parts.values())}


def json_text(value: Json) -> str:
    """Write a value as JSON; a text stays what it is."""
    return value if isinstance(value, str) else json_bytes.dumps(value).decode()


def messages_reply(answer: Answer, body: Json, number: int) -> Json:
    """Write a reply as the Messages API has it."""
    blocks: list[Json] = []
    if answer.thinking:
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": "fake"})
    choice = body.get("tool_choice") or {}
    calls = called_tools(answer, number)
    if choice.get("type") == "tool" and not calls:
        arguments = json_bytes.loads(answer.text or "{}")
        blocks.append(
            {"type": "tool_use", "id": f"tool-{number}", "name": choice["name"], "input": arguments}
        )
    elif answer.text is not None:
        blocks.append({"type": "text", "text": answer.text})
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in calls
    ]
    tokens_in, tokens_out = tokens_of(answer, body)
    reasons = {"stop": "tool_use" if calls else "end_turn", "length": "max_tokens"}
    cached = {
        "cache_read_input_tokens": answer.cached_tokens,
        "cache_creation_input_tokens": answer.cache_write_tokens,
    }
    tokens_in -= answer.cached_tokens + answer.cache_write_tokens
    return {
        "id": f"fake-{number}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model") or "fake",
        "content": blocks,
        "stop_reason": reasons.get(answer.finish, answer.finish),
        "usage": {
            "input_tokens": tokens_in,
            "output_tokens": tokens_out,
            **{name: count for name, count in cached.items() if count},
        },
    }


def error_body(status: int, message: str, param: str = "") -> Json:
    """Write an error so that clients of all formats find its message."""
    words = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
    kind = words.get(status, "api_error" if status >= 500 else "invalid_request_error")
    error = {"message": message, "type": kind, "code": status}
    return {"type": "error", "error": {**error, **({"param": param} if param else {})}}


def models_body() -> Json:
    """List the one model that is here."""
    return {"object": "list", "data": [{"id": "fake", "object": "model", "owned_by": "proctor"}]}


def first_token(logprobs: Mapping[str, float], body: Json) -> Json:
    """Write the first token with its alternatives."""
    likeliest = sorted(logprobs.items(), key=lambda pair: -pair[1])
    rows = [{"token": token, "logprob": value} for token, value in likeliest]
    return {**rows[0], "top_logprobs": rows[: body.get("top_logprobs") or 0]}


def tokens_of(answer: Answer, body: Json) -> tuple[int, int]:
    """Return how many tokens a question and its reply are said to have."""
    if answer.tokens is not None:
        return answer.tokens
    characters = sum(len(text_of(message)) for message in messages_of(body))
    return characters // 4 + 1, len((answer.text or "") + answer.thinking) // 4 + 1
