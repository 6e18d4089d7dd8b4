"""Examine language models and agents, and say how far the marks can be trusted."""

import importlib
from typing import TYPE_CHECKING, Any

from proctor import _moved
from proctor.version import __version__

if TYPE_CHECKING:
    from proctor.api import rewards
    from proctor.api.grader import GradedOutput, Grader
    from proctor.contracts.dialect import Dialect, Reading
    from proctor.contracts.executor import Executor
    from proctor.contracts.measure import Measure, MeasureSums, SummedMeasure
    from proctor.contracts.sandbox import Sandbox
    from proctor.contracts.scorer import Probe, ScoreContext, Scorer, TextScorer
    from proctor.core.attempt import Attempt
    from proctor.core.program import Limits, Program, Ran, Step
    from proctor.core.run import CaseResult, Measured
    from proctor.core.score import Score
    from proctor.core.suite import Case, Criterion, Message, Spec, Suite
    from proctor.errors import ProctorError, SuiteError

__all__ = [
    "Attempt",
    "Case",
    "CaseResult",
    "Criterion",
    "Dialect",
    "Executor",
    "GradedOutput",
    "Grader",
    "Limits",
    "Measure",
    "MeasureSums",
    "Measured",
    "Message",
    "Probe",
    "ProctorError",
    "Program",
    "Ran",
    "Reading",
    "Sandbox",
    "Score",
    "ScoreContext",
    "Scorer",
    "Spec",
    "Step",
    "Suite",
    "SuiteError",
    "SummedMeasure",
    "TextScorer",
    "__version__",
    "rewards",
]

_HOMES = (
    "contracts.scorer", "contracts.dialect", "contracts.measure", "contracts.executor",
    "contracts.sandbox",
    "core.suite", "core.score", "core.run", "core.attempt", "core.program", "errors",
    "api.grader",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that the command line starts quickly."""
    if name == "rewards":
        return importlib.import_module("proctor.api.rewards")
    if name in __all__:
        for home in _HOMES:
            module = importlib.import_module(f"proctor.{home}")
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module 'proctor' has no attribute {name!r}")


_moved.install()
