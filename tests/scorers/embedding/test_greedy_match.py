"""Greedy matching: what is in memory at a time stays within its limits, and nothing is lost."""

import pytest

from proctor.scorers.embedding.greedy_match import Sizes, _batches, _groups


@pytest.mark.parametrize(
    ("lengths", "most", "groups"),
    [
        ([3, 3, 3], 6, [[0, 1], [2]]),
        ([3, 3, 3], 9, [[0, 1, 2]]),
        ([10, 1], 5, [[0], [1]]),
        ([], 5, []),
        ([1, 10, 4], 5, [[0], [1], [2]]),
    ],
)
def test_as_many_as_fit_and_at_least_one(
    lengths: list[int], most: int, groups: list[list[int]]
) -> None:
    pairs = [("a" * (length // 2), "b" * (length - length // 2)) for length in lengths]
    assert list(_groups(range(len(pairs)), pairs, most, most)) == [
        range(group[0], group[-1] + 1) for group in groups
    ]


def test_the_first_groups_are_small_and_grow() -> None:
    pairs = [("a", "b")] * 40
    sizes = [len(group) for group in _groups(range(40), pairs, 16, 4)]
    assert sizes == [2, 4, 8, 8, 8, 8, 2]


@pytest.mark.parametrize("cells", [1, 50, 200, 10**6])
def test_batches_hold_every_pair_once_and_no_more_than_fits(cells: int) -> None:
    spans = [(1, 2), (2, 2), (3, 5), (4, 4), (9, 9)]
    width = 3
    batches = list(_batches(spans, width, cells))
    assert [place for batch in batches for place in batch] == list(range(len(spans)))
    for batch in batches:
        left = max(spans[place][0] for place in batch)
        right = max(spans[place][1] for place in batch)
        needed = len(batch) * (left * right + (left + right) * width)
        assert len(batch) == 1 or needed <= cells
    if cells == 10**6:
        assert len(batches) == 1


def test_a_device_that_is_full_is_given_half() -> None:
    small, large = Sizes.of("cpu"), Sizes.of("cuda:1")
    assert small.cells < large.cells
    assert large.halved == Sizes(
        large.characters // 2, large.tokens // 2, large.cells // 2, large.first // 2
    )
