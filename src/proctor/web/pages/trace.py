"""What an agent did, step by step: an outline, a timeline, and one step with input and output."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.core.attempt import TURNS, Attempt, used_by_candidate
from proctor.core.rounds import TOOK, USER
from proctor.core.suite import Message, ToolCall
from proctor.reports.reasons import rows_of
from proctor.reports.turns import ShownPost, ShownRound, rounds_shown
from proctor.web.highlight import pieces
from proctor.web.pages.case_view import Laid, written

_CODE = ("code", "python", "reply_content", "snippet")
_RESULTS = ("execution_result", "result", "output", "observation", "verification")
_STATES = ("execution_status", "status", "state")
_FAILED = ("failure", "failed", "error", "incorrect")
_SIGNS_OF_ERROR = ("error", "traceback (most recent call last)", "exception:")
WIDTH, LEAST_WIDTH = 1000.0, 8.0
"""Units of the timeline: in all, and of the shortest step."""
MOST_LOOKED = 4000
"""How many characters of an output are looked through for signs of an error."""


def trace_of(attempt: Attempt, *, most: int | None) -> list[Laid]:
    """Return the steps of an agent, in order; none for a model that only answered."""
    rounds = rounds_shown(attempt)
    steps = (
        [step for one in rounds for step in _steps_of_round(one, attempt, most)]
        if rounds
        else _steps_of_messages(attempt, most)
    )
    for number, step in enumerate(steps, 1):
        step["number"] = number
    _place(steps)
    return steps


def timed(steps: Sequence[Laid]) -> float | None:
    """Return how long all steps took together; none where nobody measured any."""
    seconds = [step["seconds"] for step in steps if step["seconds"] is not None]
    return sum(seconds) if seconds else None


def _place(steps: Sequence[Laid]) -> None:
    """Give every step its place on the timeline: by seconds where they are told, else by length."""
    measured = timed(steps)
    total = measured or float(sum(step["length"] for step in steps)) or 1.0
    start = 0.0
    for step in steps:
        part = (step["seconds"] or 0.0) if measured else step["length"]
        # What took next to no time can still be seen and clicked.
        step["width"] = max(LEAST_WIDTH, WIDTH * part / total)
        step["start"] = start
        start += step["width"]


def chosen_step(steps: Sequence[Laid], wanted: int) -> int:
    """Return the number of the step to show: the one asked for, else the first that failed."""
    if 1 <= wanted <= len(steps):
        return wanted
    return next((step["number"] for step in steps if step["failed"]), 1)


def next_error(steps: Sequence[Laid], after: int) -> int | None:
    """Return the number of the next step that failed, from the beginning after the last."""
    failed = [step["number"] for step in steps if step["failed"]]
    return next((number for number in failed if number > after), failed[0] if failed else None)


def _steps_of_round(one: ShownRound, attempt: Attempt, most: int | None) -> list[Laid]:
    steps, posts = [], list(one.posts)
    while posts:
        post = posts.pop(0)
        reply = posts[0] if posts and _answers(posts[0], post) else None
        if reply is not None:
            posts.pop(0)
        steps.append(_step_of_post(post, reply, one.number, most))
    turn = _turn(attempt, one.number)
    if steps and all(step["seconds"] is None for step in steps):
        steps[-1]["seconds"] = turn.get("seconds")
    if steps and all(step["tokens"] is None for step in steps):
        steps[-1]["tokens"] = turn.get("tokens")
    if one.error or one.state == "failed":
        if not steps:
            steps.append(_step(one.number, "round", one.state))
        steps[-1]["failed"] = True
        steps[-1]["error"] = one.error
    return steps


def _answers(post: ShownPost, call: ShownPost) -> bool:
    """Tell whether a post is what a tool returned to the one that called it."""
    between = (call.sender, call.receiver)
    return (post.receiver, post.sender) == between and USER not in between and not call.attachments


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
        try:
            spent = json.loads(kinds.get(name, ""))
        except (ValueError, RecursionError):
            continue
        if isinstance(spent, dict):
            parts = [_number(spent.get(f"{part}_tokens")) for part in ("prompt", "completion")]
            counted = [part for part in parts if part is not None]
            return {"tokens": sum(counted)} | spent if counted else spent
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
            if message.content.strip():
                steps.append(_message_step(message, turn, most))
            for call in message.tool_calls:
                steps.append(_step_of_call(call, results.get(call.id, ""), turn, most))
            if len(steps) > before:
                # What the model took for its reply stands with the first thing that it said.
                steps[before] |= _turn(attempt, replies)
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
    return step | {"input": pieces(message.content, most=most), "length": len(message.content)}


def _step(round_number: int, kind: str, title: str) -> Laid:
    step: dict[str, Any] = {
        "number": 0,
        "round": round_number,
        "kind": kind,
        "title": title,
        "input": [],
        "language": "",
        "output": [],
        "more": [],
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
