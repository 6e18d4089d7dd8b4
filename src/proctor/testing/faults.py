"""What a fake server does wrong, and when."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Literal, get_args

from proctor.errors import UsageError
from proctor.suggestions import suggest

Kind = Literal[
    "late",
    "rate_limit",
    "error",
    "hang",
    "broken_json",
    "cut_off",
    "wrong_type",
    "drip",
    "reset",
    "error_inside",
    "no_choices",
    "null_content",
    "length",
]
KINDS: tuple[str, ...] = get_args(Kind)
USABLE = frozenset({"", "late", "drip", "null_content", "length"})
"""The faults after which the client still holds a whole reply that it can use."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to disappoint a client."""

    kind: Kind
    """
    ``late``: the reply comes ``seconds`` later. ``rate_limit``: 429. ``error``: ``status``.
    ``hang``: no reply until one side closes. ``broken_json``: half of the JSON, as if it were all.
    ``cut_off``: half of the announced bytes, then the end. ``wrong_type``: a page of HTML.
    ``drip``: small pieces, over ``seconds`` in all. ``reset``: the connection is reset.
    ``error_inside``: 200, and then an error in place of a reply, as when a stream breaks.
    ``no_choices``: a reply without choices. ``null_content``: null for a text.
    ``length``: half of the text, cut off by the limit of tokens.
    """
    seconds: float = 1.0
    status: int = 500
    retry_after: float | None = None
    """Seconds that the header Retry-After asks for; no header where it is none."""
    message: str = ""
    """The server's own words about an error."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            meant = suggest(str(self.kind), KINDS, listed=KINDS)
            raise UsageError(f"there is no fault {self.kind!r} ({meant})")

    @property
    def answer_status(self) -> int:
        """Return the HTTP status that the client sees, 0 where it sees none."""
        fixed = {"rate_limit": 429, "error": self.status, "hang": 0, "reset": 0}
        return fixed.get(self.kind, 200)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Conditions of a fault; one that is left open always holds.

    Rates share one draw per request: 0.2 of one fault and 0.05 of another are a quarter in all.
    The draw depends on the seed, on what was asked and on how often it was asked before, but not
    on the order in which requests arrive, so that two runs meet the same faults.
    """

    fault: Fault
    rate: float = 1.0
    role: str = ""
    """The first part of the path: ``judge`` for ``/judge/v1``."""
    matching: str = ""
    """A regular expression that is searched for in the text of all messages."""
    tries: tuple[int, ...] = ()
    """Which tries of one and the same request, counted from 1."""
    calls: tuple[int, ...] = ()
    """Which calls of this server, counted from 1 as they arrive."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.rate <= 1.0:
            raise UsageError(f"the rate of a fault is between 0 and 1, not {self.rate}")

    def fits(self, request: "FaultRequest") -> bool:
        """Tell whether all conditions but the rate hold."""
        return (
            (not self.role or self.role == request.role)
            and (not self.tries or request.nth in self.tries)
            and (not self.calls or request.number in self.calls)
            and (not self.matching or self._pattern.search(request.text) is not None)
        )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.matching)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRequest:
    """What rules look at in a request."""

    number: int
    key: str
    nth: int
    role: str
    text: str


def choose(rules: Iterable[Rule], seed: int, request: FaultRequest) -> Fault | None:
    """Return the fault that a request meets, if any."""
    share = draw(seed, request.key, request.nth)
    for rule in rules:
        if rule.fits(request):
            if share < rule.rate:
                return rule.fault
            share -= rule.rate
    return None


def draw(seed: int, key: str, nth: int) -> float:
    """Derive a number from 0 to 1 from what is asked."""
    drawn = blake2b(f"{seed} {key} {nth}".encode(), digest_size=8).digest()
    return int.from_bytes(drawn, "big") / 2**64
