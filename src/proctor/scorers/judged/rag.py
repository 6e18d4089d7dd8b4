"""Answers of retrieval pipelines, judged claim by claim and passage by passage."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.core.passages import Passage
from proctor.core.score import Score
from proctor.judging import prompts as judge_prompts
from proctor.scorers.judged.inquiry import (
    CLAIMS,
    InquiringScorer,
    Inquiry,
    NumberedQuestion,
    Ruled,
    claim_texts,
    passage_texts,
    quoted,
)

SUPPORT, ON_QUESTION, USEFUL, RELEVANT, BY_REFERENCE = (
    "rag_support",
    "rag_on_question",
    "rag_useful",
    "rag_relevant",
    "rag_by_reference",
)
SUPPORTED, CONTRADICTED, NOT_SAID = "supported", "contradicted", "not said"


@dataclass(frozen=True)
class Faithfulness(InquiringScorer):
    """Share of the answer's claims that its passages support.

    A judge lists the claims of the answer, then says of each whether a passage supports it,
    contradicts it or does not say it. An answer that claims nothing has nothing unsupported in it,
    and gets full marks.
    """

    verdicts: ClassVar[int] = 2
    prompts: ClassVar[tuple[str, ...]] = (CLAIMS, SUPPORT)

    tries: int = 3

    async def inquire(self, inquiry: Inquiry) -> Score:
        passages = inquiry.passages()
        claims = await inquiry.claims(inquiry.ctx.output)
        if not claims:
            return inquiry.score(1.0, "the answer claims nothing")
        rulings = await support_of(inquiry, claims, passages)
        inquiry.keep("claims", rulings, claims)
        points = _share(inquiry, rulings, SUPPORTED)
        reason = f"{_count(rulings, SUPPORTED)} of {len(claims)} claims are supported"
        reason += quoted(rulings, claims, CONTRADICTED) + quoted(rulings, claims, NOT_SAID)
        return inquiry.score(points, reason)


@dataclass(frozen=True)
class AnswerRelevance(InquiringScorer):
    """Share of the answer's claims that serve to answer the question.

    Whether they are true does not matter. An answer that claims nothing answers nothing, and gets
    no points. No passages are needed.
    """

    verdicts: ClassVar[int] = 2
    prompts: ClassVar[tuple[str, ...]] = (CLAIMS, ON_QUESTION)
    choices: ClassVar[tuple[str, ...]] = ("relevant", "irrelevant")

    tries: int = 3

    async def inquire(self, inquiry: Inquiry) -> Score:
        claims = await inquiry.claims(inquiry.ctx.output)
        if not claims:
            return inquiry.score(0.0, "the answer claims nothing, so it answers nothing")
        texts: dict[str, judge_prompts.Words] = {
            "question": inquiry.ctx.prompt,
            "claims": claim_texts(claims),
        }
        rulings = await inquiry.rule(
            NumberedQuestion(
                prompt=ON_QUESTION, choices=self.choices, count=len(claims), texts=texts
            )
        )
        inquiry.keep("claims", rulings, claims)
        reason = f"{_count(rulings, 'relevant')} of {len(claims)} claims answer the question"
        reason += quoted(rulings, claims, "irrelevant")
        return inquiry.score(_share(inquiry, rulings, "relevant"), reason)


@dataclass(frozen=True)
class ContextPrecision(InquiringScorer):
    """Average precision of the passages: whether useful ones stand before those of no use.

    A passage is useful when it helps to arrive at the reference. The mean, over all useful
    passages, of the share of useful ones up to that place.
    """

    prompts: ClassVar[tuple[str, ...]] = (USEFUL,)

    tries: int = 3

    async def inquire(self, inquiry: Inquiry) -> Score:
        passages = inquiry.passages()
        rulings = await usefulness_of(inquiry, passages)
        worths = [inquiry.worth(ruled, ("useful",)) for ruled in rulings]
        points = _average_precision(worths)
        places = [str(ruled.number) for ruled in rulings if ruled.result == "useful"]
        reason = "no passage is useful"
        if places:
            reason = f"{len(places)} of {len(passages)} passages are useful: {', '.join(places)}"
        return inquiry.score(points, reason)


@dataclass(frozen=True)
class ContextRelevance(InquiringScorer):
    """Share of the passages that have to do with the question; no reference is needed."""

    prompts: ClassVar[tuple[str, ...]] = (RELEVANT,)
    choices: ClassVar[tuple[str, ...]] = ("relevant", "irrelevant")

    tries: int = 3

    async def inquire(self, inquiry: Inquiry) -> Score:
        passages = inquiry.passages()
        texts: dict[str, judge_prompts.Words] = {
            "question": inquiry.ctx.prompt,
            "passages": passage_texts(passages),
        }
        rulings = await inquiry.rule(
            NumberedQuestion(
                prompt=RELEVANT, choices=self.choices, count=len(passages), texts=texts
            )
        )
        inquiry.keep_passages(rulings)
        reason = f"{_count(rulings, 'relevant')} of {len(passages)} passages are relevant"
        reason += quoted(rulings, [passage.text for passage in passages], "irrelevant")
        return inquiry.score(_share(inquiry, rulings, "relevant"), reason)


@dataclass(frozen=True)
class ContextRecall(InquiringScorer):
    """Share of the reference's claims that the passages support: whether all was retrieved."""

    verdicts: ClassVar[int] = 2
    prompts: ClassVar[tuple[str, ...]] = (CLAIMS, SUPPORT)

    tries: int = 3

    async def inquire(self, inquiry: Inquiry) -> Score:
        reference, passages = inquiry.reference(), inquiry.passages()
        claims = await inquiry.claims(reference)
        if not claims:
            return inquiry.failed("the judge finds no claim in the reference")
        rulings = await support_of(inquiry, claims, passages)
        inquiry.keep("claims", rulings, claims)
        reason = f"{_count(rulings, SUPPORTED)} of {len(claims)} claims of the reference"
        reason += " are in the passages"
        reason += quoted(rulings, claims, CONTRADICTED) + quoted(rulings, claims, NOT_SAID)
        return inquiry.score(_share(inquiry, rulings, SUPPORTED), reason)


