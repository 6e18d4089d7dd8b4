"""Marks, rounds and files of the turns of an attempt."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus, turn_values
from proctor.core.rounds import FILES, ROUNDS, RoundState, rounds_of
from proctor.core.run import AttemptResult
from proctor.core.suite import Case, Json
from proctor.reports.reasons import rows_of

SCORED, UNSCORED = "scored", "unscored"
DEEPEST = 20
"""How deep posts are shown within posts; what lies deeper is shown on the last level."""
NOT_REACHED, AGENT_FAILURE = "not_reached", "agent_failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The mark of one turn."""

    turn: int
    """From 0; people count from 1."""
    score: float | None
    """The weighted points."""
    normalized: float | None
    """Their share of the maximum of the turn."""
    status: str

    def to_json(self) -> dict[str, Json]:
        """Return the turn as JSON, counted from 1."""
        return {
            "turn": self.turn + 1,
            "score": self.score,
            "normalized": self.normalized,
            "status": self.status,
        }


def turns_of(case: Case, item: AttemptResult) -> list[Turn]:
    """Return the mark of each turn that has criteria of its own."""
    return list(_turns(case, item))


def _turns(case: Case, item: AttemptResult) -> Iterator[Turn]:
    for turn, value in turn_values(case, item.scores).items():
        status = _status(item.attempt, turn)
        if status != SCORED:
            yield Turn(turn=turn, score=0.0, normalized=0.0, status=status)
        elif value.status is not ValueStatus.SCORED:
            yield Turn(turn=turn, score=None, normalized=None, status=UNSCORED)
        else:
            yield Turn(turn=turn, score=value.points, normalized=value.value, status=SCORED)


def _status(attempt: Attempt, turn: int) -> str:
    rounds = rounds_of(attempt)
    if turn < len(rounds) and rounds[turn].get("state") == RoundState.FAILED:
        return AGENT_FAILURE
    replies = sum(message.role == "assistant" for message in attempt.messages)
    if turn < max(len(rounds), replies):
        return SCORED
    if attempt.status in (AttemptStatus.STOPPED, AttemptStatus.ERROR):
        return SCORED if turn == 0 else NOT_REACHED
    return NOT_REACHED if replies or turn else AGENT_FAILURE


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPost:
    """One message between the user, the agent and its parts."""

    sender: str
    receiver: str
    message: str
    attachments: tuple[tuple[str, str], ...]
    """Kind and text of each attachment."""
    id: str = ""
    parent: str = ""
    """The id of the post that led to this one; empty for what the agent itself did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRound:
    """What the agent did for one message of the user."""

    number: int
    """From 1."""
    state: str
    error: str
    posts: tuple[ShownPost, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFile:
    """A file that the agent left."""

    name: str
    key: str
    """Empty where it was too large to be stored."""


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


def with_depth(posts: Sequence[ShownPost]) -> Iterator[tuple[ShownPost, int]]:
    """Yield posts with how deep each lies within others; a parent counts if it came before."""
    depths: dict[str, int] = {}
    for post in posts:
        depth = depths[post.parent] + 1 if post.parent and post.parent in depths else 0
        depth = min(depth, DEEPEST)
        if post.id:
            depths.setdefault(post.id, depth)
        yield post, depth


def files_left(attempt: Attempt) -> list[RoundFile]:
    """Return the files after the last round."""
    after = rows_of(dict(attempt.notes), FILES)
    last = after[-1] if after else {}
    return [RoundFile(name=str(name), key=str(key or "")) for name, key in sorted(last.items())]


def agent_object(attempt: Attempt, sizes: Mapping[str, int]) -> dict[str, Json]:
    """Return an agent's rounds and files as JSON; empty for a plain model."""
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
        id=str(post.get("id") or ""),
        parent=str(post.get("parent") or ""),
    )


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False, indent=1, default=str)
