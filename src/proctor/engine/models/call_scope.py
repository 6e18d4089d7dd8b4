"""Replies that a piece of work used, so that unusable ones are not reused.

A score, an attempt or a comparison is a piece of work. While it runs, every reply that it receives
is recorded here, from the store or from a server. An unusable reply is *discarded*: it is marked in
the store, and the same request later calls the model again.

Work may also use stored replies only: no model is called, and nothing is written. A score whose
scorer has changed is computed again from its stored calls. So a plan can tell that nothing needs to
be paid for, and a run needs no reachable judge.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from typing import Protocol, TypeVar

from proctor.core.score import Score, ScoreStatus
from proctor.errors import ModelError
from proctor.records import dataclass

Result = TypeVar("Result")


class Discarding(Protocol):
    """Storage of calls that can mark them as unusable."""

    async def discard(self, key: str, created: float) -> None:
        """Mark a call as unusable."""


@dataclass(frozen=True, slots=True)
class UsedReply:
    """A reply that a piece of work used."""

    role: str
    """The role: ``candidate``, ``judge`` or ``simulator``."""
    log: Discarding
    key: str
    created: float
    stored: bool
    """Whether it came from the store, from an earlier run or other work of this one."""


@dataclass(eq=False)
class CallScope:
    """The replies of one piece of work, in order."""

    parent: "CallScope | None" = None
    replies: list[UsedReply] = field(default_factory=list)
    broken: bool = False
    """Whether a call failed without a reply: the others may be reused in the next try."""
    discarded: bool = False
    """Whether some reply was discarded."""

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator["CallScope"]:
        """Record replies within the block, also those of tasks started in it."""
        scope = cls(parent=_CURRENT.get())
        token = _CURRENT.set(scope)
        try:
            yield scope
        finally:
            _CURRENT.reset(token)

    @classmethod
    def current(cls) -> "CallScope | None":
        """Return the innermost open scope."""
        return _CURRENT.get()

    def note(self, reply: UsedReply) -> None:
        """Record a reply."""
        self.replies.append(reply)
        if self.parent is not None:
            self.parent.note(reply)

    def note_broken(self) -> None:
        """Record that a call gave no reply, or was not awaited."""
        for scope in self._around():
            scope.broken = True

    @property
    def all_stored(self) -> bool:
        """Tell whether there were replies, all of them from the store."""
        return bool(self.replies) and all(reply.stored for reply in self.replies)

    def latest(self, key: str) -> UsedReply | None:
        """Return the latest reply to a request."""
        return next((reply for reply in reversed(self.replies) if reply.key == key), None)

    async def discard(self, replies: Iterable[UsedReply]) -> None:
        """Mark replies as unusable."""
        for reply in replies:
            await reply.log.discard(reply.key, reply.created)
            for scope in self._around():
                scope.discarded = True

    def _around(self) -> Iterator["CallScope"]:
        scope: CallScope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


_CURRENT: ContextVar[CallScope | None] = ContextVar("calls of the work under way", default=None)


async def rested_on_replies(
    work: Callable[[], Awaitable[Result]],
    failed: Callable[[Result], bool],
    useless: Callable[[Result, CallScope], Sequence[UsedReply]],
) -> Result:
    """Do a piece of work, and discard the replies that were useless for it.

    If it failed on stored replies only, it is done once more, without the discarded ones.
    """
    scope = CallScope(parent=_CURRENT.get())
    token = _CURRENT.set(scope)
    try:
        result = await work()
        if unused := useless(result, scope):
            await scope.discard(unused)
    finally:
        _CURRENT.reset(token)
    if failed(result) and scope.discarded and scope.all_stored:
        with CallScope.opened() as scope:
            result = await work()
            await scope.discard(useless(result, scope))
    return result


async def scored_on_replies(work: Callable[[], Awaitable[Score]]) -> Score:
    """Make a score; if it failed although every call had a reply, discard these."""

    def failed(score: Score) -> bool:
        return score.status is ScoreStatus.FAILED

    def useless(score: Score, scope: CallScope) -> Sequence[UsedReply]:
        return scope.replies if failed(score) and not scope.broken else ()

    return await rested_on_replies(work, failed, useless)


class NotStored(ModelError):
    """A call that is not made, because its reply is not in the store."""

    def __init__(self) -> None:
        super().__init__("no reply to this is stored", passing=True)


@dataclass(eq=False)
class StoredOnly:
    """Outcome of work with stored replies only."""

    lacking: bool = False
    """Whether a reply was missing or unusable."""
    used: list[Callable[[], None]] = field(default_factory=list)
    """Usage to count for the replies, once they were used."""

    @classmethod
    def current(cls) -> "StoredOnly | None":
        """Return the current lookup, if only stored replies may be used."""
        return _LOOKING.get()

    def refuse(self) -> NotStored:
        """Record a missing reply, and return the error to raise."""
        self.lacking = True
        return NotStored()


_LOOKING: ContextVar[StoredOnly | None] = ContextVar("stored replies alone", default=None)


@contextmanager
def stored_only() -> Iterator[StoredOnly]:
    """Allow stored replies only within the block."""
    looking = StoredOnly()
    token = _LOOKING.set(looking)
    try:
        yield looking
    finally:
        _LOOKING.reset(token)


async def scored_from_store(score: Callable[[], Awaitable[Score]]) -> Score | None:
    """Return the score from stored replies; None if they do not suffice."""
    with stored_only() as looking:
        score_result = await score()
    if looking.lacking or score_result.status is ScoreStatus.FAILED:
        return None
    for count in looking.used:
        count()
    return score_result
