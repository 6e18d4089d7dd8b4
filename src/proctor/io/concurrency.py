"""Working through much: many things at a time, or so many at once, and how far it has come."""

import os
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from itertools import islice
from threading import Event, Thread
from types import CoroutineType, coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from proctor.records import dataclass

if TYPE_CHECKING:
    import asyncio

Item = TypeVar("Item")
Result = TypeVar("Result")

REACTION = 0.2
"""Seconds after which a loop that does not answer is busy."""
PATIENCE = 0.7
"""Seconds in which interrupted work must have put its things in order."""
EVERY = 500
"""How many things pass between two words about them."""
LISTENER: ContextVar[Callable[[str, int, int | None], None] | None] = ContextVar(
    "listener", default=None
)
"""Who is told the phase of the work, how many things are done, and of how many, where known."""
_ABANDONED: ContextVar[Event | None] = ContextVar("abandoned", default=None)
"""Set where nobody waits any more for what a thread does."""


@contextmanager
def meanwhile(work: Callable[[], object]) -> Iterator[None]:
    """Do something that can be done again, such as loading modules, while the block waits."""

    def done() -> None:
        with suppress(Exception):  # who needs it does it again, and sees what is wrong
            work()

    thread = Thread(target=done, daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@dataclass
class TimeInLine:
    """Time that work with a limit spends waiting for others, which the limit leaves out."""

    limit: "asyncio.Timeout"
    seconds: float = 0.0
    _waiting: int = 0
    _since: float = 0.0
    _until: float | None = None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Stop the clock within the block."""
        import asyncio

        loop = asyncio.get_running_loop()
        if not self._waiting:
            self._since, self._until = loop.time(), self.limit.when()
            if self._until is not None:
                self.limit.reschedule(None)
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                waited = loop.time() - self._since
                self.seconds += waited
                if self._until is not None:
                    self.limit.reschedule(self._until + waited)


_IN_LINE: ContextVar[TimeInLine | None] = ContextVar("in_line", default=None)
"""Whose time in line is not to count."""


@contextmanager
def leaving_out_time_in_line(limit: "asyncio.Timeout") -> Iterator[TimeInLine]:
    """Let a limit leave out, within the block, the time in which work waits in line."""
    time_in_line = TimeInLine(limit)
    token = _IN_LINE.set(time_in_line)
    try:
        yield time_in_line
    finally:
        _IN_LINE.reset(token)


@contextmanager
def in_line() -> Iterator[None]:
    """Wait in line within the block: for a place, or for what others are doing."""
    time_in_line = _IN_LINE.get()
    if time_in_line is None:
        yield
        return
    with time_in_line.waiting():
        yield


class TimeLimit:
    """A limit of time for many pieces of work at once, with one timer for all of them.

    Each is counted from its own begin, and ended as ``asyncio.timeout`` ends it, which would set a
    timer of its own for each.
    """

    def __init__(self, seconds: float) -> None:
        import asyncio

        self._seconds = seconds
        self.current_task = asyncio.current_task
        self._under_way: dict[_TimedWork, None] = {}
        """What is under way, in the order in which it began, which is that of the ends."""
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Tell whether nothing is under way, and no timer set."""
        return not self._under_way and self._timer is None

    def around(self) -> "_TimedWork":
        """Return what raises a TimeoutError in the current task if its block takes longer."""
        return _TimedWork(self)

    def begin(self, work: "_TimedWork", loop: "asyncio.AbstractEventLoop") -> float:
        """Take in a piece of work, and return when it must have ended."""
        ends = loop.time() + self._seconds
        self._under_way[work] = None
        if self._timer is None:
            self._timer = loop.call_at(ends, self._ring, loop)
        return ends

    def end(self, work: "_TimedWork") -> None:
        """Let go of a piece of work that has ended."""
        self._under_way.pop(work, None)
        if not self._under_way and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self, loop: "asyncio.AbstractEventLoop") -> None:
        self._timer = None
        for work in list(self._under_way):
            if work.ends > loop.time():
                self._timer = loop.call_at(work.ends, self._ring, loop)
                return
            del self._under_way[work]
            work.expire()


class _TimedWork:
    """One piece of work within a limit of time."""

    __slots__ = ("_cancelling", "_expired", "_limit", "_task", "ends")

    def __init__(self, limit: TimeLimit) -> None:
        self._limit = limit
        self._expired = False
        self.ends = 0.0

    def __enter__(self) -> None:
        task = self._limit.current_task()
        assert task is not None
        self._task: asyncio.Task[Any] = task
        self._cancelling = task.cancelling()
        self.ends = self._limit.begin(self, task.get_loop())

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self._limit.end(self)
        if not self._expired:
            return
        import asyncio

        # Where others have cancelled the task as well, that goes on.
        others = self._task.uncancel() > self._cancelling
        if not others and kind is not None and issubclass(kind, asyncio.CancelledError):
            raise TimeoutError from error if isinstance(error, BaseException) else None

    def expire(self) -> None:
        """End the work, since its time is over."""
        self._expired = True
        self._task.cancel()


