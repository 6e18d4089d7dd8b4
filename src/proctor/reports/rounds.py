"""What an agent did and left, laid out for people; a stranger's notes may hold anything."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from proctor.core.attempt import Attempt
from proctor.core.rounds import FILES, ROUNDS
from proctor.core.suite import Json
from proctor.reports.reasons import rows_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPost:
    """One message between the user, the agent and its parts."""

    sender: str
    receiver: str
    message: str
    attachments: tuple[tuple[str, str], ...]
    """Kind and text of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRound:
    """What the agent did for one message of the user."""

    number: int
    """From 1, as people count."""
    state: str
    error: str
    posts: tuple[ShownPost, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFile:
    """A file that was there in the end."""

    name: str
    key: str
    """Empty where it was too large to be kept."""


def rounds_shown(attempt: Attempt) -> list[ShownRound]:
    """Return the rounds of an attempt."""
    return [
        ShownRound(
            number=number,
            state=str(one.get("state", "")),
            error=str(one.get("error") or ""),
            posts=tuple(_post(post) for post in rows_of(one, "post_list")),
        )
        for number, one in enumerate(rows_of(dict(attempt.notes), ROUNDS), 1)
    ]


def files_left(attempt: Attempt) -> list[RoundFile]:
    """Return the files that there were after the last round."""
    after = rows_of(dict(attempt.notes), FILES)
    last = after[-1] if after else {}
    return [RoundFile(name=str(name), key=str(key or "")) for name, key in sorted(last.items())]


def agent_object(attempt: Attempt, sizes: Mapping[str, int]) -> dict[str, Json]:
    """Return what an agent did and left as JSON; nothing for a model that did nothing else."""
    data: dict[str, Json] = {}
    if rounds := rows_of(dict(attempt.notes), ROUNDS):
        data["rounds"] = rounds
    if left := files_left(attempt):
        data["files"] = [{"name": file.name, "size": sizes.get(file.key)} for file in left]
    return data


def _post(post: Mapping[str, Json]) -> ShownPost:
    return ShownPost(
        sender=str(post.get("send_from", "")),
        receiver=str(post.get("send_to", "")),
        message=str(post.get("message") or ""),
        attachments=tuple(
            (str(item.get("type", "")), _text(item.get("content")))
            for item in rows_of(post, "attachment_list")
        ),
    )


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False, indent=1, default=str)
