"""What a turn is worth in mid-dialogue: scored once, stored where the run will look for it."""

import asyncio
from dataclasses import replace

from proctor.core.attempt import Attempt
from proctor.core.case_value import ValueStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.run.score_dispatch import ScoreDispatcher, TurnGrader
from proctor.engine.run.scorer_pool import Scorers
from proctor.executors.local import LocalExecutor
from proctor.store.store import Store

CASE = Case(
    id="c",
    messages=(Message(role="user", content="1?"),),
    references=("yes",),
    criteria=(
        Criterion(id="first", scorer=Spec(name="exact_match"), turn=0, weight=2.0),
        Criterion(id="second", scorer=Spec(name="exact_match"), turn=1),
        Criterion(id="whole", scorer=Spec(name="exact_match")),
    ),
)
ATTEMPT = Attempt(
    case_id="c",
    messages=(
        Message(role="assistant", content="yes"),
        Message(role="user", content="2?"),
        Message(role="assistant", content="no"),
    ),
)


def test_a_turn_is_scored_by_its_own_criteria_and_only_once(store: Store) -> None:
    scorers = Scorers()
    grader = TurnGrader(
        store=store, dispatcher=ScoreDispatcher(scorers=scorers, executor=LocalExecutor)
    )

    def value(turn: int, attempt: Attempt = ATTEMPT) -> float | None:
        worth = asyncio.run(grader.value(CASE, attempt, turn))
        return None if worth is None else worth.value

    assert value(5) is None
    assert (value(0), value(1)) == (1.0, 0.0)
    keys = scorers.keys(CASE, ATTEMPT)
    assert store.scores.get_many(keys.values()).keys() == {keys["first"], keys["second"]}

    other = replace(ATTEMPT, messages=(Message(role="assistant", content="other"),))
    known = scorers.keys(CASE, other)
    store.scores.put(
        [
            (known["first"], "exact_match", Score(points=0.25, out_of=1.0)),
            (known["second"], "exact_match", Score.failed("broken")),
        ]
    )
    assert (value(0, other), value(1, other)) == (0.25, 0.0)


def test_a_turn_whose_criterion_fails_is_unscored(store: Store) -> None:
    class _Broken(ScoreDispatcher):
        async def score(self, task: object) -> Score:
            return Score.failed("no judge", out_of=1.0)

    grader = TurnGrader(store=store, dispatcher=_Broken(scorers=Scorers(), executor=LocalExecutor))
    worth = asyncio.run(grader.value(CASE, ATTEMPT, 0))
    assert worth is not None
    assert (worth.status, worth.value) == (ValueStatus.UNSCORED, None)