async def map_unordered(
    things: Iterable[Item], work: Callable[[Item], Awaitable[Result]], *, limit: int
) -> AsyncGenerator[Result, None]:
    """Yield what work makes of each thing, in the order of completion, at most limit at a time.

    Things are taken one by one as there is room for them, and made things wait until they are
    fetched. The first error ends everything.
    """
    await loop_needed()
    import asyncio

    source = iter(things)
    loop = asyncio.get_running_loop()
    done: deque[asyncio.Future[Result]] = deque()
    news: asyncio.Future[None] | None = None
    running: set[asyncio.Future[Result]] = set()
    exhausted = False

    def note(ended: asyncio.Future[Result]) -> None:
        done.append(ended)
        if news is not None and not news.done():
            news.set_result(None)

    try:
        while True:
            while not exhausted and len(running) < limit:
                try:
                    thing = next(source)
                except StopIteration:
                    exhausted = True
                    break
                begun: asyncio.Future[Result] = _begun(loop, work(thing))
                running.add(begun)
                begun.add_done_callback(note)
            if not running:
                return
            if not done:
                news = loop.create_future()
                await news
            ended = done.popleft()
            running.discard(ended)
            yield ended.result()
    finally:
        for future in running:
            future.cancel()
        if running:
            await asyncio.wait(running)


def _begun(loop: "asyncio.AbstractEventLoop", work: Awaitable[Result]) -> "asyncio.Future[Result]":
    """Begin work in a loop; most is a coroutine, of which nothing else needs to be found out."""
    if type(work) is CoroutineType:
        return loop.create_task(work)
    import asyncio

    return asyncio.ensure_future(work)


async def in_thread(work: Callable[[], Result]) -> Result:
    """Run work in a thread; where this is cancelled, the next check there ends the work."""
    await loop_needed()
    import asyncio

    abandoned = Event()
    token = _ABANDONED.set(abandoned)
    try:
        return await asyncio.to_thread(work)
    except asyncio.CancelledError:
        abandoned.set()
        raise
    finally:
        _ABANDONED.reset(token)


def check_cancelled() -> None:
    """End work in a thread that nobody waits for any more; to be called now and then."""
    abandoned = _ABANDONED.get()
    if abandoned is not None and abandoned.is_set():
        import asyncio

        raise asyncio.CancelledError


_WITHOUT_LOOP: ContextVar[bool] = ContextVar("without_loop", default=False)
"""Whether work has not needed a loop so far."""
_LOOP = object()
"""What work gives that needs a loop from here on."""


@coroutine
def pause() -> Iterator[None]:
    """Let others run that wait for the loop, and an interrupt in."""
    yield


@coroutine
def loop_needed() -> Iterator[object]:
    """Go on in a loop: to be awaited before anything that really waits, where there may be none."""
    if _WITHOUT_LOOP.get():
        yield _LOOP
        _WITHOUT_LOOP.set(False)


def is_without_loop() -> bool:
    """Tell whether the work has no loop."""
    return _WITHOUT_LOOP.get()


def run_sync(work: Coroutine[Any, Any, Result], *, loop_later: bool = False) -> Result:
    """Run async code to its end from sync code, also where a loop is running already (notebooks).

    The loop lives in its own thread. An interrupt in the calling thread cancels the work, lets it
    put its things in order for a moment, and is then passed on. Work that takes longer is left to
    its loop, which ends with the process: a loop that is stopped in the middle would complain.

    With ``loop_later``, there is none until the work awaits `loop_needed`: to load what makes one
    takes a small command longer than to score its answers.
    """
    begun: _WithoutLoop[Result] | None = None
    try:
        if loop_later:
            begun = _WithoutLoop[Result](work)
            begun.run()
            if begun.ended:
                return begun.result()
            work = begun.rest()
        import asyncio

        loop = asyncio.new_event_loop()
        thread = Thread(target=loop.run_forever, name=THREAD, daemon=True)
        thread.start()
        future = asyncio.run_coroutine_threadsafe(work, loop)
    except KeyboardInterrupt:
        _give_up(work, begun)
        raise
    ended = True
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        _hurry(loop, thread)
        ended = _within(_all_ended(), loop, 2 * PATIENCE) is True
        raise
    finally:
        if not ended:
            loop.set_exception_handler(lambda *_: None)  # nobody is left who could be told
        elif _within(loop.shutdown_asyncgens(), loop, PATIENCE) is not _LATE:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=PATIENCE)
        if not thread.is_alive():
            loop.close()


