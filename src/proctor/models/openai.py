"""Servers that speak OpenAI's chat completions, and deployments at Azure."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, log1p
from typing import ClassVar
from urllib.parse import quote, urlsplit

from proctor.core.exchange import Reply, ReplyShape, Request, Upstream
from proctor.core.suite import Json, Message
from proctor.errors import UsageError
from proctor.io import json_bytes
from proctor.models.http_model import ImpossibleNumber, Served, shape_name, split, usage_of
from proctor.models.refused_fields import NAME_OF_TOKENS, TOKENS

_ABOUT_SCHEMA = ("response_format", "response format", "json_schema", "json schema", "structured",
                 "guided", "grammar")  # fmt: skip
_ABOUT_TOOLS = ("tool", "function")
_ABOUT_LOGPROBS = ("logprobs", "log_probs", "log probabilities")
FEW_LOGPROBS = 5
"""How many alternatives to a token a server is asked for that does not give more."""


@dataclass(eq=False)
class OpenAI(Served):
    """A model of OpenAI, or of any server that is compatible with it."""

    key_env: str = "OPENAI_API_KEY"

    provider: ClassVar[str] = "openai"
    home: ClassVar[str] = "https://api.openai.com/v1"
    home_env: ClassVar[str] = "OPENAI_BASE_URL"
    path: ClassVar[str] = "/chat/completions"

    def _auth(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    async def upstream(self) -> Upstream:
        destination = self._destination(self._bases[0])
        return Upstream(destination=destination, model=self.model, price=self.price)

    def _body(self, request: Request, learned: Mapping[str, str]) -> dict[str, Json]:
        sampling = request.sampling
        body: dict[str, Json] = {"messages": [_message(message) for message in request.messages]}
        if self.model and self.model != "none":
            body["model"] = self.model
        wishes = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            learned.get(NAME_OF_TOKENS, TOKENS): sampling.max_tokens,
            "seed": sampling.seed,
            "stop": list(sampling.stop) or None,
        }
        body |= {name: value for name, value in wishes.items() if value is not None}
        if request.shape is not None:
            body |= _shaped(request.shape, learned.get("rung", "schema"))
        if request.top_logprobs and learned.get("logprobs") != "none":
            most = FEW_LOGPROBS if learned.get("logprobs") == "few" else request.top_logprobs
            body |= {"logprobs": True, "top_logprobs": min(most, request.top_logprobs)}
        body |= sampling.extra
        body.pop("stream", None)
        return body

    def _learn(self, refusal: str, body: Mapping[str, Json], learned: dict[str, str]) -> None:
        if "response_format" in body and any(word in refusal for word in _ABOUT_SCHEMA):
            learned.setdefault("rung", "tool")
        elif "tools" in body and any(word in refusal for word in _ABOUT_TOOLS):
            learned["rung"] = "none"
        elif "logprobs" in body and any(word in refusal for word in _ABOUT_LOGPROBS):
            learned["logprobs"] = "few" if body["top_logprobs"] > FEW_LOGPROBS else "none"

    def _read(self, payload: Json) -> Reply:
        choice = payload["choices"][0]
        message = choice.get("message") or {}
        reply_text = _called(message)
        if reply_text is None:
            reply_text = _text(message.get("content"))
        if reply_text is None:
            reply_text = message.get("refusal")
        thinking, text = split(reply_text) if reply_text else ("", reply_text)
        apart = message.get("reasoning_content") or message.get("reasoning") or ""
        usage = payload.get("usage") or {}
        return Reply(
            text=text or None,
            thinking="\n\n".join(part for part in (_text(apart), thinking) if part),
            finish=str(choice.get("finish_reason") or ""),
            usage=usage_of(usage.get("prompt_tokens"), usage.get("completion_tokens")),
            request_id=str(payload.get("id") or ""),
            served_by=str(payload.get("model") or ""),
            logprobs=_logprobs(choice.get("logprobs")),
        )


def _message(message: Message) -> dict[str, Json]:
    if not message.images:
        return {"role": message.role, "content": message.content}
    parts: list[Json] = [{"type": "text", "text": message.content}] if message.content else []
    parts += [{"type": "image_url", "image_url": {"url": image}} for image in message.images]
    return {"role": message.role, "content": parts}


def _shaped(shape: ReplyShape, rung: str) -> dict[str, Json]:
    name = shape_name(shape)
    if rung == "schema":
        schema_format = {"name": name, "schema": shape.schema, "strict": _is_closed(shape.schema)}
        return {"response_format": {"type": "json_schema", "json_schema": schema_format}}
    if rung == "tool":
        function = {"name": name, "parameters": shape.schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": name}},
        }
    return {}


def _is_closed(schema: Json) -> bool:
    """Tell whether every object of a schema has all its fields and no others, as strict needs."""
    if isinstance(schema, list):
        return all(_is_closed(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if "properties" in schema:
        whole = set(schema.get("required", ())) == set(schema["properties"])
        if not whole or schema.get("additionalProperties") is not False:
            return False
    elif schema.get("type") == "object":
        return False
    return all(_is_closed(part) for part in schema.values())


def _text(content: Json) -> str | None:
    """Return content as text; parts are joined, none stays none."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise TypeError(f"the content is {type(content).__name__}")
    parts = [part if isinstance(part, str) else part.get("text") for part in content]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if texts else None


