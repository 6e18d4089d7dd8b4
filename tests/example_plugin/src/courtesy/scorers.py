"""A scorer as the documentation shows it."""

from dataclasses import dataclass

from proctor import ScoreContext, Scorer


@dataclass(frozen=True)
class Polite(Scorer):
    """Pass when the answer is polite."""

    words: tuple[str, ...] = ("please", "thank you")

    def score(self, ctx: ScoreContext) -> bool:
        """Look for a polite word."""
        return any(word in ctx.output.lower() for word in self.words)
