"""Attempts as trajectories in Harbor's format (ATIF): steps of user and agent, with what they took.

Where a proxy saw the agent's model calls, each call is a step with its tokens and cost, and the
agent's own transcript gives what came of the tools that it asked for. Otherwise the transcript
alone, or the messages of a model, make the steps.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from proctor.core.attempt import Attempt, used_by_candidate
from proctor.core.rounds import AGENT, TOOK, USER, RoundState, rounds_of
from proctor.core.suite import Case, Json, Message
from proctor.engine.models.proxy_call import MODEL

SCHEMA = "ATIF-v1.4"
_REQUEST, _CALL, _USAGE = "model_request", "function", "model_usage"
"""The attachments of a post that a proxy wrote: what was asked, which tools, what it took."""

Post = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class AskedTool:
    """A tool that was to be run."""

    name: str
    arguments: dict[str, Json]
    id: str = ""


@dataclass
class TrajectoryStep:
    """One step while a trajectory is put together."""

    source: str
    message: str = ""
    reasoning: str = ""
    model: str = ""
    calls: list[AskedTool] = field(default_factory=list)
    results: list[tuple[int | None, str]] = field(default_factory=list)
    """What came of calls, each with the place of its call; none where nobody knows which."""
    metrics: dict[str, Json] = field(default_factory=dict)
    extra: dict[str, Json] = field(default_factory=dict)

    def to_json(self, number: int, used: set[str]) -> dict[str, Json]:
        """Return the step as it is written; fields without content are left out.

        ``used`` are the ids of calls before it: each is to have one of its own.
        """
        ids = []
        for place, call in enumerate(self.calls, 1):
            ids.append(call.id if call.id and call.id not in used else f"call-{number}-{place}")
            used.add(ids[-1])
        calls: list[Json] = [
            {"tool_call_id": own, "function_name": call.name, "arguments": call.arguments}
            for own, call in zip(ids, self.calls, strict=True)
        ]
        results: list[Json] = [
            {**({} if place is None else {"source_call_id": ids[place]}), "content": content}
            for place, content in self.results
        ]
        content: dict[str, Json] = {
            "model_name": self.model,
            "reasoning_content": self.reasoning,
            "tool_calls": calls,
            "observation": {"results": results} if results else None,
            "metrics": self.metrics,
            "extra": self.extra,
        }
        written = {name: value for name, value in content.items() if value}
        return {"step_id": number, "source": self.source, "message": self.message} | written


def trajectory_of(
    case: Case, attempt: Attempt, *, session: str, agent: str, version: str, model: str = ""
) -> dict[str, Json]:
    """Return an attempt as a trajectory."""
    rounds = [one for one in rounds_of(attempt) if isinstance(one, Mapping)]
    steps = list(_of_rounds(rounds) if rounds else _of_messages(case, attempt))
    if not rounds and attempt.error:
        steps.append(TrajectoryStep("system", attempt.error))
    used: set[str] = set()
    about: dict[str, Json] = {"name": agent, "version": version}
    name = model or next((step.model for step in steps if step.model), "")
    if name:
        about["model_name"] = name
    return {
        "schema_version": SCHEMA,
        "session_id": session,
        "agent": about,
        "steps": [step.to_json(number, used) for number, step in enumerate(steps, 1)],
        "final_metrics": _final_metrics(attempt, len(steps)),
    }


def _final_metrics(attempt: Attempt, steps: int) -> dict[str, Json]:
    used = used_by_candidate(attempt)
    names = {
        "prompt_tokens": "total_prompt_tokens",
        "completion_tokens": "total_completion_tokens",
        "cached_tokens": "total_cached_tokens",
        "cost": "total_cost_usd",
    }
    totals = {own: used[name] for name, own in names.items() if used.get(name) is not None}
    extra = {} if attempt.seconds is None else {"extra": {"seconds": round(attempt.seconds, 3)}}
    return {**totals, "total_steps": steps, **extra}


# Rounds of agents.


def _of_rounds(rounds: Sequence[Mapping[str, Json]]) -> Iterator[TrajectoryStep]:
    for one in rounds:
        yield TrajectoryStep("user", str(one.get("user_query") or ""))
        posts = [post for post in one.get("post_list") or () if isinstance(post, Mapping)]
        if posts and posts[0].get("send_from") == USER:
            posts = posts[1:]
        called = [post for post in posts if post.get("send_from") == MODEL]
        told = list(_told([post for post in posts if post.get("send_from") != MODEL]))
        yield from _merged([_model_step(post) for post in called], told) if called else told
        if one.get("state") == RoundState.FAILED:
            yield TrajectoryStep("system", f"the agent failed: {one.get('error') or 'no reason'}")


def _told(posts: Sequence[Post]) -> Iterator[TrajectoryStep]:
    """Yield the steps of an agent's own transcript; a call of a tool and its result are one."""
    waiting: TrajectoryStep | None = None
    for post in posts:
        sender, receiver = str(post.get("send_from")), str(post.get("send_to"))
        text = str(post.get("message") or "")
        if waiting is not None:
            is_result = sender == waiting.calls[0].name and receiver == AGENT
            if is_result:
                waiting.results.append((0, text))
                waiting.extra |= _taken(post)
            yield waiting
            waiting = None
            if is_result:
                continue
        if sender == AGENT and receiver not in (AGENT, USER):
            call = AskedTool(receiver, _arguments(text))
            waiting = TrajectoryStep("agent", calls=[call], extra=_extra(post))
            continue
        extra = _extra(post)
        if sender != AGENT:
            extra |= {"from": sender, "to": receiver}
        yield TrajectoryStep("agent", text, extra=extra)
    if waiting is not None:
        yield waiting


