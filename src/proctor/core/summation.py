"""Sums of points that come out the same on every version of Python."""

from collections.abc import Iterable


def in_turn(values: Iterable[float]) -> float:
    """Add numbers one after the other.

    The built-in ``sum`` corrects its rounding since Python 3.12, so that its last bit differs
    from that of earlier versions, and from what the originals wrote into their files.
    """
    added = 0.0
    for value in values:
        added += value
    return added
