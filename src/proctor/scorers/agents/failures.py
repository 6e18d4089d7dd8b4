"""Tests that used to pass, run on what an agent left."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.environment import CHANGES
from proctor.core.fingerprint import digest_bytes
from proctor.core.program import Limits, Program, Ran, Step
from proctor.core.rounds import FILES, files_of
from proctor.core.score import Score
from proctor.core.suite import CaseFile, Json
from proctor.scorers.agents.files import matches
from proctor.scorers.agents.reported_tests import FAILED, PASSED, read_tests

LONGEST = 3600.0
SHOWN, MOST_SHOWN = 5, 100
LIMITS = Limits(wall=120.0, output=4 * 1024 * 1024)


@dataclass(frozen=True)
class NoNewFailures(Scorer):
    """Pass when no test fails, or is gone, that passed before the agent began.

    ``command`` is run by a shell in the sandbox, once on the files of the case and once on those
    that the agent left. How each test ended is read from what it writes: by pytest (``-rA`` or
    ``-v``), unittest (``-v``), node, jest, vitest, go (``-v``), cargo, or any other that follows
    the Test Anything Protocol. Where no test has a name, the exit status of the whole counts.
    Files that match ``tests`` are those of the case in both.
    """

    fixed_marks: ClassVar[bool] = True
    reads_notes: ClassVar[bool] = True
    time_limit: ClassVar[float] = 2 * LONGEST

    command: str
    tests: str | tuple[str, ...] = ()
    timeout: float = LIMITS.wall

    @property
    def needs_sandbox(self) -> bool:
        return True

    @property
    def reads_files(self) -> bool:
        return True

    def problems(self) -> Iterator[str]:
        if not self.command.strip():
            yield "the command is empty"
        if not 0 < self.timeout <= LONGEST:
            yield f"the timeout is from 0 to {LONGEST:g} seconds, not {self.timeout:g}"

    async def score(self, ctx: ScoreContext) -> Score:
        if ctx.sandbox is None:
            return Score.failed("there is no sandbox to run the tests in", out_of=1.0)
        if FILES not in ctx.attempt.notes or ctx.read_file is None:
            return Score.failed("nobody kept the files that the agent left", out_of=1.0)
        try:
            before = {file.name: _unchanged(file) for file in ctx.case.files}
        except (OSError, ValueError) as error:
            return Score.failed(f"the case's files cannot be laid out: {error}", out_of=1.0)
        after: dict[str, bytes] = {}
        for name, key in files_of(ctx.attempt).items():
            if name == CHANGES:
                continue
            if not key:
                return Score.failed(f"{name} was not kept, which is too large", out_of=1.0)
            after[name] = ctx.read_file(key)
        after |= {name: text for name, text in before.items() if matches(name, self.tests)}
        then = await self._ran(ctx.sandbox, before)
        if why := _broken(then):
            return Score.failed(f"the tests before: {why}", out_of=1.0)
        return self._compared(then, await self._ran(ctx.sandbox, after))

    async def _ran(self, sandbox: Sandbox, files: Mapping[str, bytes]) -> Ran:
        program = Program(
            steps=(Step(argv=("/bin/sh", "-c", self.command)),),
            files=files,
            env={
                "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            needs=(sys.prefix,),
            limits=replace(LIMITS, wall=self.timeout),
            toolchain=f"python {sys.version}",
        )
        return await sandbox.run(program)

    def _compared(self, before: Ran, after: Ran) -> Score:
        if after.not_started:
            return Score.failed(f"the tests after: {after.not_started}", out_of=1.0)
        was, now = _tests(before), _tests(after)
        if not was and not now:
            return _by_status(before, after)
        worse = sorted(name for name, how in was.items() if how == PASSED and _is_worse(now, name))
        worse += sorted(name for name, how in now.items() if how == FAILED and name not in was)
        mended = sum(how == FAILED and now.get(name) == PASSED for name, how in was.items())
        counts = f"{sum(how == PASSED for how in now.values())} of {len(now)} tests pass"
        detail: dict[str, Json] = {"new_failures": worse[:MOST_SHOWN], "mended": mended}
        if after.stopped is not None:
            counts = f"the tests passed the limit on {after.stopped}"
        if not worse and after.stopped is None:
            reason = f"{counts}, {mended} of them did not before"
            return Score(points=1.0, out_of=1.0, reason=reason, detail=detail)
        more = f" and {len(worse) - SHOWN} more" if len(worse) > SHOWN else ""
        named = ", ".join(f"{name}{'' if name in now else ' (gone)'}" for name in worse[:SHOWN])
        listed = f"; new failures: {named}{more}" if worse else ""
        return Score(points=0.0, out_of=1.0, reason=f"{counts}{listed}", detail=detail)


def _is_worse(now: Mapping[str, str], name: str) -> bool:
    return now.get(name) != PASSED


def _tests(ran: Ran) -> dict[str, str]:
    return read_tests(f"{ran.stdout}\n{ran.stderr}")


def _broken(ran: Ran) -> str:
    """Return why tests did not come to their end; empty where they did."""
    if ran.not_started:
        return ran.not_started
    return f"they passed the limit on {ran.stopped}" if ran.stopped is not None else ""


def _by_status(before: Ran, after: Ran) -> Score:
    """Compare two runs of which nothing but their ends is known."""
    if after.stopped is not None:
        reason = f"the tests passed the limit on {after.stopped}"
        return Score(points=0.0, out_of=1.0, reason=reason)
    if before.code and after.code:
        return Score.failed(
            f"the command ended with {before.code} before and {after.code} after, and names no test"
            " (fix: have it name each, as pytest -rA does)",
            out_of=1.0,
        )
    reason = f"the command ended with {before.code} before and {after.code} after"
    return Score(points=float(not after.code), out_of=1.0, reason=reason)


def _unchanged(file: CaseFile) -> bytes:
    """Return the content of a case's file as it was when the suite was read."""
    content = Path(file.path).read_bytes()
    if digest_bytes(content) != file.digest:
        raise ValueError(f"the file {file.path} has changed since the suite was read")
    return content
