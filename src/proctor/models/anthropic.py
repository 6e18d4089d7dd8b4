"""Models behind Anthropic's Messages API."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from proctor.core.exchange import MESSAGES, Reply, Request, Upstream, Usage
from proctor.core.suite import Json, Message, Tool
from proctor.io import json_bytes
from proctor.models.batch_jobs import AnthropicBatches
from proctor.models.http_model import called, shape_name, split, usage_of
from proctor.models.refused_fields import LADDER, Refusal, known_effort
from proctor.models.tool_messages import paired

VERSION = "2023-06-01"
MAX_TOKENS = 32_000
"""The API wants a limit; this one holds where the caller names none, with room for thinking. A
model that allows less says so, and is asked for as much as it allows."""
_BUDGETS = {"minimal": 1_024, "low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576}
"""Tokens for thinking, for models that want a number in place of an effort."""
_LEAST_BUDGET = 1_024
_EFFORTS = {"minimal": "low"}
"""What the API calls an effort, where it has another word."""
_ABOUT_SCHEMA = ("output_config", "output config", "output_format", "format", "schema",
                 "structured", "extra inputs")  # fmt: skip
_THOUGHTS = ("thinking", "redacted_thinking")
_DATA = re.compile(r"data:([\w.+/-]+);base64,(.*)", re.S)


@dataclass(eq=False)
class Anthropic(AnthropicBatches):
    """A model of Anthropic."""

    key_env: str = "ANTHROPIC_API_KEY"

    provider: ClassVar[str] = "anthropic"
    home: ClassVar[str] = "https://api.anthropic.com/v1"
    home_env: ClassVar[str] = "ANTHROPIC_BASE_URL"
    path: ClassVar[str] = "/messages"
    needed: ClassVar[frozenset[str]] = frozenset({"max_tokens"})
    ladder: ClassVar[frozenset[str]] = LADDER | {"output_config.format"}
    rephrased: ClassVar[frozenset[str]] = frozenset({"thinking"})
    schema_fields: ClassVar[frozenset[str]] = frozenset({"output_config.format"})

    def _auth(self, key: str) -> dict[str, str]:
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

    async def upstream(self) -> Upstream:
        return self._upstream({MESSAGES})

    def _body(self, request: Request, learned: Mapping[str, str]) -> dict[str, Json]:
        """Write a request; the API knows no seed, so none is sent."""
        sampling = request.sampling
        lifted = [m.content for m in request.messages if m.role in ("system", "developer")]
        wishes = {
            "model": self.model or None,
            "system": "\n\n".join(text for text in lifted if text) or None,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            "stop_sequences": list(sampling.stop) or None,
        }
        body: dict[str, Json] = {
            "messages": _messages(request.messages),
            "max_tokens": sampling.max_tokens or MAX_TOKENS,
        }
        body |= {name: value for name, value in wishes.items() if value is not None}
        body |= _thinking(sampling.reasoning_effort, body["max_tokens"], learned)
        if request.tools:
            body["tools"] = [_tool(tool) for tool in request.tools]
            if request.tool_choice:
                body["tool_choice"] = _choice(request.tool_choice)
        if request.shape is not None:
            name, rung = shape_name(request.shape), learned.get("rung", "schema")
            if rung == "schema":
                schema = {"type": "json_schema", "schema": request.shape.schema}
                body["output_config.format"] = schema
            elif rung == "tool" and not request.tools:
                body["tools"] = [{"name": name, "input_schema": request.shape.schema}]
                body["tool_choice"] = {"type": "tool", "name": name}
        body |= sampling.extra
        body.pop("stream", None)
        return body

    def _learn(
        self, refusal: Refusal, request: Request, body: Mapping[str, Json], learned: dict[str, str]
    ) -> None:
        schema = "output_config.format" in body
        if schema and any(word in refusal.text for word in _ABOUT_SCHEMA):
            learned.setdefault("rung", "tool")
        elif "tools" in body and not request.tools and "tool" in refusal.text:
            learned["rung"] = "none"
        elif "thinking" in body and "thinking" in refusal.text:
            adaptive = body["thinking"].get("type") == "adaptive"
            learned["thinking"] = "budget" if adaptive else "none"

    def _read(self, payload: Json, rung: str) -> Reply:
        blocks = payload["content"]
        if not isinstance(blocks, list):
            raise TypeError(f"the content is {type(blocks).__name__}")
        used = [block for block in blocks if block.get("type") == "tool_use"]
        texts = [block["text"] for block in blocks if block.get("type") == "text"]
        thoughts = [b.get("thinking") or "" for b in blocks if b.get("type") == "thinking"]
        reply_text = "".join(texts) if texts else None
        if rung == "tool" and used:
            reply_text, used = json_bytes.dumps(used[0]["input"]).decode(), []
        inner, text = split(reply_text) if reply_text else ("", reply_text)
        sent_back = used and any(block.get("type") in _THOUGHTS for block in blocks)
        return Reply(
            text=text or None,
            thinking="\n\n".join(part for part in (*thoughts, inner) if part),
            finish=str(payload.get("stop_reason") or ""),
            usage=_usage(payload.get("usage") or {}),
            request_id=str(payload.get("id") or ""),
            served_by=str(payload.get("model") or ""),
            tool_calls=tuple(called(b["name"], b.get("input") or {}, b.get("id")) for b in used),
            carried={self.provider: blocks} if sent_back else {},
        )


def _thinking(effort: str | None, limit: int, learned: Mapping[str, str]) -> dict[str, Json]:
    """Ask for an effort of thinking, in the way that the model takes."""
    if effort is None or learned.get("thinking") == "none":
        return {}
    if effort == "none":
        return {"thinking": {"type": "disabled"}}
    if learned.get("thinking") == "budget":
        budget = min(_BUDGETS[effort], limit - _LEAST_BUDGET)
        if budget < _LEAST_BUDGET:
            return {}
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    level = known_effort(_EFFORTS.get(effort, effort), learned)
    return {"thinking": {"type": "adaptive"}, "output_config.effort": level}


def _usage(usage: Mapping[str, Json]) -> Usage:
    """Count all of the prompt, with what was read from the cache and what was written to it."""
    read = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    parts = usage.get("cache_creation") or {}
    return usage_of(
        (usage.get("input_tokens") or 0) + read + written,
        usage.get("output_tokens"),
        cached_tokens=read,
        cache_write_tokens=written,
        cache_write_long_tokens=parts.get("ephemeral_1h_input_tokens"),
        reasoning_tokens=(usage.get("output_tokens_details") or {}).get("thinking_tokens"),
    )


def _messages(messages: Sequence[Message]) -> list[dict[str, Json]]:
    """Write a conversation; the results of parallel calls come back in one message."""
    written: list[dict[str, Json]] = []
    results: list[Json] | None = None
    for message in paired(messages):
        if message.role in ("system", "developer"):
            continue
        if message.role == "tool":
            if results is None:
                results = []
                written.append({"role": "user", "content": results})
            results.append(
                {
                    "type": "tool_result",
                    "tool_use_id": message.tool_call_id,
                    "content": message.content,
                }
            )
            continue
        results = None
        if message.content or message.images or message.tool_calls:
            written.append({"role": message.role, "content": _content(message)})
    return written


def _content(message: Message) -> Json:
    if message.tool_calls:
        return _called(message)
    if not message.images:
        return message.content
    parts: list[Json] = [_part(address) for address in message.images]
    if message.content:
        parts.append({"type": "text", "text": message.content})
    return parts


def _called(message: Message) -> list[Json]:
    """Write calls of tools, after the thinking that led to them, which must come back unchanged."""
    blocks = message.carried.get(Anthropic.provider) or []
    used = [block.get("id") for block in blocks if block.get("type") == "tool_use"]
    if blocks and used == [call.id for call in message.tool_calls]:
        return list(blocks)
    parts: list[Json] = [block for block in blocks if block.get("type") in _THOUGHTS]
    if message.content:
        parts.append({"type": "text", "text": message.content})
    return parts + [
        {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": call.arguments
            if isinstance(call.arguments, Mapping)
            else {"arguments": call.arguments},
        }
        for call in message.tool_calls
    ]


def _tool(tool: Tool) -> dict[str, Json]:
    return {
        "name": tool.name,
        **({"description": tool.description} if tool.description else {}),
        "input_schema": tool.parameters or {"type": "object", "properties": {}},
    }


def _choice(tool_choice: str) -> dict[str, Json]:
    if tool_choice in ("auto", "none"):
        return {"type": tool_choice}
    if tool_choice == "required":
        return {"type": "any"}
    return {"type": "tool", "name": tool_choice}


def _part(address: str) -> dict[str, Json]:
    """Write a picture or a document as a part of a message."""
    inline = _DATA.fullmatch(address)
    if inline is None:
        kind = "document" if address.partition("?")[0].lower().endswith(".pdf") else "image"
        return {"type": kind, "source": {"type": "url", "url": address}}
    kind = "image" if inline[1].startswith("image/") else "document"
    source = {"type": "base64", "media_type": inline[1], "data": inline[2]}
    return {"type": kind, "source": source}
