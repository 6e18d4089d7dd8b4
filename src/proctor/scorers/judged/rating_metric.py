"""Ratings from 1 to 5 by one metric, asked in the words of a prompt file."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import Any, ClassVar

from pydantic import BaseModel, Field, field_validator

from proctor.contracts.judge import Talk, Voice
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.prompt_fences import Mark
from proctor.core.score import Score
from proctor.core.suite import Json, Message
from proctor.errors import JudgeError
from proctor.judging import prompts
from proctor.scorers.judged.asking_judge import Decision, Question, failed, record, unaskable

LOW, HIGH = 1, 5
ALTERNATIVES = 20
LEAST_MASS = 0.5
"""How much of the first token's probability the digits 1 to 5 must have to be a rating."""
PLACES = ("question", "answer", "metric", "steps")
CORRECTNESS = "correctness"
_PLACE = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_PROMPTS = (
    "metric_caution", "metric_compare", "metric_frame", "metric_right", "metric_sample",
    "metric_steps", "metric_verdict",
)  # fmt: skip


class Rated(BaseModel):
    """Hold a rating and why it was given."""

    reason: str = ""
    rating: float = Field(ge=LOW, le=HIGH)

    @field_validator("rating")
    @classmethod
    def _halves(cls, value: float) -> float:
        if value * 2 != round(value * 2):
            # A judge is shown these words when it is asked again: they are part of stored keys.
            raise ValueError("a whole number or a half is wanted")
        return value


@dataclass(frozen=True)
class RatingMetric(Scorer):
    """Let a judge rate the answer from 1 to 5 by one metric; only shown, never added.

    Where the judge's server gives log-probabilities, the rating is what is expected of the first
    token's digits 1 to 5; else it is a verdict with a reason. ``definition``, ``steps`` and
    ``prompt`` (with the places {question}, {answer}, {metric} and {steps}) are those of a prompt
    file.
    """

    version: ClassVar[str] = "2"
    out_of: ClassVar[float | None] = None
    needs_judge: ClassVar[bool] = True
    rates: ClassVar[bool] = True
    bare: ClassVar[bool] = False
    """Whether texts are put into the prompt as they are, without marks around them."""

    metric: str
    definition: str
    steps: str = ""
    prompt: str = ""
    with_reference: bool = False
    logprobs: bool = True
    tries: int = 3

    async def score(self, ctx: ScoreContext) -> Score:
        question = Question(prompt="metric_verdict", verdict=Rated, untrusted={}, out_of=None)
        if ctx.judge is None:
            return Score.failed("there is no judge to ask (fix: name one with --judge)")
        texts = RatingTexts(self, ctx)
        try:
            ruling = await ctx.judge.ask(
                texts.verdict, Rated, tries=self.tries, reader=self._talk(texts)
            )
        except JudgeError as error:
            return failed(error, question)
        decision = _meaning(ruling.verdict)
        detail: dict[str, Json] = {"metrics": {self.metric: decision.points}}
        if ruling.rung in ("logprobs", "talk"):
            detail["response"] = ruling.raw[-1] if ruling.raw else ""
        return Score(
            points=decision.points,
            reason=decision.reason,
            detail={**detail, **record(ruling, _meaning)},
        )

    @property
    def points_range(self) -> tuple[float | None, float | None]:
        """Return the ends of the scale."""
        return LOW, HIGH

    def _talk(self, texts: "RatingTexts") -> Talk[Rated] | None:
        return _FirstToken(texts=texts) if self.logprobs else None

    def prompt_key(self, language: str) -> str:
        return prompts.keys_of(_PROMPTS, language)

    def problems(self) -> Iterable[str]:
        yield from unaskable(self.tries)
        for name in ("metric", "definition"):
            if not getattr(self, name).strip():
                yield f"the {name} is empty"
        if self.prompt and "answer" not in _places(self.prompt):
            yield "the prompt has no place {answer}: the judge would not see what it rates"
        for name in _places(self.prompt) - set(PLACES):
            yield f"the prompt has a place {{{name}}} that nothing is put into"


