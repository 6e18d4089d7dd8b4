"""Snippets of Python that check what an agent did, run where they can harm nothing."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.fingerprint import digest_bytes
from proctor.core.program import SECRET, Limits, Program, Ran, Step, Stopped
from proctor.core.python_snippet import flaw_in, parsable, returns
from proctor.core.rounds import FILES, files_of
from proctor.core.score import Score
from proctor.core.suite import CaseFile, Json
from proctor.io import json_bytes
from proctor.scorers.judged.agent_rounds import PostIndex, chosen, rounds_in, spoken
from proctor.scorers.programs import function_call
from proctor.scorers.programs.python_check import NO_SANDBOX
from proctor.scorers.programs.python_packages import imported, package_versions, python_with

LIMITS = Limits(wall=30.0)
LONGEST = 3600.0
_TRANSCRIPT_NAME = re.compile(r"\b(agent_response|chat_history|rounds)\b")
_STOPPED: Mapping[Stopped, str] = {
    Stopped.TIME: "took longer than the {wall:g} s allowed",
    Stopped.CPU: "used more processor time than allowed",
    Stopped.MEMORY: "used more memory than allowed",
    Stopped.PROCESSES: "started more processes than allowed",
    Stopped.DISK: "wrote more to the disk than allowed",
    Stopped.OUTPUT: "printed more than allowed",
}


@dataclass(frozen=True)
class EvalCode(Scorer):
    """Pass when a snippet of Python finds in order what an agent did.

    A snippet with a ``return`` of its own is the body of a function and must return True or False;
    any other passes where it runs to its end without an exception. It sees ``agent_response`` (the
    agent's round as JSON, or the post of it that ``post_index`` names), ``rounds`` and
    ``chat_history``, and the files that the agent left, read-only in its working folder.
    """

    version: ClassVar[str] = "2"
    reads_notes: ClassVar[bool] = True
    time_limit: ClassVar[float] = LONGEST

    code: str
    post_index: PostIndex = None
    statement: str = ""
    """What is checked, in words for people."""
    history: bool = False
    """Whether the words are about the whole conversation; the code sees it either way."""
    timeout: float = LIMITS.wall

    @property
    def reads_files(self) -> bool:
        return not _TRANSCRIPT_NAME.search(self.code)

    async def score(self, ctx: ScoreContext) -> Score:
        if ctx.sandbox is None:
            return Score.failed(NO_SANDBOX.format(what="the code"), out_of=1.0)
        rounds = rounds_in(ctx)
        judged, missing = chosen(rounds, self.post_index)
        if missing:
            return Score(points=0.0, out_of=1.0, reason=missing)
        variables = {
            "agent_response": judged,
            "chat_history": [[message.role, message.content] for message in spoken(ctx)],
            "rounds": rounds,
        }
        try:
            files, left_out = laid(ctx)
        except (OSError, ValueError) as error:
            return Score.failed(f"the case's files cannot be laid out: {error}", out_of=1.0)
        ran = await _run(ctx.sandbox, self._program(variables, files))
        score = self._read(ran)
        if left_out and score.points != 1.0:
            score = replace(score, reason=f"{score.reason}; {left_out}")
        return score

    def toolchain(self) -> str:
        return self._runs_on

    @cached_property
    def _runs_on(self) -> str:
        return python_with([parsable(self.code)])

    def _program(self, variables: Mapping[str, Json], files: Mapping[str, bytes]) -> Program:
        code = parsable(self.code)
        call = {"code": code, "returns": returns(ast.parse(code)), "variables": variables}
        driver = Path(function_call.__file__).read_text(encoding="utf-8")
        named = " ".join(sorted(imported(code) - sys.stdlib_module_names))
        return Program(
            # The name is looked up on the path, where another machine or image has its own.
            steps=(Step(argv=("python3", "-I", "-B", "main.py")),),
            files={
                **{f"{function_call.CASE}/{name}": content for name, content in files.items()},
                "main.py": f"{driver}\n\nmain({SECRET!r})  # {named}\n".encode(),
                function_call.CALL: json_bytes.dumps(call),
            },
            env={"PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"},
            needs=(sys.prefix,),
            limits=replace(LIMITS, wall=self.timeout),
            toolchain=" ".join([f"python {sys.version}", *package_versions(imported(code))]),
        )

    def _read(self, ran: Ran) -> Score:
        """Make a score of what became of the snippet; whatever it did wrong is a miss."""
        printed = ran.stderr.strip()[-2000:]
        detail = {"stderr": printed} if printed else None
        if ran.not_started:
            problem = f"the sandbox did not run the code: {ran.not_started}"
            return Score.failed(problem, out_of=1.0, detail=detail)
        hit, reason = self._outcome(ran)
        return Score(points=float(hit), out_of=1.0, reason=reason, detail=detail)

    def _outcome(self, ran: Ran) -> tuple[bool, str]:
        if ran.stopped is not None:
            return False, f"the code {_STOPPED[ran.stopped].format(wall=self.timeout)}"
        if not ran.proved:
            return False, "the code broke the process that reports on it"
        try:
            report = json_bytes.loads(
                ran.stdout.removeprefix(f"{function_call.BEGUN}\n").partition("\n")[0]
            )
        except ValueError:
            report = None
        if not isinstance(report, dict):
            return False, "the code gave a report that cannot be read"
        if "error" in report:
            return False, _worded(str(report["error"]))
        if returns(ast.parse(parsable(self.code))):
            return bool(report.get("hit")), f"the code returned {bool(report.get('hit'))}"
        return bool(report.get("hit")), "the code ran to its end"

    @property
    def needs_sandbox(self) -> bool:
        return True

    def problems(self) -> Iterator[str]:
        if flaw := flaw_in(self.code):
            yield str(flaw)
        if not 0 < self.timeout <= LONGEST:
            yield f"the timeout is from 0 to {LONGEST:g} seconds, not {self.timeout:g}"


def laid(ctx: ScoreContext) -> tuple[dict[str, bytes], str]:
    """Return the agent's files as it left them, and which of them are not there.

    Where there was no working folder, as with rounds on file, the case's own files stand in.
    """
    if FILES not in ctx.attempt.notes:
        return {file.name: _unchanged(file) for file in ctx.case.files}, ""
    files, missing = {}, []
    for name, key in files_of(ctx.attempt).items():
        if key and ctx.read_file is not None:
            files[name] = ctx.read_file(key)
        else:
            missing.append(name)
    return files, f"not kept, and so not there: {', '.join(missing[:5])}" if missing else ""


def _unchanged(file: CaseFile) -> bytes:
    """Return the content of a case's file as it was when the suite was read."""
    content = Path(file.path).read_bytes()
    if digest_bytes(content) != file.digest:
        raise ValueError(f"the file {file.path} has changed since the suite was read")
    return content


async def _run(sandbox: Sandbox, program: Program) -> Ran:
    """Run a snippet in a warm interpreter, or where there is none in one of its own."""
    return await sandbox.run_python(program) or await sandbox.run(program)


def _worded(error: str) -> str:
    """Say what went wrong in the snippet, as a sentence about it."""
    if error.startswith(("returned", "ended", "wrote")):
        return f"the code {error}"
    if error.startswith("SystemExit"):
        return f"the code left by {error}: only to reach its end is a pass"
    return f"the code failed: {error}"
