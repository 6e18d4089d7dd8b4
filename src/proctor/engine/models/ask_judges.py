"""Questions to judges about a stored run, outside a run of its own: an audit, a scan."""

from collections.abc import Awaitable, Callable, Collection
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar

from proctor.contracts.judge import Judge
from proctor.engine.models.network_guard import offline
from proctor.engine.models.roles import Models, cold, judge_of
from proctor.engine.run.settings import CallSettings, JudgeSettings, short_name
from proctor.errors import MissingResource
from proctor.io import concurrency
from proctor.store.store import Store

T = TypeVar("T")


@dataclass
class JudgeQuestions:
    """Judges of one panel, asked one question per task, within a command's limits."""

    store: Store
    panel: JudgeSettings
    calls: CallSettings
    notice: Callable[[str], None]
    what: str
    """What needs the judge, for the message where there is none."""

    def __post_init__(self) -> None:
        if not self.panel.judges:
            raise MissingResource(f"{self.what} needs a judge (fix: add --judge M)")
        self.panel = replace(self.panel, judges=tuple(cold(one) for one in self.panel.judges))

    @property
    def judge_name(self) -> str:
        """Return the short name of the judge, or those of the panel."""
        return ",".join(short_name(choice.spec) for choice in self.panel.judges)

    async def ask_all(
        self,
        tasks: Collection[T],
        ask: Callable[[T, Judge, Models], Awaitable[None]],
        tell: Callable[[int], None],
    ) -> str:
        """Ask about every task until the budget is used up; return why it stopped early, if so.

        `tell` is called with the number of tasks done so far.
        """
        models = Models(self.store, self.calls, self.notice)

        async def work(task: T) -> None:
            if not models.budget.refused:
                await ask(task, judge, models)

        with offline(self.calls.offline):
            try:
                opened = [models.open(choice, "judge") for choice in self.panel.judges]
                judge_or_none = judge_of(self.panel, opened)
                assert judge_or_none is not None
                judge = judge_or_none
                for model in opened:
                    await models.check(model)
                limit = self.calls.concurrency
                async with aclosing(concurrency.map_unordered(tasks, work, limit=limit)) as done:
                    number = 0
                    async for _ in done:
                        number += 1
                        tell(number)
            finally:
                await models.close()
        return models.budget.words if models.budget.refused else ""
