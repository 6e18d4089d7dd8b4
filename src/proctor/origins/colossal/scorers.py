"""Scorers as ColossalAI's evaluation has them, so that its numbers come out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import ClassVar, Literal

from proctor.contracts.judge import Talk, Voice
from proctor.contracts.scorer import ScoreContext
from proctor.core.suite import Message
from proctor.scorers.embedding.unieval import UniEval, source_of
from proctor.scorers.judged.rating_metric import Rated, RatingMetric, RatingTexts, verdict_of
from proctor.scorers.overlap.chinese import exact_cutter, missing_jieba
from proctor.scorers.overlap.metrics import TextMetrics

TOP = 5
"""How many candidates of the first token the original looks at."""
_DIGIT = re.compile(r"\d")
_SCORES = 5


@dataclass(frozen=True)
class ColossalTextMetrics(TextMetrics):
    """Metrics as ColossalAI's evaluation computes them, with jieba 0.42.1.

    Text is stripped of most punctuation first, BLEU is not smoothed, P/R/F1 compare place by place,
    chrF counts orders that a text is too short for, Chinese ROUGE fails on an empty text, only the
    first reference counts.
    """

    formulas: ClassVar[str] = "proctor.origins.colossal.overlap:ColossalPairs"
    columnar: ClassVar[bool] = True

    compat: Literal["original"] = "original"

    @property
    def _cuts(self) -> bool:
        return True

    def _missing_cutter(self) -> Iterable[str]:
        return missing_jieba()

    def _cutter(self) -> str:
        return exact_cutter()

    def _compared(self, references: Sequence[str]) -> Sequence[str]:
        return references[:1]


@dataclass(frozen=True)
class ColossalUniEval(UniEval):
    """Every question is asked, instruction and input are glued together, no context is known.

    Sums over sentences are divided by their number and a millionth.
    """

    asks_always: ClassVar[bool] = True

    compat: Literal["original"] = "original"

    def _filling(self, ctx: ScoreContext) -> Mapping[str, str]:
        return {**super()._filling(ctx), "source": source_of(ctx, between=""), "context": ""}

    def _mean(self, values: Sequence[float]) -> float:
        return sum(values) / (len(values) + 1e-6)


@dataclass(frozen=True)
class ColossalRatingMetric(RatingMetric):
    """One token of the reply is read as ColossalAI's own code reads it."""

    bare: ClassVar[bool] = True

    compat: Literal["original"] = "original"

    def _talk(self, texts: RatingTexts) -> Talk[Rated] | None:
        return OneToken(texts=texts, top=TOP if self.logprobs else 0)


@dataclass(frozen=True, kw_only=True)
class OneToken(Talk[Rated]):
    """A rating from one token, as ColossalAI's own code takes it."""

    texts: RatingTexts
    top: int

    async def hold(self, voice: Voice) -> Rated | None:
        messages, again = self.texts.first_turn, self.texts.second_turn
        top = self.top if again is None else 0
        reply = await voice.say(messages, max_tokens=1, top_logprobs=top)
        if again is not None:
            first_reply = Message(role="assistant", content=reply.text or "")
            reply = await voice.say((*messages, first_reply, again), max_tokens=1)
        if reply.logprobs and top:
            return verdict_of(weighted(reply.logprobs))
        return verdict_of(digit_in(reply.text or ""))


def digit_in(text: str) -> int:
    """Return the only digit of a reply, in any script and of any size; 0 where there is not one."""
    digits = _DIGIT.findall(text)
    return int(digits[0]) if len(digits) == 1 else 0


def weighted(logprobs: Mapping[str, float]) -> float:
    """Return the sum of digits weighted by probability, not divided by the mass found.

    A 0 counts as a 5, and a digit above 5 is an IndexError, as in the original.
    """
    masses = [0.0] * _SCORES
    for token, value in logprobs.items():
        if "bytes" in token:
            continue
        digits = _DIGIT.findall(token)
        if len(digits) != 1:
            continue
        place = int(digits[0]) - 1
        if place >= _SCORES:
            raise IndexError(f"index {place} is out of bounds for axis 0 with size {_SCORES}")
        masses[place] += exp(value)
    return sum(score * mass for score, mass in enumerate(masses, 1))
