"""What is stored already, and what is still to do: the one decision of a run and of its plan.

Stored is what can be read and is final. What failed, or is damaged, is made again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from proctor.core.attempt import Attempt
from proctor.engine.run.attempt_writer import MOST_IN_MEMORY
from proctor.store.store import Store


@dataclass(frozen=True)
class StoredWork:
    """Attempts and scores that need not be made, by their keys."""

    store: Store | None
    """None for a plan without a store, where everything is to do."""
    ignored: bool = False
    """Whether all attempts are made again, with calls from the store, for a recording."""
    _read: dict[str, Attempt] = field(default_factory=dict)
    """Attempts that were read before they are linked, up to the memory limit."""

    def attempt_keys(self, keys: Iterable[str]) -> set[str]:
        """Return the keys of final attempts, without a look at whether they can be read."""
        return set() if self.store is None else self.store.attempts.stored_keys(keys)

    def attempts(self, keys: Iterable[str]) -> dict[str, Attempt]:
        """Return the attempts that need not be made; none is read twice."""
        if self.store is None or self.ignored:
            return {}
        final = list(self.attempt_keys(keys))
        read = self.store.attempts.get_many(key for key in final if key not in self._read)
        if len(self._read) + len(read) <= MOST_IN_MEMORY:
            self._read.update(read)
        before = {key: self._read[key] for key in final if key in self._read}
        return {**before, **read}

    def forget(self) -> None:
        """Let go of the attempts that were read."""
        self._read.clear()

    def score_keys(self, keys: Iterable[str]) -> set[str]:
        """Return the keys of scores that need not be made."""
        return set() if self.store is None else self.store.scores.stored_keys(keys)
