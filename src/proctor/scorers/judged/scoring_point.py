"""A statement about what an agent did, which a judge finds to hold or not."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator

from proctor.contracts.judge import SpokenVerdict
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.core.suite import Message
from proctor.judging import prompts
from proctor.scorers.judged.agent_rounds import PostIndex, chosen, rounds_in, spoken
from proctor.scorers.judged.asking_judge import Decision, Question, decide, unaskable

ROUND, TALK = "point_round", "point_talk"
_ANSWER = re.compile(r"\W*(yes|no)\s*(?:\Z|[^\w\s])", re.IGNORECASE)
_WORD = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


def _as_word(value: Any) -> Any:
    """Return both shapes of an answer, a word or a truth value, as the word."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.strip().lower() if isinstance(value, str) else value


class Hit(SpokenVerdict, BaseModel):
    """Hold whether a statement holds."""

    reason: str = ""
    is_hit: Annotated[Literal["yes", "no"], BeforeValidator(_as_word)]

    @classmethod
    def from_words(cls, text: str) -> Self | None:
        """Read a reply that is no JSON but begins with a plain yes or no, and never the other."""
        match = _ANSWER.match(text)
        words = {word.lower() for word in _WORD.findall(text)}
        if match is None or len(words) != 1:
            return None
        return cls(reason=text, is_hit="yes" if match[1].lower() == "yes" else "no")


@dataclass(frozen=True)
class ScoringPoint(Scorer):
    """Pass when a judge finds that a statement holds of what an agent did.

    The judge sees the user's question and the agent's round as JSON, or the one post of it that
    ``post_index`` names; with ``history`` it sees the task and the whole conversation instead.
    """

    version: ClassVar[str] = "2"

    reads_notes: ClassVar[bool] = True
    needs_judge: ClassVar[bool] = True

    statement: str
    post_index: PostIndex = None
    history: bool = False
    tries: int = 3

    async def score(self, ctx: ScoreContext) -> Score:
        rounds = rounds_in(ctx)
        judged, missing = chosen(rounds, self.post_index)
        if missing:
            return Score(points=0.0, out_of=1.0, reason=missing)
        question = Question(
            prompt=self._prompt,
            verdict=Hit,
            untrusted={**self._material(ctx, rounds[-1], judged), "statement": self.statement},
            tries=self._tries,
            reader=self._reader,
        )
        return await decide(
            ctx, question, lambda it: Decision(points=float(it.is_hit == "yes"), reason=it.reason)
        )

    def _material(self, ctx: ScoreContext, last: Any, judged: Any) -> dict[str, prompts.Words]:
        if self.history:
            task = ctx.case.hidden.get("task") or ctx.prompt
            return {"task": str(task), "conversation": written(spoken(ctx), ctx.language)}
        shown = json.dumps(judged, ensure_ascii=False, indent=1)
        return {"query": str(last.get("user_query", "")), "output": shown}

    @property
    def _tries(self) -> int:
        return self.tries

    @property
    def _reader(self) -> Callable[[str], Hit] | None:
        """Return how a reply is read, where that is not as any verdict."""
        return None

    @property
    def _prompt(self) -> str:
        return TALK if self.history else ROUND

    def prompt_key(self, language: str) -> str:
        return prompts.keys_of([self._prompt], language)

    def problems(self) -> Iterable[str]:
        yield from unaskable(self.tries, statement=self.statement)
        if self.history and self.post_index is not None:
            yield "with history the whole conversation is judged, so there is no post to choose"


def written(messages: Iterable[Message], language: str) -> prompts.Transcript:
    """Return a conversation with an agent, as a judge is shown it."""
    names = {"user": "用户", "assistant": "智能体"} if language.startswith("zh") else {}
    names = names or {"user": "user", "assistant": "agent"}
    return prompts.Transcript(
        entries=tuple(
            (f"message {number} by {names[message.role]}", message.content)
            for number, message in enumerate(messages, 1)
        )
    )
