"""Cases of a run in parts with their attempts and scores, as callers of the store see them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.core.attempt import Attempt
from proctor.core.fingerprint import answer_key, digest
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.store.parts.reader import RunInParts, StoredAttempt
from proctor.store.rows import BROKEN, LinkedCase, LinkedKeys, Positions
from proctor.store.suites import damaged_attempt, lost_case


@dataclass(frozen=True)
class PartLinks:
    """Cases of a run in parts; those of its suite may be in rows."""

    home: RunInParts
    cases_at: Callable[[Positions], Mapping[int, Case]]

    def cases(self, within: Positions) -> Iterator[LinkedCase]:
        """Yield the cases with their attempts and scores, in order; scores have no keys."""
        for linked, _ in self._cases(within):
            yield linked

    def keys(self, run_id: str, within: Positions) -> Iterator[Sequence[LinkedKeys]]:
        """Yield the keys of attempts and scores, case by case, in order.

        The key of an answer on file is that of its content; those of scores are of this run alone.
        """
        for linked, stored in self._cases(within):
            place = (run_id, linked.position)
            yield [
                LinkedKeys(
                    one.key or answer_key(linked.case, attempt),
                    {name: digest("part", *place, one.number, name) for name in scores},
                )
                for (attempt, scores), one in zip(linked.attempts, stored, strict=True)
            ]

    def _cases(self, within: Positions) -> Iterator[tuple[LinkedCase, Sequence[StoredAttempt]]]:
        cases = self.cases_at(within)
        for position, attempts in self.home.attempts(within).items():
            case = cases.get(position) or lost_case(position)
            stored = attempts or [_LOST]
            pairs = [(_attempt_of(one, case.id), one.scores) for one in stored]
            if len(pairs) > 1:
                _share(pairs)
            yield LinkedCase(position, case, pairs, [{} for _ in pairs]), stored


_LOST = StoredAttempt(0, "", None, None, None, {})
"""What stands for the attempts of a case that are damaged or gone."""


def _attempt_of(stored: StoredAttempt, case_id: str) -> Attempt:
    try:
        return stored.attempt(case_id)
    except BROKEN:
        return damaged_attempt(case_id, stored.number)


def _share(pairs: Sequence[tuple[Attempt, dict[str, Score]]]) -> None:
    """Make the equal scores of equal answers one object, as those of one key are."""
    for place, (attempt, scores) in enumerate(pairs):
        for earlier, theirs in pairs[:place]:
            if earlier.messages == attempt.messages:
                same = [name for name, score in scores.items() if score == theirs.get(name)]
                scores |= {name: theirs[name] for name in same}
