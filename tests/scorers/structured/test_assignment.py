"""Pairs that are worth most together, compared with trying everything."""

from itertools import permutations
from random import Random

import pytest

from proctor.scorers.structured import assignment
from proctor.scorers.structured.assignment import best_pairs


def tried(worth: list[list[float]], *, in_order: bool) -> float:
    rows, columns = len(worth), len(worth[0])
    best = 0.0
    places = [*range(columns), *[-1] * rows]
    for chosen in set(permutations(places, rows)):
        used = [place for place in chosen if place >= 0]
        if len(set(used)) == len(used) and (not in_order or used == sorted(used)):
            best = max(best, sum(worth[i][p] for i, p in enumerate(chosen) if p >= 0))
    return best


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 2), (3, 3), (1, 4)])
def test_no_other_pairs_are_worth_more(shape: tuple[int, int], in_order: bool) -> None:
    random = Random(repr(shape))
    for _ in range(10):
        worth = [[random.choice([0, 0, 0.25, 0.5, 1]) for _ in range(shape[1])]
                 for _ in range(shape[0])]  # fmt: skip
        pairs = best_pairs(worth, in_order=in_order)
        assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
        assert sum(worth[row][column] for row, column in pairs) == tried(worth, in_order=in_order)
        if in_order:
            assert [column for _, column in pairs] == sorted(column for _, column in pairs)


def test_nothing_has_no_pairs() -> None:
    assert best_pairs([]) == best_pairs([[]]) == best_pairs([[0.0, 0.0]]) == []


@pytest.mark.parametrize(("in_order", "pairs"), [(False, [(0, 1), (1, 0)]), (True, [(0, 1)])])
def test_very_many_are_paired_one_by_one(
    monkeypatch: pytest.MonkeyPatch, in_order: bool, pairs: list[tuple[int, int]]
) -> None:
    monkeypatch.setattr(assignment, "MOST_PAIRS", 1)
    assert best_pairs([[0.5, 1.0], [1.0, 0.0]], in_order=in_order) == pairs
