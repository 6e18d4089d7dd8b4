"""Scorers: one attempt and one criterion make one score; ``registry.py`` names each of them.

Each can be imported from here by the name of its class: ``from proctor.scorers import Rouge``.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.scorers.counts.length import Length
    from proctor.scorers.counts.readability import Readability
    from proctor.scorers.counts.specificity import Specificity
    from proctor.scorers.counts.spent import Cost, Latency
    from proctor.scorers.counts.word_count import WordCountMatch
    from proctor.scorers.embedding.bert_score import BertScore
    from proctor.scorers.embedding.bert_similarity import BertSimilarity
    from proctor.scorers.embedding.hedging import HedgingLanguage
    from proctor.scorers.embedding.similar import Similar
    from proctor.scorers.embedding.unieval import UniEval
    from proctor.scorers.imported import ImportedScore
    from proctor.scorers.instructions.following import Instructions
    from proctor.scorers.judged.against_context import Hallucination, QaCorrectness
    from proctor.scorers.judged.citations import Citations
    from proctor.scorers.judged.criteria import Judged, JudgedCorrect, Rating
    from proctor.scorers.judged.noted import Noted
    from proctor.scorers.judged.rag import (
        AnswerRelevance,
        ContextPrecision,
        ContextRecall,
        ContextRelevance,
        Faithfulness,
        NoiseSensitivity,
    )
    from proctor.scorers.judged.rating_metric import RatingMetric
    from proctor.scorers.judged.rubric import RubricItem
    from proctor.scorers.judged.scoring_point import ScoringPoint
    from proctor.scorers.judged.summary_quality import SummaryQuality
    from proctor.scorers.maths.equality import Maths
    from proctor.scorers.overlap.metrics import TextMetrics
    from proctor.scorers.overlap.rouge import Rouge
    from proctor.scorers.programs.eval_code import EvalCode
    from proctor.scorers.programs.python_check import PythonCheck
    from proctor.scorers.programs.unit_tests import UnitTests
    from proctor.scorers.retrieval.ranking import Retrieval
    from proctor.scorers.structured.json_equal import JsonEqual
    from proctor.scorers.structured.json_scorers import FollowsSchema, IsJson
    from proctor.scorers.structured.sql_equal import SqlEqual
    from proctor.scorers.structured.tool_calls import ToolCalls
    from proctor.scorers.structured.xml import Xml
    from proctor.scorers.text.blanks import Blanks
    from proctor.scorers.text.comparisons import Contains, ExactMatch, Matches, Number, TokenF1
    from proctor.scorers.text.keywords import Keywords
    from proctor.scorers.text.language import LanguageIs
    from proctor.scorers.text.refusal import Refuses

__all__ = [
    "AnswerRelevance",
    "BertScore",
    "BertSimilarity",
    "Blanks",
    "Citations",
    "Contains",
    "ContextPrecision",
    "ContextRecall",
    "ContextRelevance",
    "Cost",
    "EvalCode",
    "ExactMatch",
    "Faithfulness",
    "FollowsSchema",
    "Hallucination",
    "HedgingLanguage",
    "ImportedScore",
    "Instructions",
    "IsJson",
    "JsonEqual",
    "Judged",
    "JudgedCorrect",
    "Keywords",
    "LanguageIs",
    "Latency",
    "Length",
    "Matches",
    "Maths",
    "NoiseSensitivity",
    "Noted",
    "Number",
    "PythonCheck",
    "QaCorrectness",
    "Rating",
    "RatingMetric",
    "Readability",
    "Refuses",
    "Retrieval",
    "Rouge",
    "RubricItem",
    "ScoringPoint",
    "Similar",
    "Specificity",
    "SqlEqual",
    "SummaryQuality",
    "TextMetrics",
    "TokenF1",
    "ToolCalls",
    "UniEval",
    "UnitTests",
    "WordCountMatch",
    "Xml",
]

_HOMES = {
    "AnswerRelevance": "judged.rag",
    "BertScore": "embedding.bert_score",
    "BertSimilarity": "embedding.bert_similarity",
    "Blanks": "text.blanks",
    "Citations": "judged.citations",
    "Contains": "text.comparisons",
    "ContextPrecision": "judged.rag",
    "ContextRecall": "judged.rag",
    "ContextRelevance": "judged.rag",
    "Cost": "counts.spent",
    "EvalCode": "programs.eval_code",
    "ExactMatch": "text.comparisons",
    "Faithfulness": "judged.rag",
    "FollowsSchema": "structured.json_scorers",
    "Hallucination": "judged.against_context",
    "HedgingLanguage": "embedding.hedging",
    "ImportedScore": "imported",
    "Instructions": "instructions.following",
    "IsJson": "structured.json_scorers",
    "JsonEqual": "structured.json_equal",
    "Judged": "judged.criteria",
    "JudgedCorrect": "judged.criteria",
    "Keywords": "text.keywords",
    "LanguageIs": "text.language",
    "Latency": "counts.spent",
    "Length": "counts.length",
    "Matches": "text.comparisons",
    "Maths": "maths.equality",
    "NoiseSensitivity": "judged.rag",
    "Noted": "judged.noted",
    "Number": "text.comparisons",
    "PythonCheck": "programs.python_check",
    "QaCorrectness": "judged.against_context",
    "Rating": "judged.criteria",
    "RatingMetric": "judged.rating_metric",
    "Readability": "counts.readability",
    "Refuses": "text.refusal",
    "Retrieval": "retrieval.ranking",
    "Rouge": "overlap.rouge",
    "RubricItem": "judged.rubric",
    "ScoringPoint": "judged.scoring_point",
    "Similar": "embedding.similar",
    "Specificity": "counts.specificity",
    "SqlEqual": "structured.sql_equal",
    "SummaryQuality": "judged.summary_quality",
    "TextMetrics": "overlap.metrics",
    "TokenF1": "text.comparisons",
    "ToolCalls": "structured.tool_calls",
    "UniEval": "embedding.unieval",
    "UnitTests": "programs.unit_tests",
    "WordCountMatch": "counts.word_count",
    "Xml": "structured.xml",
}


def __getattr__(name: str) -> Any:
    """Import a scorer when it is first used: some of them load much."""
    if name in _HOMES:
        return vars(importlib.import_module(f"proctor.scorers.{_HOMES[name]}"))[name]
    raise AttributeError(f"module 'proctor.scorers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
