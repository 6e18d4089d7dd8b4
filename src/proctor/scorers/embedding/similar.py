"""How near an answer comes in meaning to a reference: the cosine of two sentence vectors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.errors import MissingResource, ProctorError
from proctor.scorers.embedding import checkpoints

BUDGET = 16_384
"""Tokens that are encoded at a time."""


@dataclass(frozen=True)
class Similar(Scorer):
    """Score how near in meaning the answer is to a reference, or pass from a ``threshold`` on.

    It is the cosine of the mean of the vectors that an encoder gives to the tokens of both, the
    best reference counting, and never below 0.
    """

    batches: ClassVar[bool] = True

    threshold: float | None = None
    references: tuple[str, ...] = ()
    """Texts to compare with in place of the case's references."""
    model: str = checkpoints.MINILM
    """A folder, a name of the model hub, or the default, which is fetched once."""
    device: str = "auto"

    def score(self, ctx: ScoreContext) -> Score:
        return self.score_batch([ctx])[0]

    def score_batch(self, contexts: Sequence[ScoreContext]) -> list[Score]:
        wanted = [self.references or ctx.references for ctx in contexts]
        texts = [
            text
            for ctx, rights in zip(contexts, wanted, strict=True)
            for text in (ctx.output, *rights)
        ]
        try:
            vectors = self._vectors(list(dict.fromkeys(text for text in texts if text.strip())))
        # What torch raises is of no one case's making, and would come again with each.
        except (ProctorError, RuntimeError) as error:
            return [Score.failed(str(error), out_of=1.0) for _ in contexts]
        return [
            self._scored(ctx.output, rights, vectors)
            for ctx, rights in zip(contexts, wanted, strict=True)
        ]

    def missing(self) -> Iterable[str]:
        return checkpoints.missing("similar", [self.model])

    def open(self) -> None:
        self._encoder()

    def doubts(self, case: Case) -> Iterable[str]:
        if not self.references and not case.references:
            yield "similar compares with references, and the case has none"
        yield from checkpoints.unsuited("similar", self.model, self.references or case.references)

    def toolchain(self) -> str:
        return self._toolchain

    def problems(self) -> Iterable[str]:
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            yield f"the threshold is from 0 to 1, not {self.threshold:g}"

    @cached_property
    def _toolchain(self) -> str:
        computed_by = checkpoints.computed_by(self.device, "float32", "float32")
        return f"{checkpoints.identity(self.model)} {computed_by}"

    def _encoder(self) -> Any:
        if lacking := next(iter(self.missing()), None):
            raise MissingResource(lacking)
        from proctor.scorers.embedding.encoders import encoder

        return encoder(self.model, 0, checkpoints.device_of(self.device), "float32")

    def _vectors(self, texts: Sequence[str]) -> dict[str, Any]:
        """Return one vector of length 1 for each text."""
        if not texts:
            return {}
        loaded = self._encoder()
        table = loaded.laid_out(loaded.tokens(texts))
        tokens = loaded.vectors(table, BUDGET)
        means = [
            tokens.table[start : start + length].float().mean(dim=0)
            for start, length in zip(tokens.starts, tokens.lengths, strict=True)
        ]
        return {
            text: (mean / mean.norm().clamp(min=1e-12)).cpu()
            for text, mean in zip(texts, means, strict=True)
        }

    def _scored(self, output: str, references: Sequence[str], vectors: dict[str, Any]) -> Score:
        if not references:
            return Score.failed("the case has no reference to compare with", out_of=1.0)
        cosines = [
            float(vectors[output] @ vectors[right]) if {output, right} <= vectors.keys() else 0.0
            for right in references
        ]
        cosine = min(1.0, max(0.0, *cosines))
        detail = {"cosine": cosine}
        if self.threshold is None:
            reason = f"cosine {cosine:.4f}"
            return Score(points=cosine, out_of=1.0, reason=reason, detail=detail)
        hit = cosine >= self.threshold
        sign = "at or above" if hit else "below"
        reason = f"cosine {cosine:.4f}, {sign} {self.threshold:g}"
        return Score(points=float(hit), out_of=1.0, reason=reason, detail=detail)