@dataclass(frozen=True, eq=False)
class RatingTexts:
    """The texts about one answer that a judge is shown."""

    scorer: RatingMetric
    ctx: ScoreContext

    @property
    def bare(self) -> bool:
        """Tell whether texts are put in as they are, without marks around them."""
        return self.scorer.bare

    @property
    def reference(self) -> str | None:
        """Return the reference to compare with; none where there is none to be shown."""
        if not self.scorer.with_reference:
            return None
        reference = self.ctx.references[0] if self.ctx.references else ""
        return reference if reference or self.bare else None

    @property
    def verdict(self) -> tuple[Message, ...]:
        """Return the question for a verdict with a reason."""
        words = {
            "caution": self._caution,
            "task": self._task,
            "reference": self._shown_reference or "",
            "metric": self.scorer.metric,
        }
        text = self._load("metric_verdict").fill(words)
        return (self._pen.message(re.sub(r"\n{3,}", "\n\n", text)),)

    @property
    def first_turn(self) -> tuple[Message, ...]:
        """Return the question whose reply begins with the rating."""
        text = self._task if self.bare else f"{self._caution}\n\n{self._task}"
        return (self._pen.message(text),)

    @property
    def second_turn(self) -> Message | None:
        """Return the reference with the wish to rate again; none where there is none."""
        if self._shown_reference is None:
            return None
        again = self._load("metric_compare").fill({"metric": self.scorer.metric})
        return self._pen.message(f"{self._shown_reference}\n\n{again}")

    @cached_property
    def _pen(self) -> prompts.Pen:
        return prompts.Pen(self.ctx.marks)

    @cached_property
    def _mark(self) -> Mark:
        scorer, ctx = self.scorer, self.ctx
        own = [scorer.definition, scorer.steps, scorer.prompt]
        return self._pen.mark([ctx.prompt, ctx.output, self.reference or "", *own])

    @property
    def _caution(self) -> str:
        return self._load("metric_caution").fill({"mark": self._mark.number})

    @cached_property
    def _task(self) -> str:
        scorer, ctx = self.scorer, self.ctx
        values = {
            "question": self._shown("question", ctx.prompt),
            "answer": self._shown("answer", ctx.output),
            "metric": scorer.definition,
            "steps": scorer.steps or self._load("metric_steps").text,
        }
        return fill(scorer.prompt or self._load("metric_frame").text, values)

    @property
    def _shown_reference(self) -> str | None:
        if self.reference is None:
            return None
        right = self.scorer.metric.lower() == CORRECTNESS
        prompt = self._load("metric_right" if right else "metric_sample")
        return prompt.fill({"reference": self._shown("reference", self.reference)})

    def _shown(self, name: str, text: str) -> str:
        return text if self.bare else self._pen.quote(name, text, self._mark)

    def _load(self, name: str) -> prompts.Prompt:
        return prompts.load(name, self.ctx.language)


@dataclass(frozen=True, kw_only=True)
class _FirstToken(Talk[Rated]):
    """A rating from the probabilities of the reply's first token."""

    texts: RatingTexts

    async def hold(self, voice: Voice) -> Rated | None:
        messages, again = self.texts.first_turn, self.texts.second_turn
        reply = await voice.say(messages, max_tokens=1, top_logprobs=ALTERNATIVES)
        if again is not None and reply.logprobs:
            answer = Message(role="assistant", content=reply.text or "")
            messages = (*messages, answer, again)
            reply = await voice.say(messages, max_tokens=1, top_logprobs=ALTERNATIVES)
        rating = expected(reply.logprobs)
        return None if rating is None else verdict_of(rating)


def expected(logprobs: Mapping[str, float]) -> float | None:
    """Return the rating to be expected of the tokens 1 to 5; none where they are unlikely."""
    masses: dict[int, float] = {}
    for token, value in logprobs.items():
        word = token.strip()
        if len(word) == 1 and word.isdecimal() and LOW <= int(word) <= HIGH:
            masses[int(word)] = masses.get(int(word), 0.0) + exp(value)
    mass = sum(masses.values())
    if mass < LEAST_MASS:
        return None
    return sum(score * part for score, part in masses.items()) / mass


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values into the places of a prompt file's template, all at once, as ``format`` does."""

    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        return values.get(match[1], match[0])

    return _PLACE.sub(value, template)


def _places(template: str) -> set[str]:
    return {match[1] for match in _PLACE.finditer(template) if match[1] is not None}


def verdict_of(rating: float) -> Rated:
    """Make the verdict of a rating that is on no scale of halves, or outside of it."""
    return Rated.model_construct(reason="", rating=rating)


def _meaning(verdict: Any) -> Decision:
    return Decision(points=float(verdict.rating), reason=verdict.reason)
