"""Scoring a run: what is missing is made once, stored soon, and failures are told."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.run import score as scoring
from proctor.engine.run.score import Graded, RunScoring, blocks_of
from proctor.engine.run.score_dispatch import ScoreDispatcher, ScoreTask, TaskGroup
from proctor.engine.run.scorer_pool import Scorers
from proctor.executors.local import LocalExecutor
from proctor.store.rows import LinkedCase

POINT, MISS = Score(points=1.0, out_of=1.0), Score(points=0.0, out_of=1.0)


@dataclass(frozen=True)
class _Judged(Scorer):
    needs_judge: ClassVar[bool] = True

    def score(self, ctx: ScoreContext) -> Any:
        return True


@dataclass
class _Dispatcher(ScoreDispatcher):
    """A dispatcher that fails on the answer ``bad``."""

    seen: list[str] = field(default_factory=list)

    async def dispatch(
        self, groups: Iterable[TaskGroup]
    ) -> AsyncGenerator[tuple[ScoreTask, Score], None]:
        for task in [task for group in groups for task in group]:
            self.seen.append(task.key)
            bad = task.attempt.output == "bad"
            yield task, Score.failed(f"broke on {task.key!r}") if bad else POINT


@dataclass
class _Stores:
    """A stand-in for the store of scores and for the rows of a run."""

    cases: list[LinkedCase]
    batches: list[list[str]] = field(default_factory=list)

    @property
    def scores(self) -> "_Stores":
        return self

    def put(self, rows: Iterable[tuple[str, str, Score]]) -> None:
        self.batches.append([key for key, _, _ in rows])

    def iter_cases(self) -> Iterable[LinkedCase]:
        return iter(self.cases)

    def iter_scores(self) -> Iterable[list[Score]]:
        for case in self.cases:
            yield [score for _, scores in case.attempts for score in scores.values()]


def linked(name: str, *attempts: tuple[Any, dict[str, Score], str], scorer: str) -> LinkedCase:
    criterion = Criterion(id="e", scorer=Spec(name=scorer))
    case = Case(id=name, messages=(Message(role="user", content="?"),), criteria=(criterion,))
    made = [
        (
            Attempt(case_id=name, status=answer)
            if isinstance(answer, AttemptStatus)
            else Attempt.of(name, answer),
            dict(scores),
        )
        for answer, scores, _ in attempts
    ]
    return LinkedCase(0, case, made, [{"e": key} for *_, key in attempts])


def scored(
    *cases: LinkedCase, judge: object = None, **how: Any
) -> tuple[RunScoring, _Stores, _Dispatcher, list[str]]:
    told: list[str] = []
    scorers = Scorers()
    scorers._built["judged", b""] = _Judged()
    dispatcher = _Dispatcher(scorers=scorers, executor=LocalExecutor, judge=judge)
    stores = _Stores(list(cases))
    work = RunScoring(
        store=stores,
        rows=stores,
        dispatcher=dispatcher,
        progress=lambda _: None,
        notice=told.append,
        **how,
    )

    async def run() -> None:
        async for _ in work.blocks():
            pass

    asyncio.run(run())
    return work, stores, dispatcher, told


def exact(name: str, *attempts: tuple[Any, dict[str, Score], str]) -> LinkedCase:
    return linked(name, *attempts, scorer="exact_match")


def test_only_what_is_missing_or_failed_is_scored_and_equal_keys_once() -> None:
    case = exact(
        "a",
        ("x", {"e": MISS}, "there"),
        ("y", {}, "shared"),
        ("y", {}, "shared"),
        ("z", {"e": Score.failed("before")}, "failed"),
        (None, {}, "silent"),
        (AttemptStatus.ERROR, {}, "error"),
    )
    work, stores, dispatcher, _ = scored(case)
    assert dispatcher.seen == ["shared", "failed"]
    assert [scores.get("e") for _, scores in case.attempts] == [
        MISS, POINT, POINT, POINT, None, None,
    ]  # fmt: skip
    assert work.counted == Graded(stored=1, judged=2, failed=0)
    assert stores.batches == [["shared", "failed"]]


def test_cases_of_one_attempt_share_a_score_with_all_others_of_its_key() -> None:
    alone = [exact(name, ("y", {}, "shared")) for name in "ab"]
    several = exact("c", ("y", {}, "shared"), ("z", {}, "own"))
    again = exact("d", ("w", {"e": Score.failed("before")}, "failed"))
    work, stores, dispatcher, _ = scored(*alone, several, again)
    assert dispatcher.seen == ["own", "failed"], "the others were scored at once"
    made = [scores["e"] for case in (*alone, several, again) for _, scores in case.attempts]
    assert made[0].reason == "the case has no reference to compare with"
    assert all(score is made[0] for score in made[:3])
    assert made[3:] == [POINT, POINT]
    assert work.counted == Graded(judged=3, failed=1)
    assert sorted(key for batch in stores.batches for key in batch) == ["failed", "own", "shared"]


def test_a_failure_is_kept_counted_and_told_once_a_kind() -> None:
    case = exact("a", ("bad", {}, "k1"), ("bad", {}, "k2"), ("good", {}, "k3"))
    work, stores, _, told = scored(case)
    assert work.counted == Graded(judged=3, failed=2)
    assert sum(len(batch) for batch in stores.batches) == 3
    assert told == [
        "not scored: broke on 'k1' (exact_match)",
        "not scored 2 times: broke on 'k1'",
    ]


def test_a_judge_is_asked_again_only_where_a_cassette_wants_all_calls() -> None:
    def case() -> LinkedCase:
        return linked("a", ("x", {"e": MISS}, "k"), scorer="judged")

    assert scored(case())[2].seen == []
    assert scored(case(), judge=object())[2].seen == []
    asked = case()
    work, _, dispatcher, _ = scored(asked, judge=object(), ignore_stored=True)
    assert dispatcher.seen == ["k"]
    assert asked.attempts[0][1]["e"] == MISS
    assert list(work.used()) == []
    assert scored(exact("a", ("x", {"e": MISS}, "k")), ignore_stored=True)[2].seen == []


def test_what_earlier_verdicts_took_is_known_unless_they_failed() -> None:
    used = {"usage": {"calls": 2, "input_tokens": 5}}
    case = exact(
        "a",
        ("x", {"e": Score(points=1.0, out_of=1.0, detail=used)}, "k1"),
        ("y", {"e": Score.failed("unreadable", detail=used)}, "k2"),
        ("z", {"e": POINT}, "k3"),
    )
    work = RunScoring(_Stores([]), _Stores([case]), _Dispatcher(Scorers(), LocalExecutor()), print)
    assert [usage.calls for usage in work.used()] == [2, 0, 0]


def test_scores_are_stored_even_when_scoring_ends_early() -> None:
    class _Breaks(_Dispatcher):
        async def dispatch(
            self, groups: Iterable[TaskGroup]
        ) -> AsyncGenerator[tuple[ScoreTask, Score], None]:
            first, *_ = [task for group in groups for task in group]
            yield first, POINT
            raise KeyboardInterrupt

    stores = _Stores([exact("a", ("x", {}, "k1"), ("y", {}, "k2"))])
    work = RunScoring(stores, stores, _Breaks(Scorers(), LocalExecutor()), lambda _: None)

    async def run() -> None:
        async for _ in work.blocks():
            pass

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(run())
    assert stores.batches == [["k1"]]


def test_blocks_are_whole_cases_of_about_so_many_attempts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scoring, "BLOCK", 3)
    cases = [exact(str(size), *[("x", {}, "k")] * size) for size in (1, 1, 2, 5, 1)]
    blocks = list(blocks_of(cases))
    assert [[case.case.id for case in block] for block in blocks] == [["1", "1", "2"], ["5"], ["1"]]
    assert list(blocks_of([])) == []
