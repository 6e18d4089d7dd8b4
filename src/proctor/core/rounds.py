"""Rounds: all that an agent did for one message of the user."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum

from proctor.core.attempt import CONTEXT, RETRIEVED, Attempt, AttemptStatus
from proctor.core.exchange import Usage
from proctor.core.fingerprint import digest
from proctor.core.suite import Criterion, Json
from proctor.records import dataclass

USER = "User"

AGENT = "Planner"
"""The name of every agent in its rounds; stored rounds and keys contain it, so it stays."""

TOOK = "took"
"""The attachment of a step that says how many seconds and tokens it took."""

ROUNDS, FILES = "rounds", "files"
"""Where an attempt's notes keep what the agent did, and the files there were after each round."""
LAID = "laid"
"""Where a round keeps the files that a variant of the agent laid over those of the case."""


class RoundState(StrEnum):
    """How a round ended."""

    FINISHED = "finished"
    FAILED = "failed"
    """The agent broke, gave up or took too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """An addition to a post: a plan, code, its result."""

    type: str
    content: Json
    extra: Json = None
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One message between the user, the agent and its parts."""

    message: str
    send_from: str
    send_to: str
    attachments: tuple[Attachment, ...] = ()
    id: str = ""
    parent: str = ""
    """The id of the post that led to this one: what an agent within the agent did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """All that an agent did for one message of the user."""

    user_query: str
    posts: tuple[Post, ...] = ()
    state: RoundState = RoundState.FINISHED
    error: str = ""
    """Why the round failed."""
    broken: bool = False
    """Whether the agent crashed, raised or was lost, so that nothing can be said of its answer."""
    traceback: str = ""
    """Where the agent broke, in its own words."""
    id: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float | None = None

    @property
    def reply(self) -> str | None:
        """Return what the user was told in the end; none where the agent failed or said nothing."""
        if self.state is RoundState.FAILED:
            return None
        return next((post.message for post in reversed(self.posts) if post.send_to == USER), None)

    def to_json(self) -> dict[str, Json]:
        """Write the round as TaskWeaver does; ids that are missing follow from the content."""
        data: dict[str, Json] = {
            "id": self.id or f"round-{_short(self.user_query, len(self.posts))}",
            "user_query": self.user_query,
            "state": self.state.value,
            "post_list": [_post_json(post, place) for place, post in enumerate(self.posts)],
        }
        return {**data, "error": self.error} if self.error else data

    @classmethod
    def of(cls, query: str, reply: str, steps: Sequence[Post] = (), usage: Usage | None = None,
           seconds: float | None = None) -> "Round":  # fmt: skip
        """Make the round of an agent that was asked, did some steps, and answered."""
        first = Post(message=query, send_from=USER, send_to=AGENT)
        last = Post(message=reply, send_from=AGENT, send_to=USER)
        return cls(
            user_query=query,
            posts=(first, *steps, last),
            usage=usage or Usage(),
            seconds=seconds,
        )

    @classmethod
    def failed(cls, query: str, error: str, steps: Sequence[Post] = ()) -> "Round":
        """Make the round of an agent that broke; what it did before is kept."""
        first = Post(message=query, send_from=USER, send_to=AGENT)
        return cls(user_query=query, posts=(first, *steps), state=RoundState.FAILED, error=error)


def round_from(data: Json) -> Round:
    """Make a round of its JSON, or raise a ValueError that says what is wrong with it."""
    if not isinstance(data, Mapping) or not isinstance(data.get("post_list"), list):
        raise ValueError("a round is an object with a post_list")
    state = data.get("state", "finished")
    if state not in ("created", "finished", "failed"):
        raise ValueError(f"a round's state is created, finished or failed, not {state!r}")
    return Round(
        id=str(data.get("id", "")),
        user_query=str(data.get("user_query", "")),
        posts=tuple(_post_from(post) for post in data["post_list"]),
        # A round that was left in the making has no answer either.
        state=RoundState.FINISHED if state == "finished" else RoundState.FAILED,
        error=str(data.get("error") or ("" if state == "finished" else f"the round is {state}")),
    )


def rounds_of(attempt: Attempt) -> list[Json]:
    """Return the rounds of an attempt, as JSON."""
    rounds: list[Json] = attempt.notes.get(ROUNDS, [])
    return rounds


def files_of(attempt: Attempt) -> Mapping[str, str]:
    """Return the files that there were in the end: the key of each content by name."""
    after: list[Mapping[str, str]] = attempt.notes.get(FILES, [])
    return after[-1] if after else {}


def scored_part(criterion: Criterion, attempt: Attempt) -> Attempt:
    """Return what a criterion judges of an attempt: all of it, or all up to its turn.

    Where the turn was not reached, or the agent failed in it, the part is unanswered and its error
    says why; nobody is asked about such a part.
    """
    turn = criterion.turn
    if turn is None and not attempt.notes:
        return attempt
    rounds = rounds_of(attempt)
    if turn is None:
        return _unless_failed(attempt, rounds[-1:])
    replies = [
        place for place, message in enumerate(attempt.messages) if message.role == "assistant"
    ]
    if turn < len(rounds) and rounds[turn].get("state") == RoundState.FAILED:
        return _unless_failed(attempt, rounds[turn : turn + 1])
    if turn >= len(replies):
        why = str(attempt.notes.get("ended") or "the dialogue ended before it")
        return replace(
            attempt, messages=(), status=AttemptStatus.UNANSWERED,
            error=f"turn {turn + 1} was not reached: {why}", notes={},
        )  # fmt: skip
    notes = {
        name: value[: turn + 1] for name in (ROUNDS, FILES) if (value := attempt.notes.get(name))
    }
    notes |= {name: attempt.notes[name] for name in (CONTEXT, RETRIEVED) if name in attempt.notes}
    return replace(attempt, messages=attempt.messages[: replies[turn] + 1], notes=notes)


def _unless_failed(attempt: Attempt, last: Sequence[Json]) -> Attempt:
    if not last or last[0].get("state") != RoundState.FAILED:
        return attempt
    why = last[0].get("error") or "the agent gave no reason"
    return replace(
        attempt, messages=(), status=AttemptStatus.UNANSWERED, error=f"the agent failed: {why}",
        notes={},
    )  # fmt: skip


def _post_json(post: Post, place: int) -> dict[str, Json]:
    own = post.id or f"post-{_short(post.message, place)}"
    return {
        "id": own,
        "message": post.message,
        "send_from": post.send_from,
        "send_to": post.send_to,
        "attachment_list": [
            {
                "id": item.id or f"atta-{_short(own, number)}",
                "type": item.type,
                "content": item.content,
                "extra": item.extra,
            }
            for number, item in enumerate(post.attachments)
        ],
        **({"parent": post.parent} if post.parent else {}),
    }


def _post_from(data: Json) -> Post:
    if not isinstance(data, Mapping):
        raise ValueError("a post is an object")
    return Post(
        id=str(data.get("id", "")),
        parent=str(data.get("parent") or ""),
        message=str(data.get("message") or ""),
        send_from=str(data.get("send_from") or "Unknown"),
        send_to=str(data.get("send_to") or "Unknown"),
        attachments=tuple(
            Attachment(
                id=str(item.get("id", "")),
                type=str(item.get("type", "text")),
                content=item.get("content"),
                extra=item.get("extra"),
            )
            for item in data.get("attachment_list") or ()
            if isinstance(item, Mapping)
        ),
    )


def _short(*things: Json) -> str:
    return digest(*things)[:8]
