"""Programs of a run: each is run once, what was lost is tried again, and keys stay what they were."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest

from proctor.contracts.sandbox import Sandbox
from proctor.core.fingerprint import digest
from proctor.core.program import Program, Ran, Step, Stopped
from proctor.engine.run import sandbox_cache
from proctor.engine.run.program_slots import ProgramPlace, ProgramSlots
from proctor.engine.run.sandbox_cache import SharedSandbox, StoredResults, _document
from proctor.store.rows import CallRow
from proctor.store.store import Store

PROGRAM = Program(steps=(Step(argv=("true",)),))
GOOD = Ran(code=0, step=0, finished=True)
LOST = Ran(code=None, step=0, finished=False, stderr="lost")
NOT_STARTED = Ran(code=127, step=0, finished=False, not_started="no such tool")


@dataclass
class Scripted(Sandbox):
    tier: ClassVar[str] = "scripted"

    answers: Sequence[Ran]
    warm: Sequence[Ran | None] = (None,) * 9
    ran: list[str] = field(default_factory=list)

    async def run(self, program: Program) -> Ran:
        self.ran.append("cold")
        return self.answers[self.ran.count("cold") - 1]

    async def run_python(self, program: Program) -> Ran | None:
        self.ran.append("warm")
        return self.warm[self.ran.count("warm") - 1]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "store.db")) as opened:
        yield opened


def run(inner: Scripted, store: Store | None = None, *, times: int = 1, warm: bool = False) -> Ran:
    async def work() -> Ran:
        shared = SharedSandbox(inner=inner, results=store and StoredResults(store), limit=2)
        for _ in range(times):
            ran = await (shared.run_python(PROGRAM) if warm else shared.run(PROGRAM))
        return ran

    return asyncio.run(work())


@pytest.mark.parametrize(
    ("answers", "ran", "paths"),
    [
        ([GOOD], GOOD, ["cold"]),
        ([LOST, GOOD], GOOD, ["cold", "cold"]),
        ([LOST, LOST, GOOD], LOST, ["cold", "cold"]),
        ([NOT_STARTED, GOOD], NOT_STARTED, ["cold"]),
    ],
)
def test_a_program_that_was_lost_is_tried_once_more(
    answers: list[Ran], ran: Ran, paths: list[str]
) -> None:
    inner = Scripted(answers)
    assert run(inner) == ran
    assert inner.ran == paths


@pytest.mark.parametrize(
    ("first", "second", "tries"),
    [(False, None, 1), (True, True, 2), (True, False, 2), (None, None, 2)],
)
def test_a_program_that_was_short_of_processor_time_has_one_second_try(
    store: Store, first: bool | None, second: bool | None, tries: int
) -> None:
    late = [
        Ran(code=None, step=0, finished=False, stopped=Stopped.TIME, starved=starved)
        for starved in (first, second, None)
    ]
    inner = Scripted(late)
    ran = run(inner, store, times=2)
    assert (len(inner.ran), ran.retried) == (tries, tries == 2)


@pytest.mark.parametrize(
    "killed",
    [
        Ran(code=-9, step=0, finished=False),
        Ran(code=None, step=0, finished=False, stopped=Stopped.MEMORY),
    ],
    ids=["by the kernel", "at a limit"],
)
@pytest.mark.parametrize("crowded", [True, False])
def test_one_killed_for_memory_that_others_may_have_had_has_a_second_try(
    monkeypatch: pytest.MonkeyPatch, killed: Ran, crowded: bool
) -> None:
    inner = Scripted([killed, GOOD])

    @asynccontextmanager
    async def place(_: object, memory: int, *, second: bool = False) -> AsyncIterator[ProgramPlace]:
        assert memory == PROGRAM.limits.memory
        yield ProgramPlace(crowded=crowded and not second)

    monkeypatch.setattr(ProgramSlots, "place", place)
    ran = run(inner)
    assert (len(inner.ran), ran.retried) == ((2, True) if crowded else (1, False))
    assert ran.finished == crowded


def test_one_that_a_warm_interpreter_lost_has_a_sandbox_of_its_own() -> None:
    inner = Scripted([GOOD])
    assert run(inner, warm=True) == GOOD
    assert inner.ran == ["warm", "cold"]


@pytest.mark.parametrize(("first", "times"), [(GOOD, 1), (NOT_STARTED, 2)])
def test_only_what_a_program_did_is_remembered(store: Store, first: Ran, times: int) -> None:
    inner = Scripted([first, GOOD])
    run(inner, store, times=2)
    assert len(inner.ran) == times


def test_what_was_lost_is_not_remembered(store: Store) -> None:
    inner = Scripted([LOST, LOST, GOOD])
    assert run(inner, store, times=2) == GOOD


@pytest.mark.parametrize(("code", "runs"), [(127, 1), (1, 0)])
def test_a_row_of_an_earlier_version_that_leaves_it_open_is_run_again(
    store: Store, code: int, runs: int
) -> None:
    old = {
        "code": code, "step": 0, "finished": False, "proved": False, "stdout": "", "files": {},
        "stderr": "python3: No such file", "stopped": None, "seconds": 0.1, "retried": False,
    }  # fmt: skip
    key = digest("program", Scripted.tier, False, _document(PROGRAM))
    call = CallRow(key=key, model="", request=None, response=old, seconds=0.1, created=1.0)
    store.calls.put([call])
    inner = Scripted([GOOD])
    run(inner, store)
    assert len(inner.ran) == runs


def test_a_build_without_input_has_the_key_that_it_had() -> None:
    """Once a shell took the input away; what was stored then is still found."""
    shell = ("sh", "-c", 'exec "$@" </dev/null', "sh")
    before = Program(steps=(Step(argv=(*shell, "gcc", "main.c")), Step(argv=("./main",))))
    now = Program(steps=(Step(argv=("gcc", "main.c"), stdin=False), Step(argv=("./main",))))
    assert _document(now) == _document(before)


@dataclass
class Slow(Sandbox):
    """Programs that take a while, and a count of those that were begun."""

    tier: ClassVar[str] = "slow"

    begun: int = 0

    async def run(self, program: Program) -> Ran:
        self.begun += 1
        await asyncio.sleep(0.5)
        return GOOD


def test_a_program_goes_on_for_others_when_the_first_caller_gives_it_up() -> None:
    async def work() -> tuple[list[Ran], int]:
        inner = Slow()
        shared = SharedSandbox(inner=inner, results=None, limit=2)
        callers = [asyncio.ensure_future(shared.run(PROGRAM)) for _ in range(3)]
        await asyncio.sleep(0.01)
        callers[0].cancel()
        rest = [await caller for caller in callers[1:]]
        assert callers[0].cancelled()
        return rest, inner.begun

    assert asyncio.run(work()) == ([GOOD, GOOD], 2)


def test_a_caller_that_only_waits_for_another_can_be_cancelled() -> None:
    async def work() -> int:
        inner = Slow()
        shared = SharedSandbox(inner=inner, results=None, limit=2)
        first, second = (asyncio.ensure_future(shared.run(PROGRAM)) for _ in range(2))
        await asyncio.sleep(0.01)
        second.cancel()
        assert await first == GOOD
        assert second.cancelled()
        return inner.begun

    assert asyncio.run(work()) == 1


def test_results_of_many_programs_share_a_transaction(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: list[int] = []
    put = store.calls.put

    def counted(rows: Sequence[CallRow]) -> None:
        stored.append(len(rows))
        put(rows)

    monkeypatch.setattr(store.calls, "put", counted)
    programs = [Program(steps=(Step(argv=("echo", str(number))),)) for number in range(30)]

    async def work() -> None:
        shared = SharedSandbox(inner=Scripted([GOOD] * 30), results=StoredResults(store), limit=2)
        for program in [*programs, *programs]:
            assert await shared.run(program) == GOOD
        assert (shared.ran, stored) == (30, [])
        await shared.close()

    asyncio.run(work())
    assert stored == [30]

    async def again() -> None:
        shared = SharedSandbox(inner=Scripted([]), results=StoredResults(store), limit=2)
        for program in programs:
            assert await shared.run(program) == GOOD

    asyncio.run(again())


def test_results_are_stored_soon_though_the_run_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_cache, "STORE_SECONDS", 0.01)
    stored = asyncio.Event()
    put = store.calls.put

    def told(rows: Sequence[CallRow]) -> None:
        put(rows)
        stored.set()

    monkeypatch.setattr(store.calls, "put", told)

    async def work() -> None:
        shared = SharedSandbox(inner=Scripted([GOOD]), results=StoredResults(store), limit=2)
        await shared.run(PROGRAM)
        await asyncio.wait_for(stored.wait(), 30)

    asyncio.run(work())
