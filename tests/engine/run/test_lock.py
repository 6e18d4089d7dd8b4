"""One process at a time at a run: the second says that it waits, and gets it afterwards."""

import asyncio
from pathlib import Path

import pytest

from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.engine.run import lock
from proctor.store.store import Store

RUN = Run(id="id", name="mine", suite="s", suite_key="k", candidate=Spec(name="m"))


def test_who_comes_second_waits_and_says_so_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "PAUSE", 0.001)
    told: list[str] = []

    async def second() -> None:
        pauses = iter(range(3))

        async def pause(_: float) -> None:
            if next(pauses, None) is None:
                store.locks.release("id")

        monkeypatch.setattr(asyncio, "sleep", pause)
        async with lock.alone(other, RUN, told.append):
            assert next(pauses, None) is None
            assert not store.locks.acquire("id")

    with Store.open(str(tmp_path / "proctor.db")) as other:
        assert store.locks.acquire("id")
        asyncio.run(second())
        assert store.locks.acquire("id")
    assert len(told) == 1
    assert "'mine' is being made by another process" in told[0]


def test_a_run_is_let_go_of_whatever_happens(store: Store, tmp_path: Path) -> None:
    async def fail() -> None:
        async with lock.alone(store, RUN, pytest.fail):
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(fail())
    with Store.open(str(tmp_path / "proctor.db")) as other:
        assert other.locks.acquire("id")
