"""OpenAI's chat completions: how a request is written, and how a reply is read."""

from collections.abc import Mapping
from math import exp, inf, log1p

from proctor.core.exchange import Reply, ReplyShape, Request, Usage
from proctor.core.suite import Json, Message, Tool
from proctor.models.http_model import (
    ImpossibleNumber,
    arguments_text,
    called,
    shape_name,
    split,
    usage_of,
)
from proctor.models.refused_fields import NAME_OF_TOKENS, TOKENS, Refusal, known_effort

_ABOUT_SCHEMA = ("response_format", "response format", "json_schema", "json schema", "structured",
                 "guided", "grammar", "text.format")  # fmt: skip
_ABOUT_TOOLS = ("tool", "function")
_ABOUT_LOGPROBS = ("logprobs", "log_probs", "log probabilities")
FEW_LOGPROBS = 5
"""How many alternatives to a token a server is asked for that does not give more."""


def chat_body(request: Request, learned: Mapping[str, str]) -> dict[str, Json]:
    """Write a request, without the name of the model."""
    sampling = request.sampling
    body: dict[str, Json] = {"messages": [_message(message) for message in request.messages]}
    wishes = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        learned.get(NAME_OF_TOKENS, TOKENS): sampling.max_tokens,
        "seed": sampling.seed,
        "stop": list(sampling.stop) or None,
        "reasoning_effort": known_effort(sampling.reasoning_effort, learned),
    }
    body |= {name: value for name, value in wishes.items() if value is not None}
    if request.tools:
        body["tools"] = [{"type": "function", "function": _function(t)} for t in request.tools]
        if request.tool_choice:
            body["tool_choice"] = _choice(request.tool_choice)
    if request.shape is not None:
        body |= _shaped(request.shape, learned.get("rung", "schema"), bool(request.tools))
    if (most := wanted_logprobs(request, learned)) is not None:
        body |= {"logprobs": True, "top_logprobs": most}
    return body


def wanted_logprobs(request: Request, learned: Mapping[str, str]) -> int | None:
    """Return how many alternatives to a token to ask for; none where none are to be had."""
    if not request.top_logprobs or learned.get("logprobs") == "none":
        return None
    most = FEW_LOGPROBS if learned.get("logprobs") == "few" else request.top_logprobs
    return min(most, request.top_logprobs)


def learn_shape(
    refusal: Refusal, request: Request, body: Mapping[str, Json], learned: dict[str, str]
) -> None:
    """Learn how else a shape or log-probabilities can be asked for."""
    schema = "response_format" in body or "text.format" in body
    if schema and any(word in refusal.text for word in _ABOUT_SCHEMA):
        learned.setdefault("rung", "tool")
    elif "tools" in body and not request.tools and any(w in refusal.text for w in _ABOUT_TOOLS):
        learned["rung"] = "none"
    elif "top_logprobs" in body and any(word in refusal.text for word in _ABOUT_LOGPROBS):
        learned["logprobs"] = "few" if body["top_logprobs"] > FEW_LOGPROBS else "none"


def read_chat(payload: Json, rung: str) -> Reply:
    """Read a reply; the call of the tool that stands for a shape is its text."""
    choice = payload["choices"][0]
    message = choice.get("message") or {}
    calls = message.get("tool_calls")
    functions = [(call["function"], call.get("id")) for call in calls] if calls else []
    reply_text = text_of(message.get("content"))
    if rung == "tool" and functions:
        reply_text, functions = arguments_text(functions[0][0]["arguments"]), []
    if reply_text is None:
        reply_text = message.get("refusal")
    thinking, text = split(reply_text) if reply_text else ("", reply_text)
    apart = message.get("reasoning_content") or message.get("reasoning") or ""
    return Reply(
        text=text or None,
        thinking="\n\n".join(filter(None, (text_of(apart), thinking))),
        finish=str(choice.get("finish_reason") or ""),
        usage=chat_usage(payload.get("usage") or {}),
        request_id=str(payload.get("id") or ""),
        served_by=str(payload.get("model") or ""),
        logprobs=alternatives(choice.get("logprobs")),
        tool_calls=tuple([called(f["name"], f.get("arguments"), id_) for f, id_ in functions]),
    )


def chat_usage(usage: Mapping[str, Json]) -> Usage:
    """Read what a call took; the cached part of the prompt is told apart, and the thinking."""
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    return usage_of(
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        cached_tokens=prompt.get("cached_tokens"),
        reasoning_tokens=completion.get("reasoning_tokens"),
    )


def _message(message: Message) -> dict[str, Json]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    if message.tool_calls:
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_text(call.arguments)},
            }
            for call in message.tool_calls
        ]
        return {"role": message.role, "content": message.content or None, "tool_calls": calls}
    if not message.images:
        return {"role": message.role, "content": message.content}
    parts: list[Json] = [{"type": "text", "text": message.content}] if message.content else []
    parts += [_picture(image) for image in message.images]
    return {"role": message.role, "content": parts}


def _picture(address: str) -> dict[str, Json]:
    """Write a picture or a document as a part of a message."""
    if address.startswith("data:") and not address.startswith("data:image/"):
        return {"type": "file", "file": {"filename": file_name(address), "file_data": address}}
    return {"type": "image_url", "image_url": {"url": address}}


def file_name(address: str) -> str:
    """Name a document, for servers that want a name."""
    kind = address.removeprefix("data:").partition(";")[0].partition("/")[2]
    return f"document.{kind if kind.isalnum() else 'txt'}"


def _function(tool: Tool) -> dict[str, Json]:
    return {
        "name": tool.name,
        **({"description": tool.description} if tool.description else {}),
        "parameters": tool.parameters or {"type": "object", "properties": {}},
    }


def _choice(tool_choice: str) -> Json:
    if tool_choice in ("auto", "none", "required"):
        return tool_choice
    return {"type": "function", "function": {"name": tool_choice}}


def _shaped(shape: ReplyShape, rung: str, tools: bool) -> dict[str, Json]:
    name = shape_name(shape)
    if rung == "schema":
        schema_format = {"name": name, "schema": shape.schema, "strict": is_closed(shape.schema)}
        return {"response_format": {"type": "json_schema", "json_schema": schema_format}}
    if rung == "tool" and not tools:
        function = {"name": name, "parameters": shape.schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": name}},
        }
    return {}


def is_closed(schema: Json) -> bool:
    """Tell whether every object of a schema has all its fields and no others, as strict needs."""
    if isinstance(schema, list):
        return all(is_closed(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if "properties" in schema:
        whole = set(schema.get("required", ())) == set(schema["properties"])
        if not whole or schema.get("additionalProperties") is not False:
            return False
    elif schema.get("type") == "object":
        return False
    return all(is_closed(part) for part in schema.values())


def text_of(content: Json) -> str | None:
    """Return content as text; parts are joined, none stays none."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise TypeError(f"the content is {type(content).__name__}")
    parts = [part if isinstance(part, str) else part.get("text") for part in content]
    texts = [part for part in parts if isinstance(part, str)]
    return "".join(texts) if texts else None


def alternatives(logprobs: Json) -> dict[str, float]:
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
