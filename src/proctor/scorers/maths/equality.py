"""The scorer of mathematical equality."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from proctor.contracts.scorer import Probe, ScoreContext, Scorer
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.scorers.judged.asking_judge import unaskable
from proctor.scorers.maths.comparing import library_versions, missing_library, score_of


@dataclass(frozen=True)
class Maths(Scorer):
    """Pass when the final answer is mathematically equal to one of the case's references.

    With ``judge_fallback`` a judge is asked where one of the two is not readable as mathematics.
    """

    time_limit: ClassVar[float] = 10.0

    extract: bool = True
    judge_fallback: bool = False
    tries: int = 3

    def score(self, ctx: ScoreContext) -> Score:
        return score_of(ctx.output, ctx.references, extract=self.extract)

    @property
    def finishes(self) -> bool:
        return self.judge_fallback

    async def finish(self, ctx: ScoreContext, score: Score) -> Score:
        """Ask the judge about what could not be read, as ``judged_correct`` does."""
        if not self.judge_fallback:
            return score
        finished: Score = await self._judged.finish(ctx, score)
        return finished

    @property
    def needs_sandbox(self) -> bool:
        return False

    @property
    def needs_judge(self) -> bool:  # type: ignore[override]  # here a parameter decides it
        """Ask one only to finish."""
        return self.judge_fallback

    def prompt_key(self, language: str) -> str:
        return self._judged.prompt_key(language) if self.judge_fallback else ""

    def missing(self) -> Iterable[str]:
        return missing_library()

    def toolchain(self) -> str:
        return library_versions()

    def probes(self, case: Case) -> Iterable[Probe]:
        return [Probe(kind="reference", answer=reference) for reference in case.references]

    def problems(self) -> Iterable[str]:
        return unaskable(self.tries)

    @property
    def _judged(self) -> Any:
        from proctor.scorers.judged.criteria import JudgedCorrect

        return JudgedCorrect(kind="maths", maths_first=True, tries=self.tries)
