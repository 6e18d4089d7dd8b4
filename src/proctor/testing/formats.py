"""The four wire formats of a fake server: which path has which, and how replies are written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from proctor.core.suite import Json
from proctor.testing import replies
from proctor.testing.replies import Answer

Writer = Callable[[Answer, Json, int], Json]


def response(answer: Answer, body: Json, number: int) -> Json:
    """Write a reply as the Responses API has it."""
    output: list[Json] = []
    if answer.thinking:
        item: Json = {
            "type": "reasoning",
            "id": f"rs-{number}",
            "summary": [{"type": "summary_text", "text": answer.thinking}],
        }
        if "reasoning.encrypted_content" in (body.get("include") or ()):
            item["encrypted_content"] = f"sealed-{number}"
        output.append(item)
    calls = replies.called_tools(answer, number)
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and not calls:
        output.append(_call(f"tool-{number}", choice["name"], answer.text or ""))
    elif answer.text is not None:
        part: Json = {"type": "output_text", "text": answer.text, "annotations": []}
        if body.get("top_logprobs") and answer.logprobs:
            part["logprobs"] = [replies.first_token(answer.logprobs, body)]
        output.append({"type": "message", "role": "assistant", "content": [part]})
    output += [_call(call.id, call.name, replies.json_text(call.arguments)) for call in calls]
    tokens_in, tokens_out = replies.tokens_of(answer, body)
    cut = answer.finish == "length"
    return {
        "id": f"fake-{number}",
        "object": "response",
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "model": body.get("model") or "fake",
        "output": output,
        "usage": {
            "input_tokens": tokens_in,
            "input_tokens_details": {"cached_tokens": answer.cached_tokens},
            "output_tokens": tokens_out,
            "output_tokens_details": {"reasoning_tokens": answer.reasoning_tokens},
            "total_tokens": tokens_in + tokens_out,
        },
    }


def generated_content(answer: Answer, body: Json, number: int) -> Json:
    """Write a reply as ``generateContent`` has it."""
    parts: list[Json] = []
    if answer.thinking:
        parts.append({"text": answer.thinking, "thought": True})
    if answer.text is not None:
        parts.append({"text": answer.text})
    for call in replies.called_tools(answer, number):
        part: Json = {"functionCall": {"name": call.name, "args": call.arguments}}
        if answer.thinking:
            part["thoughtSignature"] = f"signed-{number}"
        parts.append(part)
    tokens_in, tokens_out = replies.tokens_of(answer, body)
    usage = {
        "promptTokenCount": tokens_in,
        "candidatesTokenCount": tokens_out - answer.reasoning_tokens,
        "thoughtsTokenCount": answer.reasoning_tokens,
        "cachedContentTokenCount": answer.cached_tokens,
    }
    reasons = {"stop": "STOP", "length": "MAX_TOKENS"}
    finish = reasons.get(answer.finish, answer.finish)
    candidate: Json = {"content": {"role": "model", "parts": parts}, "finishReason": finish}
    if (body.get("generationConfig") or {}).get("responseLogprobs") and answer.logprobs:
        rows = [{"token": t, "logProbability": value} for t, value in answer.logprobs.items()]
        candidate["logprobsResult"] = {"topCandidates": [{"candidates": rows}]}
    return {
        "candidates": [candidate],
        "usageMetadata": {name: count for name, count in usage.items() if count},
        "modelVersion": "fake",
        "responseId": f"fake-{number}",
    }


def _call(call_id: str, name: str, arguments: str) -> Json:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


@dataclass(frozen=True, slots=True)
class Format:
    """One wire format."""

    messages: str
    """The field that holds the conversation."""
    write: Writer
    emptied: str
    """The field that is empty in a reply without choices."""


FORMATS: Mapping[str, Format] = {
    "/chat/completions": Format("messages", replies.chat_completion, "choices"),
    "/responses": Format("input", response, "output"),
    "/messages": Format("messages", replies.messages_reply, "content"),
    ":generateContent": Format("contents", generated_content, "candidates"),
}
"""The formats by the end of their path."""


def format_at(path: str) -> Format | None:
    """Return the format that a path speaks."""
    return next((form for ending, form in FORMATS.items() if path.endswith(ending)), None)


def refused_field(body: Json, refused: Mapping[str, str] | tuple[str, ...]) -> str:
    """Return the first field of a body that is refused; ``name=value`` refuses one value."""
    for entry in refused:
        name, sign, value = entry.partition("=")
        place = body
        for part in name.split("."):
            place = place.get(part) if isinstance(place, dict) else None
        if place is not None and (not sign or str(place) == value):
            return entry
    return ""


def refusal_words(entry: str) -> str:
    """Say that a field is refused, as servers say it."""
    name, sign, value = entry.partition("=")
    if sign:
        return f"Unsupported value: '{name}' does not support '{value}' with this model."
    whole, _, last = name.partition(".")
    if whole == "generationConfig":
        return f'Invalid JSON payload received. Unknown name "{last}" at {whole!r}.'
    return f"Unsupported parameter: '{name}' is not supported with this model."
