"""Models behind Anthropic's Messages API."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from proctor.core.exchange import Reply, Request
from proctor.core.suite import Json, Message
from proctor.io import json_bytes
from proctor.models.http_model import Served, shape_name, split, usage_of
from proctor.models.refused_fields import Refusal

VERSION = "2023-06-01"
MAX_TOKENS = 4096
"""The API wants a limit; this one holds where the caller names none."""
_DATA = re.compile(r"data:([\w.+/-]+);base64,(.*)", re.S)


@dataclass(eq=False)
class Anthropic(Served):
    """A model of Anthropic."""

    key_env: str = "ANTHROPIC_API_KEY"

    provider: ClassVar[str] = "anthropic"
    home: ClassVar[str] = "https://api.anthropic.com/v1"
    home_env: ClassVar[str] = "ANTHROPIC_BASE_URL"
    path: ClassVar[str] = "/messages"
    needed: ClassVar[frozenset[str]] = frozenset({"max_tokens"})

    def _auth(self, key: str) -> dict[str, str]:
        return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}

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
            "messages": [
                _message(message)
                for message in request.messages
                if message.role not in ("system", "developer")
                and (message.content or message.images)
            ],
            "max_tokens": sampling.max_tokens or MAX_TOKENS,
        }
        body |= {name: value for name, value in wishes.items() if value is not None}
        if request.shape is not None and learned.get("rung", "tool") == "tool":
            name = shape_name(request.shape)
            body["tools"] = [{"name": name, "input_schema": request.shape.schema}]
            body["tool_choice"] = {"type": "tool", "name": name}
        body |= sampling.extra
        body.pop("stream", None)
        return body

    def _learn(
        self, refusal: Refusal, request: Request, body: Mapping[str, Json], learned: dict[str, str]
    ) -> None:
        if "tools" in body and "tool" in refusal.text:
            learned["rung"] = "none"

    def _read(self, payload: Json, rung: str) -> Reply:
        blocks = payload["content"]
        if not isinstance(blocks, list):
            raise TypeError(f"the content is {type(blocks).__name__}")
        used = [
            json_bytes.dumps(b["input"]).decode() for b in blocks if b.get("type") == "tool_use"
        ]
        texts = [block["text"] for block in blocks if block.get("type") == "text"]
        thoughts = [b.get("thinking") or "" for b in blocks if b.get("type") == "thinking"]
        reply_text = used[0] if used else "".join(texts) if texts else None
        inner, text = split(reply_text) if reply_text else ("", reply_text)
        usage = payload.get("usage") or {}
        cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
        prompt = [usage.get(name) or 0 for name in ("input_tokens", *cached)]
        return Reply(
            text=text or None,
            thinking="\n\n".join(part for part in (*thoughts, inner) if part),
            finish=str(payload.get("stop_reason") or ""),
            usage=usage_of(sum(prompt), usage.get("output_tokens")),
            request_id=str(payload.get("id") or ""),
            served_by=str(payload.get("model") or ""),
        )


def _message(message: Message) -> dict[str, Json]:
    if not message.images:
        return {"role": message.role, "content": message.content}
    parts: list[Json] = [{"type": "image", "source": _source(image)} for image in message.images]
    if message.content:
        parts.append({"type": "text", "text": message.content})
    return {"role": message.role, "content": parts}


def _source(image: str) -> dict[str, str]:
    if (inline := _DATA.fullmatch(image)) is not None:
        return {"type": "base64", "media_type": inline[1], "data": inline[2]}
    return {"type": "url", "url": image}
