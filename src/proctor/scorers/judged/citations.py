"""Whether the passages that an answer cites support the sentences that cite them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.core.passages import Passage
from proctor.core.score import Score
from proctor.judging import prompts as judge_prompts
from proctor.scorers.judged.cited_sentences import CitedSentence, cited_sentences
from proctor.scorers.judged.inquiry import (
    InquiringScorer,
    Inquiry,
    NumberedQuestion,
    Ruled,
    cut,
    passage_texts,
)

CITATIONS = "rag_citations"
SUPPORTS, IN_PART, NO = "supports", "in part", "no"
_Pair = tuple[CitedSentence, int]


@dataclass(frozen=True)
class Citations(InquiringScorer):
    """Share of the answer's citations whose passage supports the sentence that cites it.

    ``[2]`` cites the second passage, ``[some-id]`` the one with that id. A passage that supports
    a sentence in part counts a half, and counts in full where the sentence cites others, too. A
    citation of a passage that is not there is wrong, and so is an answer that cites nothing.
    Sentences without a citation are left out, or with ``uncited: wrong`` count as one each.
    """

    prompts: ClassVar[tuple[str, ...]] = (CITATIONS,)

    uncited: Literal["ignored", "wrong"] = "ignored"
    tries: int = 3

    async def inquire(self, inquiry: Inquiry) -> Score:
        passages = inquiry.passages()
        sentences = cited_sentences(inquiry.ctx.output, passages)
        pairs = [(sentence, number) for sentence in sentences for number in sentence.passages]
        unknown = [name for sentence in sentences for name in sentence.unknown]
        uncited = [one for one in sentences if not one.passages and not one.unknown]
        inquiry.detail |= {
            "unknown": unknown,
            "uncited": [cut(sentence.text, 200) for sentence in uncited],
        }
        if not pairs and not unknown:
            return inquiry.score(0.0, "the answer cites nothing")
        rulings = await _support(inquiry, pairs, passages) if pairs else []
        inquiry.detail["claims"] = [
            {**ruled.to_json(sentence.text), "passages": [number]}
            for ruled, (sentence, number) in zip(rulings, pairs, strict=True)
        ]
        counted = len(pairs) + len(unknown) + (len(uncited) if self.uncited == "wrong" else 0)
        points = sum(
            self._worth(inquiry, ruled, sentence)
            for ruled, (sentence, _) in zip(rulings, pairs, strict=True)
        )
        return inquiry.score(points / counted, self._reason(rulings, pairs, unknown, uncited))

    def _worth(self, inquiry: Inquiry, ruled: Ruled, sentence: CitedSentence) -> float:
        if ruled.result == IN_PART and not ruled.tied:
            return 1.0 if len(sentence.passages) > 1 else 0.5
        return inquiry.worth(ruled, (SUPPORTS,))

    def _reason(
        self,
        rulings: Sequence[Ruled],
        pairs: Sequence[_Pair],
        unknown: Sequence[str],
        uncited: Sequence[CitedSentence],
    ) -> str:
        right = sum(ruled.result == SUPPORTS for ruled in rulings)
        reason = f"{right} of {len(pairs) + len(unknown)} citations are right"
        wrong = [
            f"passage {number} and “{cut(sentence.text, 60)}”"
            for ruled, (sentence, number) in zip(rulings, pairs, strict=True)
            if ruled.result == NO
        ]
        if wrong:
            reason += f"; not supported: {', '.join(wrong[:2])}"
        if unknown:
            reason += f"; no such passage: {', '.join(unknown[:5])}"
        if uncited and self.uncited == "wrong":
            reason += f"; {len(uncited)} sentences cite nothing"
        return reason


async def _support(
    inquiry: Inquiry, pairs: Sequence[_Pair], passages: Sequence[Passage]
) -> list[Ruled]:
    """Ask of each citation whether the passage supports the sentence."""
    citations = judge_prompts.Transcript(
        entries=tuple(
            (f"citation {place} of passage {number}", sentence.text)
            for place, (sentence, number) in enumerate(pairs, 1)
        )
    )
    texts: dict[str, judge_prompts.Words] = {
        "passages": passage_texts(passages),
        "citations": citations,
    }
    choices = (SUPPORTS, IN_PART, NO)
    return await inquiry.rule(
        NumberedQuestion(prompt=CITATIONS, choices=choices, count=len(pairs), texts=texts)
    )
