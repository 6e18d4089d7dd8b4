"""Collecting: get the attempts of a candidate into the store, linked to the run."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from proctor.contracts.case_spool import CaseFinder
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.fingerprint import answer_key
from proctor.core.suite import Case, Suite
from proctor.engine.run import read_suite
from proctor.engine.run.scorer_pool import Scorers
from proctor.io.batches import batched
from proctor.store.rows import RunAttempt
from proctor.store.store import Store

Item = TypeVar("Item")

BATCH = 500


@dataclass(frozen=True, kw_only=True)
class AnswerImporter:
    """Get the answers on file into the store, linked to one run."""

    store: Store
    run_id: str
    whole: Suite
    """All cases that the answers may name."""
    suite: Suite
    """The cases that were asked for."""
    scorers: Scorers

    def collect(self, answers: Path, attempts: int | None, progress: Callable[[int], None]) -> int:
        """Store and link every answer, and return how many there are.

        A case without an answer gets an attempt that says so. Links that are there already are
        kept, so that another process at the same run is not disturbed, unless the answers changed.
        """
        done = self._link(answers, attempts, progress)
        if self.store.attempts.count(self.run_id) != done:
            self.store.attempts.unlink(self.run_id)
            done = self._link(answers, attempts, progress)
        return done

    def _link(self, answers: Path, attempts: int | None, progress: Callable[[int], None]) -> int:
        cases, finder = self.suite.cases, CaseFinder(self.suite.cases)
        answered = bytearray(len(cases))
        done = 0
        found = wanted(read_suite.answers(answers, self.whole), finder, attempts)
        for batch in batched(found, BATCH):
            rows = [(place, cases[place], attempt) for place, attempt in batch]
            for place, _, _ in rows:
                answered[place] = 1
            self._put(rows)
            done += len(rows)
            progress(done)
        silent = (
            (place, case := cases[place], Attempt.of(case.id, None))
            for place, known in enumerate(answered)
            if not known
        )
        for rest in batched(silent, BATCH):
            self._put(rest)
            done += len(rest)
        return done

    def _put(self, rows: Sequence[tuple[int, Case, Attempt]]) -> None:
        keys = [answer_key(case, attempt) for _, case, attempt in rows]
        with self.store.batch():
            self.store.attempts.put(
                (key, attempt) for key, (_, _, attempt) in zip(keys, rows, strict=True)
            )
            self.store.attempts.link(
                self.run_id,
                [
                    RunAttempt(
                        position=position,
                        index=attempt.index,
                        attempt_key=key,
                        score_keys=self._score_keys(case, attempt),
                    )
                    for key, (position, case, attempt) in zip(keys, rows, strict=True)
                ],
            )

    def _score_keys(self, case: Case, attempt: Attempt) -> dict[str, str]:
        answered = attempt.status is AttemptStatus.ANSWERED
        return self.scorers.keys(case, attempt) if answered else {}


def wanted(
    found: Iterable[Attempt], finder: CaseFinder, attempts: int | None
) -> Iterator[tuple[int, Attempt]]:
    """Give attempts after the place of their case, leaving out those that were not asked for."""
    for attempt in found:
        if attempts is None or attempt.index < attempts:
            place = finder.place(attempt.case_id)
            if place is not None:
                yield place, attempt
