"""Which replies a piece of work rests on, so that those of which nothing came are not used again.

A score, an attempt or a comparison is a piece of work. While it is under way, every reply that it
is given is noted here, from the store or from a server. What could not be used is *discarded*: its
record in the store says so, and whoever asks the same later asks the model anew.

Work may also be done on stored replies alone: nobody is asked, and nothing is written. A score
whose scorer has been corrected is made anew from the calls that were bought for it. So a plan can
tell that nothing is to be bought, and a run needs no judge to be there.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from proctor.core.score import Score, ScoreStatus
from proctor.errors import ModelError

Result = TypeVar("Result")


class Discarding(Protocol):
    """What keeps the records of calls."""

    async def discard(self, key: str, created: float) -> None:
        """Note that nothing came of a call."""


@dataclass(frozen=True, slots=True)
class UsedReply:
    """A reply that a piece of work was given."""

    role: str
    """Who gave it: ``candidate``, ``judge`` or ``simulator``."""
    log: Discarding
    key: str
    created: float
    stored: bool
    """Whether it came from the store, bought by an earlier run or by other work of this one."""


@dataclass(eq=False)
class CallScope:
    """The replies of one piece of work, in their order."""

    parent: "CallScope | None" = None
    replies: list[UsedReply] = field(default_factory=list)
    broken: bool = False
    """Whether a call gave no reply at all: the others may be good for the next try."""
    discarded: bool = False
    """Whether some reply turned out to be of no use."""

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator["CallScope"]:
        """Note replies, as long as this lasts, also those given to tasks that are begun in it."""
        scope = cls(parent=_CURRENT.get())
        token = _CURRENT.set(scope)
        try:
            yield scope
        finally:
            _CURRENT.reset(token)

    @classmethod
    def current(cls) -> "CallScope | None":
        """Return the innermost one that is open."""
        return _CURRENT.get()

    def note(self, reply: UsedReply) -> None:
        """Take in a reply."""
        for scope in self._around():
            scope.replies.append(reply)

    def note_broken(self) -> None:
        """Take in that a call gave no reply, or was not waited for."""
        for scope in self._around():
            scope.broken = True

    @property
    def all_stored(self) -> bool:
        """Tell whether there were replies, and nobody had to be asked for them."""
        return bool(self.replies) and all(reply.stored for reply in self.replies)

    def latest(self, key: str) -> UsedReply | None:
        """Return the reply that was last given to a request."""
        return next((reply for reply in reversed(self.replies) if reply.key == key), None)

    async def discard(self, replies: Iterable[UsedReply]) -> None:
        """Let replies be of no use to anybody."""
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
    """Do a piece of work, and discard what replies were of no use to it.

    Where it failed on stored replies alone, nobody was asked in this run: it is done once more, now
    without those that were discarded.
    """
    with CallScope.opened() as scope:
        result = await work()
        await scope.discard(useless(result, scope))
    if failed(result) and scope.discarded and scope.all_stored:
        with CallScope.opened() as scope:
            result = await work()
            await scope.discard(useless(result, scope))
    return result


async def scored_on_replies(work: Callable[[], Awaitable[Score]]) -> Score:
    """Make a score; where it failed though every call had a reply, these are of no use."""

    def failed(score: Score) -> bool:
        return score.status is ScoreStatus.FAILED

    def useless(score: Score, scope: CallScope) -> Sequence[UsedReply]:
        return scope.replies if failed(score) and not scope.broken else ()

    return await rested_on_replies(work, failed, useless)


class NotStored(ModelError):
    """The reason why a call is not made: its reply is not in the store."""

    def __init__(self) -> None:
        super().__init__("no reply to this is stored", passing=True)


@dataclass(eq=False)
class StoredOnly:
    """What came of looking for replies in the store alone."""

    lacking: bool = False
    """Whether a reply was not there, or could not be used."""
    used: list[Callable[[], None]] = field(default_factory=list)
    """What is to be counted for the replies, once they have served."""

    @classmethod
    def current(cls) -> "StoredOnly | None":
        """Return who is looking, where nobody may be asked."""
        return _LOOKING.get()

    def refuse(self) -> NotStored:
        """Note that something is lacking, and return what is to be raised."""
        self.lacking = True
        return NotStored()


_LOOKING: ContextVar[StoredOnly | None] = ContextVar("stored replies alone", default=None)


@contextmanager
def stored_only() -> Iterator[StoredOnly]:
    """Let no model be asked, as long as this lasts."""
    looking = StoredOnly()
    token = _LOOKING.set(looking)
    try:
        yield looking
    finally:
        _LOOKING.reset(token)


async def scored_from_store(score: Callable[[], Awaitable[Score]]) -> Score | None:
    """Return the score that stored replies make; none where they do not suffice."""
    with stored_only() as looking:
        score_result = await score()
    if looking.lacking or score_result.status is ScoreStatus.FAILED:
        return None
    for count in looking.used:
        count()
    return score_result
