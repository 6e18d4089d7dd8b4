"""Collection from a candidate: run the dialogue of every case, and store each attempt."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import field, replace
from functools import partial
from itertools import takewhile
from traceback import format_exception

from proctor.core.attempt import TRACEBACK, UNDECIDED, Attempt, AttemptStatus
from proctor.core.cause import CAUSE, Cause, cause_of, cause_of_error
from proctor.core.exchange import Usage
from proctor.core.failures import FailureNotices
from proctor.core.fingerprint import attempt_key, digest
from proctor.core.prompt import put
from proctor.core.suite import CandidatePrompt, Case, Json, Suite
from proctor.engine.models.call_scope import CallScope, UsedReply, rested_on_replies
from proctor.engine.models.roles import Cast
from proctor.engine.run.attempt_writer import (
    BATCH,
    AttemptRow,
    AttemptWriter,
    StoredSoon,
)
from proctor.engine.run.score_dispatch import TurnGrader, instant_scores
from proctor.engine.run.scorer_pool import Dialogues, Scorers
from proctor.engine.run.stored_work import StoredWork
from proctor.engine.run.totals import usage_from
from proctor.errors import AgentError, BudgetError, ModelError, StoreError
from proctor.io import concurrency as concurrency_module
from proctor.io.concurrency import TimeLimit, batched
from proctor.io.redaction import redact
from proctor.records import dataclass

FLUSH_SECONDS = 0.5
FLUSH_ROWS = 500
"""Attempts that are written at once, while replies wait: about what comes within that time."""
LEVELS, LONGEST = 30, 8000
"""Maximum frames and characters of a stored traceback."""
REFUSED = (401, 403, 404)
"""HTTP statuses that affect every case: wrong key, wrong model, wrong path."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One attempt to make."""

    position: int
    case: Case
    index: int
    key: str
    prompted: Case
    """The case as it is put to the candidate, in the words of its prompt."""


@dataclass
class CollectedCounts:
    """Counts of attempts while they are collected."""

    total: int
    stored: int = 0
    """Attempts that were stored before."""
    finished: int = 0
    failed: int = 0

    @property
    def done(self) -> int:
        """Return the number of attempts so far."""
        return self.stored + self.finished


@dataclass(frozen=True, kw_only=True)
class AttemptPlan:
    """The attempts of a run, with their participants."""

    suite: Suite
    dialogues: Dialogues
    cast: Cast
    prompt: CandidatePrompt | None = None
    """The words in which the candidate is asked."""
    attempts: int = 1
    only: int | None = None
    """Only the attempts with this index."""
    positions: tuple[int, ...] | None = None
    """The places of the only cases to take, in this order, where not all are meant."""
    _identities: dict[int, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Planned]:
        cases = self.suite.cases
        for position in range(len(cases)) if self.positions is None else self.positions:
            case = cases[position]
            prompted = put(case, self.prompt)
            identity = self._identity(case)
            for index in range(self.attempts) if self.only is None else (self.only,):
                key = attempt_key(prompted, index, identity)
                yield Planned(position, case, index, key, prompted)

    def waves(self) -> "list[AttemptPlan]":
        """Return parts to make one after the other; only the original's order has several.

        It makes the first attempts at all cases before the second ones.
        """
        if not self.suite.attempts_in_turn or self.attempts == 1:
            return [self]
        return [replace(self, only=index) for index in range(self.attempts)]

    def __len__(self) -> int:
        cases = self.suite.cases if self.positions is None else self.positions
        return len(cases) * self.attempts

    def _identity(self, case: Case) -> str:
        """Return the hash of what an attempt depends on besides the messages shown."""
        dialogue = self.dialogues.of(case.dialogue)
        if (identity := self._identities.get(id(dialogue))) is None:
            identity = self._identities[id(dialogue)] = digest(self.cast.attempt_identity(dialogue))
        if dialogue.grades:
            identity = digest(identity, case.criteria, self.cast.judge and self.cast.judge.identity)
        return digest(identity, case.hidden, case.references) if dialogue.consults else identity


