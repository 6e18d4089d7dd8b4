"""Estimates of a run's calls, tokens and cost: minimum, likely and maximum."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.contracts.dialogue import Turns
from proctor.core.suite import Case
from proctor.engine.models.budget import tokens

Range = tuple[float, float, float]

REPLY: Range = (20, 300, 2000)
"""Assumed tokens of a candidate's reply, if no limit is set."""
VERDICT: Range = (30, 150, 600)
PROMPT = 700
"""Assumed tokens of a judge's or simulator's instructions."""


@dataclass
class RoleEstimate:
    """Estimate of one role."""

    calls: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    prompt_tokens: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    completion_tokens: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])

    def add(self, calls: Iterable[float], prompt: Range, completion: Range) -> None:
        """Add calls with the prompt and completion tokens of each."""
        for end, number in enumerate(calls):
            self.calls[end] += number
            self.prompt_tokens[end] += number * prompt[end]
            self.completion_tokens[end] += number * completion[end]

    def cost(self, price: tuple[float, float] | None) -> list[float] | None:
        """Return dollars; None if no price is known."""
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
    """Estimate of a run beyond what is stored."""

    roles: dict[str, RoleEstimate] = field(default_factory=dict)

    def dialogue(self, case: Case, turns: Turns, limit: int | None, *, rulings: int = 1) -> None:
        """Add one attempt to make, with its rulings per verdict."""
        shown = sum(tokens(message.content) for message in case.messages)
        completion = reply_range(limit)
        self._grow("candidate", turns.candidate, shown, completion)
        if any(turns.judge):
            self._grow("judge", turns.judge, shown + PROMPT, VERDICT, rulings)
        if any(turns.simulator):
            self._grow("simulator", turns.simulator, shown + PROMPT, VERDICT)

    def verdict(self, case: Case, tries: int, limit: int | None) -> None:
        """Add one verdict on an answer."""
        shown = sum(tokens(message.content) for message in case.messages) + PROMPT
        shown += sum(tokens(text) for text in (*case.references, *case.context))
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
        """Return dollars over all roles; None if a price is missing."""
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
    """Return the mean price of models; None if one is unknown."""
    known_prices = [price for price in prices if price is not None]
    if not known_prices or len(known_prices) < len(prices):
        return None
    return sum(p[0] for p in known_prices) / len(known_prices), sum(
        p[1] for p in known_prices
    ) / len(known_prices)


def reply_range(limit: int | None) -> Range:
    """Return the assumed tokens of a reply, given its limit."""
    if limit is None:
        return REPLY
    return (min(REPLY[0], limit), min(REPLY[1], limit), float(limit))
