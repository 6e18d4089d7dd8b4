"""BERTScore as one number of a weight: how much precision counts beside recall."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import ClassVar

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.errors import ProctorError
from proctor.scorers.embedding import checkpoints
from proctor.scorers.embedding.bert_score import BertScore
from proctor.scorers.embedding.greedy_match import NO_ROOM


@dataclass(frozen=True)
class BertSimilarity(Scorer):
    """Score how like the reference the answer is, by BERTScore's precision and recall.

    ``precision_weight`` * P + (1 - ``precision_weight``) * R, for the reference that gives most.
    Recall counts for most by default: an answer should say what the reference says.
    """

    batches: ClassVar[bool] = True

    precision_weight: float = 0.1
    model: str = checkpoints.MINILM
    """A folder, a name of the model hub, or the default, which is fetched once."""
    layer: int = 0
    """The layer whose vectors are compared; 0 means the one known to be good, else the last."""

    def score(self, ctx: ScoreContext) -> Score:
        return self.score_batch([ctx])[0]

    def score_batch(self, contexts: Sequence[ScoreContext]) -> list[Score]:
        pairs = [(ctx.output, right) for ctx in contexts for right in ctx.references]
        try:
            values = iter(self._inner.prf(pairs) if pairs else [])
        except ProctorError as error:
            return [Score.failed(str(error), out_of=1.0) for _ in contexts]
        return [self._score([next(values) for _ in ctx.references]) for ctx in contexts]

    def missing(self) -> Iterable[str]:
        return self._inner.missing()

    def open(self) -> None:
        self._inner.open()

    def doubts(self, case: Case) -> Iterable[str]:
        return self._inner.doubts(case)

    def toolchain(self) -> str:
        return self._inner.toolchain()

    def problems(self) -> Iterable[str]:
        if not 0 <= self.precision_weight <= 1:
            yield f"precision_weight {self.precision_weight:g}: expected a weight from 0 to 1"
        yield from self._inner.problems()

    @cached_property
    def _inner(self) -> BertScore:
        return BertScore(model=self.model, layer=self.layer)

    def _score(self, rows: Sequence[tuple[float, float, float]]) -> Score:
        if not rows:
            return Score.failed("the case has no reference to compare with", out_of=1.0)
        if any(isnan(value) for row in rows for value in row):
            return Score.failed(NO_ROOM, out_of=1.0)
        weighed = [(weighted(p, r, self.precision_weight), p, r, f) for p, r, f in rows]
        points, precision, recall, f = max(weighed)
        reason = f"precision {precision:.4f}, recall {recall:.4f}"
        detail = {"precision": precision, "recall": recall, "f": f}
        return Score(points=points, out_of=1.0, reason=reason, detail=detail)


def weighted(precision: float, recall: float, weight: float) -> float:
    """Fold precision and recall."""
    return weight * precision + (1 - weight) * recall
