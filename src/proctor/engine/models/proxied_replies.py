"""What a reply that passed through the proxy says: text, tool calls and tokens, in four APIs.

Chat completions, Responses, Messages and generateContent, each whole or streamed. What cannot be
read is passed over: the agent gets its reply in any case.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.core.exchange import Usage
from proctor.core.suite import Json
from proctor.io import json_bytes
from proctor.io.event_stream import event_data, split_events


@dataclass(frozen=True, slots=True)
class ProxiedReply:
    """Content of a reply: its text, tool calls and tokens."""

    text: str = ""
    tools: tuple[Json, ...] = ()
    usage: Usage = field(default_factory=Usage)

    @property
    def prompt_tokens(self) -> int:
        """Return the tokens of the prompt."""
        return self.usage.prompt_tokens

    @property
    def completion_tokens(self) -> int:
        """Return the tokens of the reply."""
        return self.usage.completion_tokens


def reply_in(body: bytes) -> ProxiedReply:
    """Parse a whole reply; an unreadable one is empty."""
    try:
        data = json_bytes.loads(body)
    except ValueError:
        return ProxiedReply()
    if isinstance(data, list):  # generateContent streams a list where nobody asks for events
        return _gemini([part for part in data if isinstance(part, Mapping)])
    if not isinstance(data, Mapping):
        return ProxiedReply()
    if "candidates" in data or "usageMetadata" in data:
        return _gemini([data])
    if isinstance(data.get("output"), list):
        return _response(data)
    if isinstance(data.get("content"), list):
        return _message(_maps(data["content"]), data.get("usage"))
    choice = _first(data.get("choices"))
    message = choice.get("message")
    fields = message if isinstance(message, Mapping) else {"content": choice.get("text")}
    return _chat(fields, data.get("usage"))


def reply_in_stream(body: bytes) -> ProxiedReply:
    """Parse a streamed reply."""
    parts = json_events(body)
    kinds = {str(part.get("type", "")) for part in parts}
    if any("candidates" in part or "usageMetadata" in part for part in parts):
        return _gemini(parts)
    if any(kind.startswith("response.") for kind in kinds):
        return _response_stream(parts)
    if kinds & {"message_start", "content_block_start", "message_delta"}:
        return _message_stream(parts)
    return _chat_stream(parts)


def json_events(body: bytes) -> list[Mapping[str, Json]]:
    """Return the JSON objects of a stream of events."""
    objects = []
    for event in split_events(body):
        try:
            data = json_bytes.loads(event_data(event))
        except ValueError:
            continue
        if isinstance(data, Mapping):
            objects.append(data)
    return objects


def only_usage(event: bytes) -> bool:
    """Tell whether an event of a stream has only the token counts that the proxy requested."""
    events = json_events(event)
    return bool(events) and all("choices" in part and not part["choices"] for part in events)


# Chat completions.


def _chat(message: Mapping[str, Json], usage: Json) -> ProxiedReply:
    content = message.get("content")
    text = content if isinstance(content, str) else json.dumps(content) if content else ""
    calls = [
        _call(function.get("name"), function.get("arguments"))
        for call in _maps(message.get("tool_calls"))
        if isinstance(function := call.get("function"), Mapping)
    ]
    used = _map(usage)
    counts = Usage(
        prompt_tokens=_count(used, "prompt_tokens", "input_tokens"),
        completion_tokens=_count(used, "completion_tokens", "output_tokens"),
        cached_tokens=_count(_map(used.get("prompt_tokens_details")), "cached_tokens"),
        reasoning_tokens=_count(_map(used.get("completion_tokens_details")), "reasoning_tokens"),
    )
    return ProxiedReply(text, tuple(calls), counts)


def _chat_stream(parts: Iterable[Mapping[str, Json]]) -> ProxiedReply:
    words: list[str] = []
    tools: dict[int, dict[str, Json]] = {}
    usage: Json = None
    for part in parts:
        usage = part.get("usage") or usage
        delta = _first(part.get("choices")).get("delta")
        if not isinstance(delta, Mapping):
            continue
        if isinstance(delta.get("content"), str):
            words.append(delta["content"])
        for call in _maps(delta.get("tool_calls")):
            _add(tools.setdefault(_count(call, "index"), {}), call)
    return _chat({"content": "".join(words), "tool_calls": list(tools.values())}, usage)


def _add(tool: dict[str, Json], part: Mapping[str, Json]) -> None:
    function = tool.setdefault("function", {"name": "", "arguments": ""})
    new = _map(part.get("function"))
    function["name"] += new.get("name") or ""
    function["arguments"] += new.get("arguments") or ""


# Responses.

_TOOL_FIELDS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "web_search_call": "action",
}


def _response(data: Mapping[str, Json]) -> ProxiedReply:
    texts: list[str] = []
    calls: list[Json] = []
    for item in _maps(data.get("output")):
        kind = str(item.get("type"))
        if kind == "message":
            texts += [str(part.get("text") or "") for part in _maps(item.get("content"))]
        elif kind in _TOOL_FIELDS:
            calls.append(_call(item.get("name") or kind, item.get(_TOOL_FIELDS[kind])))
    used = _map(data.get("usage"))
    counts = Usage(
        prompt_tokens=_count(used, "input_tokens"),
        completion_tokens=_count(used, "output_tokens"),
        cached_tokens=_count(_map(used.get("input_tokens_details")), "cached_tokens"),
        reasoning_tokens=_count(_map(used.get("output_tokens_details")), "reasoning_tokens"),
    )
    return ProxiedReply("".join(texts), tuple(calls), counts)


def _response_stream(parts: Iterable[Mapping[str, Json]]) -> ProxiedReply:
    """Read the whole response at the end, and its finished items where that is missing."""
    items: list[Json] = []
    last: Mapping[str, Json] = {}
    for part in parts:
        if part.get("type") == "response.output_item.done":
            items.append(part.get("item"))
        elif isinstance(part.get("response"), Mapping):
            last = part["response"]
    return _response({**last, "output": last.get("output") or items})


# Messages.


def _message(blocks: Iterable[Mapping[str, Json]], usage: Json) -> ProxiedReply:
    texts: list[str] = []
    calls: list[Json] = []
    for block in blocks:
        if block.get("type") == "text":
            texts.append(str(block.get("text") or ""))
        elif str(block.get("type")).endswith("tool_use"):
            calls.append(_call(block.get("name"), block.get("input")))
    used = _map(usage)
    read = _count(used, "cache_read_input_tokens")
    written = _count(used, "cache_creation_input_tokens")
    counts = Usage(
        prompt_tokens=_count(used, "input_tokens") + read + written,
        completion_tokens=_count(used, "output_tokens"),
        cached_tokens=read,
        cache_write_tokens=written,
        cache_write_long_tokens=_count(
            _map(used.get("cache_creation")), "ephemeral_1h_input_tokens"
        ),
        reasoning_tokens=_count(_map(used.get("output_tokens_details")), "thinking_tokens"),
    )
    return ProxiedReply("".join(texts), tuple(calls), counts)


def _message_stream(parts: Iterable[Mapping[str, Json]]) -> ProxiedReply:
    blocks: dict[int, dict[str, Json]] = {}
    written: dict[int, str] = {}
    usage: dict[str, Json] = {}
    for part in parts:
        place = _count(part, "index")
        delta = _map(part.get("delta"))
        message = _map(part.get("message"))
        # Later counts stand for the whole message, and say nothing of what they leave out.
        for told in (_map(message.get("usage")), _map(part.get("usage"))):
            usage |= {name: value for name, value in told.items() if value is not None}
        if part.get("type") == "content_block_start":
            blocks[place] = dict(_map(part.get("content_block")))
        elif delta.get("type") == "text_delta":
            block = blocks.setdefault(place, {"type": "text"})
            block["text"] = f"{block.get('text') or ''}{delta.get('text') or ''}"
        elif delta.get("type") == "input_json_delta":
            written[place] = f"{written.get(place, '')}{delta.get('partial_json') or ''}"
    for place, text in written.items():
        blocks.setdefault(place, {"type": "tool_use"})["input"] = text
    return _message(blocks.values(), usage)


# generateContent.


def _gemini(parts: Iterable[Mapping[str, Json]]) -> ProxiedReply:
    texts: list[str] = []
    calls: list[Json] = []
    used: Mapping[str, Json] = {}
    for whole in parts:
        used = _map(whole.get("usageMetadata")) or used
        content = _map(_first(whole.get("candidates")).get("content"))
        for part in _maps(content.get("parts")):
            if isinstance(part.get("functionCall"), Mapping):
                call = part["functionCall"]
                calls.append(_call(call.get("name"), call.get("args")))
            elif isinstance(part.get("text"), str) and not part.get("thought"):
                texts.append(part["text"])
    thinking = _count(used, "thoughtsTokenCount")
    counts = Usage(
        prompt_tokens=_count(used, "promptTokenCount"),
        completion_tokens=_count(used, "candidatesTokenCount") + thinking,
        cached_tokens=_count(used, "cachedContentTokenCount"),
        reasoning_tokens=thinking,
    )
    return ProxiedReply("".join(texts), tuple(calls), counts)


def _call(name: Json, arguments: Json) -> Json:
    """Write a tool call; arguments are the text that they are sent as."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {"name": str(name or ""), "arguments": text}


def _count(counts: Mapping[str, Any], *names: str) -> int:
    count = next((counts[name] for name in names if counts.get(name)), 0)
    return count if isinstance(count, int) and count > 0 else 0


def _first(choices: Json) -> Mapping[str, Json]:
    return next(iter(_maps(choices)), {})


def _map(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _maps(values: Json) -> list[Mapping[str, Json]]:
    items = values if isinstance(values, list | tuple) else []
    return [item for item in items if isinstance(item, Mapping)]
