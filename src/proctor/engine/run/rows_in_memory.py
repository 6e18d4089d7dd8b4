"""The rows of a run whose cases and answers are in memory: only their scores are read again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter

from proctor.core.attempt import Attempt
from proctor.core.suite import Case
from proctor.engine.run.answers import BATCH
from proctor.io.batches import batched
from proctor.store.rows import LinkedCase
from proctor.store.store import Store

Held = tuple[int, Case, Attempt, Mapping[str, str]]
"""The place of a case, an attempt at it, and the keys of its scores by the id of criterion."""


@dataclass(frozen=True)
class AtHand:
    """Give what a run has, case by case in order, as the store does but without reading it all."""

    store: Store
    held: Sequence[Held]
    """In the order of the cases."""

    def rows(self) -> Iterator[LinkedCase]:
        """Yield all rows with the scores that there are by now."""
        cases = (list(found) for _, found in groupby(self.held, itemgetter(0)))
        for batch in batched(cases, BATCH):
            wanted = (keys.values() for case in batch for _, _, _, keys in case)
            known = self.store.scores.get_many(chain.from_iterable(wanted))
            for found in batch:
                place, case, _, _ = found[0]
                attempts = [
                    (attempt, {name: known[key] for name, key in keys.items() if key in known})
                    for _, _, attempt, keys in found
                ]
                yield LinkedCase(place, case, attempts, [keys for _, _, _, keys in found])
