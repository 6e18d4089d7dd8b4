"""What trials came to, and a sandbox that gives half the time."""

import asyncio
from dataclasses import dataclass, field
from typing import ClassVar

from proctor.contracts.sandbox import Sandbox
from proctor.core.program import Limits, Program, Ran, Step
from proctor.core.suite import Case
from proctor.engine.check.trial_outcome import ExaminedTask, HalfTime, TrialOutcome


@dataclass
class Noting(Sandbox):
    """A sandbox that notes what it was to run."""

    tier: ClassVar[str] = "process"
    programs: list[Program] = field(default_factory=list)

    async def run(self, program: Program) -> Ran:
        self.programs.append(program)
        return Ran(code=0, step=0, finished=True)


def test_half_the_time_holds_for_steps_and_partners_too() -> None:
    step = Step(argv=("true",), wall=4.0)
    partner = Program(steps=(Step(argv=("true",)),), limits=Limits(wall=6.0))
    program = Program(steps=(step, Step(argv=("a",))), limits=Limits(wall=10.0), partner=partner)
    noting = Noting()
    asyncio.run(HalfTime(whole=noting).run(program))
    (ran,) = noting.programs
    assert [one.wall for one in ran.steps] == [2.0, None]
    assert ran.limits.wall == 5.0
    assert ran.partner is not None
    assert ran.partner.limits.wall == 3.0
    assert asyncio.run(HalfTime(whole=noting).run_python(program)) is None


def test_outcomes_and_suspicions() -> None:
    assert [TrialOutcome(value=value).shown for value in (None, 0.0, 0.25, 1.0)] == [
        "–", "0", "0.25", "1",
    ]  # fmt: skip
    assert TrialOutcome(value=1.0).passed
    assert not TrialOutcome(value=None).passed
    task = ExaminedTask(case=Case(id="c", messages=(), criteria=()))
    task.suspect(3, "one", "mend it")
    task.suspect(1, "two")
    assert task.weight == 4
    assert [(one.message, one.hint) for one in task.problems()] == [("one", "mend it"), ("two", "")]
