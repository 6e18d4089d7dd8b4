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
    from proctor.contracts.agent import Agent, Session, Workspace
    from proctor.contracts.dialect import Dialect, Reading
    from proctor.contracts.dialogue import Dialogue, DialogueContext
    from proctor.contracts.executor import Executor
    from proctor.contracts.measure import Measure, MeasureSums, SummedMeasure
    from proctor.contracts.model import Model
    from proctor.contracts.report import Report, RunView
    from proctor.contracts.sandbox import Sandbox
    from proctor.contracts.scorer import Probe, ScoreContext, Scorer, TextScorer
    from proctor.core.attempt import Attempt
    from proctor.core.comparison import Comparison
    from proctor.core.exchange import Reply, Request, Sampling, Usage
    from proctor.core.program import Limits, Program, Ran, Step
    from proctor.core.rounds import Round
    from proctor.core.run import AttemptResult, CaseResult, Measured, Run
    from proctor.core.score import Score
    from proctor.core.suite import Case, Criterion, Message, Spec, Suite
    from proctor.errors import ProctorError, SuiteError

__all__ = [
    "Agent",
    "Attempt",
    "AttemptResult",
    "AttemptView",
    "Case",
    "CaseResult",
    "CaseView",
    "ComparedRuns",
    "Comparison",
    "Criterion",
    "Dialect",
    "Dialogue",
    "DialogueContext",
    "Executor",
    "GradedOutput",
    "Grader",
    "Limits",
    "Measure",
    "MeasureSums",
    "Measured",
    "Message",
    "Model",
    "Probe",
    "ProctorError",
    "Program",
    "Ran",
    "Reading",
    "Reply",
    "Report",
    "Request",
    "Round",
    "Run",
    "RunResult",
    "RunView",
    "Runs",
    "Sampling",
    "Sandbox",
    "Score",
    "ScoreContext",
    "Scorer",
    "Session",
    "Spec",
    "Step",
    "Store",
    "Suite",
    "SuiteError",
    "SummedMeasure",
    "TextScorer",
    "Usage",
    "Workspace",
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

_HOMES = {
    "api.case_views": "AttemptView CaseView",
    "api.cases": "load_suite",
    "api.comparing": "ComparedRuns compare",
    "api.evaluate": "aevaluate aevaluate_all evaluate evaluate_all",
    "api.grader": "GradedOutput Grader",
    "api.plain_scorers": "scorer",
    "api.results": "RunResult Store",
    "api.several_runs": "Runs",
    "contracts.agent": "Agent Session Workspace",
    "contracts.dialect": "Dialect Reading",
    "contracts.dialogue": "Dialogue DialogueContext",
    "contracts.executor": "Executor",
    "contracts.measure": "Measure MeasureSums SummedMeasure",
    "contracts.model": "Model",
    "contracts.report": "Report RunView",
    "contracts.sandbox": "Sandbox",
    "contracts.scorer": "Probe ScoreContext Scorer TextScorer",
    "core.attempt": "Attempt",
    "core.comparison": "Comparison",
    "core.exchange": "Reply Request Sampling Usage",
    "core.program": "Limits Program Ran Step",
    "core.rounds": "Round",
    "core.run": "AttemptResult CaseResult Measured Run",
    "core.score": "Score",
    "core.suite": "Case Criterion Message Spec Suite",
    "errors": "ProctorError SuiteError",
}
"""The public names by the module they are in."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that the command line starts quickly."""
    if name == "rewards":
        return importlib.import_module("proctor.api.rewards")
    for home, names in _HOMES.items():
        if name in names.split():
            return vars(importlib.import_module(f"proctor.{home}"))[name]
    raise AttributeError(f"module 'proctor' has no attribute {name!r}{_meant(name)}")


def _meant(name: str) -> str:
    if name.startswith("_"):  # asked for by tools, and no slip
        return ""
    from proctor.suggestions import closest

    close = closest(name, __all__)
    return f" (did you mean {close!r}?)" if close else ""


_moved.install()