@dataclass(frozen=True, kw_only=True)
class Collector:
    """Collector of attempts: puts cases to a candidate, many at a time."""

    writer: AttemptWriter
    roster: AttemptPlan
    scorers: Scorers
    concurrency: int = 64
    deadline: float = 3600.0
    pause: float = 0.0
    """Seconds between two attempts."""
    ignore_stored: bool = False
    """Run every dialogue again, with calls from the store, so that a recording is complete."""
    again: frozenset[Cause] = frozenset()
    """Whose faults are mended: what failed by others is left as it is."""
    grader: TurnGrader | None = None
    notice: Callable[[str], None] = lambda _: None
    """Callback for the first failure of each kind, and the number of failures."""
    _begun: list[bool] = field(default_factory=list)
    _set_aside: dict[str, Attempt] = field(default_factory=dict)
    """Attempts of an agent whose provider failed, which are made once more at the end."""
    _stored: StoredWork = field(init=False)
    _limit: TimeLimit = field(init=False)
    """The time that each dialogue may take."""

    def __post_init__(self) -> None:
        work = StoredWork(self.writer.store, ignored=self.ignore_stored)
        object.__setattr__(self, "_stored", work)
        object.__setattr__(self, "_limit", TimeLimit(self.deadline))

    def missing(self) -> bool:
        """Tell whether some attempts are missing."""
        return any(
            len(self._stored.attempt_keys(planned.key for planned in batch)) < len(batch)
            for batch in batched(self.roster, BATCH)
        )

    def used(self) -> Iterator[Usage]:
        """Yield the usage of stored attempts, by role."""
        for batch in batched(self.roster, BATCH):
            for attempt in self._stored.attempts(planned.key for planned in batch).values():
                yield from (usage_from(used) for used in attempt.usage.values())

    async def collect(self, progress: Callable[[CollectedCounts], None]) -> CollectedCounts:
        """Make, store and link every attempt that is not stored."""
        counted = CollectedCounts(total=len(self.roster))
        if self.ignore_stored:
            self.writer.rows.drop_memory()  # stored rows stay, and may differ
        buffer: list[AttemptRow] = []
        notices = FailureNotices(self.notice, "failed")

        def store() -> None:
            self._flush(buffer)
            progress(counted)

        soon = StoredSoon(store, FLUSH_SECONDS)
        try:
            async with aclosing(self._finished_attempts(counted)) as finished:
                async for planned, attempt in finished:
                    soon.wish()
                    buffer.append(self._scored_row(planned, attempt))
                    counted.finished += 1
                    if attempt.status is AttemptStatus.ERROR:
                        counted.failed += 1
                        notices.add(attempt.error, f"case {planned.case.id}")
                    if len(buffer) >= FLUSH_ROWS:
                        soon.stop()
                        store()
        finally:
            soon.stop()
            self._flush(buffer)
            notices.close()
        progress(counted)
        return counted

    async def _finished_attempts(
        self, counted: CollectedCounts
    ) -> AsyncGenerator[tuple[Planned, Attempt], None]:
        once_more: list[Planned] = []
        answered = False
        for wave in self.roster.waves():
            async with aclosing(self._attempts(self._to_do(wave, counted))) as finished:
                async for planned, attempt in finished:
                    if self.roster.cast.agent is not None and _by_provider(attempt):
                        once_more.append(planned)
                        self._set_aside[planned.key] = attempt
                        continue
                    answered = answered or attempt.status.is_final
                    yield planned, attempt
        if answered:  # where nobody was answered, nobody will be
            async with aclosing(self._attempts(once_more)) as finished:
                async for pair in finished:
                    yield pair
            return
        for planned in once_more:
            yield planned, self._set_aside[planned.key]

    def _attempts(self, to_do: Iterable[Planned]) -> AsyncGenerator[tuple[Planned, Attempt], None]:
        return concurrency_module.map_unordered(to_do, self._make_usable, limit=self.concurrency)

    def _to_do(self, roster: AttemptPlan, counted: CollectedCounts) -> Iterator[Planned]:
        """Yield the attempts to make; stored ones are linked to the run here."""
        for batch in batched(roster, BATCH):
            left = self._reopened(batch) if self.again else {}
            stored = self._stored.attempts(planned.key for planned in batch) | left
            self._stored.forget()
            self.writer.link([self._row(p, stored[p.key]) for p in batch if p.key in stored])
            counted.stored += len(stored)
            counted.failed += len(left)
            yield from (p for p in batch if p.key not in stored)

    def _reopened(self, batch: Sequence[Planned]) -> dict[str, Attempt]:
        """Have attempts made again that failed by the wanted causes; return other failed ones."""
        store = self.writer.store
        attempts = store.attempts.get_many(planned.key for planned in batch)
        wanted = {key for key, one in attempts.items() if cause_of(one) in self.again}
        store.attempts.reopen(
            self.writer.run_id, [key for key in wanted if attempts[key].status.is_final]
        )
        return {
            key: one
            for key, one in attempts.items()
            if key not in wanted and not one.status.is_final
        }

    async def _make_usable(self, planned: Planned) -> tuple[Planned, Attempt]:
        if self.pause and self._begun:
            await asyncio.sleep(self.pause)
        self._begun.append(True)
        useless = _of_no_use if self.roster.cast.agent is None else _nothing
        return planned, await rested_on_replies(partial(self._make, planned), _has_failed, useless)

    async def _make(self, planned: Planned) -> Attempt:
        case, index = planned.prompted, planned.index
        dialogue = self.roster.dialogues.of(case.dialogue)
        try:
            with self._limit.around():
                async with self.roster.cast.seated(case, index, self.grader) as ctx:
                    attempt = await dialogue.hold(ctx)
        except ModelError as error:
            if error.status in REFUSED and not isinstance(error, BudgetError):
                raise
            attempt = _failed_by(error, case, index)
        except TimeoutError:
            if (scope := CallScope.current()) is not None:
                scope.note_broken()
            words = f"took longer than the {self.deadline:g} s allowed"
            attempt = _failed(case, index, words, {CAUSE: Cause.LIMIT.value})
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - a dialogue may be a stranger's code
            text = f"the dialogue {case.dialogue.name!r} broke: {type(error).__name__}: {error}"
            where = redact("".join(format_exception(error, limit=-LEVELS)))
            notes = {TRACEBACK: where[-LONGEST:], CAUSE: cause_of_error(error).value}
            attempt = _failed(case, index, redact(text), notes)
        if self.grader is not None and attempt.status is AttemptStatus.STOPPED:
            attempt = _ended_by_grader(attempt, self.grader)
        return attempt

    def _flush(self, buffer: list[AttemptRow]) -> None:
        if not buffer:
            return
        self.writer.write(buffer)
        buffer.clear()

    def _scored_row(self, planned: Planned, attempt: Attempt) -> AttemptRow:
        """Return a row with its instant scores, while everything is in memory."""
        return self._row(planned, attempt, instant=True)

    def _row(self, planned: Planned, attempt: Attempt, *, instant: bool = False) -> AttemptRow:
        answered = attempt.status is AttemptStatus.ANSWERED
        case = planned.case
        scores = instant_scores(self.scorers, case, attempt) if instant and answered else {}
        return AttemptRow(
            position=planned.position,
            index=planned.index,
            case=case,
            attempt=attempt,
            key=planned.key,
            score_keys=self.scorers.keys(case, attempt) if answered else {},
            scores=scores,
        )


