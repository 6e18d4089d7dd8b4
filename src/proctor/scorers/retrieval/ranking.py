"""What was retrieved, by its ids: recall, precision, hits, reciprocal rank, nDCG."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.passages import relevance_of, retrieved_ids
from proctor.core.ranking import RankingName, ranking_value
from proctor.core.score import Score


@dataclass(frozen=True)
class Retrieval(Scorer):
    """Compare the ids of what was retrieved with those that are relevant to the question.

    The answer names what was retrieved, the best first: as ``retrieved``, or as the ids of its
    own ``context``. The case names what is relevant in its hidden facts, as a list of ids, or as a
    mapping from ids to grades, which ``ndcg`` weighs. ``k`` counts the first k ids only.
    """

    instant: ClassVar[bool] = True
    reads_context: ClassVar[bool] = True

    name: RankingName = "recall"
    k: int = 0
    relevant: str = "relevant"

    def score(self, ctx: ScoreContext) -> Score:
        try:
            ranked = retrieved_ids(ctx.attempt)
            relevance = relevance_of(ctx.case.hidden.get(self.relevant) or [])
        except ValueError as error:
            return Score.failed(str(error), out_of=1.0)
        if not relevance:
            fix = f"fix: list the ids under 'hidden: {{{self.relevant}: [...]}}'"
            return Score.failed(f"the case names no relevant id ({fix})", out_of=1.0)
        if ranked is None:
            fix = "fix: list them as 'retrieved', or give each passage of 'context' an 'id'"
            return Score.failed(f"the answer names no retrieved id ({fix})", out_of=1.0)
        value = ranking_value(self.name, ranked, relevance, self.k)
        counted = ranked[: self.k] if self.k else ranked
        missed = [one for one in relevance if one not in counted]
        relevant_ranks = [[one, rank] for rank, one in enumerate(counted, 1) if one in relevance]
        reason = (
            f"{len(relevant_ranks)} of {len(relevance)} relevant ids among {len(counted)} retrieved"
        )
        if missed:
            reason += f"; not among them: {', '.join(missed[:5])}{' …' if missed[5:] else ''}"
        detail = {"retrieved": list(counted), "relevant": relevant_ranks, "missed": missed}
        return Score(points=value, out_of=1.0, reason=reason, detail=detail)

    def problems(self) -> Iterable[str]:
        if self.k < 0:
            yield f"k is {self.k}: it counts the first k ids, 0 stands for all"