@dataclass(frozen=True)
class NoiseSensitivity(InquiringScorer):
    """Share of the answer's claims that are not an error taken from a passage of no use.

    A claim counts against the answer when the reference does not bear it out, and only passages
    support it that are of no use for the reference; with ``source: any`` also when a useful
    passage supports it. 1 is an answer that no passage has led astray.
    """

    verdicts: ClassVar[int] = 4
    prompts: ClassVar[tuple[str, ...]] = (CLAIMS, SUPPORT, USEFUL, BY_REFERENCE)
    choices: ClassVar[tuple[str, ...]] = ("agrees", "contradicts", NOT_SAID)

    source: Literal["useless", "any"] = "useless"
    tries: int = 3

    async def inquire(self, inquiry: Inquiry) -> Score:
        reference, passages = inquiry.reference(), inquiry.passages()
        claims = await inquiry.claims(inquiry.ctx.output)
        if not claims:
            return inquiry.score(1.0, "the answer claims nothing")
        supported = await support_of(inquiry, claims, passages)
        inquiry.keep("claims", supported, claims)
        useful = {
            ruled.number
            for ruled in await usefulness_of(inquiry, passages)
            if ruled.result == "useful"
        }
        texts: dict[str, judge_prompts.Words] = {
            "question": inquiry.ctx.prompt,
            "reference": reference,
            "claims": claim_texts(claims),
        }
        by_reference = await inquiry.rule(
            NumberedQuestion(
                prompt=BY_REFERENCE, choices=self.choices, count=len(claims), texts=texts
            )
        )
        led_astray = []
        kept = inquiry.detail["claims"]
        for claim, support, checked in zip(kept, supported, by_reference, strict=True):
            claim["by_reference"] = checked.result
            is_noise = checked.result != "agrees" and self._is_from_noise(support, useful)
            claim["noise"] = is_noise
            if is_noise:
                led_astray.append(claims[support.number - 1])
        reason = f"{len(led_astray)} of {len(claims)} claims are errors taken from passages"
        if led_astray:
            reason += ": " + ", ".join(f"“{claim[:60]}”" for claim in led_astray[:2])
        return inquiry.score(1 - len(led_astray) / len(claims), reason)

    def _is_from_noise(self, ruled: Ruled, useful: set[int]) -> bool:
        if ruled.result != SUPPORTED or not ruled.passages:
            return False
        return self.source == "any" or not useful.intersection(ruled.passages)


async def support_of(
    inquiry: Inquiry, claims: Sequence[str], passages: Sequence[Passage]
) -> list[Ruled]:
    """Ask of each claim what the passages say of it."""
    texts: dict[str, judge_prompts.Words] = {
        "passages": passage_texts(passages),
        "claims": claim_texts(claims),
    }
    return await inquiry.rule(
        NumberedQuestion(
            prompt=SUPPORT,
            choices=(SUPPORTED, CONTRADICTED, NOT_SAID),
            count=len(claims),
            texts=texts,
            passages=len(passages),
        )
    )


async def usefulness_of(inquiry: Inquiry, passages: Sequence[Passage]) -> list[Ruled]:
    """Ask of each passage whether it helps to arrive at the reference."""
    texts: dict[str, judge_prompts.Words] = {
        "question": inquiry.ctx.prompt,
        "reference": inquiry.reference(),
        "passages": passage_texts(passages),
    }
    choices = ("useful", "useless")
    rulings = await inquiry.rule(
        NumberedQuestion(prompt=USEFUL, choices=choices, count=len(passages), texts=texts)
    )
    inquiry.keep_passages(rulings)
    return rulings


def _share(inquiry: Inquiry, rulings: Sequence[Ruled], good: str) -> float:
    return sum(inquiry.worth(ruled, (good,)) for ruled in rulings) / len(rulings)


def _count(rulings: Sequence[Ruled], result: str) -> int:
    return sum(ruled.result == result for ruled in rulings)


def _average_precision(worths: Sequence[float]) -> float:
    """Return the average precision; a passage over which judges are divided counts by half."""
    total = so_far = 0.0
    for rank, worth in enumerate(worths, 1):
        so_far += worth
        total += worth * so_far / rank
    return total / so_far if so_far else 0.0
