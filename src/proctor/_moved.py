"""Old names of modules and classes that others may import: they still work, and warn."""

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

MOVED: Mapping[str, str] = {
    "proctor.core.contracts": (
        "proctor.contracts.scorer proctor.contracts.dialect proctor.contracts.dialogue "
        "proctor.contracts.measure proctor.contracts.executor"
    ),
    "proctor.core.model": "proctor.core.exchange proctor.contracts.model proctor.contracts.judge",
    "proctor.core.agent": "proctor.core.rounds proctor.contracts.agent",
    "proctor.core.judging": "proctor.contracts.scoring",
    "proctor.core.kept": "proctor.contracts.archive",
    "proctor.core.program": "proctor.contracts.sandbox",
    "proctor.reports.view": "proctor.contracts.report",
    "proctor.scorers.against_context": "proctor.scorers.judged.against_context",
    "proctor.scorers.bert_score": "proctor.scorers.embedding.bert_score",
    "proctor.scorers.bert_similarity": "proctor.scorers.embedding.bert_similarity",
    "proctor.scorers.blanks": "proctor.scorers.text.blanks",
    "proctor.scorers.eval_code": "proctor.scorers.programs.eval_code",
    "proctor.scorers.hedging": "proctor.scorers.embedding.hedging",
    "proctor.scorers.judged": "proctor.scorers.judged.criteria",
    "proctor.scorers.keywords": "proctor.scorers.text.keywords",
    "proctor.scorers.maths": "proctor.scorers.maths.equality",
    "proctor.scorers.noted": "proctor.scorers.judged.noted",
    "proctor.scorers.overlap": "proctor.scorers.overlap.rouge",
    "proctor.scorers.python_check": "proctor.scorers.programs.python_check",
    "proctor.scorers.rating_metric": "proctor.scorers.judged.rating_metric",
    "proctor.scorers.readability": "proctor.scorers.counts.readability",
    "proctor.scorers.rubric": "proctor.scorers.judged.rubric",
    "proctor.scorers.scoring_point": "proctor.scorers.judged.scoring_point",
    "proctor.scorers.specificity": "proctor.scorers.counts.specificity",
    "proctor.scorers.summary_quality": "proctor.scorers.judged.summary_quality",
    "proctor.scorers.text": "proctor.scorers.text.comparisons",
    "proctor.scorers.text_metrics": "proctor.scorers.overlap.metrics",
    "proctor.scorers.unieval": "proctor.scorers.embedding.unieval",
    "proctor.scorers.unit_tests": "proctor.scorers.programs.unit_tests",
    "proctor.scorers.word_count": "proctor.scorers.counts.word_count",
}
"""Where the names of an old module are now: in one module, or in several."""
RENAMED: Mapping[str, str] = {
    "proctor.core.agent.Desk": "Workspace",
    "proctor.core.agent.judged_part": "scored_part",
    "proctor.core.judging.finish_async": "finish_score",
    "proctor.core.judging.judge": "run_scorer",
    "proctor.core.judging.judge_async": "run_scorer_async",
    "proctor.core.judging.judge_batch": "run_scorer_batch",
    "proctor.core.model.Shape": "ReplyShape",
    "proctor.scorers.keywords.Rule": "KeywordRule",
    "proctor.scorers.rubric.Rubric": "RubricItem",
    "proctor.scorers.unieval.Question": "UniEvalQuestion",
}
"""Names that are others now, by the old module and name."""


def former(module: str) -> str:
    """Return the old name of a module of scorers; empty where it has none."""
    return next((old for old, new in MOVED.items() if new == module), "")


def _is_below(package: str, name: str) -> bool:
    """Tell whether a name is that of a module, which its package need not look for elsewhere."""
    is_package = "__path__" in vars(sys.modules[package])
    return is_package and find_spec(f"{package}.{name}") is not None


def names_of(module: str) -> Callable[[str], Any]:
    """Return a ``__getattr__`` by which a module has the names that were in it once."""

    def find(name: str) -> Any:
        if not name.startswith("__") and not _is_below(module, name):
            wanted = RENAMED.get(f"{module}.{name}", name)
            for home in MOVED[module].split():
                names = vars(importlib.import_module(home))
                if wanted in names:
                    message = f"{module}.{name} is {home}.{wanted} now"
                    warnings.warn(message, DeprecationWarning, stacklevel=_outside())
                    return names[wanted]
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return find


def _outside() -> int:
    """Return how far up the stack the importing code is, past the import system."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back is not None and "importlib" in frame.f_code.co_filename:
        level, frame = level + 1, frame.f_back
    return level


class _OldModules:
    """A finder of modules that are gone, asked only after all others."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if name not in MOVED:
            return None
        from importlib.machinery import ModuleSpec

        loader: Any = _OldModules
        return ModuleSpec(name, loader)

    @staticmethod
    def create_module(spec: Any) -> None:
        """Leave the making of the module to the import system."""

    @staticmethod
    def exec_module(module: Any) -> None:
        """Give the module the names that were in it."""
        module.__getattr__ = names_of(module.__name__)


def install() -> None:
    """Let old modules be imported."""
    if not any(finder is _OldModules for finder in sys.meta_path):
        sys.meta_path.append(_OldModules)
