"""Cases whose criteria run programs, examined themselves: their reference, nothing, a cheat."""

from collections.abc import Mapping
from dataclasses import dataclass

from proctor.contracts.sandbox import Sandbox
from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Criterion
from proctor.engine.check.trial_outcome import (
    FORGED,
    LESS_TIME,
    NOTHING,
    ExaminedTask,
    HalfTime,
    TrialOutcome,
    TrialScoring,
)
from proctor.engine.run.scorer_pool import Scorers

CHEATS: Mapping[str, tuple[str, ...]] = {
    "python": (
        "import os\nos._exit(0)",
        "import sys\nsys.exit(0)",
        "print('ok')\nprint('1 passed')\nraise SystemExit",
    ),
    "javascript": ("process.exit(0)",),
    "typescript": ("process.exit(0)",),
    "bash": ("echo ok; exit 0",),
    "ruby": ("exit!(0)",),
    "php": ("<?php exit(0);",),
    "perl": ("exit(0);",),
}
"""Answers that end well before a test has run, by language."""


def has_programs(case: Case, scorers: Scorers) -> bool:
    """Tell whether programs look at the answers to a case whose right answer is known."""
    if not case.references:
        return False
    return any(runs_programs(scorers, criterion) for criterion in case.criteria)


def runs_programs(scorers: Scorers, criterion: Criterion) -> bool:
    """Tell whether a criterion runs programs and asks nobody."""
    scorer = scorers.of(criterion)
    return scorer.needs_sandbox and scorer.is_async and not scorer.needs_judge


@dataclass
class ProgramTrials:
    """The trials of a case whose answers are scored by programs, such as unit tests."""

    case: Case
    scorers: Scorers
    sandbox: Sandbox
    repeats: int

    async def examined(self) -> ExaminedTask:
        """Try the reference several times and with half the time, an empty answer, and cheats."""
        task = ExaminedTask(case=self.case)
        empty = await self._scored("")
        tries = [await self._scored(self.case.references[0]) for _ in range(self.repeats)]
        passed = sum(tried.passed for tried in tries)
        task.trials["solution"] = f"{passed}/{len(tries)}"
        task.trials[NOTHING] = empty.shown
        if empty.value is not None and empty.value > 0:
            task.suspect(3, f"the empty answer gets {empty.shown} of 1",
                          "have its programs look for something that must be there")  # fmt: skip
        if passed < len(tries):
            failed = next(tried for tried in tries if not tried.passed)
            times = f"passes {passed} of {len(tries)} times" if passed else "does not pass"
            task.suspect(3, f"the reference {times}: {failed.reason}",
                          "correct the reference or the programs")  # fmt: skip
        await self._cheated(task, empty.value or 0.0)
        if passed == len(tries):
            await self._hurried(task)
        return task

    async def _cheated(self, task: ExaminedTask, nothing: float) -> None:
        languages = {
            str(criterion.scorer.params.get("lang", "python")) for criterion in self._criteria
        }
        cheats = [
            f"```{language}\n{cheat}\n```"
            for language in sorted(languages)
            for cheat in CHEATS.get(language, ())
        ]
        if not cheats:
            return
        tries = [await self._scored(cheat) for cheat in cheats]
        best = max(tries, key=lambda tried: tried.value or 0.0)
        task.trials[FORGED] = best.shown
        if (best.value or 0.0) > nothing:
            task.suspect(3, f"an answer that ends before the tests run gets {best.shown} of 1",
                          "have the tests say that they came to their end")  # fmt: skip

    async def _hurried(self, task: ExaminedTask) -> None:
        tried = await self._scored(self.case.references[0], HalfTime(self.sandbox))
        task.trials[LESS_TIME] = tried.shown
        if not tried.passed:
            message = f"with {LESS_TIME} the reference gets {tried.shown}: {tried.reason}"
            task.suspect(1, message, "give more: marks depend on the machine")

    async def _scored(self, answer: str, sandbox: Sandbox | None = None) -> TrialOutcome:
        scoring = TrialScoring(
            case=self.case, scorers=self.scorers, sandbox=sandbox or self.sandbox,
            criteria=self._criteria, read_file=_no_file,
        )  # fmt: skip
        return await scoring.scored(Attempt.of(self.case.id, answer))

    @property
    def _criteria(self) -> list[Criterion]:
        return [
            criterion
            for criterion in self.case.criteria
            if criterion.weight > 0 and runs_programs(self.scorers, criterion)
        ]


def _no_file(key: str) -> bytes:
    raise KeyError(key)
