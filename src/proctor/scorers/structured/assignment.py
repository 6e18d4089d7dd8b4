"""Pairs of what is wanted and what is there that are worth most together."""

from collections.abc import Sequence

MOST_PAIRS = 20_000
"""Beyond, pairs are found one by one, the best first."""


def best_pairs(
    worth: Sequence[Sequence[float]], *, in_order: bool = False
) -> list[tuple[int, int]]:
    """Return pairs of rows and columns with the greatest sum; pairs worth nothing are left out.

    With ``in_order`` no pair crosses another: later rows have later columns.
    """
    if not worth or not worth[0]:
        return []
    if len(worth) * len(worth[0]) > MOST_PAIRS:
        pairs = _greedy(worth, in_order=in_order)
    else:
        pairs = _in_order(worth) if in_order else _in_any_order(worth)
    return sorted((row, column) for row, column in pairs if worth[row][column] > 0)


def _in_order(worth: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Align two sequences."""
    rows, columns = len(worth), len(worth[0])
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            best[row][column] = max(
                best[row + 1][column],
                best[row][column + 1],
                best[row + 1][column + 1] + worth[row][column],
            )
    pairs, row, column = [], 0, 0
    while row < rows and column < columns:
        if best[row][column] == best[row + 1][column]:
            row += 1
        elif best[row][column] == best[row][column + 1]:
            column += 1
        else:
            pairs.append((row, column))
            row, column = row + 1, column + 1
    return pairs


def _in_any_order(worth: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    if len(worth) <= len(worth[0]):
        return _assigned(worth)
    turned = [list(column) for column in zip(*worth, strict=True)]
    return [(row, column) for column, row in _assigned(turned)]


def _assigned(worth: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Solve the assignment problem by the Hungarian method, for no more rows than columns."""
    rows, columns = len(worth), len(worth[0])
    of_row, of_column = [0.0] * (rows + 1), [0.0] * (columns + 1)
    taken_by = [0] * (columns + 1)
    for row in range(1, rows + 1):
        taken_by[0], column = row, 0
        least = [float("inf")] * (columns + 1)
        came_from, seen = [0] * (columns + 1), [False] * (columns + 1)
        while taken_by[column]:
            seen[column] = True
            own, step, following = taken_by[column], float("inf"), 0
            for other in range(1, columns + 1):
                if seen[other]:
                    continue
                cost = -worth[own - 1][other - 1] - of_row[own] - of_column[other]
                if cost < least[other]:
                    least[other], came_from[other] = cost, column
                if least[other] < step:
                    step, following = least[other], other
            for other in range(columns + 1):
                if seen[other]:
                    of_row[taken_by[other]] += step
                    of_column[other] -= step
                else:
                    least[other] -= step
            column = following
        while column:
            taken_by[column] = taken_by[came_from[column]]
            column = came_from[column]
    return [(taken_by[c] - 1, c - 1) for c in range(1, columns + 1) if taken_by[c]]


def _greedy(worth: Sequence[Sequence[float]], *, in_order: bool) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    free = dict.fromkeys(range(len(worth[0])))
    after = -1
    for row, values in enumerate(worth):
        open_columns = [column for column in free if column > after]
        if not open_columns:
            continue
        column = max(open_columns, key=lambda place: values[place])
        if values[column] > 0:
            pairs.append((row, column))
            del free[column]
            after = column if in_order else after
    return pairs
