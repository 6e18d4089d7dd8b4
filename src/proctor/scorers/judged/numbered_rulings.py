"""Verdicts on numbered things: the claims of a text, and one ruling for each number."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, create_model, model_validator

from proctor.contracts.judge import FoldedVerdict

_EXAMPLES = frozenset({"the first claim", "the second claim", "第一条说法", "第二条说法"})
"""What the prompts write in the place of claims; weak judges repeat it."""


class ListedClaims(FoldedVerdict, BaseModel):
    """The claims that a text makes, each in a sentence of its own."""

    claims: tuple[str, ...]

    @model_validator(mode="after")
    def _own(self) -> Self:
        if any(claim.strip().rstrip(".。").lower() in _EXAMPLES for claim in self.claims):
            raise ValueError("these are the words of the example, and not the claims of the text")
        return self

    @classmethod
    def folded(cls, verdicts: Sequence[Self]) -> Self:
        """Take one of them whole: of those in the order of their length, the one in the middle.

        Judges word the same claims differently, so that no list of all has anything in common.
        """
        by_length = sorted(verdicts, key=lambda verdict: len(verdict.claims))
        return by_length[(len(by_length) - 1) // 2]


class NumberedRuling(BaseModel):
    """What holds of one numbered thing, and by which passages."""

    number: int
    reason: str = ""
    result: str
    passages: tuple[int, ...] = ()


class NumberedRulings(FoldedVerdict, BaseModel):
    """One ruling for each number."""

    count: ClassVar[int] = 0
    choices: ClassVar[tuple[str, ...]] = ()

    rulings: tuple[Any, ...]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        numbers = Counter(ruling.number for ruling in self.rulings)
        if numbers != Counter(range(1, self.count + 1)):
            wanted = "exactly one ruling for the number 1"
            if self.count > 1:
                wanted = f"exactly one ruling for each number from 1 to {self.count}"
            named = ", ".join(str(number) for number in sorted(numbers.elements())) or "none"
            raise ValueError(f"{wanted} is wanted here, not for {named}"[:300])
        return self

    @property
    def in_order(self) -> list[Any]:
        """Return the rulings by number."""
        return sorted(self.rulings, key=lambda ruling: ruling.number)

    @classmethod
    def folded(cls, verdicts: Sequence[Self]) -> Self:
        """Let most of them decide for each number; of equal shares, the choice named last."""
        rulings = []
        for place in range(cls.count):
            votes = [verdict.in_order[place] for verdict in verdicts]
            leading = _leading(votes)
            result = max(leading, key=cls.choices.index)
            rulings.append(next(vote for vote in votes if vote.result == result))
        return cls.model_construct(rulings=tuple(rulings))

    @classmethod
    def are_divided(cls, verdicts: Sequence[Self]) -> bool:
        return bool(cls.divided_numbers(verdicts))

    @classmethod
    def divided_numbers(cls, verdicts: Sequence[Self]) -> set[int]:
        """Return the numbers over which verdicts are evenly divided."""
        return {
            place + 1
            for place in range(cls.count)
            if len(_leading([verdict.in_order[place] for verdict in verdicts])) > 1
        }


def _leading(votes: Sequence[Any]) -> list[str]:
    counts = Counter(vote.result for vote in votes)
    return [result for result, count in counts.items() if count == max(counts.values())]


@cache
def rulings_on(count: int, choices: tuple[str, ...], *, passages: bool) -> Any:
    """Return the type of verdicts on so many things; the choice that says least is the last."""
    fields: dict[str, Any] = {
        "number": (int, ...),
        "reason": (str, ""),
        "result": (Literal[choices], ...),
    }
    if passages:
        fields["passages"] = (tuple[int, ...], ())
    ruling: Any = create_model("Ruling", __base__=BaseModel, **fields)
    rulings: Any = create_model(
        "Rulings", __base__=NumberedRulings, rulings=(tuple[ruling, ...], ...)
    )
    rulings.count, rulings.choices = count, choices
    return rulings
