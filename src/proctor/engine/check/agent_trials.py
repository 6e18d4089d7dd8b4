"""Cases for agents with files, examined themselves: a solution, nobody and cheats work on them.

Only criteria that look at nothing but the files are tried: what an agent says and which tools it
uses, no script can show.
"""

import asyncio
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from proctor.contracts.sandbox import Sandbox
from proctor.core.attempt import Attempt
from proctor.core.environment import SOLUTIONS
from proctor.core.rounds import FILES, ROUNDS, Round
from proctor.core.suite import Case, Criterion, Json, Message
from proctor.engine.agents.setup import run_commands, set_up
from proctor.engine.agents.workspaces import lay, left_in
from proctor.engine.check.trial_outcome import (
    EDITED,
    FORGED,
    LESS_TIME,
    NOTHING,
    ExaminedTask,
    HalfTime,
    TrialOutcome,
    TrialScoring,
)
from proctor.engine.run.scorer_pool import Scorers
from proctor.errors import ModelError

_TESTS = (
    "test_*", "*_test.*", "*.test.*", "*.spec.*", "conftest.py", "check*", "verify*", "expected*",
    "Makefile",
)  # fmt: skip
"""The names that files have which tests consist of."""
_FORGED = r"""
for name in reward.txt result.txt results.txt status.txt score.txt; do echo 1 >"$name"; done
for name in reward.json result.json results.json report.json; do
  echo '{"reward": 1, "passed": true, "success": true, "failed": 0, "score": 1}' >"$name"
done
echo '<testsuite tests="1" failures="0" errors="0"><testcase name="a"/></testsuite>' >report.xml
cp report.xml junit.xml
for name in ok done passed PASSED; do : >"$name"; done
cat >conftest.py <<'END'
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
END
"""
"""Results that nothing stands behind, and a hook that makes every test of pytest pass."""


def files_criteria(case: Case, scorers: Scorers) -> list[Criterion]:
    """Return the criteria of a case that look at nothing but the files that an agent left."""
    return [
        criterion
        for criterion in case.criteria
        if criterion.weight > 0 and scorers.of(criterion).reads_files
    ]


@dataclass
class AgentTrials:
    """The trials of one case for agents."""

    case: Case
    scorers: Scorers
    sandbox: Sandbox
    repeats: int
    blobs: dict[str, bytes] = field(default_factory=dict)

    async def examined(self) -> ExaminedTask:
        """Try a case in all ways."""
        task = ExaminedTask(case=self.case)
        await self._solved(task)
        nothing = await self._tried(task, NOTHING, "")
        if nothing.value is None:
            task.suspect(2, f"doing nothing cannot be scored: {nothing.reason}",
                          "have criteria find what is missing")  # fmt: skip
        elif nothing.passed and self._is_whole:
            task.suspect(3, f"doing nothing gets {nothing.shown} of 1",
                          "add a criterion that the files as they are do not meet")  # fmt: skip
        for name, script, words, hint in (
            (EDITED, self._emptying(), "emptying the tests",
             "keep what decides out of the agent's files, or name it under tests or never"),
            (FORGED, _FORGED, "planting results that nothing stands behind",
             "look at what the agent was to make, not at what it says of it"),
        ):  # fmt: skip
            tried = await self._tried(task, name, script)
            if tried.value is not None and tried.value > (nothing.value or 0.0):
                task.suspect(3, f"{words} gets {tried.shown} of 1", hint)
        return task

    @property
    def _is_whole(self) -> bool:
        """Tell whether nothing but files decides the case."""
        tried = files_criteria(self.case, self.scorers)
        return len(tried) == sum(criterion.weight > 0 for criterion in self.case.criteria)

    async def _solved(self, task: ExaminedTask) -> None:
        scripts = [
            str(files["solve.sh"])
            for files in self.case.hidden.get(SOLUTIONS) or ()
            if "solve.sh" in files
        ]
        if not scripts:
            task.trials["solution"] = "none"
            return
        tries = [await self._try(scripts) for _ in range(self.repeats)]
        passed = sum(tried.passed for tried in tries)
        task.trials["solution"] = f"{passed}/{len(tries)}"
        if passed == len(tries):
            tried = await self._try(scripts, HalfTime(self.sandbox))
            task.trials[LESS_TIME] = tried.shown
            if not tried.passed:
                message = f"with {LESS_TIME} the solution gets {tried.shown}: {tried.reason}"
                task.suspect(1, message, "give more: marks depend on the machine")
            return
        failed = next(tried for tried in tries if not tried.passed)
        if passed:
            message = f"the solution passes {passed} of {len(tries)} times: {failed.reason}"
        elif failed.value is None:
            message = f"the solution cannot be scored: {failed.reason}"
        else:
            message = f"the solution gets {failed.shown} of 1: {failed.reason}"
        task.suspect(3, message, "correct the solution or the criteria")

    async def _tried(self, task: ExaminedTask, name: str, script: str) -> TrialOutcome:
        tried = await self._try([script])
        task.trials[name] = tried.shown
        return tried

    async def _try(self, scripts: Sequence[str], scoring: Sandbox | None = None) -> TrialOutcome:
        """Let scripts work on the case's files, one in each turn, and score what they leave."""
        folder = Path(mkdtemp(prefix="proctor-trial-"))
        turns = _turns(self.case)
        files: list[Json] = []
        try:
            await asyncio.to_thread(lay, self.case, folder)
            await set_up(self.case, folder, self.sandbox)
            for turn in range(turns):
                if turn < len(scripts) and scripts[turn]:
                    # What decides is what it leaves, not how it ends.
                    command = f"/bin/bash -c {shlex.quote(scripts[turn])}; true"
                    await run_commands(self.case.id, [command], folder, self.sandbox)
                contents, names = await asyncio.to_thread(left_in, folder)
                self.blobs |= contents
                files.append(names)
        except ModelError as error:
            return TrialOutcome(value=None, reason=str(error))
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        scored = TrialScoring(
            case=self.case, scorers=self.scorers, sandbox=scoring or self.sandbox,
            criteria=files_criteria(self.case, self.scorers), read_file=self.blobs.__getitem__,
        )  # fmt: skip
        return await scored.scored(_attempt(self.case, files))

    def _emptying(self) -> str:
        """Return what empties the files that tests consist of, or that criteria name."""
        texts = " ".join(
            str(criterion.scorer.params) for criterion in files_criteria(self.case, self.scorers)
        )
        names = [
            file.name
            for file in self.case.files
            if _is_test(file.name) or PurePosixPath(file.name).name in texts
        ]
        return "\n".join(f": >{shlex.quote(name)}" for name in names)


def _is_test(name: str) -> bool:
    path = PurePosixPath(name)
    if {"test", "tests"} & {*path.parts[:-1]}:
        return True
    return any(fnmatchcase(path.name, pattern) for pattern in _TESTS)


def _turns(case: Case) -> int:
    return len(case.dialogue.params.get("then", ())) + 1


def _attempt(case: Case, files: Sequence[Json]) -> Attempt:
    reply = case.references[0] if case.references else "done"
    messages: list[Message] = []
    for turn in range(len(files)):
        if turn:
            messages.append(Message(role="user", content="next"))
        messages.append(Message(role="assistant", content=reply))
    rounds = [Round.of(case.prompt, reply).to_json() for _ in files]
    notes = {FILES: list(files), ROUNDS: rounds}
    return Attempt(case_id=case.id, messages=tuple(messages), notes=notes)
