"""What an agent did, step by step: an outline, a timeline, and one step with input and output."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.core.attempt import TURNS, Attempt, used_by_candidate
from proctor.core.rounds import TOOK, USER
from proctor.core.suite import Message, ToolCall
from proctor.engine.models.proxy_call import MODEL
from proctor.reports.reasons import rows_of
from proctor.reports.turns import ShownPost, ShownRound, rounds_shown
from proctor.web.highlight import pieces
from proctor.web.pages.case_view import Laid, laid_image, written
from proctor.web.pages.trace_tree import PlacedStep, flat, place, tree_of

_CODE = ("code", "python", "reply_content", "snippet")
_RESULTS = ("execution_result", "result", "output", "observation", "verification")
_STATES = ("execution_status", "status", "state")
_FAILED = ("failure", "failed", "error", "incorrect")
_SIGNS_OF_ERROR = ("error", "traceback (most recent call last)", "exception:")
_EXCHANGED = ("model_settings", "model_request", "function", "model_usage")
"""The attachments of a model call that the proxy saw."""
_CONTENTS = ("content", "parts", "output", "text")
"""What APIs call the words of a message."""
_FIRST_ERROR = 400
MOST_LOOKED = 4000
"""How many characters of an output are looked through for signs of an error."""


def trace_of(attempt: Attempt, *, most: int | None) -> list[Laid]:
    """Return the steps of an agent, each before those within it; none for a mere answer."""
    rounds = rounds_shown(attempt)
    tree = (
        [step for one in rounds for step in _tree_of_round(one, attempt, most)]
        if rounds
        else _steps_of_messages(attempt, most)
    )
    steps = list(flat(tree))
    for number, step in enumerate(steps, 1):
        step["number"] = number
    place(tree)
    return steps


def chosen_step(steps: Sequence[Laid], wanted: int) -> int:
    """Return the number of the step to show: the one asked for, else the first that failed."""
    if 1 <= wanted <= len(steps):
        return wanted
    return next((step["number"] for step in steps if step["failed"]), 1)


def next_error(steps: Sequence[Laid], after: int) -> int | None:
    """Return the number of the next step that failed, from the beginning after the last."""
    failed = [step["number"] for step in steps if step["failed"]]
    return next((number for number in failed if number > after), failed[0] if failed else None)


def _tree_of_round(one: ShownRound, attempt: Attempt, most: int | None) -> list[Laid]:
    """Return the steps of a round: what was done within a step hangs on it."""
    posts = list(one.posts)
    placed: list[PlacedStep] = []
    while posts:
        post = posts.pop(0)
        if post.sender == MODEL:
            placed.append(_model_call(post, one.number, most))
            continue
        reply = posts[0] if posts and _answers(posts[0], post) else None
        if reply is not None:
            posts.pop(0)
        step = _step_of_post(post, reply, one.number, most)
        tool = post.receiver if post.receiver not in (USER, post.sender) else ""
        placed.append(
            PlacedStep(step=step, id=post.id, parent=post.parent, tool=tool, text=post.message)
        )
    tree = tree_of(placed)
    steps = list(flat(tree))
    turn = _turn(attempt, one.number)
    if steps and all(step["seconds"] is None for step in steps):
        steps[-1]["seconds"] = turn.get("seconds")
    if steps and all(step["tokens"] is None for step in steps):
        steps[-1]["tokens"] = turn.get("tokens")
    if one.error or one.state == "failed":
        if not steps:
            steps = tree = [_step(one.number, "round", one.state)]
        steps[-1]["failed"] = True
        steps[-1]["error"] = one.error
    return tree


def _model_call(post: ShownPost, round_number: int, most: int | None) -> PlacedStep:
    """Lay out a model call that the proxy saw: what was new in the request, and the reply."""
    kinds = dict(post.attachments)
    usage, spent = _object(kinds.get("model_usage")), _spent(kinds)
    messages = _json(kinds.get("model_request"))
    last = _text_of(messages[-1] if isinstance(messages, list) and messages else messages)
    functions = [_object(text) for kind, text in post.attachments if kind == "function"]
    wanted = [(str(one.get("name") or ""), str(one.get("arguments") or "")) for one in functions]
    reply = "\n".join([post.message, *(f"{name}({words})" for name, words in wanted)]).strip()
    status = _number(usage.get("status"))
    step = _step(round_number, "model", str(usage.get("model") or post.sender)) | {
        "input": pieces(last, most=most),
        "output": pieces(reply, most=most),
        "exchange": [
            {"kind": kind, "text": pieces(text, most=most)}
            for name in _EXCHANGED
            for kind, text in post.attachments
            if kind == name
        ],
        "failed": status is not None and status >= _FIRST_ERROR,
        "error": f"HTTP {status:g}" if status is not None and status >= _FIRST_ERROR else "",
        "more": [
            {"kind": kind, "text": pieces(text, most=most)}
            for kind, text in post.attachments
            if kind not in _EXCHANGED
        ],
        "seconds": _number(spent.get("seconds")),
        "tokens": _number(spent.get("tokens")),
        "length": len(last) + len(reply),
    }
    return PlacedStep(
        step=step, id=post.id, parent=post.parent, text=post.message, asks=tuple(wanted)
    )


def _text_of(message: Any) -> str:
    """Return the text of a message, in whatever API it was sent."""
    if not isinstance(message, Mapping):
        return message if isinstance(message, str) else "" if message is None else written(message)
    content = next((message[name] for name in _CONTENTS if message.get(name)), None)
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        if texts and all(isinstance(one, str) for one in texts):
            return "\n".join(str(one) for one in texts)
    return content if isinstance(content, str) else written(message)


def _json(text: str | None) -> Any:
    try:
        return json.loads(text or "")
    except (ValueError, RecursionError):
        return text


def _object(text: str | None) -> Mapping[str, Any]:
    value = _json(text)
    return value if isinstance(value, dict) else {}


def _answers(post: ShownPost, call: ShownPost) -> bool:
    """Tell whether a post is what a tool returned to the one that called it."""
    between = (call.sender, call.receiver)
    if call.sender == call.receiver or USER in between or call.attachments:
        return False
    return (post.receiver, post.sender) == between


def _step_of_post(
    post: ShownPost, reply: ShownPost | None, round_number: int, most: int | None
) -> Laid:
    attached = (*post.attachments, *(reply.attachments if reply else ()))
    kinds = dict(attached)
    code = next((kinds[name] for name in _CODE if kinds.get(name)), "")
    result = next((kinds[name] for name in _RESULTS if kinds.get(name)), "")
    state = next((kinds[name] for name in _STATES if kinds.get(name)), "")
    title = post.receiver if reply else f"{post.sender} → {post.receiver}"
    kind = "tool" if reply else "code" if code else "post"
    returned = reply.message if reply else post.message if code else ""
    spent = _spent(kinds)
    rest = [(name, text) for name, text in attached if text not in (code, result) and name != TOOK]
    return _step(round_number, kind, title) | {
        "input": pieces(code or post.message, most=most),
        "language": "python" if code else _language(post) if reply else "",
        "output": pieces(result or returned, most=most),
        "more": [{"kind": name, "text": pieces(text, most=most)} for name, text in rest],
        "failed": state.strip().lower() in _FAILED or _looks_failed(result or returned),
        "seconds": _number(spent.get("seconds")),
        "tokens": _number(spent.get("tokens")),
        "length": len(post.message) + len(returned) + sum(len(text) for _, text in attached),
    }


def _language(post: ShownPost) -> str:
    """Return what a tool was given: a program, JSON, or plain words."""
    if post.receiver.lower() in _CODE:
        return "python"
    return "json" if post.message.lstrip()[:1] in ("{", "[") else ""


def _spent(kinds: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what a step took: as the agent said, or as the proxy saw it."""
    for name in (TOOK, "model_usage"):
        if spent := _object(kinds.get(name)):
            parts = [_number(spent.get(f"{part}_tokens")) for part in ("prompt", "completion")]
            counted = [part for part in parts if part is not None]
            return {"tokens": sum(counted), **spent} if counted else spent
    return {}


