"""``proctor.Grader``: a suite made ready to score outputs without a run."""

import asyncio
import atexit
import logging
import os
import queue
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

from proctor.api.cases import AnyCases, is_path, reading_on_file
from proctor.api.cases import reading_of as reading_in_memory
from proctor.api.function_models import AModel, choice_of
from proctor.api.functions import text_of
from proctor.api.object_specs import AnyCriteria
from proctor.api.python_words import told_in_python
from proctor.core.attempt import Attempt
from proctor.core.suite import Spec, Suite
from proctor.engine.grading.graded_output import GradedOutput, Output
from proctor.engine.grading.open_grading import GradingSettings, open_grading
from proctor.engine.grading.output_grading import GradingLimits, OutputGrading, SlowOutput
from proctor.engine.run.settings import CallSettings, JudgeSettings, RunSettings, SuiteSettings
from proctor.errors import Problem, UsageError
from proctor.io.background_loop import BackgroundLoop

if TYPE_CHECKING:
    from proctor.contracts.dialect import Reading

__all__ = ["GradedOutput", "Grader", "SlowOutput"]

Pairs = Iterable[tuple[str, Output]] | Mapping[str, Output]
WINDOW = 4096
"""How many outputs a stream has under way at most."""
TOGETHER, TOGETHER_SECONDS = 256, 0.005
"""How many outputs of a stream are handed over at once, and how long they are waited for."""
_LOG = logging.getLogger("proctor.grader")


class Grader:
    """A suite made ready to score outputs: in sandboxes and processes that stay warm.

    ``cases`` are what ``evaluate`` takes: the path of a suite, a ``Suite``, a list of mappings in
    the native format or of ``Case``s, or a DataFrame. An output that could not be scored has the
    value ``None``, and ``why`` says the reason. All methods may be called from any thread and under
    any running loop. Close it, or use it as a context manager: processes end with it, and with this
    process, however that ends.
    """

    @told_in_python()
    def __init__(  # noqa: PLR0913 - each is a setting with a name
        self,
        cases: AnyCases,
        *,
        criteria: AnyCriteria | None = None,
        judge: AModel | Sequence[AModel] = (),
        sandbox: str = "bubblewrap",
        deadline: float | None = 60.0,
        slow: float = 10.0,
        concurrency: int = 64,
        cache: str | Path | bool = False,
        max_cost: float | None = None,
        dialect: str = "",
        where: str = "",
        limit: int | None = None,
        allow_import: bool = False,
        warm: bool = True,
        on_slow: Callable[[SlowOutput], None] | None = None,
    ) -> None:
        """Make the suite ready, or raise everything that stands in the way.

        :param criteria: serve cases that have none of their own.
        :param judge: the model that judges, such as ``openai:NAME``, a Model, or a function of a
            text; a list of them is a panel.
        :param deadline: seconds for one output, without the time in line; then it has no score.
        :param slow: seconds from which an output is reported to ``on_slow``, or else logged.
        :param concurrency: how many calls of judges are made at once.
        :param cache: ``True``, or the path or URL of a store: scores that are there are not made
            again, and new ones are added.
        :param warm: start processes and sandboxes now, not with the first output.
        """
        judges = judge if isinstance(judge, list | tuple) else (judge,)
        name, _, image = sandbox.partition(":")
        self._reading, suite = reading_of(
            cases, criteria, dialect=dialect, where=where, limit=limit, allow_import=allow_import
        )
        self._settings = GradingSettings(
            run=RunSettings(
                suite=suite,
                panel=JudgeSettings(judges=tuple(choice_of(one, "judge") for one in judges)),
                calls=CallSettings(concurrency=concurrency, max_cost=max_cost),
                sandbox=Spec(name=name, params={"image": image} if image else {}),
            ),
            limits=GradingLimits(deadline=deadline, slow=slow),
            cache=_cache(cache),
            warm=warm,
        )
        self._on_slow = on_slow or _log_slow
        self._lock = Lock()
        self._closed = False
        self._live: _Live | None = None
        self.warnings: tuple[Problem, ...] = self._open().warnings

    @property
    def suite(self) -> Suite:
        """Return the suite."""
        return self._reading.suite

    def score(self, outputs: Pairs) -> list[GradedOutput]:
        """Score pairs of a case's id and an output, on all cores; return results in their order.

        An output is a text, ``None`` where the candidate gave no answer, or an ``Attempt``. An
        unknown case raises an error before anything is scored.
        """
        live = self._open()
        return live.loop.run(live.score(_pairs(outputs)))

    async def ascore(self, outputs: Pairs) -> list[GradedOutput]:
        """Score pairs as ``score`` does, from a coroutine in any loop."""
        live = self._open()
        return await asyncio.wrap_future(live.loop.submit(live.score(_pairs(outputs))))

    def score_one(self, case_id: str, output: Output) -> GradedOutput:
        """Score a single output."""
        live = self._open()
        return live.loop.run(live.score_one(case_id, _output(output)))

    async def ascore_one(self, case_id: str, output: Output) -> GradedOutput:
        """Score a single output from a coroutine in any loop."""
        live = self._open()
        return await asyncio.wrap_future(live.loop.submit(live.score_one(case_id, _output(output))))

    def stream(self, outputs: Pairs) -> Iterator[GradedOutput]:
        """Score pairs while they come, and yield each result when it is there.

        ``result.index`` says which pair it belongs to. Pairs are taken as there is room for them.
        """
        live = self._open()
        done: queue.SimpleQueue[GradedOutput | BaseException] = queue.SimpleQueue()
        feed = _OutputFeed(live, outputs, done.put)
        try:
            while not feed.is_done:
                feed.take()
                wait = not feed.has_room
                while feed.in_flight and (wait or not done.empty()):
                    yield feed.received(done.get())
                    wait = False
        finally:
            feed.cancel()

    async def astream(self, outputs: Pairs) -> AsyncIterator[GradedOutput]:
        """Stream as ``stream`` does, from a coroutine in any loop."""
        live, loop = self._open(), asyncio.get_running_loop()
        done: asyncio.Queue[GradedOutput | BaseException] = asyncio.Queue()

        def put(result: GradedOutput | BaseException) -> None:
            with suppress(RuntimeError):  # that loop is closed, and nobody waits any more
                loop.call_soon_threadsafe(done.put_nowait, result)

        feed = _OutputFeed(live, outputs, put)
        try:
            while not feed.is_done:
                feed.take()
                wait = not feed.has_room
                while feed.in_flight and (wait or not done.empty()):
                    yield feed.received(await done.get())
                    wait = False
                await asyncio.sleep(0)
        finally:
            feed.cancel()

    @property
    def pending(self) -> int:
        """Return how many outputs wait or are worked at."""
        return self._live.grading.counts.pending if self._live is not None else 0

    @property
    def slowest(self) -> list[SlowOutput]:
        """Return the slow outputs so far, the slowest first."""
        return self._live.grading.counts.slow_outputs() if self._live is not None else []

    def close(self) -> None:
        """End all processes of the grader."""
        with self._lock:
            self._closed = True
            live, self._live = self._live, None
        if live is not None:
            live.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._reading, self._settings, self._on_slow)

    def _open(self) -> "_Live":
        with self._lock:
            if self._closed:
                raise UsageError("this grader is closed")
            # A process that was forked has the memory of its parent, but not its threads.
            if self._live is None or self._live.pid != os.getpid():
                self._live = _Live(self._settings, self._reading, self._on_slow)
            if self._live.loop.is_current:
                raise UsageError("a scorer may not wait for the grader that called it")
            return self._live


