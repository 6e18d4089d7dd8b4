"""The numbers of a run in progress: what is graded so far, how fast it goes, how long it takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic, time
from typing import TYPE_CHECKING

from pydantic import Field
from starlette.requests import Request

from proctor.core.attempt import AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.run import CaseResult, Run, RunStatus
from proctor.core.score import Score
from proctor.engine.run.aggregate import case_result, fold_of
from proctor.stats.intervals import RatioSums
from proctor.store.store import Store
from proctor.web.api.response import Interval, ResponseModel
from proctor.web.pages.case_list import ListedCase, listed_result
from proctor.web.pages.home import progress_of
from proctor.web.store_pool import store_pool_of

if TYPE_CHECKING:
    from proctor.store.rows import LinkedCase

FRESH = 1.0
"""Seconds for which all readers of a run get the same numbers."""
MOST_READ = 500
"""How many cases one look reads beyond those that are known to be done."""
LATEST = 20
"""How many cases are shown as they are graded."""
MOST_CRITERIA = 8
"""How many criteria are shown."""
PACED = 120
"""Seconds over which the speed is taken."""
KEPT = 16
"""How many runs in progress are remembered."""


class LiveCriterion(ResponseModel):
    """What answers came to by one criterion, while others are not scored yet."""

    id: str
    rate: float | None
    interval: Interval | None
    cases: int


class LiveNumbers(ResponseModel):
    """A run in progress."""

    id: str
    status: RunStatus
    total: int = Field(description="attempts that the run will have")
    collected: int = Field(description="attempts that are stored")
    graded: int = Field(description="cases of which every attempt has its scores")
    cases: int
    rate: float | None
    interval: Interval | None
    errors: int
    unscored: int
    per_minute: float | None = Field(description="attempts a minute, over the last two minutes")
    remaining: float | None = Field(description="seconds to the end, at this speed")
    elapsed: float = Field(description="seconds since the start")
    latest: list[ListedCase] = Field(description="what was graded last")
    criteria: list[LiveCriterion] = Field(
        description="criteria that score answers as they come in, while others wait"
    )
    waiting: bool = Field(
        description="whether judges and programs begin when all answers have come in"
    )


@dataclass
class LiveSums:
    """Sums over the cases of a run that are done, read once; later ones are read at every look."""

    lock: Lock = field(default_factory=Lock)
    read: float = 0.0
    numbers: LiveNumbers | None = None
    last: int = -1
    """Every case up to this position is done and summed."""
    sums: RatioSums = field(default_factory=RatioSums)
    graded: int = 0
    errors: int = 0
    unscored: int = 0
    answered: bool = False
    """Whether one of them has an answer."""
    seen: dict[int, ListedCase] = field(default_factory=dict)
    """The cases that were graded last, in the order in which they were seen."""
    pace: list[tuple[float, int]] = field(default_factory=list)
    """When how many attempts were stored."""
    last_answered: int = -1
    """Every case up to this position has all its answers, and their first scores are summed."""
    criteria: dict[str, "CriterionSums"] = field(default_factory=dict)


@dataclass
class CriterionSums:
    """Sums of the scores by one criterion."""

    sums: RatioSums = field(default_factory=RatioSums)
    cases: int = 0

    def add(self, scores: Sequence[Score]) -> None:
        """Add the scores of one case."""
        own = [(one.points, one.out_of) for one in scores if one.points is not None and one.out_of]
        if own:
            self.cases += 1
            self.sums.add(sum(points for points, _ in own), sum(marks for _, marks in own if marks))

    def merge(self, other: "CriterionSums") -> None:
        """Add other sums."""
        self.cases += other.cases
        self.sums.merge(other.sums)


def live_numbers(request: Request, store: Store, run: Run) -> LiveNumbers:
    """Return the numbers of a run so far; many readers at once cost as much as one."""
    remembered: dict[str, LiveSums] = store_pool_of(request).live
    sums = remembered.setdefault(run.id, LiveSums())
    while len(remembered) > KEPT:
        remembered.pop(next(iter(remembered)), None)
    with sums.lock:
        now = monotonic()
        numbers = sums.numbers
        if numbers is None or numbers.status != run.status or now - sums.read > FRESH:
            numbers = sums.numbers = _look(store, run, sums, now)
            sums.read = now
        return numbers


def _look(store: Store, run: Run, sums: LiveSums, now: float) -> LiveNumbers:
    progress = progress_of(store, run)
    attempts = int(run.settings.get("attempts") or 1)
    how = fold_of(store.suites.header(run.suite_key))
    total, graded = RatioSums(), sums.graded
    errors, unscored = sums.errors, sums.unscored
    unbroken, last, unscored_answers, answered = True, sums.last, False, sums.answered
    for number, linked in enumerate(store.attempts.iter_cases(run.id, after=last)):
        if number >= MOST_READ:
            break
        done = _is_done(linked, attempts)
        unbroken = unbroken and linked.position == sums.last + 1 and done
        if not done:
            unscored_answers = unscored_answers or len(linked.attempts) >= attempts
            continue
        result = case_result(how, linked.case, linked.attempts)
        failed = any(item.value.status is ValueStatus.ERROR for item in result.attempts)
        missing = result.folded.status is ValueStatus.UNSCORED
        answered = answered or any(
            one.status is AttemptStatus.ANSWERED for one, _ in linked.attempts
        )
        _add(sums.sums if unbroken else total, result)
        graded, errors, unscored = graded + 1, errors + failed, unscored + missing
        if linked.position not in sums.seen:
            sums.seen[linked.position] = listed_result(run, linked.position, result)
        if unbroken:
            sums.last, sums.graded = linked.position, graded
            sums.errors, sums.unscored, sums.answered = errors, unscored, answered
    for position in list(sums.seen)[: -(LATEST + MOST_READ)]:
        del sums.seen[position]
    total.merge(sums.sums)
    age = max(0.0, time() - run.started)
    pace = _pace(sums, now, progress.done, age) if run.status is RunStatus.RUNNING else None
    waiting = unscored_answers and progress.done < progress.total
    # Until judges begin, only cases without an answer may have a value: no sample of the others.
    has_rate = answered or not waiting
    criteria = _criteria(store, run, sums, attempts) if waiting else {}
    left = progress.total - progress.done
    return LiveNumbers(
        id=run.id,
        status=run.status,
        total=progress.total,
        collected=progress.done,
        graded=graded,
        cases=-(-progress.total // attempts),
        rate=total.rate if has_rate else None,
        interval=total.interval() if graded > 1 and has_rate else None,
        errors=errors,
        unscored=unscored,
        per_minute=pace,
        remaining=60 * left / pace if pace else None,
        elapsed=age,
        latest=list(sums.seen.values())[-LATEST:][::-1],
        criteria=[
            LiveCriterion(
                id=name,
                rate=one.sums.rate,
                interval=one.sums.interval() if one.cases > 1 else None,
                cases=one.cases,
            )
            for name, one in criteria.items()
            if one.cases
        ][:MOST_CRITERIA],
        waiting=waiting,
    )


def _criteria(
    store: Store, run: Run, sums: LiveSums, attempts: int
) -> "Mapping[str, CriterionSums]":
    """Return sums by criterion over the answers so far, each case read once when it is whole.

    Judges and programs score once all answers are there; what needs neither is scored at once.
    """
    later: dict[str, CriterionSums] = {}
    unbroken = True
    for number, linked in enumerate(store.attempts.iter_cases(run.id, after=sums.last_answered)):
        if number >= MOST_READ:
            break
        if len(linked.attempts) < attempts:
            unbroken = False
            continue
        unbroken = unbroken and linked.position == sums.last_answered + 1
        mine = sums.criteria if unbroken else later
        for name in dict.fromkeys(name for _, scores in linked.attempts for name in scores):
            own = [scores[name] for _, scores in linked.attempts if name in scores]
            mine.setdefault(name, CriterionSums()).add(own)
        if unbroken:
            sums.last_answered = linked.position
    for name, one in sums.criteria.items():
        later.setdefault(name, CriterionSums()).merge(one)
    return later


def _is_done(linked: "LinkedCase", attempts: int) -> bool:
    """Tell whether every attempt at a case is made, and has its scores."""
    if len(linked.attempts) < attempts:
        return False
    for (attempt, scores), keys in zip(linked.attempts, linked.keys, strict=True):
        wanted = max(len(keys), bool(linked.case.criteria))
        if attempt.status is AttemptStatus.ANSWERED and len(scores) < wanted:
            return False
    return True


def _add(sums: RatioSums, result: CaseResult) -> None:
    value, case = result.folded.value, result.case
    if value is not None and result.folded.status is not ValueStatus.SHOWN:
        sums.add(value * case.weight, case.full_score * case.weight)


def _pace(sums: LiveSums, now: float, done: int, age: float) -> float | None:
    """Return how many attempts are stored a minute, over the last two minutes."""
    if not sums.pace and age <= PACED:
        # All that a young run has was stored since it began.
        sums.pace.append((now - age, 0))
    sums.pace.append((now, done))
    sums.pace[:] = [one for one in sums.pace if now - one[0] <= PACED]
    begun, at_first = sums.pace[0]
    elapsed = now - begun
    return 60 * (done - at_first) / elapsed if elapsed > 1 and done > at_first else None
