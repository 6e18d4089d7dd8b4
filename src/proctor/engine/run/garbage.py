"""When Python looks for garbage while a run makes many objects that stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECT_EVERY = 20_000
"""How many new objects make Python look for cycles of garbage among them."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for cycles of garbage less often: most of what a run makes stays until its end."""
    before = gc.get_threshold()
    if not 0 < before[0] < COLLECT_EVERY:
        yield
        return
    gc.set_threshold(COLLECT_EVERY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def settled() -> Iterator[None]:
    """Freeze long-lived objects, so that garbage collection skips them."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
