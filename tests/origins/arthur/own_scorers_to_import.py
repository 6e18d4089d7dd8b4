"""Scorers that a test imports by their path."""

from collections.abc import Sequence


class Longest:
    """Score by length, against a limit."""

    def __init__(self, limit: int = 10) -> None:
        self.limit = limit

    @staticmethod
    def name() -> str:
        return "longest"

    @staticmethod
    def requires_reference() -> bool:
        return False

    def run_batch(
        self,
        candidate_batch: Sequence[str],
        reference_batch: Sequence[str] | None = None,
        input_text_batch: Sequence[str] | None = None,
        context_batch: Sequence[str] | None = None,
    ) -> list[float]:
        return [min(1.0, len(text) / self.limit) for text in candidate_batch]
