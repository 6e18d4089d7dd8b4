"""How long an answer is, in words, characters, sentences or lines."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.contracts.scorer import TextScorer
from proctor.core.score import Score
from proctor.scorers.counts import tokenise
from proctor.scorers.overlap.chinese import cutter

Unit = Literal["words", "characters", "sentences", "lines"]


@dataclass(frozen=True)
class Length(TextScorer):
    """Pass when the answer is at most, and at least, so long; without limits it is only shown.

    Words are counted as by ``word_count_match``, Chinese ones too; characters without white space
    around the answer; lines that are not empty.
    """

    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    instant_length: ClassVar[int] = 100_000

    max: int | None = None
    min: int | None = None
    unit: Unit = "words"

    @property
    def full_marks(self) -> float | None:
        return None if self.max is None and self.min is None else 1.0

    @property
    def points_range(self) -> tuple[float | None, float | None]:
        return (0.0, self.full_marks)

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        count = self._count(output)
        detail = {"length": count, "unit": self.unit}
        if self.full_marks is None:
            return Score(points=float(count), reason=f"{count} {self.unit}", detail=detail)
        if self.max is not None and count > self.max:
            hit, why = False, f"more than {self.max}"
        elif self.min is not None and count < self.min:
            hit, why = False, f"fewer than {self.min}"
        else:
            hit, why = True, "as wanted"
        reason = f"{count} {self.unit}, {why}"
        return Score(points=float(hit), out_of=1.0, reason=reason, detail=detail)

    def toolchain(self) -> str:
        return cutter() if self.unit in ("words", "sentences") else ""

    def problems(self) -> Iterable[str]:
        for name, limit in (("max", self.max), ("min", self.min)):
            if limit is not None and limit < 0:
                yield f"{name} is 0 or more, not {limit}"
        if self.max is not None and self.min is not None and self.min > self.max:
            yield f"min ({self.min}) is greater than max ({self.max})"

    def _count(self, text: str) -> int:
        if self.unit == "words":
            return len(tokenise.words(text))
        if self.unit == "characters":
            return len(text.strip())
        if self.unit == "lines":
            return sum(bool(line.strip()) for line in text.splitlines())
        return tokenise.sentences(text) if text.strip() else 0
