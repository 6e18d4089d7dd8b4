"""The stream to a device: order, how far ahead, what goes wrong, and that no thread is left."""

import threading
from collections.abc import Iterator

import pytest

from proctor.scorers.embedding import device_stream


def threads() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith(device_stream.THREAD)]


def test_items_are_prepared_in_order_and_only_a_few_ahead() -> None:
    taken: list[int] = []
    begun: list[int] = []

    def source() -> Iterator[int]:
        for number in range(20):
            begun.append(number)
            yield number

    with device_stream.prepared(source(), lambda number: number * number) as squares:
        assert begun == [0, 1], "the thread begins before anything is taken"
        for square in squares:
            taken.append(square)
            assert len(begun) <= len(taken) + device_stream.AHEAD
    assert taken == [number * number for number in range(20)]
    assert threads() == []


def test_what_preparing_raises_reaches_the_taker_in_its_turn() -> None:
    def prepare(number: int) -> int:
        if number == 2:
            raise TypeError("two cannot be prepared")
        return number

    with device_stream.prepared(range(5), prepare) as numbers:
        assert [next(numbers), next(numbers)] == [0, 1]
        with pytest.raises(TypeError, match="two"):
            next(numbers)
    assert threads() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupt_leaves_no_thread(error: type[BaseException]) -> None:
    prepared: list[int] = []

    def taken() -> None:
        with device_stream.prepared(range(1000), prepared.append) as items:
            next(items)
            raise error

    with pytest.raises(error):
        taken()
    assert threads() == []
    assert len(prepared) <= 1 + device_stream.AHEAD


@pytest.mark.torch
def test_values_come_back_in_order_and_after_more_was_queued() -> None:
    import torch

    queued: list[int] = []

    def work() -> Iterator[tuple[int, object]]:
        for number in range(6):
            queued.append(number)
            yield number, torch.tensor([number, number + 1])

    seen = []
    for number, values in device_stream.fetched(work()):
        seen.append((number, values))
        assert len(queued) == min(6, number + 1 + device_stream.IN_FLIGHT)
    assert seen == [(number, [number, number + 1]) for number in range(6)]
