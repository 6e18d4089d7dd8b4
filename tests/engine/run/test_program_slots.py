"""Places of programs: one for each core, more while programs wait, second tries first."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from proctor.contracts.sandbox import PartActivity, begin_part
from proctor.engine.run import program_slots
from proctor.engine.run.program_slots import MOST, ProgramPlace, ProgramSlots, free_memory


class Programs:
    """Programs that hold a place until they are told to end."""

    def __init__(self, limit: int = 2) -> None:
        self.places = ProgramSlots(limit)
        self.running: list[str] = []
        self.held: dict[str, ProgramPlace] = {}
        self.parts: dict[str, PartActivity] = {}
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Future[None]] = {}

    async def start(self, *names: str, second: bool = False, memory: int = 1) -> None:
        for name in names:
            self.ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.ensure_future(self._hold(name, memory, second))
        await settle()

    async def _hold(self, name: str, memory: int, second: bool) -> None:
        async with self.places.place(memory, second=second) as self.held[name]:
            self.parts[name] = begin_part()
            self.running.append(name)
            await self.ends[name].wait()
            self.running.remove(name)
        del self.held[name]

    async def end(self, *names: str) -> None:
        for name in names:
            self.ends[name].set()
        await settle()

    async def idle(self, *names: str, idle: bool = True) -> None:
        for name in names:
            self.parts[name].tell(idle=idle)
        await settle()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def check(scene: Callable[[Programs], Awaitable[None]], limit: int = 2) -> None:
    async def work() -> None:
        programs = Programs(limit)
        await scene(programs)
        await programs.end(*programs.ends)
        await asyncio.wait(programs.tasks.values())
        places = programs.places
        assert (places.running, places.idle, places.second) == (0, 0, 0)

    asyncio.run(work())


def test_as_many_compute_as_there_are_cores() -> None:
    async def scene(programs: Programs) -> None:
        await programs.start("a", "b", "c", "d")
        assert programs.running == ["a", "b"]
        await programs.end("a")
        assert programs.running == ["b", "c"]

    check(scene)


def test_one_that_does_nothing_leaves_its_place() -> None:
    async def scene(programs: Programs) -> None:
        await programs.start("a", "b", "c", "d")
        await programs.idle("a")
        assert programs.running == ["a", "b", "c"]
        await programs.idle("a", idle=False)
        await programs.end("b")
        assert programs.running == ["a", "c"]
        await programs.idle("a", "c")
        assert programs.running == ["a", "c", "d"]

    check(scene)


def test_idle_programs_are_so_many_at_most() -> None:
    async def scene(programs: Programs) -> None:
        names = [str(number) for number in range(3 * MOST)]
        await programs.start(*names)
        for _ in names:
            await programs.idle(*programs.running)
        assert len(programs.running) == MOST == programs.places.most

    check(scene)


def test_they_leave_memory_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_slots, "free_memory", lambda: 1000)

    async def scene(programs: Programs) -> None:
        await programs.start("a", "b", "c", "d", "e", "f", memory=1000)
        for _ in range(6):
            await programs.idle(*programs.running)
        assert programs.running == ["a", "b", "c", "d"]

    check(scene)


def test_a_program_learns_that_not_all_could_have_their_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(program_slots, "free_memory", lambda: 4000)

    async def scene(programs: Programs) -> None:
        await programs.start("a", "b", "c", "d", "e", memory=1000)
        await programs.idle("a", "b")
        assert programs.running == ["a", "b", "c", "d"]
        assert not any(place.crowded for place in programs.held.values())
        await programs.end("d")
        await programs.idle("c")
        await programs.start("f", memory=1000)
        assert programs.running == ["a", "b", "c", "e", "f"]
        assert all(place.crowded for place in programs.held.values())

    check(scene)


def test_a_second_try_waits_until_all_could_have_their_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(program_slots, "free_memory", lambda: 4000)

    async def scene(programs: Programs) -> None:
        await programs.start("a", "b", "c", "d", memory=1000)
        await programs.idle("a", "b")
        await programs.idle("c")
        await programs.start("again", memory=1000, second=True)
        assert programs.running == ["a", "b", "c", "d"]
        await programs.end("d")
        assert programs.running == ["a", "b", "c", "again"]
        assert not programs.held["again"].crowded

    check(scene)


def test_several_processes_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_slots, "free_memory", lambda: 1000)

    async def scene(programs: Programs) -> None:
        programs.places.sharing = 2
        await programs.start("a", "b", "c", "d", "e", "f", memory=1000)
        for _ in range(6):
            await programs.idle(*programs.running)
        assert programs.running == ["a", "b", "c"]

    check(scene)


def test_memory_is_known() -> None:
    assert free_memory() > 2**20


def test_second_tries_come_first_and_others_go_on() -> None:
    async def scene(programs: Programs) -> None:
        await programs.start("a", "b", "c", "d")
        await programs.start("again", second=True)
        await programs.end("a")
        assert programs.running == ["b", "again"]
        await programs.end("b")
        assert programs.running == ["again", "c"]
        await programs.end("c")
        assert programs.running == ["again", "d"]

    check(scene)


def test_a_second_try_runs_among_fewer_sleepers() -> None:
    async def scene(programs: Programs) -> None:
        await programs.start("again", second=True)
        await programs.start(*(str(number) for number in range(9)))
        for _ in range(9):
            await programs.idle(*(name for name in programs.running if name != "again"))
        assert len(programs.running) == 4

    check(scene)


def test_one_that_is_given_up_while_it_waits_holds_nobody_up() -> None:
    async def scene(programs: Programs) -> None:
        await programs.start("a", "b", "c", "d")
        await programs.start("again", second=True)
        for name in ("c", "again"):
            programs.tasks[name].cancel()
        await programs.end("a")
        assert programs.running == ["b", "d"]

    check(scene)


def test_several_that_are_given_up_at_once_end_as_cancelled() -> None:
    async def scene(programs: Programs) -> None:
        await programs.start("a", "b", "c", "d", "e")
        for name in ("a", "c", "d", "e"):
            programs.tasks[name].cancel()
        await settle()
        assert all(programs.tasks[name].cancelled() for name in ("a", "c", "d", "e"))
        assert programs.places.running == 1

    check(scene)
