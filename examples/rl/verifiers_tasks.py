"""Tasks of verifiers whose reward is a suite: one task for each of its cases."""

from pathlib import Path
from typing import Any

import verifiers.v1 as vf

from proctor import Grader, rewards

grader = Grader(Path(__file__).with_name("tasks.yaml"), deadline=30)
scored = rewards.verifiers(grader)


class QuizData(vf.TaskData):
    """A question, and the case that scores the answer."""

    case: str


class QuizTask(vf.Task[QuizData]):
    """A question; without a score the rollout has an error, and nobody trains on it."""

    @vf.reward(weight=1.0)
    async def proctor(self, trace: Any) -> float:
        """Score the last reply."""
        return await scored(task=self.data, trace=trace)


class QuizConfig(vf.TasksetConfig):
    """All cases."""


class QuizTaskset(vf.Taskset[QuizTask, QuizConfig]):
    """The cases of the suite."""

    def load(self) -> list[QuizTask]:
        """Return a task for each case."""
        return [
            QuizTask(QuizData(prompt=case.prompt, case=case.id), self.config.task)
            for case in grader.suite.cases
        ]