def _failed(case: Case, index: int, error: str, notes: Mapping[str, Json] | None = None) -> Attempt:
    return Attempt(
        case_id=case.id, index=index, status=AttemptStatus.ERROR, error=error, notes=notes or {}
    )


def _failed_by(error: ModelError, case: Case, index: int) -> Attempt:
    """Return the attempt that a candidate's error ended, with its transcript so far."""
    text, where = str(error), error.traceback if isinstance(error, AgentError) else ""
    notes = {**({TRACEBACK: where} if where else {}), CAUSE: cause_of_error(error).value}
    if not isinstance(error.so_far, Attempt):
        return _failed(case, index, text, notes)
    before = error.so_far
    return replace(before, status=AttemptStatus.ERROR, error=text, notes={**before.notes, **notes})


def _ended_by_grader(attempt: Attempt, grader: TurnGrader) -> Attempt:
    """Note why a turn could not be scored, if that is what stopped an attempt."""
    cause = grader.failed.pop((attempt.case_id, attempt.index), None)
    if cause is None or CAUSE in attempt.notes or attempt.notes.get("reason"):
        return attempt
    return replace(attempt, notes={**attempt.notes, CAUSE: cause.value})


def _by_provider(attempt: Attempt) -> bool:
    return not attempt.status.is_final and attempt.notes.get(CAUSE) == Cause.PROVIDER.value


def _has_failed(attempt: Attempt) -> bool:
    return not attempt.status.is_final


def _of_no_use(attempt: Attempt, scope: CallScope) -> Sequence[UsedReply]:
    """Return the useless last replies of a failed attempt, unless the dialogue named them.

    These are the replies after the candidate's last one, or that one if none followed.
    """
    if scope.broken or not scope.replies:
        return ()
    last = scope.replies[-1]
    if attempt.status is AttemptStatus.UNANSWERED:
        return (last,) if last.role == "candidate" else ()
    if not _has_failed(attempt) or scope.discarded or attempt.notes.get("reason") == UNDECIDED:
        return ()
    after = list(takewhile(lambda reply: reply.role != "candidate", reversed(scope.replies)))
    return after or (last,)


def _nothing(attempt: Attempt, scope: CallScope) -> Sequence[UsedReply]:
    """Return none: it is unknown whether an agent failed because of a reply."""
    return ()
