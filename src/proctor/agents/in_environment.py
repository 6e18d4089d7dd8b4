"""Agents that work inside the environment of a task: commands, the reference solution, nobody."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from proctor.agents.process import Broken, exit_text, last_words, with_words
from proctor.agents.sessions import TimedSession, read_reply
from proctor.contracts.agent import Agent, Session, Workspace
from proctor.contracts.environment import Environment, EnvironmentCommand
from proctor.core.environment import SOLUTION, SOLUTIONS, EnvironmentNeeds
from proctor.core.program import Ran
from proctor.core.rounds import Post, Round
from proctor.core.suite import Case, Json
from proctor.errors import ModelError, Problem, SuiteError
from proctor.io import json_bytes

GRACE = 30.0
"""Seconds beyond an agent's time for starting and ending what it runs in."""
_LOOPBACK = re.compile(r"^https?://(?:127\.0\.0\.1|localhost):(\d+)")
SHOWN = 4000


def time_of(workspace: Workspace, timeout: float) -> float:
    """Return the seconds that an agent has for a turn: its own, and no more than the task's."""
    needs = EnvironmentNeeds.of(workspace.case)
    return timeout if needs is None else min(timeout, needs.agent_timeout)


def doors_in(env: Mapping[str, str]) -> tuple[int, ...]:
    """Return the ports of this machine that variables lead to: the proxy's."""
    matches = (_LOOPBACK.match(value) for value in env.values())
    return tuple(sorted({int(match[1]) for match in matches if match}))


@dataclass
class EnvironmentSession(TimedSession):
    """A command run in the task's environment, once for each turn.

    One that passes a limit has done what it has done: that is what the tests look at.
    """

    argv: Sequence[str] = ()
    needs: Sequence[str] = ()
    output: int = 1024 * 1024
    wall: float = 600.0

    async def answered(self, message: str) -> Round:
        environment = _place(self.workspace)
        ran = await environment.run(
            EnvironmentCommand(
                argv=tuple(self.argv),
                wall=self.wall,
                env={**self.workspace.env, "PROCTOR_SESSION": self.name},
                stdin=json_bytes.dumps(self.request_fields(message)),
                output=self.output,
                needs=tuple(self.needs),
                doors=doors_in(self.workspace.env),
            )
        )
        return self._round(message, ran)

    def _round(self, message: str, ran: Ran) -> Round:
        check_place(ran)
        if ran.stopped is not None:
            return Round.of(message, f"(it was ended: it passed the limit on {ran.stopped})")
        err = ran.stderr.encode()
        if ran.code:
            raise Broken(with_words(exit_text(ran.code), err), traceback=last_words(err))
        if not ran.stdout.strip():
            return Round.of(message, "(it wrote nothing)")  # what it did is what counts
        return read_reply(self, message, ran.stdout.encode())


@dataclass
class OracleSession(TimedSession):
    """The reference solution of a task, step by step."""

    wall: float = 600.0

    async def answered(self, message: str) -> Round:
        environment = _place(self.workspace)
        files = solutions_of(self.workspace.case)[self.turn]
        await environment.place(files, SOLUTION)
        argv = ("/bin/bash", f"{SOLUTION}/solve.sh")
        ran = await environment.run(EnvironmentCommand(argv=argv, wall=self.wall))
        await environment.place({}, SOLUTION)
        check_place(ran)
        output = f"{ran.stdout}\n{ran.stderr}".strip()[-SHOWN:]
        how = f"passed the limit on {ran.stopped}" if ran.stopped else f"ended with {ran.code}"
        step = Post(message=output or "(it wrote nothing)", send_from="solve.sh", send_to="Planner")
        return Round.of(message, f"The reference solution {how}.", (step,))


@dataclass
class NopSession(TimedSession):
    """Nobody."""

    async def answered(self, message: str) -> Round:
        return Round.of(message, "Nothing was done.")


@dataclass(kw_only=True)
class Oracle(Agent):
    """The reference solution that a task brings along, in the place of an agent."""

    works_inside: ClassVar[bool] = True

    timeout: float = 3600.0
    """Seconds for one turn, where the task does not say less."""
    concurrency: int = 4
    version: str = ""

    @property
    def identity(self) -> Json:
        return {"kind": "oracle", "how": [self.timeout, self.version]}

    @property
    def label(self) -> str:
        return "oracle"

    def placed(self, case: Case) -> Case:
        turns = len(case.dialogue.params.get("then", ())) + 1
        if len(solutions_of(case)) < turns:
            raise SuiteError(
                [
                    Problem(
                        message="has no reference solution (solution/solve.sh)",
                        about=f"case {case.id!r}",
                        file=case.source or None,
                    )
                ]
            )
        return case

    async def open(self, workspace: Workspace) -> Session:
        _place(workspace)
        wall = time_of(workspace, self.timeout)
        return OracleSession(workspace=workspace, timeout=wall + GRACE, wall=wall)


@dataclass(kw_only=True)
class Nop(Agent):
    """An agent that does nothing: what it gets, everybody gets."""

    works_inside: ClassVar[bool] = True

    concurrency: int = 8

    @property
    def identity(self) -> Json:
        return {"kind": "nop"}

    @property
    def label(self) -> str:
        return "nop"

    async def open(self, workspace: Workspace) -> Session:
        return NopSession(workspace=workspace, timeout=60.0)


def solutions_of(case: Case) -> Sequence[Mapping[str, Json]]:
    """Return the files of a case's reference solution, one set for each turn."""
    solutions: Sequence[Mapping[str, Json]] = case.hidden.get(SOLUTIONS) or ()
    return [files for files in solutions if "solve.sh" in files]


def check_place(ran: Ran) -> None:
    """Raise where a command did not run, or what became of it is not known."""
    if ran.not_started:
        raise Broken(f"the environment did not run it: {ran.not_started}")
    if ran.lost:
        raise Broken("the environment was lost: somebody ended it from outside")


def _place(workspace: Workspace) -> Environment:
    if workspace.environment is None:
        raise ModelError(
            f"the case {workspace.case.id!r} brings no environment to work in (fix: this agent is"
            " for tasks, as in docs/harbor.md)"
        )
    return workspace.environment
