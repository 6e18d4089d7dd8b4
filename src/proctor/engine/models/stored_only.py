"""Work that is done on stored replies alone: nobody is asked, and nothing is written.

A score whose scorer has been corrected is made anew from the calls that were bought for it. So a
plan can tell that nothing is to be bought, and a run needs no judge to be there.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from proctor.core.score import Score, ScoreStatus
from proctor.errors import ModelError


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
        made = await score()
    if looking.lacking or made.status is ScoreStatus.FAILED:
        return None
    for count in looking.used:
        count()
    return made
