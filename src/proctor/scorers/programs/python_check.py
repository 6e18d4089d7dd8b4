"""Python functions that suites carry: whole criteria, and handlers that correct a score."""

import re
import sys
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict

from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.failures import innocent_answers, missed
from proctor.core.program import SECRET, Limits, Program, Ran, Step, Stopped
from proctor.core.score import Score
from proctor.core.suite import Json
from proctor.io import json_bytes
from proctor.scorers.programs import function_call
from proctor.scorers.programs.python_packages import imported, package_versions, python_with

NO_SANDBOX = "not run: {what} is a program, and there is no sandbox to run it in"
LIMITS = Limits(wall=10.0)
_STOPPED: Mapping[Stopped, str] = {
    Stopped.TIME: f"took longer than the {LIMITS.wall:g} s allowed",
    Stopped.CPU: "used more processor time than allowed",
    Stopped.MEMORY: "used more memory than allowed",
    Stopped.PROCESSES: "started more processes than allowed",
    Stopped.DISK: "wrote more to the disk than allowed",
    Stopped.OUTPUT: "printed more than allowed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """The result of a function: points, full marks and a detail, or why there is none."""

    points: float = 0.0
    out_of: float = 0.0
    detail: Json = None
    problem: str = ""
    stderr: str = ""
    ran: bool = False
    """Whether the function was called at all."""

    def failed(self) -> Score:
        """Make the score of a criterion whose function gave nothing."""
        return Score.failed(self.problem, detail={"stderr": self.stderr} if self.stderr else None)


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function with all that it needs to run: its module and the files beside that."""

    module: str
    func: str
    source: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the full name of the function."""
        return f"{self.module}.{self.func}"

    def problems(self) -> Iterator[str]:
        """Report names that cannot be used inside a sandbox."""
        if not re.fullmatch(r"[\w-]+(\.[\w-]+)*", self.module):
            yield f"{self.module!r} is not the dotted name of a module"
        for name in self.files:
            parts = name.split("/")
            if not name or "\0" in name or set(parts) & {"", ".", ".."}:
                yield f"{name!r} is not the name of a file inside the folder of the case"

    async def call(self, sandbox: Sandbox | None, args: Sequence[Json], what: str) -> Returned:
        """Call the function in a sandbox; what it is called begins every reason."""
        if sandbox is None:
            return Returned(problem=NO_SANDBOX.format(what=what))
        if problem := next(self.problems(), ""):
            return Returned(problem=f"{what}: {problem}")
        if not self.source:
            return Returned(problem=f"{what}: the suite carries no text of its module (source)")
        program = self._program(args)
        ran = await sandbox.run_python(program)
        if ran is None:
            ran = await sandbox.run(program)
        returned = replace(_read(ran), ran=True)
        return (
            replace(returned, problem=f"{what} {returned.problem}")
            if returned.problem
            else returned
        )

    def _program(self, args: Sequence[Json]) -> Program:
        call = {"module": self.module, "func": self.func, "args": list(args)}
        return Program(
            # The name is looked up on the path, where another machine or image has its own.
            steps=(Step(argv=("python3", "-I", "-B", "main.py")),),
            files={
                **self._files,
                "main.py": f"{_driver()}\n\nmain({SECRET!r})  # {self._imports}\n".encode(),
                function_call.CALL: json_bytes.dumps(call),
            },
            env={"PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"},
            needs=(sys.prefix,),
            limits=LIMITS,
            toolchain=" ".join([f"python {sys.version}", *self.packages]),
        )

    @cached_property
    def runs_on(self) -> str:
        """Return the version of Python, and of the packages that the suite's code imports."""
        return python_with(self._texts)

    @cached_property
    def packages(self) -> tuple[str, ...]:
        """Return the versions of the packages that the suite's code imports."""
        return package_versions(name for text in self._texts for name in imported(text))

    @cached_property
    def _files(self) -> dict[str, bytes]:
        """Return the folder of the case; every package of the module's name has its file there."""
        parts = self.module.split(".")
        texts = {"/".join([*parts[:depth], "__init__.py"]): "" for depth in range(1, len(parts))}
        texts |= {**self.files, "/".join(parts) + ".py": self.source}
        return {
            f"{function_call.CASE}/{name}": text.encode("utf-8", "replace")
            for name, text in texts.items()
        }

    @cached_property
    def _imports(self) -> str:
        """Name the packages that the suite's code imports, which a warm interpreter may have."""
        modules = {name for text in self._texts for name in imported(text)}
        return " ".join(sorted(modules - sys.stdlib_module_names))

    @property
    def _texts(self) -> list[str]:
        return [self.source, *(text for name, text in self.files.items() if name.endswith(".py"))]


@dataclass(frozen=True, kw_only=True)
class Handler(Function):
    """A function of the suite that may change the points of a criterion."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    async def correct(self, ctx: ScoreContext, score: Score, statuses: Sequence[str]) -> Score:
        """Let the function change the points and the full marks of a score."""
        args = [score.points, score.out_of, list(statuses)]
        returned = await self.call(ctx.sandbox, args, f"the post_handler {self.name}")
        if returned.problem:
            return returned.failed()
        correction = (
            f"the post_handler {self.name} made it"
            f" {returned.points:g} of {returned.out_of:g} points"
        )
        return replace(
            score,
            points=returned.points,
            out_of=returned.out_of,
            reason=f"{score.reason}; {correction}",
            detail={
                **score.detail,
                "before_handler": {"points": score.points, "out_of": score.out_of},
                "scoring_detail": returned.detail,
            },
        )


class Handled(Scorer):
    """Base of scorers whose points a function of the suite may correct."""

    post_handler: Handler | None

    @abstractmethod
    def statuses(self, score: Score) -> list[str]:
        """Return what the function is told of each thing that was looked for."""

    @property
    def finishes(self) -> bool:
        return self.post_handler is not None

    def toolchain(self) -> str:
        return self.post_handler.runs_on if self.post_handler is not None else ""

    async def finish(self, ctx: ScoreContext, score: Score) -> Score:
        if self.post_handler is None:
            return score
        return await self.post_handler.correct(ctx, score, self.statuses(score))


@dataclass(frozen=True)
class PythonCheck(Scorer):
    """Let a Python function of the suite score the answer.

    The function is given the answer, and returns points, full marks and a detail. It runs in a
    sandbox, with its module and the other ``files`` of its folder (by relative name) beside it.
    """

    version: ClassVar[str] = "2"

    module: str
    func: str
    source: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    async def score(self, ctx: ScoreContext) -> Score:
        function = self._function
        returned = await function.call(ctx.sandbox, [ctx.output], f"the function {function.name}")
        if returned.problem:
            return await self._blamed(ctx, returned)
        return Score(
            points=returned.points,
            out_of=returned.out_of,
            reason=f"{function.name} gave {returned.points:g} of {returned.out_of:g} points",
            detail=returned.detail,
        )

    async def _blamed(self, ctx: ScoreContext, returned: Returned) -> Score:
        """Score an answer at which the function failed: a miss, unless it fails on all answers."""
        if not returned.ran:
            return returned.failed()
        for _, answer in innocent_answers(ctx.case):
            other = await self._function.call(ctx.sandbox, [answer], "")
            if not other.problem:
                score = missed(returned.problem, other.out_of)
                return replace(score, detail={**score.detail, "stderr": returned.stderr})
        return returned.failed()

    @property
    def needs_sandbox(self) -> bool:
        return True

    def toolchain(self) -> str:
        return self._function.runs_on

    def problems(self) -> Iterable[str]:
        return self._function.problems()

    @cached_property
    def _function(self) -> Function:
        return Function(module=self.module, func=self.func, source=self.source, files=self.files)


def _driver() -> str:
    return Path(function_call.__file__).read_text(encoding="utf-8")


def _read(ran: Ran) -> Returned:
    """Read the report of a call; the first line of a program that ran to its end."""
    stderr = ran.stderr.strip()[-2000:]
    if ran.not_started:
        return Returned(problem=f"was not run: {ran.not_started}", stderr=stderr)
    if ran.stopped is not None:
        return Returned(problem=_STOPPED[ran.stopped], stderr=stderr)
    if not ran.proved:
        last = stderr.splitlines()[-1:] or [f"exit status {ran.code}"]
        return Returned(problem=f"ended without a report: {last[0]}", stderr=stderr)
    try:
        report = json_bytes.loads(ran.stdout.partition("\n")[0])
    except ValueError:
        report = None
    if not isinstance(report, dict):
        return Returned(problem="gave a report that cannot be read", stderr=stderr)
    if "error" in report:
        return Returned(problem=f"failed: {report['error']}", stderr=stderr)
    reported = [report.get("points"), report.get("out_of")]
    numbers = [float(each) for each in reported if isinstance(each, float | int) and isfinite(each)]
    if len(numbers) != 2:
        return Returned(problem="gave points that are no numbers", stderr=stderr)
    return Returned(points=numbers[0], out_of=numbers[1], detail=report.get("detail"))