def _model_step(post: Post) -> TrajectoryStep:
    """Return a model call that the proxy saw as a step."""
    step = TrajectoryStep("agent", str(post.get("message") or ""))
    for kind, content in _attached(post):
        if kind == _CALL and isinstance(content, Mapping):
            arguments = _arguments(str(content.get("arguments") or ""))
            step.calls.append(AskedTool(str(content.get("name") or ""), arguments))
        elif kind == _USAGE and isinstance(content, Mapping):
            step.model = str(content.get("model") or "")
            names = {"cost": "cost_usd"}
            for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "cost"):
                if content.get(name) is not None:
                    step.metrics[names.get(name, name)] = content[name]
            rest = {name: content[name] for name in ("seconds", "status") if name in content}
            if rest:
                step.metrics["extra"] = rest
    return step


def _merged(
    called: Sequence[TrajectoryStep], told: Sequence[TrajectoryStep]
) -> Iterator[TrajectoryStep]:
    """Yield model calls with what the transcript says came of them, then what it says besides.

    Tools are asked for and run in one order; where a transcript tells of as many, they are those.
    Otherwise only tools of the same name and arguments are.
    """
    requests = [(step, number) for step in called for number in range(len(step.calls))]
    ran = [step for step in told if step.calls]
    pairs = list(zip(requests, ran, strict=True)) if len(requests) == len(ran) else []
    if not pairs:
        unused = list(ran)
        for step, number in requests:
            same = (one for one in unused if one.calls[0] == step.calls[number])
            if (one := next(same, None)) is not None:
                unused.remove(one)
                pairs.append(((step, number), one))
    for (step, number), one in pairs:
        step.results += [(number, content) for _, content in one.results]
    taken = {id(one) for _, one in pairs}
    texts = {step.message.strip() for step in called}
    yield from called
    for one in told:
        is_repeated = not one.calls and one.message.strip() in texts
        if id(one) not in taken and not is_repeated:
            yield one


def _attached(post: Post) -> Iterator[tuple[str, Json]]:
    for item in post.get("attachment_list") or ():
        if isinstance(item, Mapping):
            yield str(item.get("type")), item.get("content")


def _taken(post: Post) -> dict[str, Json]:
    return {kind: content for kind, content in _attached(post) if kind == TOOK}


def _extra(post: Post) -> dict[str, Json]:
    """Return what hangs on a post besides its text."""
    rest = [{"type": kind, "content": content} for kind, content in _attached(post) if kind != TOOK]
    return {**_taken(post), **({"attachments": rest} if rest else {})}


def _arguments(text: str) -> dict[str, Json]:
    """Return what a tool was told as an object; one that is none stands under ``input``."""
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        arguments = text
    return _argument_object(arguments if isinstance(arguments, dict) else text)


def _argument_object(arguments: Json) -> dict[str, Json]:
    if isinstance(arguments, Mapping):
        return dict(arguments)
    return {"input": arguments} if arguments else {}


# Messages of models.


def _of_messages(case: Case, attempt: Attempt) -> Iterator[TrajectoryStep]:
    last: TrajectoryStep | None = None
    for message in (*case.messages, *attempt.messages):
        if message.role == "tool" and last is not None:
            ids = [call.id for call in last.calls]
            place = ids.index(message.tool_call_id) if message.tool_call_id in ids else None
            last.results.append((place, message.content))
            continue
        if last is not None:
            yield last
        last = _message_step(message)
    yield last or TrajectoryStep("user")


def _message_step(message: Message) -> TrajectoryStep:
    if message.role != "assistant":
        return TrajectoryStep("user" if message.role == "user" else "system", message.content)
    calls = [
        AskedTool(call.name, _argument_object(call.arguments), call.id)
        for call in message.tool_calls
    ]
    return TrajectoryStep("agent", message.content, reasoning=message.thinking, calls=calls)
