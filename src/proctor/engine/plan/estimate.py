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

    def add(self, calls: Iterable[float], prompt: Range, completion: Range) -> None:
        """Take in some calls: how many, how many tokens each is asked with, and answers."""
        for end, number in enumerate(calls):
            self.calls[end] += number
            self.prompt_tokens[end] += number * prompt[end]
            self.completion_tokens[end] += number * completion[end]

    def cost(self, price: tuple[float, float] | None) -> list[float] | None:
        """Return dollars, none where no price is known."""
        if price is None:
            return None
        return [
            (prompt_tokens * price[0] + completion_tokens * price[1]) / 1e6
            for prompt_tokens, completion_tokens in zip(
                self.prompt_tokens, self.completion_tokens, strict=True
            )
        ]


@dataclass
class Estimate:
    """Hold what a run will take beyond what is stored."""

    roles: dict[str, RoleEstimate] = field(default_factory=dict)

    def dialogue(self, case: Case, turns: Turns, limit: int | None, *, rulings: int = 1) -> None:
        """Take in one attempt that has to be made, with so many judgements a verdict."""
        shown = sum(tokens(message.content) for message in case.messages)
        completion = reply_range(limit)
        self._grow("candidate", turns.candidate, shown, completion)
        if any(turns.judge):
            self._grow("judge", turns.judge, shown + PROMPT, VERDICT, rulings)
        if any(turns.simulator):
            self._grow("simulator", turns.simulator, shown + PROMPT, VERDICT)

    def verdict(self, case: Case, tries: int, limit: int | None) -> None:
        """Take in one verdict on an answer."""
        shown = sum(tokens(message.content) for message in case.messages) + PROMPT
        shown += sum(tokens(text) for text in case.references)
        completion = reply_range(limit)
        prompt = (shown + completion[0], shown + completion[1], shown + completion[2])
        self.roles.setdefault("judge", RoleEstimate()).add((1, 1, tries), prompt, VERDICT)

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
        self, name: str, calls: tuple[int, int, int], shown: int, completion: Range, times: int = 1
    ) -> None:
        """Count calls whose transcript grows with each turn."""
        prompt = tuple(shown + completion[i] * max(0, calls[i] - 1) / 2 for i in range(3))
        role = self.roles.setdefault(name, RoleEstimate())
        role.add([times * n for n in calls], (prompt[0], prompt[1], prompt[2]), completion)


def mean_price(prices: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    """Return what models that are asked equally often cost, none where one is not known."""
    known_prices = [price for price in prices if price is not None]
    if not known_prices or len(known_prices) < len(prices):
        return None
    return sum(p[0] for p in known_prices) / len(known_prices), sum(
        p[1] for p in known_prices
    ) / len(known_prices)


def reply_range(limit: int | None) -> Range:
    """Return how many tokens a reply has, given the most that it may have."""
    if limit is None:
        return REPLY
    return (min(REPLY[0], limit), min(REPLY[1], limit), float(limit))
