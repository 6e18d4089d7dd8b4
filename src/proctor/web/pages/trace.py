"""What an agent did, step by step: an outline, a timeline, and one step with input and output."""

from collections.abc import Sequence
from typing import Any

from proctor.core.attempt import Attempt
from proctor.core.rounds import ROUNDS
from proctor.core.suite import Message
from proctor.reports.reasons import rows_of
from proctor.reports.turns import ShownPost, ShownRound, rounds_shown
from proctor.web.highlight import pieces
from proctor.web.pages.case_view import Laid, written

_CODE = ("code", "python", "reply_content", "snippet")
_RESULTS = ("execution_result", "result", "output", "observation", "verification")
_STATES = ("execution_status", "status", "state")
_FAILED = ("failure", "failed", "error", "incorrect")
_SIGNS_OF_ERROR = ("error", "traceback (most recent call last)", "exception:")
MOST_LOOKED = 4000
"""How many characters of an output are looked through for signs of an error."""


def trace_of(attempt: Attempt, *, most: int | None) -> list[Laid]:
    """Return the steps of an agent, in order; none for a model that only answered."""
    rounds = rounds_shown(attempt)
    steps = (
        [step for one in rounds for step in _steps_of_round(one, attempt, most)]
        if rounds
        else _steps_of_messages(attempt.messages, most)
    )
    for number, step in enumerate(steps, 1):
        step["number"] = number
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


def _steps_of_round(one: ShownRound, attempt: Attempt, most: int | None) -> list[Laid]:
    steps = [_step_of_post(post, one.number, most) for post in one.posts]
    raw = rows_of(dict(attempt.notes), ROUNDS)[one.number - 1]
    seconds = raw.get("seconds")
    if steps and isinstance(seconds, int | float):
        steps[-1]["seconds"] = float(seconds)
    if one.error or one.state == "failed":
        if not steps:
            steps.append(_step(one.number, "round", one.state))
        steps[-1]["failed"] = True
        steps[-1]["error"] = one.error
    return steps


def _step_of_post(post: ShownPost, round_number: int, most: int | None) -> Laid:
    kinds = dict(post.attachments)
    code = next((kinds[name] for name in _CODE if kinds.get(name)), "")
    result = next((kinds[name] for name in _RESULTS if kinds.get(name)), "")
    state = next((kinds[name] for name in _STATES if kinds.get(name)), "")
    step = _step(round_number, "code" if code else "post", f"{post.sender} → {post.receiver}")
    rest = [(kind, text) for kind, text in post.attachments if text not in (code, result)]
    return step | {
        "input": pieces(code or post.message, most=most),
        "language": "python" if code else "",
        "output": pieces(result or (post.message if code else ""), most=most),
        "more": [{"kind": kind, "text": pieces(text, most=most)} for kind, text in rest],
        "failed": state.strip().lower() in _FAILED or _looks_failed(result),
        "length": len(post.message) + sum(len(text) for _, text in post.attachments),
    }


def _steps_of_messages(messages: Sequence[Message], most: int | None) -> list[Laid]:
    """Return the steps of a candidate that called tools; a call and its result are one step."""
    if not any(message.tool_calls for message in messages):
        return []
    results = {one.tool_call_id: one.content for one in messages if one.role == "tool"}
    steps, turn = [], 0
    for message in messages:
        if message.role == "user":
            turn += 1
            steps.append(_message_step(message, turn, most))
        elif message.role == "assistant":
            if message.content.strip():
                steps.append(_message_step(message, turn, most))
            for call in message.tool_calls:
                raw = call.arguments
                arguments = raw if isinstance(raw, str) else written(raw)
                result = results.get(call.id, "")
                steps.append(
                    _step(max(1, turn), "tool", call.name)
                    | {
                        "input": pieces(arguments, most=most),
                        "language": "json",
                        "output": pieces(result, most=most),
                        "failed": _looks_failed(result),
                        "length": len(arguments) + len(result),
                    }
                )
    return steps


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
        "length": 0,
    }
    return step


def _looks_failed(text: str) -> bool:
    """Tell whether an output begins like an error, or has a traceback in it."""
    looked = text[:MOST_LOOKED].strip().lower()
    first, *_ = _SIGNS_OF_ERROR
    return looked.startswith(first) or any(sign in looked for sign in _SIGNS_OF_ERROR[1:])
