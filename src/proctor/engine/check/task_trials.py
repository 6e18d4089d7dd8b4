"""Tasks examined themselves: their solutions, nobody and cheats work on them, with less of all."""

import re
import shlex
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from proctor.contracts.environment import Environment, EnvironmentCommand
from proctor.contracts.sandbox import Sandbox
from proctor.core.attempt import Attempt
from proctor.core.environment import (
    CHANGES,
    SETUP,
    SOLUTION,
    SOLUTIONS,
    TESTS,
    EnvironmentNeeds,
)
from proctor.core.fingerprint import digest_bytes
from proctor.core.rounds import FILES
from proctor.core.suite import Case, Json, Message, Suite
from proctor.engine.check.agent_trials import AgentTrials, files_criteria
from proctor.engine.check.program_trials import ProgramTrials, has_programs, runs_programs
from proctor.engine.check.trial_outcome import (
    EDITED,
    LESS_MEMORY,
    LESS_TIME,
    NOTHING,
    ExaminedTask,
    TrialOutcome,
    TrialScoring,
)
from proctor.engine.run.scorer_pool import Scorers
from proctor.errors import ModelError
from proctor.io.concurrency import map_unordered

REPEATS = 3
AT_ONCE = 2
PLANTED, DAEMON = "planted reward", "daemon"
_NETWORK = re.compile(
    r"there is no network|could not resolve|name resolution|network is unreachable|"
    r"failed to establish|no route to host|connection refused|getaddrinfo|urlopen error",
    re.IGNORECASE,
)
_REWARDS = (
    'for place in . /logs /logs/verifier /tmp "$HOME" "$PWD/logs" "$PWD/logs/verifier"; do\n'
    '  mkdir -p "$place"; echo 1 >"$place/reward.txt"\n'
    '  echo \'{"reward": 1}\' >"$place/reward.json"\n'
    "done\n"
)

Work = Callable[[Environment, int], Awaitable[None]]


def is_task(case: Case) -> bool:
    """Tell whether a case brings an environment to work in."""
    return SETUP in case.setup


def to_try(suite: Suite, scorers: Scorers) -> list[Case]:
    """Return the cases with an environment, or whose criteria look at files or run programs."""
    return [
        case
        for case in suite.cases
        if is_task(case) or files_criteria(case, scorers) or has_programs(case, scorers)
    ]


async def examined(
    suite: Suite, scorers: Scorers, sandbox: Sandbox, repeats: int = REPEATS
) -> list[ExaminedTask]:
    """Try the tasks of a suite, and return them with the most suspicious first."""
    tasks = to_try(suite, scorers)

    async def one(case: Case) -> ExaminedTask:
        if is_task(case):
            return await _Trials(case, scorers, sandbox, repeats).task()
        if files_criteria(case, scorers):
            return await AgentTrials(case, scorers, sandbox, repeats).examined()
        return await ProgramTrials(case, scorers, sandbox, repeats).examined()

    examined_tasks = []
    async with aclosing(map_unordered(tasks, one, limit=AT_ONCE)) as done:
        async for task in done:
            examined_tasks.append(task)
    order = {case.id: place for place, case in enumerate(suite.cases)}
    return sorted(examined_tasks, key=lambda task: (-task.weight, order[task.case.id]))


