"""Waiting in tests: until something is so, for as long as a slow and busy machine may take."""

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 120.0
"""Seconds before a test gives up on what should come; it ends the moment that it has come."""

Seen = TypeVar("Seen")


def until(condition: Callable[[], Seen], *, seconds: float = PATIENCE, every: float = 0.02) -> Seen:
    """Wait until a condition returns something true, and return that; fail where it never does."""
    latest = time.monotonic() + seconds
    while not (seen := condition()):
        assert time.monotonic() < latest, f"not so after {seconds:g} s: {condition}"
        time.sleep(every)
    return seen
