"""The longest common subsequence of two sequences, as pairs of positions.

The table of the textbook method is kept as one bit per cell in Python's long integers, a row at a
time, so that a row costs a handful of machine instructions per 30 cells instead of one step each.
"""

from collections.abc import Hashable, Sequence

NOWHERE = -1


def align(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[int]:
    """Return for each element of left the position of its partner in right, or NOWHERE.

    Equal elements are always paired where the walk back from the two ends meets them; where both
    ways on are equally good, the element of left is dropped, so that partners lie late in right.
    """
    rows = _rows(left, right)
    partner = [NOWHERE] * len(left)
    i, j = len(left) - 1, len(right) - 1
    while i >= 0 and j >= 0:
        if left[i] == right[j]:
            partner[i] = j
            i -= 1
            j -= 1
        elif rows[j] >> i & 1:
            i -= 1
        else:
            j -= 1
    return partner


def _rows(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[int]:
    """Return a row per element of right; bit i is 0 where left[i] lengthens the subsequence."""
    where: dict[Hashable, int] = {}
    for i, element in enumerate(left):
        where[element] = where.get(element, 0) | 1 << i
    every = (1 << len(left)) - 1
    row = every
    rows = []
    for element in right:
        if hits := row & where.get(element, 0):
            row = (row + hits | row - hits) & every
        rows.append(row)
    return rows
