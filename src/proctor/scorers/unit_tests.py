"""Programs that candidates write, judged by unit tests."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from proctor.core.contracts import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.scorers.python_check import NO_SANDBOX


@dataclass(frozen=True, kw_only=True)
class UnitTest:
    """Hold one test: the code that is put after the candidate's, and how it is run."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    content: str
    prefix: str = ""
    before: str = ""
    cleanup: str = ""
    weight: float = 1.0
    timeout: float | None = None
    only_longest: bool = False


@dataclass(frozen=True)
class UnitTests(Scorer):
    """Give points for each unit test that the candidate's program passes."""

    tests: tuple[UnitTest, ...]
    lang: str = "python"
    compat: str = ""

    def score(self, ctx: ScoreContext) -> Score:
        """Leave the criterion unscored, and say why; its full marks are known all the same."""
        reason = NO_SANDBOX.format(what="a unit test")
        return Score.failed(reason, out_of=self.full_marks)

    @property
    def full_marks(self) -> float:
        """Return the sum of the tests' weights."""
        return sum(test.weight for test in self.tests)

    def problems(self) -> Iterable[str]:
        """Report a criterion without tests."""
        if not self.tests:
            yield "no tests are given"
