"""Python functions that suites carry: whole criteria, and handlers that correct a score."""

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from proctor.core.contracts import ScoreContext, Scorer
from proctor.core.score import Score

NO_SANDBOX = "not run: {what} is a program, and this version of Proctor has no sandbox for it"


@dataclass(frozen=True, kw_only=True)
class Handler:
    """Name a function of the suite that may change the points of a criterion."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    module: str
    func: str
    source: str = ""

    @property
    def reason(self) -> str:
        """Say why a criterion with this handler is not scored."""
        return NO_SANDBOX.format(what=f"the post_handler {self.module}.{self.func}")


@dataclass(frozen=True)
class PythonCheck(Scorer):
    """Let a Python function of the suite judge the answer."""

    module: str
    func: str
    source: str = ""

    def score(self, ctx: ScoreContext) -> Score:
        """Leave the criterion unscored, and say why."""
        return Score.failed(NO_SANDBOX.format(what=f"the function {self.module}.{self.func}"))
