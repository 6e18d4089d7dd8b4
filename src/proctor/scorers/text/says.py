"""What a candidate must have told the user, in whichever of its messages."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from proctor.contracts.scorer import Probe, ScoreContext, Scorer
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.scorers.text.comparisons import alike

REFERENCES = "references"
_BEFORE, _AFTER = r"(?<![^\W_])(?<!\d[.,])", r"(?![^\W_])(?![.,]\d)"


@dataclass(frozen=True)
class Says(Scorer):
    """Pass when the candidate told the user all of ``texts``, in any of its messages.

    A text is there as words of its own; capitals, quotes and thousands' commas do not matter.
    ``references`` stands for the case's references. None of ``none`` may be said. What a candidate
    writes into calls of tools is not said. With ``partial``, the points are the share of texts.
    """

    fixed_marks: ClassVar[bool] = True
    instant: ClassVar[bool] = True

    texts: str | tuple[str, ...] = REFERENCES
    none: str | tuple[str, ...] = ()
    partial: bool = False

    def score(self, ctx: ScoreContext) -> Score:
        wanted = self._wanted(ctx.references)
        if not wanted and not self.none:
            return Score.failed("there is no text, and no reference to be said", out_of=1.0)
        words = [m.content for m in ctx.attempt.messages if m.role == "assistant"]
        unsaid = [text for text in wanted if not any(is_said(one, text) for one in words)]
        forbidden = [
            text for text in _listed(self.none) if any(is_said(one, text) for one in words)
        ]
        if forbidden:
            return Score(points=0.0, out_of=1.0, reason=f"it says {_quoted(forbidden)}")
        if not unsaid:
            told = f"it says {_quoted(wanted)}" if wanted else "it says none of what it must not"
            return Score(points=1.0, out_of=1.0, reason=told)
        points = (len(wanted) - len(unsaid)) / len(wanted) if self.partial else 0.0
        reason = f"it never says {_quoted(unsaid)}"
        return Score(points=points, out_of=1.0, reason=reason, detail={"unsaid": unsaid})

    def problems(self) -> Iterable[str]:
        if any(not text.strip() for text in (*_listed(self.texts), *_listed(self.none))):
            yield "a text is empty"

    def doubts(self, case: Case) -> Iterable[str]:
        if not self._wanted(case.references) and not self.none:
            yield "says has no texts, and the case has no reference"

    def probes(self, case: Case) -> Iterable[Probe]:
        wanted = self._wanted(case.references)
        return [Probe(kind="reference", answer="\n".join(wanted))] if wanted else ()

    def _wanted(self, references: tuple[str, ...]) -> tuple[str, ...]:
        return references if self.texts == REFERENCES else _listed(self.texts)


def is_said(message: str, text: str) -> bool:
    """Tell whether a message has a text in it, as words of its own: 1.00 is not in 11.00."""
    return _pattern(text).search(alike(message)) is not None


@lru_cache(maxsize=1000)
def _pattern(text: str) -> re.Pattern[str]:
    bare = alike(text.strip())
    before = _BEFORE if bare[:1].isalnum() and bare[:1].isascii() else ""
    after = _AFTER if bare[-1:].isalnum() and bare[-1:].isascii() else ""
    return re.compile(before + re.escape(bare) + after)


def _listed(texts: str | tuple[str, ...]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else texts


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join(f"“{text[:80]}”" for text in list(texts)[:5])
