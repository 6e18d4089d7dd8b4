"""Models behind Google's ``generateContent``."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote, urlsplit

from proctor.core.exchange import GEMINI, Reply, Request, Upstream
from proctor.core.suite import Json, Message, Tool, ToolCall
from proctor.models.endpoints import base_of
from proctor.models.http_model import Served, split, usage_of
from proctor.models.refused_fields import LADDER, Refusal, known_effort
from proctor.models.tool_messages import paired, tool_names

_CONFIG = "generationConfig."
_SCHEMA, _KIND = f"{_CONFIG}responseSchema", f"{_CONFIG}responseMimeType"
_THINKING = f"{_CONFIG}thinkingConfig"
_LOGPROBS = f"{_CONFIG}responseLogprobs"
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_LEVELS = {"none": "minimal", "xhigh": "high"}
"""The level of thinking, where it has another name than the effort."""
_BUDGETS = {"none": 0, "minimal": 512, "low": 1_024, "medium": 8_192, "high": 24_576,
            "xhigh": 24_576}  # fmt: skip
"""Tokens for thinking, for models that want a number in place of a level."""
_KEPT = frozenset({
    "type", "format", "title", "description", "nullable", "enum", "items", "properties", "required",
    "anyOf", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern",
    "propertyOrdering",
})  # fmt: skip
"""What schemas may say here."""
_DATA = re.compile(r"data:([\w.+/-]+);base64,(.*)", re.S)
OTHER_KEY = "GOOGLE_API_KEY"


@dataclass(eq=False)
class Gemini(Served):
    """A model of Google."""

    key_env: str = "GEMINI_API_KEY"

    provider: ClassVar[str] = "gemini"
    home: ClassVar[str] = "https://generativelanguage.googleapis.com/v1beta"
    home_env: ClassVar[str] = "GEMINI_BASE_URL"
    path: ClassVar[str] = ":generateContent"
    ladder: ClassVar[frozenset[str]] = LADDER | {_SCHEMA, _KIND, _LOGPROBS, f"{_CONFIG}logprobs"}
    rephrased: ClassVar[frozenset[str]] = frozenset({_THINKING})
    schema_fields: ClassVar[frozenset[str]] = frozenset({_SCHEMA})

    def __post_init__(self) -> None:
        if self.key_env and not os.environ.get(self.key_env) and os.environ.get(OTHER_KEY):
            self.key_env = OTHER_KEY
        super().__post_init__()

    def _base(self, url: str) -> str:
        bare = not urlsplit(url.strip()).path.strip("/")
        return base_of(f"{url.strip().rstrip('/')}/v1beta" if bare else url, ())

    def _auth(self, key: str) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def _call(self, request: Request, learned: Mapping[str, str]) -> str:
        return f"/models/{quote(self.model.removeprefix('models/'), safe='')}{self.path}"

    async def upstream(self) -> Upstream:
        return self._upstream({GEMINI})

    def _body(self, request: Request, learned: Mapping[str, str]) -> dict[str, Json]:
        sampling = request.sampling
        lifted = [m.content for m in request.messages if m.role in ("system", "developer")]
        body: dict[str, Json] = {"contents": _contents(request.messages)}
        if system := "\n\n".join(text for text in lifted if text):
            body["systemInstruction"] = {"parts": [{"text": system}]}
        wishes = {
            "temperature": sampling.temperature,
            "topP": sampling.top_p,
            "topK": sampling.top_k,
            "maxOutputTokens": sampling.max_tokens,
            "seed": sampling.seed,
            "stopSequences": list(sampling.stop) or None,
            "thinkingConfig": _thinking(sampling.reasoning_effort, learned),
        }
        body |= {f"{_CONFIG}{name}": value for name, value in wishes.items() if value is not None}
        if request.tools:
            body["tools"] = [{"functionDeclarations": [_function(t) for t in request.tools]}]
            if request.tool_choice:
                body["toolConfig.functionCallingConfig"] = _choice(request.tool_choice)
        if request.shape is not None and (rung := learned.get("rung", "schema")) != "none":
            body[_KIND] = "application/json"
            if rung == "schema":
                body[_SCHEMA] = _schema(request.shape.schema)
        if request.top_logprobs and learned.get("logprobs") != "none":
            body |= {_LOGPROBS: True, f"{_CONFIG}logprobs": min(request.top_logprobs, 20)}
        return {**body, **sampling.extra}

    def _learn(
        self, refusal: Refusal, request: Request, body: Mapping[str, Json], learned: dict[str, str]
    ) -> None:
        text = refusal.text
        if _LOGPROBS in body and "logprobs" in text:
            learned["logprobs"] = "none"
        elif _THINKING in body and "thinking" in text:
            by_level = "thinkingLevel" in body[_THINKING]
            learned["thinking"] = "budget" if by_level else "none"
        elif _KIND in body and any(word in text for word in ("mime", "json mode", "schema")):
            learned["rung"] = "json" if _SCHEMA in body and "mime" not in text else "none"

    def _read(self, payload: Json, rung: str) -> Reply:
        candidates = payload.get("candidates") or []
        candidate = candidates[0] if candidates else {}
        if not candidates and not payload.get("promptFeedback"):
            raise LookupError("candidates")
        parts = (candidate.get("content") or {}).get("parts") or []
        thoughts = [part.get("text") or "" for part in parts if part.get("thought")]
        texts = [part["text"] for part in parts if "text" in part and not part.get("thought")]
        used = [part["functionCall"] for part in parts if "functionCall" in part]
        inner, text = split("".join(texts)) if texts else ("", None)
        blocked = (payload.get("promptFeedback") or {}).get("blockReason")
        signed = any("thoughtSignature" in part for part in parts)
        usage = payload.get("usageMetadata") or {}
        thinking_tokens = usage.get("thoughtsTokenCount") or 0
        return Reply(
            text=text or None,
            thinking="\n\n".join(part for part in (*thoughts, inner) if part),
            finish=str(candidate.get("finishReason") or blocked or ""),
            usage=usage_of(
                usage.get("promptTokenCount"),
                (usage.get("candidatesTokenCount") or 0) + thinking_tokens,
                cached_tokens=usage.get("cachedContentTokenCount"),
                reasoning_tokens=thinking_tokens,
            ),
            request_id=str(payload.get("responseId") or ""),
            served_by=str(payload.get("modelVersion") or ""),
            logprobs=_alternatives(candidate.get("logprobsResult")),
            tool_calls=tuple(_called(call, place) for place, call in enumerate(used, 1)),
            carried={self.provider: parts} if used and signed else {},
        )


def _called(call: Mapping[str, Json], place: int) -> ToolCall:
    """Read a call; most have no id, and are then named by what they call and their place."""
    name = str(call["name"])
    call_id = str(call.get("id") or f"{name}-{place}")
    return ToolCall(name=name, arguments=call.get("args") or {}, id=call_id)


def _contents(messages: Sequence[Message]) -> list[dict[str, Json]]:
    """Write a conversation; the results of parallel calls come back in one message."""
    whole = paired(messages)
    names = tool_names(whole)
    contents: list[dict[str, Json]] = []
    results: list[Json] | None = None
    for message in whole:
        if message.role in ("system", "developer"):
            continue
        if message.role == "tool":
            if results is None:
                results = []
                contents.append({"role": "user", "parts": results})
            name = names.get(message.tool_call_id, message.tool_call_id)
            response = {"name": name, "response": {"result": message.content}}
            results.append({"functionResponse": response})
            continue
        results = None
        role = "model" if message.role == "assistant" else "user"
        if parts := _parts(message):
            contents.append({"role": role, "parts": parts})
    return contents


def _parts(message: Message) -> list[Json]:
    kept = message.carried.get(Gemini.provider) or []
    used = [part["functionCall"].get("name") for part in kept if "functionCall" in part]
    if kept and used == [call.name for call in message.tool_calls]:
        return list(kept)
    parts: list[Json] = [_picture(address) for address in message.images]
    if message.content:
        parts.append({"text": message.content})
    for call in message.tool_calls:
        args = call.arguments if isinstance(call.arguments, Mapping) else {"value": call.arguments}
        parts.append({"functionCall": {"name": call.name, "args": args}})
    return parts


def _picture(address: str) -> dict[str, Json]:
    """Write a picture or a document as a part of a message."""
    if (inline := _DATA.fullmatch(address)) is not None:
        return {"inlineData": {"mimeType": inline[1], "data": inline[2]}}
    return {"fileData": {"fileUri": address}}


def _function(tool: Tool) -> dict[str, Json]:
    function: dict[str, Json] = {"name": tool.name, "description": tool.description or tool.name}
    if tool.parameters.get("properties"):
        function["parameters"] = _schema(tool.parameters)
    return function


def _choice(tool_choice: str) -> dict[str, Json]:
    if tool_choice in _MODES:
        return {"mode": _MODES[tool_choice]}
    return {"mode": "ANY", "allowedFunctionNames": [tool_choice]}


def _thinking(effort: str | None, learned: Mapping[str, str]) -> dict[str, Json] | None:
    """Ask for an effort of thinking, in the way that the model takes."""
    level = known_effort(effort, learned)
    if level is None or learned.get("thinking") == "none":
        return None
    told = {} if level == "none" else {"includeThoughts": True}
    if learned.get("thinking") == "budget":
        return {"thinkingBudget": _BUDGETS[level], **told}
    return {"thinkingLevel": _LEVELS.get(level, level), **told}


def _schema(schema: Json, *, names: bool = False) -> Json:
    """Leave out of a schema what this API does not take; names of properties are kept."""
    if isinstance(schema, list):
        return [_schema(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    if names:
        return {name: _schema(part) for name, part in schema.items()}
    kept = {
        name: part if name in ("enum", "required") else _schema(part, names=name == "properties")
        for name, part in schema.items()
        if name in _KEPT
    }
    kinds = schema.get("type")
    if isinstance(kinds, list):
        kept["type"] = next((kind for kind in kinds if kind != "null"), "string")
        kept |= {"nullable": True} if "null" in kinds else {}
    return kept


def _alternatives(result: Json) -> dict[str, float]:
    """Return the alternatives to the first token with their log-probabilities."""
    rows = (result.get("topCandidates") or [{}]) if isinstance(result, Mapping) else [{}]
    return {
        str(row["token"]): float(row["logProbability"])
        for row in rows[0].get("candidates") or ()
        if isinstance(row.get("logProbability"), int | float)
    }
