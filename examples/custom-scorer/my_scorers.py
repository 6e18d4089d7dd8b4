"""Scorers of our own: polite answers, and short ones."""

from collections.abc import Iterable
from dataclasses import dataclass

from proctor import Score, ScoreContext, Scorer


@dataclass(frozen=True)
class Polite(Scorer):
    """Pass when the answer is polite."""

    words: tuple[str, ...] = ("please", "thank you")

    def score(self, ctx: ScoreContext) -> bool:
        """Look for one of the words."""
        return any(word in ctx.output.lower() for word in self.words)


@dataclass(frozen=True)
class Short(Scorer):
    """Give full marks up to a number of words, and fewer the longer the answer is."""

    words: int = 20

    def score(self, ctx: ScoreContext) -> Score:
        """Count the words."""
        count = len(ctx.output.split())
        points = min(1.0, self.words / count) if count else 0.0
        return Score(points=points, out_of=1.0, reason=f"{count} words, {self.words} allowed")

    def problems(self) -> Iterable[str]:
        """Report a limit that no answer can keep."""
        if self.words < 1:
            yield "words must be at least 1"