def _turn(attempt: Attempt, number: int) -> Mapping[str, Any]:
    """Return what a turn took, counted from 1; one turn alone took what the attempt did."""
    turns = rows_of(dict(attempt.meta), TURNS)
    if number <= len(turns):
        return {name: _number(turns[number - 1].get(name)) for name in ("seconds", "tokens")}
    usage = used_by_candidate(attempt)
    parts = [usage.get(f"{part}_tokens") for part in ("prompt", "completion")]
    counted = [part for part in map(_number, parts) if part is not None]
    tokens = sum(counted) if counted else None
    return {} if turns or number > 1 else {"seconds": attempt.seconds, "tokens": tokens}


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None  # type: ignore[return-value]


def _steps_of_messages(attempt: Attempt, most: int | None) -> list[Laid]:
    """Return the steps of a candidate that called tools; a call and its result are one step."""
    messages = attempt.messages
    if not any(message.tool_calls for message in messages):
        return []
    results = {one.tool_call_id: one.content for one in messages if one.role == "tool"}
    steps, turn, replies = [], 0, 0
    for message in messages:
        if message.role == "user":
            turn += 1
            steps.append(_message_step(message, turn, most))
        elif message.role == "assistant":
            replies += 1
            before = len(steps)
            if message.content.strip() or not message.tool_calls:
                steps.append(_message_step(message, turn, most))
            for call in message.tool_calls:
                steps.append(_step_of_call(call, results.get(call.id, ""), turn, most))
            if len(steps) > before:
                # What the model thought and took for its reply stands with its first step.
                steps[before] |= {"reply": replies, **_turn(attempt, replies)}
                steps[before]["thinking"] = pieces(message.thinking, most=most)
    return steps


def _step_of_call(call: ToolCall, result: str, turn: int, most: int | None) -> Laid:
    raw = call.arguments
    arguments = raw if isinstance(raw, str) else written(raw)
    return _step(max(1, turn), "tool", call.name) | {
        "input": pieces(arguments, most=most),
        "language": "json",
        "output": pieces(result, most=most),
        "failed": _looks_failed(result),
        "length": len(arguments) + len(result),
    }


def _message_step(message: Message, turn: int, most: int | None) -> Laid:
    step = _step(max(1, turn), "post", message.role)
    return step | {
        "input": pieces(message.content, most=most),
        "images": [laid_image(address) for address in message.images],
        "length": len(message.content),
    }


def _step(round_number: int, kind: str, title: str) -> Laid:
    step: dict[str, Any] = {
        "number": 0,
        "round": round_number,
        "kind": kind,
        "title": title,
        "input": [],
        "language": "",
        "output": [],
        "thinking": [],
        "images": [],
        "more": [],
        "exchange": [],
        "reply": 0,
        "within": [],
        "inside": False,
        "depth": 0,
        "failed": False,
        "error": "",
        "seconds": None,
        "tokens": None,
        "length": 0,
    }
    return step


def _looks_failed(text: str) -> bool:
    """Tell whether an output begins like an error, or has a traceback in it."""
    looked = text[:MOST_LOOKED].strip().lower()
    first, *_ = _SIGNS_OF_ERROR
    return looked.startswith(first) or any(sign in looked for sign in _SIGNS_OF_ERROR[1:])
