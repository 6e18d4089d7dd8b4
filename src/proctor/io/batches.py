"""Streams cut into lists; ``itertools.batched`` comes with Python 3.12 only."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Cut a stream into lists of at most so many."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch
