"""The notebook API in the manner of Arthur Bench: a suite, its runs, and their scores.

``TestSuite("name", "exact_match", reference_data_path="data.csv").run("first", …)`` is all that is
needed; see ``docs/notebook.md``.
"""

from proctor.bench.errors import (
    BenchError,
    InternalError,
    MissingFileError,
    MissingParameterError,
    NotFoundError,
    UserError,
    UserTypeError,
    UserValueError,
)
from proctor.bench.methods import ScoringMethod
from proctor.bench.own_scorers import Scorer, ScoreResult
from proctor.bench.runs import TestCaseOutput, TestRun
from proctor.bench.suites import TestCase, TestSuite
from proctor.dialects.bench_methods import Category

__all__ = [
    "BenchError",
    "Category",
    "InternalError",
    "MissingFileError",
    "MissingParameterError",
    "NotFoundError",
    "ScoreResult",
    "Scorer",
    "ScoringMethod",
    "TestCase",
    "TestCaseOutput",
    "TestRun",
    "TestSuite",
    "UserError",
    "UserTypeError",
    "UserValueError",
]
