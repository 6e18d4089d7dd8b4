"""The notebook API in the manner of Arthur Bench: a suite, its runs, and their scores.

``TestSuite("name", "exact_match", reference_data_path="data.csv").run("first", …)`` is all that is
needed; see ``docs/notebook.md``.
"""

from typing import Any

from proctor.origins.arthur.errors import (
    BenchError,
    InternalError,
    MissingFileError,
    MissingParameterError,
    NotFoundError,
    UserError,
    UserTypeError,
    UserValueError,
)
from proctor.origins.arthur.method_table import Category
from proctor.origins.arthur.methods import ScoringMethod
from proctor.origins.arthur.own_scorers import Scorer, ScoreResult
from proctor.origins.arthur.runs import TestCaseOutput, TestRun
from proctor.origins.arthur.suites import TestCase, TestSuite

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

_CLASSES = {
    "BERTScore": "bertscore",
    "ExactMatch": "exact_match",
    "Hallucination": "hallucination",
    "HedgingLanguage": "hedging_language",
    "PythonUnitTesting": "python_unit_testing",
    "QAQualityCorrectness": "qa_correctness",
    "Readability": "readability",
    "Specificity": "specificity",
    "SummaryQuality": "summary_quality",
    "WordCountMatch": "word_count_match",
}


def __getattr__(name: str) -> Any:
    if name in _CLASSES:
        raise ImportError(
            f"proctor.bench has no class {name}: its scoring method is chosen by name"
            f" (fix: TestSuite(NAME, {_CLASSES[name]!r}, …), or configured as"
            f" ScoringMethod({_CLASSES[name]!r}, …))"
        )
    raise AttributeError(f"module 'proctor.bench' has no attribute {name!r}")
