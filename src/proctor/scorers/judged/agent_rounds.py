"""What scorers see of an agent: its rounds, the part of one that is scored, the conversation."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

from pydantic import Field

from proctor.contracts.scorer import ScoreContext
from proctor.core.rounds import Round, rounds_of
from proctor.core.suite import Json, Message

PostIndex = Annotated[int | None, Field(strict=True)]
"""Which post of a round is scored, from 0 or from the end with -1; none means the whole round."""


def rounds_in(ctx: ScoreContext) -> list[Json]:
    """Return the rounds of an attempt; those of a model are made of what was said."""
    if rounds := rounds_of(ctx.attempt):
        return list(rounds)
    return [
        Round.of(question.content, reply.content).to_json()
        for question, reply in pairwise(spoken(ctx))
        if question.role == "user" and reply.role == "assistant"
    ] or [Round.of(ctx.prompt, ctx.output).to_json()]


def chosen(rounds: Sequence[Json], post_index: int | None) -> tuple[Json, str]:
    """Return the last round or one of its posts, or none and why the agent has no such post."""
    last = rounds[-1]
    if post_index is None:
        return last, ""
    posts = last["post_list"]
    if -len(posts) <= post_index < len(posts):
        return posts[post_index], ""
    count = f"{len(posts)} post{'' if len(posts) == 1 else 's'}"
    return None, f"the agent's round has {count}: there is no post {post_index}"


def spoken(ctx: ScoreContext) -> list[Message]:
    """Return what user and agent said to each other, to the last reply of the agent."""
    messages = [message for message in ctx.transcript if message.role in ("user", "assistant")]
    while messages and messages[-1].role == "user":
        messages.pop()
    return messages