@dataclass
class _Trials:
    """The trials of one case."""

    case: Case
    scorers: Scorers
    sandbox: Sandbox
    repeats: int
    blobs: dict[str, bytes] = field(default_factory=dict)

    async def task(self) -> ExaminedTask:
        """Try a task in all ways."""
        task = ExaminedTask(case=self.case)
        if not await self._solved(task):
            return task
        nothing = await self._tried(NOTHING, _nothing, task)
        if nothing.value is None:
            task.suspect(2, f"doing nothing cannot be scored: {nothing.reason}",
                          "have test.sh write a reward in every case")  # fmt: skip
        elif nothing.value > 0:
            task.suspect(3, f"doing nothing gets {nothing.shown} of 1",
                          "ask for something that is not there yet")  # fmt: skip
        for name, work, hint in (
            (PLANTED, _script(_REWARDS), "write the reward from the tests' own findings alone"),
            (DAEMON, _script(_DAEMON), "look at nothing that a process may change meanwhile"),
            (EDITED, self._edit, "keep what tests run in tests/, out of the agent's reach"),
        ):
            tried = await self._tried(name, work, task)
            if tried.value is not None and tried.value > (nothing.value or 0.0):
                task.suspect(3, f"{_WORDS[name]} gets {tried.shown} of 1", hint)
        await self._with_less(task)
        return task

    async def _solved(self, task: ExaminedTask) -> bool:
        """Try the reference solution; where it never passes, other trials would say nothing."""
        solutions = self.case.hidden.get(SOLUTIONS) or []
        if not all("solve.sh" in files for files in solutions) or not solutions:
            task.trials["solution"] = "none"
            task.suspect(2, "there is no reference solution", "add solution/solve.sh")
            return True
        tries = [await self._try(self.case, _solving(self.case)) for _ in range(self.repeats)]
        passed = sum(tried.passed for tried in tries)
        task.trials["solution"] = f"{passed}/{len(tries)}"
        if passed == len(tries):
            return True
        failed = next(tried for tried in tries if not tried.passed)
        if passed:
            message = f"the reference solution passes {passed} of {len(tries)} times"
            task.suspect(3, f"{message}: {failed.reason}", "make tests and solution depend on"
                          " nothing that changes")  # fmt: skip
            return True
        if failed.value is None:
            message = f"the reference solution cannot be scored: {failed.reason}"
        else:
            message = f"the reference solution gets {failed.shown} of 1: {failed.reason}"
        hint = "correct the solution or the tests"
        if _NETWORK.search(f"{failed.reason} {failed.output}"):
            message, hint = f"without network {message}", "bring along what it fetches"
        task.suspect(3, message, hint)
        return False

    async def _with_less(self, task: ExaminedTask) -> None:
        """Try the solution with half of what the task gives it."""
        if not task.trials["solution"].startswith(f"{self.repeats}/"):
            return
        for name, less in ((LESS_MEMORY, _less_memory), (LESS_TIME, _less_time)):
            case = less(self.case)
            tried = await self._try(case, _solving(case))
            task.trials[name] = tried.shown
            if not tried.passed:
                message = f"with {name} the reference solution gets {tried.shown}: {tried.reason}"
                task.suspect(1, message, "give more: marks depend on the machine")

    async def _tried(self, name: str, work: Work, task: ExaminedTask) -> TrialOutcome:
        tried = await self._try(self.case, work)
        task.trials[name] = tried.shown
        return tried

    async def _try(self, case: Case, work: Work) -> TrialOutcome:
        needs = EnvironmentNeeds.of(case)
        assert needs is not None
        environment = self.sandbox.environment(needs)
        files: list[dict[str, str]] = []
        try:
            await environment.start()
            for turn in range(_turns(case)):
                await work(environment, turn)
                archive = await environment.changes()
                key = digest_bytes(archive)
                self.blobs[key] = archive
                files.append({CHANGES: key})
        except ModelError as error:
            return TrialOutcome(value=None, reason=str(error))
        finally:
            await environment.close()
        messages = tuple(
            message
            for turn in range(len(files))
            for message in (
                *((Message(role="user", content="next"),) if turn else ()),
                Message(role="assistant", content="done"),
            )
        )
        attempt = Attempt(case_id=case.id, messages=messages, notes={FILES: files})
        return await self._scored(case, attempt)

    async def _scored(self, case: Case, attempt: Attempt) -> TrialOutcome:
        criteria = [
            criterion
            for criterion in case.criteria
            if criterion.weight > 0 and runs_programs(self.scorers, criterion)
        ]
        scoring = TrialScoring(
            case=case, scorers=self.scorers, sandbox=self.sandbox, criteria=criteria,
            read_file=self.blobs.__getitem__,
        )  # fmt: skip
        return await scoring.scored(attempt)

    async def _edit(self, environment: Environment, turn: int) -> None:
        """Make every program that the tests find outside of their folder end well."""
        texts = " ".join(
            str(entry)
            for criterion in self.case.criteria
            for entry in criterion.scorer.params.get("files", {}).values()
        )
        lines = [f"mkdir -p {TESTS}; echo 'echo 1 >/logs/verifier/reward.txt' >{TESTS}/test.sh"]
        for path in sorted(environment.folder.rglob("*")):
            if path.is_file() and not path.is_symlink() and path.name in texts:
                name = shlex.quote(path.relative_to(environment.folder).as_posix())
                lines.append(f": >{name}")
        await environment.run(
            EnvironmentCommand(argv=("/bin/bash", "-c", "\n".join(lines)), wall=60.0)
        )


_DAEMON = (
    "setsid bash -c 'while :; do\n" + _REWARDS.replace("'", "'\"'\"'") + "sleep 0.01; done'"
    " >/dev/null 2>&1 &\nsleep 0.2\n"
)
_WORDS = {
    PLANTED: "a reward file that the agent planted",
    DAEMON: "a process that keeps writing rewards",
    EDITED: "emptying the files that the tests use",
}


def _solving(case: Case) -> Work:
    """Return what the reference solution of a case does, within the time that the case gives."""
    needs = EnvironmentNeeds.of(case)
    wall = needs.agent_timeout if needs is not None else 0.0

    async def work(environment: Environment, turn: int) -> None:
        await environment.place(case.hidden[SOLUTIONS][turn], SOLUTION)
        argv = ("/bin/bash", f"{SOLUTION}/solve.sh")
        await environment.run(EnvironmentCommand(argv=argv, wall=wall))
        await environment.place({}, SOLUTION)

    return work


async def _nothing(environment: Environment, turn: int) -> None:
    return None


def _script(text: str) -> Work:
    async def work(environment: Environment, turn: int) -> None:
        await environment.run(EnvironmentCommand(argv=("/bin/bash", "-c", text), wall=60.0))

    return work


def _turns(case: Case) -> int:
    return len(case.dialogue.params.get("then", ())) + 1


def _less_memory(case: Case) -> Case:
    needs = EnvironmentNeeds.of(case)
    assert needs is not None
    return _with(case, memory=needs.memory // 2)


def _less_time(case: Case) -> Case:
    needs = EnvironmentNeeds.of(case)
    assert needs is not None
    halved = _with(case, agent_timeout=needs.agent_timeout / 2)
    criteria = tuple(
        replace(
            criterion,
            scorer=replace(
                criterion.scorer,
                params={
                    **criterion.scorer.params,
                    "timeout": criterion.scorer.params.get("timeout", 600.0) / 2,
                },
            ),
        )
        if criterion.scorer.name == "task_tests"
        else criterion
        for criterion in halved.criteria
    )
    return replace(halved, criteria=criteria)


def _with(case: Case, **changed: Json) -> Case:
    return replace(case, setup={**case.setup, SETUP: {**case.setup[SETUP], **changed}})
