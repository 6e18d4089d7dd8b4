"""Dispatching: every attempt goes to where its scorer runs, and each gets exactly one score."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from proctor.contracts.executor import Executor, GradeTask
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.attempt import Attempt
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.models.call_scope import StoredOnly
from proctor.engine.run.score_dispatch import (
    Kind,
    ScoreDispatcher,
    ScoreTask,
    instant_scores,
    kind_of,
)
from proctor.engine.run.scorer_pool import Scorers
from proctor.errors import ModelError
from proctor.testing import ScriptedJudge


@dataclass(frozen=True)
class _Instant(Scorer):
    instant: ClassVar[bool] = True

    def score(self, ctx: ScoreContext) -> Any:
        return ctx.output == "yes"

    def takes_long(self, output: str, references: tuple[str, ...]) -> bool:
        return len(output) > 100


@dataclass(frozen=True)
class _Process(Scorer):
    def score(self, ctx: ScoreContext) -> Any:
        raise AssertionError("not in this process")


@dataclass(frozen=True)
class _Batch(Scorer):
    batches: ClassVar[bool] = True

    def score(self, ctx: ScoreContext) -> Any:
        raise AssertionError("many at once")

    def score_batch(self, contexts: Sequence[ScoreContext]) -> Sequence[Any]:
        return [len(contexts) / 100 for _ in contexts]


@dataclass(frozen=True)
class _Finished(Scorer):
    batches: ClassVar[bool] = True
    instant: ClassVar[bool] = True

    @property
    def finishes(self) -> bool:
        return True

    def score(self, ctx: ScoreContext) -> Any:
        raise AssertionError("not in this process")

    async def finish(self, ctx: ScoreContext, score: Score) -> Any:
        return (score.points or 0.0) / 2


LOG: list[str] = []


@dataclass(frozen=True)
class _Judged(Scorer):
    needs_judge: ClassVar[bool] = True

    async def score(self, ctx: ScoreContext) -> Any:
        if (looking := StoredOnly.current()) is not None:
            LOG.append(f"look {ctx.output}")
            if ctx.output != "stored":
                raise looking.refuse()
            return 0.5
        LOG.append(f"ask {ctx.output}")
        return 0.25


@dataclass(frozen=True)
class _Apart(Scorer):
    @property
    def per_attempt(self) -> bool:
        return True

    async def score(self, ctx: ScoreContext) -> Any:
        LOG.append(ctx.output)
        await asyncio.sleep(0)
        LOG.append(ctx.output)
        return True


@dataclass(frozen=True)
class _Alike(_Apart):
    @property
    def per_attempt(self) -> bool:
        return False


KINDS: dict[str, Scorer] = {
    "instant": _Instant(),
    "process": _Process(),
    "batch": _Batch(),
    "finished": _Finished(),
    "judged": _Judged(),
    "apart": _Apart(),
    "alike": _Alike(),
}


@dataclass
class _Executor(Executor):
    """An executor that gives full marks, or what it is told to give for a key."""

    gives: dict[str, Score] = field(default_factory=dict)
    tasks: list[GradeTask] = field(default_factory=list)
    at_once: list[int] = field(default_factory=list)

    async def grade(self, tasks: Iterable[GradeTask]) -> AsyncGenerator[tuple[str, Score], None]:
        for task in tasks:
            self.tasks.append(task)
            for key in reversed(task.keys):
                yield key, self.gives.get(key, Score(points=1.0, out_of=1.0))

    async def judge_batch(
        self, scorer: Scorer, spec: Spec, contexts: Sequence[ScoreContext]
    ) -> Sequence[Score]:
        self.at_once.append(len(contexts))
        return await super().judge_batch(scorer, spec, contexts)

    async def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    LOG.clear()


def dispatcher(executor: Executor | None = None, **how: Any) -> ScoreDispatcher:
    scorers = Scorers()
    for name, scorer in KINDS.items():
        scorers._built[name, b""] = scorer
    opened = executor or _Executor()
    return ScoreDispatcher(scorers=scorers, executor=lambda: opened, **how)


def criterion(scorer: str) -> Criterion:
    return Criterion(id=scorer, scorer=Spec(name=scorer))


def group(scorer: str, *answers: str, case: str = "c") -> list[ScoreTask]:
    one = criterion(scorer)
    asked = Case(id=case, messages=(Message(role="user", content="?"),), criteria=(one,))
    return [
        ScoreTask(f"{case}-{scorer}-{answer}", asked, one, Attempt.of(case, answer, index=index))
        for index, answer in enumerate(answers)
    ]


def scored(dispatcher: ScoreDispatcher, *groups: list[ScoreTask]) -> dict[str, Any]:
    async def run() -> list[tuple[str, Any]]:
        found = dispatcher.dispatch(groups)
        return [
            (task.key, score.points if score.status is ScoreStatus.SCORED else score.reason)
            async for task, score in found
        ]

    pairs = asyncio.run(run())
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@pytest.mark.parametrize(
    ("scorer", "kind"),
    [
        ("instant", Kind.INSTANT),
        ("process", Kind.PROCESS),
        ("batch", Kind.BATCH),
        ("finished", Kind.PROCESS),
        ("judged", Kind.WAITING),
    ],
)
def test_a_scorer_runs_where_its_kind_says(scorer: str, kind: Kind) -> None:
    assert kind_of(KINDS[scorer]) is kind


def test_all_kinds_are_scored_in_one_pass() -> None:
    executor = _Executor()
    points = scored(
        dispatcher(executor),
        group("judged", "a"),
        group("batch", "a", "b"),
        group("process", "a", "b"),
        group("batch", "c", case="d"),
        group("instant", "yes", "no"),
        group("finished", "a"),
    )
    assert points == {
        "c-instant-yes": 1.0,
        "c-instant-no": 0.0,
        "c-process-b": 1.0,
        "c-process-a": 1.0,
        "c-batch-a": 0.03,
        "c-batch-b": 0.03,
        "d-batch-c": 0.03,
        "c-finished-a": 0.5,
        "c-judged-a": 0.25,
    }
    assert [task.keys for task in executor.tasks] == [
        ("c-process-a", "c-process-b"),
        ("c-finished-a",),
    ]
    assert executor.at_once == [3]


def test_a_full_batch_does_not_wait_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.engine.run.score_dispatch.BATCH_SIZE", 2)
    executor = _Executor()
    groups = [group("batch", "a", case=str(place)) for place in range(5)]
    assert len(scored(dispatcher(executor), *groups)) == 5
    assert executor.at_once == [2, 2, 1]


@pytest.mark.parametrize(
    ("begun", "ended"),
    [
        (Score(points=0.5, out_of=1.0), 0.25),
        (Score.failed("killed"), "killed"),
        (Score(points=0.0, out_of=1.0, detail={"limit": "time"}), 0.0),
    ],
)
def test_only_a_score_that_did_not_fail_is_finished(begun: Score, ended: Any) -> None:
    executor = _Executor({"c-finished-a": begun})
    assert scored(dispatcher(executor), group("finished", "a")) == {"c-finished-a": ended}


@pytest.mark.parametrize(("scorer", "in_order"), [("apart", True), ("alike", False)])
def test_attempts_that_are_scored_apart_are_scored_one_after_the_other(
    scorer: str, in_order: bool
) -> None:
    scored(dispatcher(), group(scorer, "a", "b"))
    assert (LOG == ["a", "a", "b", "b"]) is in_order
    assert sorted(LOG) == ["a", "a", "b", "b"]


def test_judges_are_looked_for_once_a_stored_reply_does_not_do() -> None:
    checks: list[str] = []

    async def check() -> None:
        checks.append("check")

    one = dispatcher(check=check, limit=1)
    assert scored(one, group("judged", "stored")) == {"c-judged-stored": 0.5}
    assert (checks, LOG) == ([], ["look stored"])
    LOG.clear()
    scored(one, group("judged", "a", "stored"))
    assert LOG == ["look a", "ask a", "ask stored"]
    assert set(checks) == {"check"}


def test_a_judge_that_cannot_be_reached_ends_the_run() -> None:
    async def check() -> None:
        raise ModelError("nobody there")

    with pytest.raises(ModelError, match="nobody there"):
        scored(dispatcher(check=check), group("judged", "a"))


def test_a_criterion_without_its_judge_is_not_scored() -> None:
    assert dispatcher().can_score(criterion("instant"))
    assert not dispatcher().can_score(criterion("judged"))
    assert dispatcher(judge=ScriptedJudge([])).can_score(criterion("judged"))


def test_a_single_attempt_always_gets_a_score() -> None:
    class _Silent(_Executor):
        async def grade(
            self, tasks: Iterable[GradeTask]
        ) -> AsyncGenerator[tuple[str, Score], None]:
            for key in ():
                yield key, Score()

    (task,) = group("process", "a")
    assert asyncio.run(dispatcher().score(task)).points == 1.0
    lost = asyncio.run(dispatcher(_Silent()).score(task))
    assert (lost.status, lost.reason) == (ScoreStatus.FAILED, "the grading process gave nothing")


def test_what_takes_no_time_is_scored_at_once() -> None:
    case = Case(
        id="c", messages=(), criteria=tuple(criterion(name) for name in ("instant", "process"))
    )
    scores = instant_scores(dispatcher().scorers, case, Attempt.of("c", "yes"))
    assert {name: score.points for name, score in scores.items()} == {"instant": 1.0}


def test_an_answer_that_takes_long_is_scored_in_a_process() -> None:
    executor = _Executor()
    points = scored(
        dispatcher(executor), group("instant", "yes", "no" * 60), group("instant", "no", case="d")
    )
    assert list(points.values()) == [0.0, 1.0, 1.0]
    case = Case(id="c", messages=(), criteria=(criterion("instant"),))
    assert instant_scores(dispatcher().scorers, case, Attempt.of("c", "no" * 60)) == {}
