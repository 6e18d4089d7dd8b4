"""Scorers: one attempt and one criterion make one score; ``registry.py`` names each of them.

Each can be imported from here by the name of its class: ``from proctor.scorers import Rouge``, and
used alone: ``Rouge().score_text("a b c", reference="a b d")``.
"""

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors; tests/scorers/test_names.py holds it complete
    from proctor.scorers.agents.failures import NoNewFailures as NoNewFailures
    from proctor.scorers.agents.files import FilesChanged as FilesChanged
    from proctor.scorers.agents.used import CommandRan as CommandRan
    from proctor.scorers.agents.used import SkillUsed as SkillUsed
    from proctor.scorers.agents.used import ToolUsed as ToolUsed
    from proctor.scorers.counts.length import Length as Length
    from proctor.scorers.counts.readability import Readability as Readability
    from proctor.scorers.counts.specificity import Specificity as Specificity
    from proctor.scorers.counts.spent import Cost as Cost
    from proctor.scorers.counts.spent import Latency as Latency
    from proctor.scorers.counts.word_count import WordCountMatch as WordCountMatch
    from proctor.scorers.embedding.bert_score import BertScore as BertScore
    from proctor.scorers.embedding.bert_similarity import BertSimilarity as BertSimilarity
    from proctor.scorers.embedding.hedging import HedgingLanguage as HedgingLanguage
    from proctor.scorers.embedding.similar import Similar as Similar
    from proctor.scorers.embedding.unieval import UniEval as UniEval
    from proctor.scorers.imported import ImportedScore as ImportedScore
    from proctor.scorers.instructions.following import Instructions as Instructions
    from proctor.scorers.judged.against_context import Hallucination as Hallucination
    from proctor.scorers.judged.against_context import QaCorrectness as QaCorrectness
    from proctor.scorers.judged.citations import Citations as Citations
    from proctor.scorers.judged.criteria import Judged as Judged
    from proctor.scorers.judged.criteria import JudgedCorrect as JudgedCorrect
    from proctor.scorers.judged.criteria import Rating as Rating
    from proctor.scorers.judged.noted import Noted as Noted
    from proctor.scorers.judged.rag import AnswerRelevance as AnswerRelevance
    from proctor.scorers.judged.rag import ContextPrecision as ContextPrecision
    from proctor.scorers.judged.rag import ContextRecall as ContextRecall
    from proctor.scorers.judged.rag import ContextRelevance as ContextRelevance
    from proctor.scorers.judged.rag import Faithfulness as Faithfulness
    from proctor.scorers.judged.rag import NoiseSensitivity as NoiseSensitivity
    from proctor.scorers.judged.rating_metric import RatingMetric as RatingMetric
    from proctor.scorers.judged.rubric import RubricItem as RubricItem
    from proctor.scorers.judged.scoring_point import ScoringPoint as ScoringPoint
    from proctor.scorers.judged.summary_quality import SummaryQuality as SummaryQuality
    from proctor.scorers.maths.equality import Maths as Maths
    from proctor.scorers.overlap.metrics import TextMetrics as TextMetrics
    from proctor.scorers.overlap.rouge import Rouge as Rouge
    from proctor.scorers.programs.eval_code import EvalCode as EvalCode
    from proctor.scorers.programs.python_check import PythonCheck as PythonCheck
    from proctor.scorers.programs.task_tests import TaskTests as TaskTests
    from proctor.scorers.programs.unit_tests import UnitTests as UnitTests
    from proctor.scorers.retrieval.ranking import Retrieval as Retrieval
    from proctor.scorers.structured.actions import Actions as Actions
    from proctor.scorers.structured.json_equal import JsonEqual as JsonEqual
    from proctor.scorers.structured.json_scorers import FollowsSchema as FollowsSchema
    from proctor.scorers.structured.json_scorers import IsJson as IsJson
    from proctor.scorers.structured.sql_equal import SqlEqual as SqlEqual
    from proctor.scorers.structured.state_equal import StateEqual as StateEqual
    from proctor.scorers.structured.tool_calls import ToolCalls as ToolCalls
    from proctor.scorers.structured.xml import Xml as Xml
    from proctor.scorers.text.blanks import Blanks as Blanks
    from proctor.scorers.text.comparisons import Contains as Contains
    from proctor.scorers.text.comparisons import ExactMatch as ExactMatch
    from proctor.scorers.text.comparisons import Matches as Matches
    from proctor.scorers.text.comparisons import Number as Number
    from proctor.scorers.text.comparisons import TokenF1 as TokenF1
    from proctor.scorers.text.keywords import Keywords as Keywords
    from proctor.scorers.text.language import LanguageIs as LanguageIs
    from proctor.scorers.text.refusal import Refuses as Refuses
    from proctor.scorers.text.says import Says as Says


@cache
def _homes() -> dict[str, str]:
    """Return the module of each scorer, by the name of its class."""
    from proctor.registry import BUILT_IN

    targets = (target.partition(":") for target in BUILT_IN["scorer"].values())
    return {name: home for home, _, name in sorted(targets) if home.startswith(f"{__name__}.")}


def __getattr__(name: str) -> Any:
    """Import a scorer when it is first used: some of them load much."""
    if name == "__all__":
        return sorted(_homes())
    if not name.startswith("_") and name in _homes():
        return vars(importlib.import_module(_homes()[name]))[name]
    raise AttributeError(f"module 'proctor.scorers' has no attribute {name!r}{_meant(name)}")


def _meant(name: str) -> str:
    if name.startswith("_"):
        return ""
    from proctor.suggestions import suggest

    return f" ({suggest(name, _homes())})"


def __dir__() -> list[str]:
    return [*globals(), *_homes()]
