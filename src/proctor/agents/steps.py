"""What agents report of their steps, in a few plain shapes, as posts of a round."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from proctor.core.exchange import Usage
from proctor.core.rounds import AGENT, TOOK, USER, Attachment, Post, Round, round_from
from proctor.core.suite import Json

SPENT = {"seconds", "tokens"}
"""What a step may say that it took."""
WITHIN = "steps"
"""What an agent within the agent did for a step: steps of its own."""
FIELDS = {"from", "to", "message", "type", "content", "attachments", "extra", "id", WITHIN, *SPENT}
TOOL = {"tool", "input", "output", WITHIN, *SPENT}
DEEPEST = 20
"""How deep steps may lie within steps."""
LONGEST = 2000
MOST_SPENT = 1e12


def round_of(
    query: str, data: Json, seconds: float | None = None, more: Sequence[Json] = ()
) -> Round:
    """Make the round of what an agent told: a reply alone, a reply with steps, or a whole round.

    ``more`` are steps that it told before. What cannot be read is a broken round that says why.
    """
    try:
        return replace(_read(query, data, more), seconds=seconds)
    except ValueError as error:
        failed = Round.failed(query, f"its reply cannot be read: {error}")
        return replace(failed, broken=True, seconds=seconds)


def _read(query: str, data: Json, more: Sequence[Json]) -> Round:
    if not isinstance(data, Mapping):
        return Round.of(query, text_of(data), posts_of(more))
    if isinstance(data.get("round"), Mapping):
        data = data["round"]
    if "post_list" in data:
        recorded = round_from(data)
        return replace(recorded, user_query=recorded.user_query or query)
    usage = usage_of(data.get("usage"))
    steps = posts_of([*more, *_listed(data.get("steps"))])
    if data.get("error"):
        failed = Round.failed(query, text_of(data["error"])[:LONGEST], steps)
        return replace(failed, usage=usage)
    reply = data.get("reply")
    if reply is None and steps and steps[-1].send_to == USER:
        first = Post(message=query, send_from=USER, send_to=AGENT)
        return Round(user_query=query, posts=(first, *steps), usage=usage)
    if reply is None:
        return replace(Round.failed(query, "it gave no reply", steps), usage=usage)
    return Round.of(query, text_of(reply), steps, usage)


def _listed(steps: Json) -> list[Json]:
    if steps is None:
        return []
    if not isinstance(steps, list):
        raise ValueError("its steps are no list")
    return steps


def posts_of(steps: Sequence[Json]) -> tuple[Post, ...]:
    """Return the posts that steps stand for, or raise a ValueError that names the step.

    What was done within a step follows it, and names it as its parent.
    """
    return tuple(_posts_within(steps, Post(message="", send_from="", send_to=""), ""))


def _posts_within(steps: Sequence[Json], parent: Post, place: str) -> Iterator[Post]:
    if place.count(".") > DEEPEST:
        raise ValueError(f"steps lie within each other more than {DEEPEST} deep")
    for number, step in enumerate(steps, 1):
        own = f"{place}{number}"
        try:
            posts = [replace(post, parent=parent.id) for post in _posts(step)]
            within = _listed(step.get(WITHIN)) if isinstance(step, Mapping) else []
        except ValueError as error:
            raise ValueError(f"step {own}: {error}") from None
        if within:
            # What was asked, not what came back, is the post that others belong to.
            posts[0] = replace(posts[0], id=posts[0].id or f"step-{own}")
        yield from posts
        yield from _posts_within(within, posts[0], f"{own}.")


def _posts(step: Json) -> list[Post]:
    if isinstance(step, str):
        return [Post(message=step, send_from=AGENT, send_to=AGENT)]
    if not isinstance(step, Mapping):
        raise ValueError("a step is an object or a text")
    if "tool" in step:
        return _tool(step)
    fields = {_NAMES.get(str(name), str(name)): value for name, value in step.items()}
    if unknown := sorted(fields.keys() - FIELDS):
        raise ValueError(f"unknown field {unknown[0]!r} (known are: {', '.join(sorted(FIELDS))})")
    return [
        Post(
            id=str(fields.get("id") or ""),
            message=text_of(fields.get("message", "")),
            send_from=str(fields.get("from") or AGENT),
            send_to=str(fields.get("to") or AGENT),
            attachments=(*_attachments(fields), *_spent(fields)),
        )
    ]


_NAMES = {"send_from": "from", "send_to": "to", "attachment_list": "attachments"}
"""TaskWeaver's own names are understood too."""


def _tool(step: Mapping[str, Json]) -> list[Post]:
    """Return the two posts of a call: what the tool was told, and what came back."""
    if unknown := sorted(step.keys() - TOOL):
        raise ValueError(
            f"unknown field {unknown[0]!r} (a tool has: input, output, steps, seconds, tokens)"
        )
    name = str(step["tool"])
    tool_input, spent = text_of(step.get("input", "")), _spent(step)
    if "output" not in step:
        return [Post(message=tool_input, send_from=AGENT, send_to=name, attachments=spent)]
    output = text_of(step["output"])
    return [
        Post(message=tool_input, send_from=AGENT, send_to=name),
        Post(message=output, send_from=name, send_to=AGENT, attachments=spent),
    ]


def _spent(step: Mapping[str, Json]) -> tuple[Attachment, ...]:
    """Return what a step took, as it says itself; what is not a number is passed over."""
    numbers = {
        name: round(step[name], 6)
        for name in sorted(SPENT & step.keys())
        if isinstance(step[name], int | float) and 0 <= step[name] < MOST_SPENT
    }
    return (Attachment(type=TOOK, content=numbers),) if numbers else ()


def _attachments(fields: Mapping[str, Json]) -> tuple[Attachment, ...]:
    items = fields.get("attachments") or []
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise ValueError("attachments are a list of objects")
    attachments = [
        Attachment(
            id=str(item.get("id") or ""),
            type=str(item.get("type") or "text"),
            content=item.get("content"),
            extra=item.get("extra"),
        )
        for item in items
    ]
    if "type" in fields or "content" in fields:
        kind = str(fields.get("type") or "text")
        attachments.append(
            Attachment(type=kind, content=fields.get("content"), extra=fields.get("extra"))
        )
    return tuple(attachments)


def usage_of(data: Json) -> Usage:
    """Read what an agent says it used; what is not a number is passed over."""
    if not isinstance(data, Mapping):
        return Usage()
    cost = data.get("cost")
    tokens_in = _count(data, "prompt_tokens", "input_tokens")
    tokens_out = _count(data, "completion_tokens", "output_tokens")
    return Usage(
        calls=_count(data, "calls") or (1 if tokens_in or tokens_out else 0),
        prompt_tokens=tokens_in,
        completion_tokens=tokens_out,
        cost=float(cost) if isinstance(cost, int | float) and cost >= 0 else None,
    )


def _count(data: Mapping[str, Json], *names: str) -> int:
    count = next((data[name] for name in names if isinstance(data.get(name), int)), 0)
    return max(0, int(count))


def text_of(value: Json) -> str:
    """Return a text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
