"""Several questions to a judge about one answer, which together make one score."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from proctor.contracts.judge import Ruling
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.exchange import Usage
from proctor.core.fingerprint import plain
from proctor.core.passages import Passage, passages_of
from proctor.core.score import Score
from proctor.core.suite import Json
from proctor.errors import JudgeError
from proctor.judging import prompts
from proctor.scorers.judged.asking_judge import unaskable
from proctor.scorers.judged.numbered_rulings import ListedClaims, rulings_on

CLAIMS = "rag_claims"
_SHOWN = 120
_LONGEST = 60


class Unscorable(Exception):
    """What keeps an answer from being scored, besides the judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """What a judge ruled about one numbered thing."""

    number: int
    result: str
    reason: str
    passages: tuple[int, ...] = ()
    tied: bool = False
    """Whether the judges are evenly divided over it."""

    def to_json(self, text: str) -> dict[str, Json]:
        """Return what is kept of it, with the text it is about."""
        kept: dict[str, Json] = {"number": self.number, "text": text, "result": self.result}
        if self.passages:
            kept["passages"] = list(self.passages)
        if self.reason:
            kept["reason"] = self.reason
        if self.tied:
            kept["tied"] = True
        return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedQuestion:
    """Numbered things to be ruled on, and what they are ruled by."""

    prompt: str
    choices: tuple[str, ...]
    count: int
    texts: Mapping[str, prompts.Words]
    passages: int = 0
    """How many passages a ruling may name."""


@dataclass
class Inquiry:
    """What was asked about one answer so far, and what came of it."""

    ctx: ScoreContext
    tries: int
    detail: dict[str, Json] = field(default_factory=dict)
    questions: list[Json] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    async def claims(self, text: str, *, keep: str = "claims") -> tuple[str, ...]:
        """Ask which claims a text makes in answer to the question."""
        texts = {"question": self.ctx.prompt, "answer": text}
        ruling = await self._ask(CLAIMS, ListedClaims, texts)
        claims = tuple(claim.strip() for claim in ruling.verdict.claims if claim.strip())
        self.detail[keep] = [
            {"number": number, "text": claim} for number, claim in enumerate(claims, 1)
        ]
        return claims

    async def rule(self, question: NumberedQuestion) -> list[Ruled]:
        """Ask for a ruling on each of several numbered things."""
        kind = rulings_on(question.count, question.choices, passages=bool(question.passages))
        ruling = await self._ask(question.prompt, kind, question.texts)
        members = [one.verdict for one in ruling.panel if one.verdict is not None]
        tied = kind.divided_numbers(members) if ruling.tied and members else set()
        if tied and self._judge.tie == "unscored":
            raise Unscorable("the judges are divided, and a tie is unscored (--tie)")
        return [
            Ruled(
                number=one.number,
                result=one.result,
                reason=one.reason,
                passages=tuple(
                    n for n in dict.fromkeys(one.passages) if 1 <= n <= question.passages
                )
                if question.passages
                else (),
                tied=one.number in tied,
            )
            for one in ruling.verdict.in_order
        ]

    def worth(self, ruled: Ruled, good: Iterable[str]) -> float:
        """Return what a ruling counts: 1 if it is good, a half where a tie gives one."""
        if ruled.tied and self._judge.tie == "half":
            return 0.5
        return float(ruled.result in good)

    def passages(self) -> tuple[Passage, ...]:
        """Return the passages of the answer, or of the case; without any nothing can be scored."""
        try:
            passages = passages_of(self.ctx.case, self.ctx.attempt)
        except ValueError as error:
            raise Unscorable(str(error)) from None
        if not passages:
            raise Unscorable("there is no context to go by")
        self.detail["passages"] = [
            {
                "number": number,
                **({"id": passage.id} if passage.id else {}),
                "start": cut(passage.text, _SHOWN),
            }
            for number, passage in enumerate(passages, 1)
        ]
        return passages

    def reference(self) -> str:
        """Return the first reference; without any nothing can be scored."""
        if not self.ctx.references:
            raise Unscorable("the case has no reference to compare with")
        return self.ctx.references[0]

    def keep(self, name: str, rulings: Sequence[Ruled], texts: Sequence[str]) -> None:
        """Keep rulings with what they are about."""
        self.detail[name] = [
            ruled.to_json(text) for ruled, text in zip(rulings, texts, strict=True)
        ]

    def keep_passages(self, rulings: Sequence[Ruled]) -> None:
        """Keep rulings on passages beside them."""
        for kept, ruled in zip(self.detail["passages"], rulings, strict=True):
            own = ruled.to_json("")
            kept |= {name: own[name] for name in ("result", "reason", "tied") if name in own}

    def score(self, points: float, reason: str) -> Score:
        """Make the score, with all that was asked."""
        return Score(points=points, out_of=1.0, reason=reason, detail=self._record())

    def failed(self, reason: str, more: Mapping[str, Json] | None = None) -> Score:
        """Make the score of an answer that cannot be scored, with what is known of it."""
        return Score.failed(reason, out_of=1.0, detail={**self._record(), **(more or {})})

    def _record(self) -> dict[str, Json]:
        return {**self.detail, "asked": list(self.questions), "usage": plain(self.usage)}

    @property
    def _judge(self) -> Any:
        if self.ctx.judge is None:
            raise Unscorable("there is no judge to ask (fix: name one with --judge)")
        return self.ctx.judge

    async def _ask(
        self, name: str, verdict: type[Any], texts: Mapping[str, prompts.Words]
    ) -> Ruling[Any]:
        judge = self._judge
        prompt = prompts.load(name, self.ctx.language)
        try:
            ruling: Ruling[Any] = await judge.ask(
                (prompt.message({}, texts, self.ctx.marks),), verdict, tries=self.tries
            )
        except JudgeError as error:
            self.usage += cast(Usage, error.usage or Usage())
            raise
        self.usage += ruling.usage
        self.questions.append({"prompt": name, **ruling.record()})
        return ruling


