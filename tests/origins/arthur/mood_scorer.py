"""A scorer with categories, as users of Arthur Bench write them."""

import asyncio
from typing import Any

from proctor.bench import Category, Scorer, ScoreResult


class Mood(Scorer):
    """Tell moods apart: by their names, or else whether there is an answer at all.

    The points do not tell them apart: there is one for ``yes`` alone.
    """

    def __init__(self) -> None:
        self.batches: list[int] = []

    @staticmethod
    def name() -> str:
        return "mood"

    @staticmethod
    def requires_reference() -> bool:
        return False

    @staticmethod
    def is_categorical() -> bool:
        return True

    @staticmethod
    def categories() -> list[Category]:
        return [Category("glad", "happy"), Category("sad")]

    def run_batch(
        self,
        candidate_batch: list[str],
        reference_batch: Any = None,
        input_text_batch: Any = None,
        context_batch: Any = None,
    ) -> list[ScoreResult]:
        self.batches.append(len(candidate_batch))
        if "boom" in candidate_batch:
            raise ValueError("a bomb")
        if "odd" in candidate_batch:
            return [ScoreResult(score=1.0, category=Category("odd"))]
        return [
            ScoreResult(
                score=float(text == "yes"),
                category=Category("sad" if text in ("", "sad") else "glad"),
            )
            for text in candidate_batch
        ]

    async def arun_batch(self, candidate_batch: list[str], *others: Any) -> list[ScoreResult]:
        await asyncio.sleep(0)
        return [ScoreResult(score=0.25, category=Category("sad")) for _ in candidate_batch]
