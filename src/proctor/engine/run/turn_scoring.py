"""What a turn is worth while the dialogue goes on, for dialogues that stop below a threshold."""

from dataclasses import dataclass

from proctor.contracts.executor import Executor
from proctor.contracts.sandbox import Sandbox
from proctor.core.attempt import Attempt
from proctor.core.rounds import scored_part
from proctor.core.score import Score, ScoreStatus, Value, turn_values
from proctor.core.suite import Case
from proctor.engine.run.score_dispatch import ScoreDispatcher, ScoreTask
from proctor.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Hold what a run scores and sets up agents with."""

    executor: Executor
    sandbox: Sandbox | None


@dataclass(frozen=True, kw_only=True)
class TurnGrader:
    """Scores of single turns, stored under the keys that scoring the run will look for."""

    store: Store
    dispatcher: ScoreDispatcher

    async def value(self, case: Case, attempt: Attempt, turn: int) -> Value | None:
        """Return what a turn is worth; none where nothing in it is scored."""
        criteria = [criterion for criterion in case.criteria if criterion.turn == turn]
        keys = self.dispatcher.scorers.keys(case, attempt)
        stored = self.store.scores.get_many(keys[criterion.id] for criterion in criteria)
        scores: dict[str, Score] = {}
        for criterion in criteria:
            key = keys[criterion.id]
            score = stored.get(key)
            if score is None or score.status is ScoreStatus.FAILED:
                part = scored_part(criterion, attempt)
                score = await self.dispatcher.score(ScoreTask(key, case, criterion, part))
                self.store.scores.put([(key, criterion.scorer.name, score)])
            scores[criterion.id] = score
        return turn_values(case, scores).get(turn)