def _called(message: Mapping[str, Json]) -> str | None:
    """Return the arguments of the tool that the model called, where it called one."""
    calls = message.get("tool_calls")
    if not calls:
        return None
    arguments = calls[0]["function"]["arguments"]
    return arguments if isinstance(arguments, str) else json_bytes.dumps(arguments).decode()


def _logprobs(logprobs: Json) -> dict[str, float]:
    """Return the alternatives to the first token; tokens that read the same are one."""
    tokens = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(tokens, list) or not tokens:
        return {}
    by_token: dict[str, float] = {}
    for row in tokens[0].get("top_logprobs") or tokens[:1]:
        token, value = row.get("token"), row.get("logprob")
        if isinstance(token, str) and isinstance(value, int | float):
            if value > 1:
                raise ImpossibleNumber(f"a log-probability of {value:.6g}")
            high, low = max(value, by_token.get(token, -inf)), min(value, by_token.get(token, -inf))
            by_token[token] = high + log1p(exp(low - high))
    return by_token


NEWEST = "2024-10-21"
_VERSION = "api-version="


@dataclass(eq=False)
class Azure(OpenAI):
    """A deployment: ``azure:DEPLOYMENT@https://HOST[?api-version=VERSION]``."""

    key_env: str = "AZURE_OPENAI_API_KEY"

    provider: ClassVar[str] = "azure"
    home: ClassVar[str] = ""
    home_env: ClassVar[str] = "AZURE_OPENAI_ENDPOINT"

    def _auth(self, key: str) -> dict[str, str]:
        return {"api-key": key} if key else {}

    def _base(self, url: str) -> str:
        if not url:
            raise UsageError(
                f"where is the deployment {self.model!r}? (fix: write"
                f" azure:{self.model}@https://NAME.openai.azure.com, or set {self.home_env})"
            )
        bare, _, query = url.strip().partition("?")
        parts = urlsplit(bare)
        path = parts.path.rstrip("/").removesuffix("/openai")
        base = super()._base(f"{parts.scheme}://{parts.netloc}{path}/openai")
        if query and not query.startswith(_VERSION):
            raise UsageError(f"{bare}: after '?' only {_VERSION}VERSION may stand")
        self._version = query.removeprefix(_VERSION) or NEWEST
        return base

    async def upstream(self) -> Upstream:
        """Refuse: calls to a deployment have another address than OpenAI's."""
        raise UsageError(f"{self.label}: calls to Azure are not passed on")

    @property
    def _call(self) -> str:
        return f"/deployments/{quote(self.model, safe='')}{self.path}?{_VERSION}{self._version}"
