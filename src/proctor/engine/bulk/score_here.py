"""Scoring of a part by the run's own process: for criteria that need processes or batches."""

from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from proctor.contracts.shares import RowProblem
from proctor.core.attempt import AttemptStatus
from proctor.core.encoding import suite_from
from proctor.core.rounds import scored_part
from proctor.core.score import Score
from proctor.engine.bulk.score_part import part_of
from proctor.engine.bulk.tasks import PartOutcome, ShareTask
from proctor.engine.run.aggregate import stored_score
from proctor.engine.run.score_dispatch import ScoreDispatcher, ScoreTask
from proctor.io.row_shares import UnreadableShare
from proctor.store.rows import LinkedCase


@dataclass
class PartScoring:
    """Scoring of parts by a run's own dispatcher."""

    dispatcher: ScoreDispatcher

    async def score(self, task: ShareTask) -> PartOutcome:
        """Score the answers to the cases of a part, and write its files."""
        part = part_of(task, suite_from(task.suite, ()))
        try:
            for block in part.blocks():
                linked = part.linked(block)
                await self._score(linked)
                part.add_linked(linked)
        except RowProblem:
            raise UnreadableShare from None
        return part.written()

    async def _score(self, block: Sequence[LinkedCase]) -> None:
        waiting: dict[str, list[tuple[dict[str, Score], str]]] = {}
        groups = list(self._groups(block, waiting))
        async with aclosing(self.dispatcher.dispatch(groups)) as scored:
            async for task, score in scored:
                for scores, criterion in waiting.pop(task.key):
                    scores[criterion] = stored_score(score)

    def _groups(
        self, block: Sequence[LinkedCase], waiting: dict[str, list[tuple[dict[str, Score], str]]]
    ) -> Iterator[list[ScoreTask]]:
        for linked in block:
            keys = [self.dispatcher.scorers.keys(linked.case, one) for one, _ in linked.attempts]
            for criterion in linked.case.criteria:
                group = []
                for (attempt, scores), own_keys in zip(linked.attempts, keys, strict=True):
                    if attempt.status is not AttemptStatus.ANSWERED:
                        continue
                    key = own_keys[criterion.id]
                    entries = waiting.setdefault(key, [])
                    entries.append((scores, criterion.id))
                    if len(entries) == 1:
                        part = scored_part(criterion, attempt)
                        group.append(ScoreTask(key, linked.case, criterion, part))
                if group:
                    yield group
