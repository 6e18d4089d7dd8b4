"""Streams cut into lists."""

from itertools import count, islice

from proctor.io.concurrency import batched


def test_batches() -> None:
    assert list(batched("abcde", 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(batched((), 2)) == []
    assert list(islice(batched(count(), 3), 2)) == [[0, 1, 2], [3, 4, 5]], "as they are needed"