def _again(
    reading: "Reading", settings: GradingSettings, on_slow: Callable[[SlowOutput], None]
) -> Grader:
    """Make a grader in another process that is like the one that was sent there."""
    grader = Grader.__new__(Grader)
    grader._reading, grader._settings, grader._on_slow = reading, settings, on_slow
    grader._lock, grader._closed, grader._live = Lock(), False, None
    grader.warnings = ()
    return grader


class _Live:
    """The loop of a grader in one process, with the suite that is ready there."""

    def __init__(
        self,
        settings: GradingSettings,
        reading: "Reading",
        on_slow: Callable[[SlowOutput], None],
    ) -> None:
        self.pid = os.getpid()
        self.loop = BackgroundLoop("proctor grader")
        self._context: AbstractAsyncContextManager[tuple[OutputGrading, tuple[Problem, ...]]]
        self._context = open_grading(settings, reading, _LOG.info, on_slow)
        try:
            self.grading, self.warnings = self.loop.run(self._context.__aenter__())
        except BaseException:
            self.loop.close()
            raise
        _OPEN.add(self)

    async def score(self, pairs: list[tuple[str, Output]]) -> list[GradedOutput]:
        outputs = list(self.grading.numbered(pairs))
        results: list[GradedOutput | None] = [None] * len(outputs)
        async with aclosing(self.grading.stream(outputs)) as done:
            async for result in done:
                results[result.index] = result
        return [result for result in results if result is not None]

    async def score_one(self, case_id: str, output: Output) -> GradedOutput:
        return await self.grading.grade(0, self.grading.find_case(case_id), output)

    async def feed(
        self,
        pairs: list[tuple[str, Output]],
        first: int,
        put: Callable[[GradedOutput | BaseException], None],
    ) -> None:
        try:
            outputs = list(self.grading.numbered(pairs, first))
            async with aclosing(self.grading.stream(outputs)) as done:
                async for result in done:
                    put(result)
        except Exception as error:  # noqa: BLE001 - whoever reads the stream is told
            put(error)

    def close(self) -> None:
        _OPEN.discard(self)
        if self.pid != os.getpid():
            return
        try:
            self.loop.run(self._context.__aexit__(None, None, None))
        finally:
            self.loop.close()


