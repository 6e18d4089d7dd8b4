"""Scorers as InfiBench's own grader has them, bug for bug: ``compat: original``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from proctor.errors import ConditionError
from proctor.origins.infibench import programs
from proctor.scorers.overlap.rouge import Rouge
from proctor.scorers.programs.extraction import Composed
from proctor.scorers.programs.language import Language
from proctor.scorers.programs.languages import named
from proctor.scorers.programs.unit_tests import UnitTest, UnitTests
from proctor.scorers.text.blanks import Blanks
from proctor.scorers.text.keywords import Keywords


@dataclass(frozen=True)
class InfiBenchKeywords(Keywords):
    """Case is ignored by lower-casing the text and the pattern."""

    lower_case_only: ClassVar[bool] = True
    columnar: ClassVar[bool] = True

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class InfiBenchBlanks(Blanks):
    """A first blank begins one character late, blanks share nothing, none may be the end."""

    lower_case_only: ClassVar[bool] = True
    columnar: ClassVar[bool] = True

    compat: Literal["original"] = "original"

    def _spans(self, text: str, partner: Sequence[int]) -> list[tuple[int, int]]:
        if self.markers and self.markers[-1] + len(self.blank) == len(self.template):
            raise ConditionError("the original cannot grade a template ending in a blank")
        spans = super()._spans(text, partner)
        if self.markers and self.markers[0] == 0:
            spans[0] = (1, max(1, spans[0][1]))
        return spans

    def _share_adjacent(self, text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return spans


@dataclass(frozen=True)
class InfiBenchRouge(Rouge):
    """Tokens are plain letters and digits only."""

    ascii_only: ClassVar[bool] = True
    columnar: ClassVar[bool] = True

    compat: Literal["original"] = "original"


@dataclass(frozen=True)
class InfiBenchUnitTests(UnitTests):
    """Code is cut out of the answer, put together, built and run as the original does it."""

    tests_apart: ClassVar[bool] = False

    compat: Literal["original"] = "original"

    @property
    def _named(self) -> Language | None:
        """Return the language, C++ for C."""
        return named("c++" if self.lang.strip().lower() == "c" else self.lang)

    @property
    def _language(self) -> Language | None:
        language = super()._language
        return None if language is None else programs.graded(language)

    def _needs_packages(self, language: Language) -> bool:
        return language.name not in programs.RUNS

    def _extracted(self, answer: str, test: UnitTest, language: Language) -> str:
        if language.name not in programs.RUNS:
            return super()._extracted(answer, test, language)
        text = f"{test.prefix}\n{answer}"
        return programs.extracted(text, language, only_longest=test.only_longest)

    def _composed(self, code: str, test: UnitTest, language: Language) -> Composed:
        if language.name not in programs.RUNS:
            return super()._composed(code, test, language)
        return programs.composed(code, language, before=test.before, test=test.content)
