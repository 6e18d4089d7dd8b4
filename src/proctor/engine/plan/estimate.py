"""Guessing what a run will take: calls, tokens and money, at least, likely and at most."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.contracts.dialogue import Turns
from proctor.core.suite import Case
from proctor.engine.models.budget import tokens

Range = tuple[float, float, float]

REPLY: Range = (20, 300, 2000)
"""How many tokens a candidate's reply has, where no limit was set."""
VERDICT: Range = (30, 150, 600)
PROMPT = 700
"""How many tokens a judge's or simulator's instructions have."""


@dataclass
class RoleEstimate:
    """Hold what one role will take."""

    calls: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    prompt_tokens: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    completion_tokens: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])

    def add(self, calls: Iterable[float], asked: Range, said: Range) -> None:
        """Take in some calls: how many, how many tokens each is asked with, and answers."""
        for end, number in enumerate(calls):
            self.calls[end] += number
            self.prompt_tokens[end] += number * asked[end]
            self.completion_tokens[end] += number * said[end]

    def cost(self, price: tuple[float, float] | None) -> list[float] | None:
        """Return dollars, none where no price is known."""
        if price is None:
            return None
        return [
            (asked * price[0] + said * price[1]) / 1e6
            for asked, said in zip(self.prompt_tokens, self.completion_tokens, strict=True)
        ]


@dataclass
class Estimate:
    """Hold what a run will take beyond what is stored."""

    roles: dict[str, RoleEstimate] = field(default_factory=dict)

    def dialogue(self, case: Case, turns: Turns, limit: int | None, *, rulings: int = 1) -> None:
        """Take in one attempt that has to be made, with so many judgements a verdict."""
        shown = sum(tokens(message.content) for message in case.messages)
        said = reply_range(limit)
        self._grow("candidate", turns.candidate, shown, said)
        if any(turns.judge):
            self._grow("judge", turns.judge, shown + PROMPT, VERDICT, rulings)
        if any(turns.simulator):
            self._grow("simulator", turns.simulator, shown + PROMPT, VERDICT)

    def verdict(self, case: Case, tries: int, limit: int | None) -> None:
        """Take in one verdict on an answer."""
        shown = sum(tokens(message.content) for message in case.messages) + PROMPT
        shown += sum(tokens(text) for text in case.references)
        said = reply_range(limit)
        asked = (shown + said[0], shown + said[1], shown + said[2])
        self.roles.setdefault("judge", RoleEstimate()).add((1, 1, tries), asked, VERDICT)

    def total(self, name: str) -> list[int]:
        """Return the sum over all roles of calls, prompt_tokens or completion_tokens."""
        sums = [0.0, 0.0, 0.0]
        for role in self.roles.values():
            sums = [a + b for a, b in zip(sums, getattr(role, name), strict=True)]
        return [round(number) for number in sums]

    def cost(self, prices: dict[str, Any]) -> list[float] | None:
        """Return dollars over all roles, none where a price is missing."""
        sums = [0.0, 0.0, 0.0]
        for name, role in self.roles.items():
            part = role.cost(prices.get(name))
            if part is None:
                return None
            sums = [a + b for a, b in zip(sums, part, strict=True)]
        return sums

    def _grow(
        self, name: str, calls: tuple[int, int, int], shown: int, said: Range, times: int = 1
    ) -> None:
        """Count calls whose transcript grows with each turn."""
        asked = tuple(shown + said[i] * max(0, calls[i] - 1) / 2 for i in range(3))
        role = self.roles.setdefault(name, RoleEstimate())
        role.add([times * n for n in calls], (asked[0], asked[1], asked[2]), said)


def mean_price(prices: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    """Return what models that are asked equally often cost, none where one is not known."""
    known = [price for price in prices if price is not None]
    if not known or len(known) < len(prices):
        return None
    return sum(p[0] for p in known) / len(known), sum(p[1] for p in known) / len(known)


def reply_range(limit: int | None) -> Range:
    """Return how many tokens a reply has, given the most that it may have."""
    if limit is None:
        return REPLY
    return (min(REPLY[0], limit), min(REPLY[1], limit), float(limit))