def _give_up(work: Coroutine[Any, Any, Any], begun: "_WithoutLoop[Any] | None") -> None:
    """End work that was interrupted before it got its loop."""
    if begun is not None:
        begun.abandon()
    with suppress(ValueError, RuntimeError):  # it is with its thread still, or has ended
        work.close()


THREAD = "proctor"
"""The name of the threads that run a command's work."""


class _WithoutLoop(Generic[Result]):
    """Async code in a thread of its own, for as long as it needs no loop."""

    def __init__(self, work: Coroutine[Any, Any, Result]) -> None:
        self._work = work
        self._context = copy_context()
        self._context.run(_WITHOUT_LOOP.set, True)
        self._cancelled = False
        self._result: list[Result] = []
        self._error: BaseException | None = None
        self.ended = False
        self._left = Event()
        """Set where the thread has left the work; joining a thread is confused by interrupts."""

    def run(self) -> None:
        """Run the work until it ends or needs a loop."""
        thread = Thread(target=self._run, name=THREAD, daemon=True)
        thread.start()
        try:
            self._left.wait()
        except KeyboardInterrupt:
            self._cancelled = True
            if not self._left.wait(REACTION):
                _cancel_in(thread)
                self._left.wait(2 * PATIENCE)
            self.abandon()
            raise

    def abandon(self) -> None:
        """End the work where it was left waiting for a loop."""
        if self._left.is_set() and not self.ended:
            self.ended = True
            self._cancel()

    def result(self) -> Result:
        """Return what the work gave, or raise its error."""
        if self._error is not None:
            raise self._error
        return self._result[0]

    async def rest(self) -> Result:
        """Run the rest of the work in the loop, in the context that it has been in."""
        import asyncio

        loop = asyncio.get_running_loop()
        return await loop.create_task(self._work, context=self._context)

    def _cancel(self) -> None:
        """End work that is about to need a loop; what it awaits then, it gets at once."""
        with suppress(StopIteration, BaseException):
            self._context.run(self._work.throw, _cancellation())
            self._work.close()

    def _run(self) -> None:
        try:
            while self._context.run(self._work.send, None) is not _LOOP:
                if self._cancelled:
                    self._context.run(self._work.throw, _cancellation())
        except StopIteration as end:
            self._result, self.ended = [end.value], True
        except BaseException as error:  # noqa: BLE001 - raised where the result is wanted
            self._error, self.ended = error, True
        finally:
            self._left.set()


def _cancellation() -> BaseException:
    import asyncio

    return asyncio.CancelledError()


def _cancel_in(thread: Thread) -> None:
    """Raise a cancellation in a thread that is busy with something that never waits."""
    import ctypes

    if thread.ident is not None:
        target, error = ctypes.c_ulong(thread.ident), ctypes.py_object(type(_cancellation()))
        ctypes.pythonapi.PyThreadState_SetAsyncExc(target, error)


def _hurry(loop: "asyncio.AbstractEventLoop", thread: Thread) -> None:
    """Cancel also where the loop is busy with something that never waits, such as a long file."""
    awake = Event()
    loop.call_soon_threadsafe(awake.set)
    if not awake.wait(REACTION):
        _cancel_in(thread)


_LATE = object()
"""What work gives that a loop did not get to in time."""


def _within(work: Coroutine[Any, Any, Any], loop: "asyncio.AbstractEventLoop", limit: float) -> Any:
    """Wait for some work in a loop, and return what it gives."""
    import asyncio

    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result(timeout=limit)
    except TimeoutError:
        future.cancel()
        return _LATE


async def _all_ended() -> bool:
    """Wait a moment for everything else in the loop, and tell whether all of it has ended."""
    import asyncio

    others = asyncio.all_tasks() - {asyncio.current_task()}
    if not others:
        return True
    _, pending = await asyncio.wait(others, timeout=PATIENCE)
    return not pending


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Cut a stream into lists of at most so many."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


class PhaseCount:
    """Count of the things that one phase of the work has done."""

    def __init__(self, phase: str, total: int | None = None) -> None:
        self.phase, self.total, self.done = phase, total, 0
        self._listener = LISTENER.get()
        self.tell()

    def add(self) -> None:
        """Count one more."""
        self.done += 1
        if not self.done % EVERY:
            self.tell()

    def tell(self) -> None:
        """Tell how many it is now."""
        if self._listener is not None:
            self._listener(self.phase, self.done, self.total)


def tallied(phase: str, things: Iterable[Item], total: int | None = None) -> Iterator[Item]:
    """Count things as they pass by; they are only passed on where nobody listens."""
    return iter(things) if LISTENER.get() is None else _tallied(PhaseCount(phase, total), things)


def _tallied(tally: PhaseCount, things: Iterable[Item]) -> Iterator[Item]:
    number = 0
    for number, thing in enumerate(things, 1):
        yield thing
        if not number % EVERY:
            tally.done = number
            tally.tell()
    tally.done = number
    tally.tell()
