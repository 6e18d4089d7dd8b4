"""Ratings read as ColossalAI's own code reads them, so that old numbers come out."""

import re
from collections.abc import Mapping
from math import exp

TOP = 5
"""How many candidates of the first token the original looks at."""
_DIGIT = re.compile(r"\d")
_SCORES = 5


def digit_in(text: str) -> int:
    """Return the only digit of a reply, in any script and of any size; 0 where there is not one."""
    digits = _DIGIT.findall(text)
    return int(digits[0]) if len(digits) == 1 else 0


def weighted(logprobs: Mapping[str, float]) -> float:
    """Return the sum of digits weighted by probability, not divided by the mass found.

    A 0 counts as a 5, and a digit above 5 is an IndexError, as in the original.
    """
    masses = [0.0] * _SCORES
    for token, value in logprobs.items():
        if "bytes" in token:
            continue
        digits = _DIGIT.findall(token)
        if len(digits) != 1:
            continue
        place = int(digits[0]) - 1
        if place >= _SCORES:
            raise IndexError(f"index {place} is out of bounds for axis 0 with size {_SCORES}")
        masses[place] += exp(value)
    return sum(score * mass for score, mass in enumerate(masses, 1))
