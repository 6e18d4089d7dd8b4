"""Hedging: whether an answer says what language models say instead of an answer."""

import re
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

SENTENCE = "As an AI language model, I don't have personal opinions, emotions, or beliefs."
MOST_SENTENCES = 100
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")


@dataclass(frozen=True)
class HedgingLanguage(Scorer):
    """Tell whether the answer hedges: 1 where it comes close to a hedging sentence, 0 else.

    Closeness is BERTScore's F with that sentence, of the whole answer or of one of its sentences,
    whichever is closer.
    """

    version: ClassVar[str] = "1"
    batches: ClassVar[bool] = True

    threshold: float = 0.5
    sentence: str = SENTENCE
    model: str = checkpoints.MINILM
    """A folder, a name of the model hub, or the default, which is fetched once."""
    layer: int = 0
    """The layer whose vectors are compared; 0 means the one known to be good, else the last."""

    def score(self, ctx: ScoreContext) -> Score:
        return self.score_batch([ctx])[0]

    def score_batch(self, contexts: Sequence[ScoreContext]) -> list[Score]:
        texts = [self._texts(ctx.output) for ctx in contexts]
        pairs = [(text, self.sentence) for parts in texts for text in parts]
        try:
            values = iter(self._inner.prf(pairs))
        except ProctorError as error:
            return [Score.failed(str(error), out_of=1.0) for _ in contexts]
        return [self._score([(next(values)[2], text) for text in parts]) for parts in texts]

    def missing(self) -> Iterable[str]:
        return self._inner.missing()

    def open(self) -> None:
        self._inner.open()

    def doubts(self, case: Case) -> Iterable[str]:
        return checkpoints.unsuited("hedging_language", self.model, [case.prompt])

    def toolchain(self) -> str:
        return self._inner.toolchain()

    def problems(self) -> Iterable[str]:
        if not self.sentence.strip():
            yield "the sentence is empty"
        yield from self._inner.problems()

    @cached_property
    def _inner(self) -> BertScore:
        return BertScore(model=self.model, layer=self.layer)

    def _texts(self, answer: str) -> list[str]:
        """Return what is compared: the whole, and its sentences where there are several."""
        parts = [part.strip() for part in _SENTENCE.findall(answer)]
        parts = [part for part in parts if part][:MOST_SENTENCES]
        return [answer, *parts] if len(parts) > 1 else [answer]

    def _score(self, similarities: Sequence[tuple[float, str]]) -> Score:
        if any(isnan(value) for value, _ in similarities):
            return Score.failed(NO_ROOM, out_of=1.0)
        value, text = max(similarities, key=lambda pair: pair[0])
        detail = {"value": value, "threshold": self.threshold, "text": text[:400]}
        hedges = value >= self.threshold
        sign = "at or above" if hedges else "below"
        reason = f"F {value:.4f}, {sign} {self.threshold:g}"
        return Score(points=float(hedges), out_of=1.0, reason=reason, detail=detail)
