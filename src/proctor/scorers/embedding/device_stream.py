"""A stream to a device: the next texts are prepared, and values come back, while it computes."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")
Prepared = TypeVar("Prepared")

AHEAD = 2
"""How many items are prepared before they are wanted."""
IN_FLIGHT = 2
"""How many results may be under way before the next work is queued on a device."""
STAGED = 2**16
"""Bytes up to which a copy to a GPU waits for nothing, wherever it is copied from."""
THREAD = "proctor-prepare"


@contextmanager
def prepared(
    items: Iterable[Item], prepare: Callable[[Item], Prepared]
) -> Iterator[Iterator[Prepared]]:
    """Prepare items in a thread, in order and a few ahead; what it raises, the taker gets.

    The thread has begun when the block is entered, and has ended when it is left, however that is.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix=THREAD)
    source = iter(items)
    waiting = deque(pool.submit(prepare, item) for item in islice(source, AHEAD))
    try:
        with closing(_taken(source, prepare, waiting, pool)) as results:
            yield results
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _taken(
    source: Iterator[Item],
    prepare: Callable[[Item], Prepared],
    waiting: "deque[Future[Prepared]]",
    pool: ThreadPoolExecutor,
) -> Generator[Prepared, None, None]:
    while waiting:
        result = waiting.popleft().result()
        waiting.extend(pool.submit(prepare, item) for item in islice(source, 1))
        yield result


def fetched(queued: Iterable[tuple[Item, Any]]) -> Iterator[tuple[Item, list[Any]]]:
    """Return the values of tensors as lists, in order, while a device computes those after them.

    Each tensor is work that was just queued, with something to tell it by.
    """
    under_way: deque[tuple[Item, _Copy]] = deque()
    for item, tensor in queued:
        under_way.append((item, _Copy(tensor)))
        if len(under_way) > IN_FLIGHT:
            done, copy = under_way.popleft()
            yield done, copy.values()
    for done, copy in under_way:
        yield done, copy.values()


class _Copy:
    """A copy of a tensor in this machine's memory, under way."""

    def __init__(self, tensor: Any) -> None:
        self._arrived = None
        self._tensor = tensor
        if tensor.is_cuda:
            import torch

            self._tensor = tensor.to("cpu", non_blocking=True)
            # Waited for asleep: a thread that spins would take a core from the one that prepares.
            self._arrived = torch.cuda.Event(blocking=True)
            self._arrived.record(torch.cuda.current_stream(tensor.device))

    def values(self) -> list[Any]:
        if self._arrived is not None:
            self._arrived.synchronize()
        values: list[Any] = self._tensor.tolist()
        return values


def sent(tensor: Any, device: str) -> Any:
    """Move something small to a device without waiting for it."""
    if not device.startswith("cuda"):
        return tensor.to(device)
    small = tensor.numel() * tensor.element_size() <= STAGED
    # What is small the driver copies at once, which is quicker than to look for pinned memory.
    return (tensor if small else pinned(tensor, device)).to(device, non_blocking=True)


def pinned(tensor: Any, device: str) -> Any:
    """Put something where a device can fetch it from while this machine does other things."""
    if device.startswith("cuda") and not tensor.is_pinned():
        return tensor.pin_memory()
    return tensor
