"""OpenAI's Responses API: how a request is written, and how a reply is read."""

from collections.abc import Iterator, Mapping

from proctor.core.exchange import Reply, Request
from proctor.core.suite import Json, Message, Tool
from proctor.models.chat_completions import alternatives, file_name, is_closed, wanted_logprobs
from proctor.models.http_model import arguments_text, called, shape_name, split, usage_of
from proctor.models.refused_fields import known_effort
from proctor.models.tool_messages import paired

CARRIED = "openai"
"""The name under which a message carries the thinking that is sent back with it."""
_ENCRYPTED, _LOGPROBS = "reasoning.encrypted_content", "message.output_text.logprobs"
_ANSWERS = ("output_text", "refusal")


def responses_body(request: Request, learned: Mapping[str, str]) -> dict[str, Json]:
    """Write a request, without the name of the model; nothing of it is kept at the server."""
    sampling = request.sampling
    body: dict[str, Json] = {
        "input": [item for message in paired(request.messages) for item in _items(message)],
        "store": False,
    }
    wishes = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "max_output_tokens": sampling.max_tokens,
        "seed": sampling.seed,
        "stop": list(sampling.stop) or None,
        "reasoning.effort": known_effort(sampling.reasoning_effort, learned),
        "top_logprobs": wanted_logprobs(request, learned),
    }
    body |= {name: value for name, value in wishes.items() if value is not None}
    if request.tools:
        body["tools"] = [_function(tool) for tool in request.tools]
        if request.tool_choice:
            body["tool_choice"] = _choice(request.tool_choice)
    if request.shape is not None:
        shape, name = request.shape, shape_name(request.shape)
        rung = learned.get("rung", "schema")
        if rung == "schema":
            strict = is_closed(shape.schema)
            schema = {"type": "json_schema", "name": name, "schema": shape.schema, "strict": strict}
            body["text.format"] = schema
        elif rung == "tool" and not request.tools:
            body["tools"] = [_function(Tool(name=name, parameters=shape.schema))]
            body["tool_choice"] = _choice(name)
    wanted = ([_ENCRYPTED] if request.tools else []) + (
        [_LOGPROBS] if "top_logprobs" in body else []
    )
    return body | ({"include": wanted} if wanted else {})


def read_response(payload: Json, rung: str) -> Reply:
    """Read a reply; the call of the tool that stands for a shape is its text."""
    texts, calls, thoughts, kept = [], [], [], []
    logprobs: Json = None
    for item in payload["output"]:
        kind = item.get("type")
        if kind == "message":
            for part in item.get("content") or ():
                if part.get("type") in _ANSWERS:
                    texts.append(part.get("text") or part.get("refusal") or "")
                    logprobs = logprobs or part.get("logprobs")
        elif kind == "function_call":
            calls.append(item)
        elif kind == "reasoning":
            parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
            thoughts += [part.get("text") or "" for part in parts]
            if item.get("encrypted_content"):
                kept.append(item)
    if rung == "tool" and calls:
        texts, calls = [arguments_text(calls[0]["arguments"])], []
    inner, text = split("".join(texts)) if texts else ("", None)
    finish = (payload.get("incomplete_details") or {}).get("reason") or payload.get("status")
    usage = payload.get("usage") or {}
    return Reply(
        text=text or None,
        thinking="\n\n".join(part for part in (*thoughts, inner) if part),
        finish=str(finish or ""),
        usage=usage_of(
            usage.get("input_tokens"),
            usage.get("output_tokens"),
            cached_tokens=(usage.get("input_tokens_details") or {}).get("cached_tokens"),
            reasoning_tokens=(usage.get("output_tokens_details") or {}).get("reasoning_tokens"),
        ),
        request_id=str(payload.get("id") or ""),
        served_by=str(payload.get("model") or ""),
        logprobs=alternatives({"content": logprobs}),
        tool_calls=tuple(
            called(c["name"], c.get("arguments"), c.get("call_id") or c.get("id")) for c in calls
        ),
        carried={CARRIED: kept} if kept else {},
    )


def _items(message: Message) -> Iterator[dict[str, Json]]:
    """Yield a message as the items of a conversation, thinking before what came of it."""
    if message.role == "tool":
        call_id, output = message.tool_call_id, message.content
        yield {"type": "function_call_output", "call_id": call_id, "output": output}
        return
    yield from message.carried.get(CARRIED) or ()
    if message.content or message.images or not message.tool_calls:
        yield {"role": message.role, "content": _content(message)}
    for call in message.tool_calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": arguments_text(call.arguments),
        }


def _content(message: Message) -> Json:
    if not message.images:
        return message.content
    parts: list[Json] = [{"type": "input_text", "text": message.content}] if message.content else []
    return parts + [_part(address) for address in message.images]


def _part(address: str) -> dict[str, Json]:
    """Write a picture or a document as a part of a message."""
    if address.startswith("data:") and not address.startswith("data:image/"):
        return {"type": "input_file", "filename": file_name(address), "file_data": address}
    return {"type": "input_image", "image_url": address}


def _function(tool: Tool) -> dict[str, Json]:
    return {
        "type": "function",
        "name": tool.name,
        **({"description": tool.description} if tool.description else {}),
        "parameters": tool.parameters or {"type": "object", "properties": {}},
        "strict": False,
    }


def _choice(tool_choice: str) -> Json:
    if tool_choice in ("auto", "none", "required"):
        return tool_choice
    return {"type": "function", "name": tool_choice}
