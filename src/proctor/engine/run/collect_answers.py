"""Collection of answers on file: stored as attempts and linked to the run."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from proctor.contracts.case_spool import CaseFinder
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.fingerprint import answer_key
from proctor.core.suite import Case, Suite
from proctor.engine.run import read_suite
from proctor.engine.run.attempt_writer import BATCH, AttemptRow, AttemptWriter
from proctor.engine.run.scorer_pool import Scorers
from proctor.engine.run.settings import AnswersInMemory
from proctor.io.concurrency import batched, pause
from proctor.records import dataclass, maker

_ROWS = maker(AttemptRow)


@dataclass(frozen=True, kw_only=True)
class AnswerImporter:
    """Import of answers on file into the store, linked to one run."""

    writer: AttemptWriter
    whole: Suite
    """All cases that the answers may refer to."""
    suite: Suite
    """The requested cases."""
    scorers: Scorers
    columns: str = ""
    """What the columns of the answers are called, where a person said so."""

    async def collect(
        self,
        answers: Path | AnswersInMemory,
        attempts: int | None,
        progress: Callable[[int], None],
    ) -> int:
        """Store and link every answer, and return their number.

        A case without an answer gets an unanswered attempt. Existing links are kept unless the
        answers changed, so that another process at the same run is not disturbed. An interrupt
        ends it between two batches, each of which is stored completely.
        """
        done = await self._link(answers, attempts, progress)
        writer = self.writer
        if writer.store.attempts.count(writer.run_id) != done:
            writer.unlink()
            done = await self._link(answers, attempts, progress)
        return done

    async def _link(
        self,
        answers: Path | AnswersInMemory,
        attempts: int | None,
        progress: Callable[[int], None],
    ) -> int:
        cases, finder = self.suite.cases, CaseFinder(self.suite.cases)
        answered = bytearray(len(cases))
        done = 0
        all_attempts = (
            read_suite.answers(answers, self.whole, self.columns)
            if isinstance(answers, Path)
            else iter(answers.attempts)
        )
        attempts_read = requested_attempts(all_attempts, finder, attempts)
        for batch in batched(attempts_read, BATCH):
            rows = []
            for place, attempt in batch:
                rows.append(answer_row(place, cases[place], attempt, self.scorers))
                answered[place] = 1
            self.writer.write(rows)
            done += len(rows)
            progress(done)
            await pause()
        silent = (
            (place, case := cases[place], Attempt.of(case.id, None))
            for place, is_answered in enumerate(answered)
            if not is_answered
        )
        for rest in batched(silent, BATCH):
            self.writer.write([answer_row(*row, self.scorers) for row in rest])
            done += len(rest)
            await pause()
        return done


def answer_row(position: int, case: Case, attempt: Attempt, scorers: Scorers) -> AttemptRow:
    """Return an answer as a row of the run, with the keys of its scores."""
    answered = attempt.status is AttemptStatus.ANSWERED
    return _ROWS.make(
        position=position,
        index=attempt.index,
        case=case,
        attempt=attempt,
        key=answer_key(case, attempt),
        score_keys=scorers.keys_of(case, attempt) if answered else {},
    )


def requested_attempts(
    attempts_read: Iterable[Attempt], finder: CaseFinder, attempts: int | None
) -> Iterator[tuple[int, Attempt]]:
    """Yield the requested attempts, each with the position of its case."""
    for attempt in attempts_read:
        if attempts is None or attempt.index < attempts:
            place = finder.place(attempt.case_id)
            if place is not None:
                yield place, attempt
