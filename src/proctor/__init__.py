"""Examine language models and agents, and say how far the marks can be trusted."""

import importlib
from typing import TYPE_CHECKING, Any

from proctor import _moved
from proctor.version import __version__

if TYPE_CHECKING:
    from proctor.api import rewards
    from proctor.api.case_views import AttemptView, CaseView
    from proctor.api.cases import load_suite
    from proctor.api.comparing import ComparedRuns, compare
    from proctor.api.evaluate import aevaluate, aevaluate_all, evaluate, evaluate_all
    from proctor.api.grader import GradedOutput, Grader
    from proctor.api.plain_scorers import scorer
    from proctor.api.results import RunResult, Store
    from proctor.api.several_runs import Runs
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
    "AttemptView",
    "Case",
    "CaseResult",
    "CaseView",
    "ComparedRuns",
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
    "RunResult",
    "Runs",
    "Sandbox",
    "Score",
    "ScoreContext",
    "Scorer",
    "Spec",
    "Step",
    "Store",
    "Suite",
    "SuiteError",
    "SummedMeasure",
    "TextScorer",
    "__version__",
    "aevaluate",
    "aevaluate_all",
    "compare",
    "evaluate",
    "evaluate_all",
    "load_suite",
    "rewards",
    "scorer",
]

_DOOR = {
    "AttemptView": "case_views",
    "CaseView": "case_views",
    "ComparedRuns": "comparing",
    "RunResult": "results",
    "Runs": "several_runs",
    "Store": "results",
    "aevaluate": "evaluate",
    "aevaluate_all": "evaluate",
    "compare": "comparing",
    "evaluate": "evaluate",
    "evaluate_all": "evaluate",
    "load_suite": "cases",
    "scorer": "plain_scorers",
}
"""The modules of ``proctor.api`` in which names are that programs begin with."""
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
    if name in _DOOR:
        return vars(importlib.import_module(f"proctor.api.{_DOOR[name]}"))[name]
    if name in __all__:
        for home in _HOMES:
            module = importlib.import_module(f"proctor.{home}")
            if name in vars(module):
                return vars(module)[name]
    raise AttributeError(f"module 'proctor' has no attribute {name!r}")


_moved.install()