class _OutputFeed:
    """Outputs on their way into a grader, as many as there is room for."""

    def __init__(
        self, live: _Live, pairs: Pairs, put: Callable[[GradedOutput | BaseException], None]
    ) -> None:
        taken = pairs.items() if isinstance(pairs, Mapping) else pairs
        self._live, self._pairs, self._put = live, iter(taken), put
        self._numbers = count()
        self._works: set[Future[None]] = set()
        self._exhausted = False
        self.in_flight = 0

    @property
    def has_room(self) -> bool:
        """Tell whether more outputs may be taken."""
        return not self._exhausted and self.in_flight < WINDOW

    @property
    def is_done(self) -> bool:
        """Tell whether all results were received."""
        return self._exhausted and not self.in_flight

    def take(self) -> None:
        """Take the outputs that are there now, and hand them over."""
        taken: list[tuple[str, Output]] = []
        until = time.monotonic() + TOGETHER_SECONDS
        while self.has_room and len(taken) < TOGETHER and time.monotonic() < until:
            try:
                taken.append(_pair(next(self._pairs)))
            except StopIteration:
                self._exhausted = True
        if taken:
            first = next(self._numbers)
            for _ in taken[1:]:
                next(self._numbers)
            self.in_flight += len(taken)
            work = self._live.loop.submit(self._live.feed(taken, first, self._put))
            self._works.add(work)
            work.add_done_callback(self._works.discard)

    def received(self, result: GradedOutput | BaseException) -> GradedOutput:
        """Note that a result was received; an error is raised."""
        if isinstance(result, BaseException):
            raise result
        self.in_flight -= 1
        return result

    def cancel(self) -> None:
        """Give up what is under way."""
        for work in list(self._works):
            work.cancel()


_OPEN: "weakref.WeakSet[_Live]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """End what nobody closed, before threads cannot be waited for any more."""
    for live in list(_OPEN):
        with suppress(Exception):
            live.close()


def _pairs(outputs: Pairs) -> list[tuple[str, Output]]:
    """Return the pairs that a person passed; a mapping has the outputs by the ids of cases."""
    return [_pair(one) for one in (outputs.items() if isinstance(outputs, Mapping) else outputs)]


def _pair(pair: Any) -> tuple[str, Output]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise UsageError(
            f"expected a pair of a case's id and an output, not {pair!r:.80}"
            " (fix: score([('ID', 'the output'), …]))"
        )
    case_id, output = pair
    return case_id, _output(output)


def _output(output: Any) -> Output:
    """Return an output as text: a number as it is written, an object as JSON."""
    if output is None or isinstance(output, str | Attempt):
        return output
    try:
        return text_of(output)
    except TypeError:
        kind = type(output)
        raise UsageError(
            f"an output is a text, a number, an Attempt, or None where there was no answer, not"
            f" {kind.__module__}.{kind.__qualname__}"
        ) from None


def reading_of(
    cases: AnyCases,
    criteria: AnyCriteria | None,
    *,
    dialect: str,
    where: str,
    limit: int | None,
    allow_import: bool,
) -> "tuple[Reading, SuiteSettings]":
    """Read what a person passed as cases, and return it with how it is to be read."""
    if not is_path(cases):
        reading = reading_in_memory(cases, criteria)
        settings = SuiteSettings.of(reading.suite)
        return reading, replace(settings, where=where, limit=limit, allow_import=allow_import)
    settings = SuiteSettings(
        path=Path(os.fspath(cases)),
        dialect=dialect,
        where=where,
        limit=limit,
        allow_import=allow_import,
    )
    return reading_on_file(settings, criteria), settings


def _cache(cache: str | Path | bool) -> str | None:
    if cache is False:
        return None
    return "" if cache is True else str(cache)


def _log_slow(slow: SlowOutput) -> None:
    _LOG.warning("slow: an output of case %r took %.1f s", slow.case_id, slow.seconds)