class InquiringScorer(Scorer):
    """Base of scorers that ask a judge several questions: one score, or one reason why not."""

    needs_judge: ClassVar[bool] = True
    reads_context: ClassVar[bool] = True
    prompts: ClassVar[tuple[str, ...]] = ()
    """The prompts of all questions."""

    async def score(self, ctx: ScoreContext) -> Score:
        inquiry = Inquiry(ctx, self.tries)
        try:
            return await self.inquire(inquiry)
        except Unscorable as problem:
            return inquiry.failed(str(problem))
        except JudgeError as error:
            reason = f"{error.reason}: {error}" if error.reason else str(error)
            more: dict[str, Json] = {"failure": error.reason, "raw": list(error.raw)}
            return inquiry.failed(reason, more)

    async def inquire(self, inquiry: Inquiry) -> Score:
        """Ask, and return the score; may raise Unscorable or a JudgeError."""
        raise NotImplementedError

    def prompt_key(self, language: str) -> str:
        return prompts.keys_of(self.prompts, language)

    def problems(self) -> Iterable[str]:
        return unaskable(self.tries)


def passage_texts(passages: Sequence[Passage]) -> prompts.Transcript:
    """Return passages as a judge is shown them."""
    return prompts.numbered("passage", [passage.text for passage in passages])


def claim_texts(claims: Sequence[str]) -> prompts.Transcript:
    """Return claims as a judge is shown them."""
    return prompts.numbered("claim", claims)


def quoted(rulings: Sequence[Ruled], texts: Sequence[str], result: str) -> str:
    """Say which texts were ruled so, for a reason."""
    quotes = [cut(texts[ruled.number - 1], _LONGEST) for ruled in rulings if ruled.result == result]
    if not quotes:
        return ""
    more = f" and {len(quotes) - 2} more" if len(quotes) > 2 else ""
    return f"; {result}: " + ", ".join(f"“{text}”" for text in quotes[:2]) + more


def cut(text: str, most: int) -> str:
    """Return the start of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
