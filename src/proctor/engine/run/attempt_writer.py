"""Writing attempts: the one place where they enter the store and become part of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from proctor.core.score import Score
from proctor.engine.run.run_rows import AttemptRow, RunRows
from proctor.store.rows import RunAttempt
from proctor.store.store import Store


@dataclass(frozen=True)
class AttemptWriter:
    """The way of attempts into the store, in batches, each of them whole or not at all.

    Whoever sums up the run gets what was written from ``rows``, and need not read it back.
    """

    store: Store
    run_id: str
    rows: RunRows = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", RunRows(self.store, self.run_id))

    def write(self, batch: Sequence[AttemptRow]) -> None:
        """Store attempts with the scores that they have, linked to the run."""
        if not batch:
            return
        with self.store.batch():
            self.store.attempts.put((row.key, row.attempt) for row in batch)
            self.store.scores.put(_scores(batch))
            self._link(batch)
        self.rows.add(batch)

    def link(self, batch: Sequence[AttemptRow]) -> None:
        """Link attempts that are stored already to the run."""
        if batch:
            self._link(batch)
            self.rows.add(batch)

    def unlink(self) -> None:
        """Take all attempts from the run; they stay in the store."""
        self.store.attempts.unlink(self.run_id)
        self.rows.clear()

    def _link(self, batch: Sequence[AttemptRow]) -> None:
        self.store.attempts.link(
            self.run_id,
            [
                RunAttempt(
                    position=row.position,
                    index=row.index,
                    attempt_key=row.key,
                    score_keys=row.score_keys,
                )
                for row in batch
            ],
        )


def _scores(batch: Sequence[AttemptRow]) -> Iterator[tuple[str, str, Score]]:
    for row in batch:
        if row.scores:
            scorers = {criterion.id: criterion.scorer.name for criterion in row.case.criteria}
            for name, score in row.scores.items():
                yield row.score_keys[name], scorers.get(name, name), score
