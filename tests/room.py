"""Sandboxes for tests: those that stay open from test to test, as in a run, and one that is cold."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from proctor.contracts.sandbox import Sandbox
from proctor.core.program import Program, Ran
from proctor.sandboxes.bubblewrap import Bubblewrap

Made = TypeVar("Made")


class Cold(Bubblewrap):
    """Start an interpreter for every program."""

    async def run_python(self, program: Program) -> Ran | None:
        return None


class Room:
    """Hold one sandbox of each kind, and the loop that they live in."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._sandboxes: dict[type[Sandbox], Sandbox] = {}

    def run(self, work: Coroutine[Any, Any, Made]) -> Made:
        """Wait for some work that uses the sandboxes."""
        return self._runner.run(work)

    def sandbox(self, kind: type[Sandbox]) -> Sandbox:
        """Return the sandbox of a kind."""
        if kind not in self._sandboxes:
            self._sandboxes[kind] = kind()
        return self._sandboxes[kind]

    def close(self) -> None:
        """Close all sandboxes, and begin anew."""
        for sandbox in self._sandboxes.values():
            self.run(sandbox.close())
        self._sandboxes.clear()
        self._runner.close()
        self._runner = asyncio.Runner()


ROOM = Room()
