"""Arthur Bench's scoring methods by their names: what each needs, gives, and is scored by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Json, Spec
from proctor.errors import UsageError
from proctor.suggestions import LOOSELY, suggest

ORIGINAL = "original"
CUSTOM = "custom"
"""The scorer of suites that are scored by somebody's own code."""
UNIT_TESTS = "python_unit_testing"
_DEBERTA = "microsoft/deberta-v3-base"
_LAYERS = {_DEBERTA: 9}
"""What bert-score takes by default for models that Proctor's own table does not have."""
_TEST_SECONDS = 3.0


class Category(NamedTuple):
    """The name of a category of scores, and its meaning."""

    name: str
    description: str | None = None


class CategoryName(str):
    """The name of a category, with the category's description."""

    description: str | None

    def __new__(cls, category: Category) -> "CategoryName":
        """Take the name of a category."""
        name = super().__new__(cls, category.name)
        name.description = category.description
        return name

    @property
    def name(self) -> str:
        """Return the name as a plain text."""
        return str(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One scoring method."""

    params: Callable[[Mapping[str, Json], bool], Mapping[str, Json]]
    """The scorer's parameters, for a configuration and whether they are the original's."""
    scorer: str
    config: frozenset[str] = frozenset()
    """What may be configured, as Arthur Bench names it."""
    requires_reference: bool = False
    requires_context: bool = False
    asks_judge: bool = False
    categories: Mapping[float | None, Category] = field(default_factory=dict)
    """Which points mean which category; none stands for what is unscored."""
    full: float = 1.0


def _compat(config: Mapping[str, Json], original: bool) -> Mapping[str, Json]:
    return {"compat": ORIGINAL} if original else {}


def _nothing(config: Mapping[str, Json], original: bool) -> Mapping[str, Json]:
    return {}


def _exact_match(config: Mapping[str, Json], original: bool) -> Mapping[str, Json]:
    """Take case as it is; the original's flag means the opposite of its name."""
    if bool(config.get("case_sensitive", True)) is not original:
        return {"strip": False}
    more = {"compat": ORIGINAL} if original else {}
    return {"strip": False, "ignore_case": True, **more}


def _readability(config: Mapping[str, Json], original: bool) -> Mapping[str, Json]:
    return {"counts": True, **_compat(config, original)}


def _model(config: Mapping[str, Json], original: bool) -> dict[str, Json]:
    model = config.get("model_type") or (_DEBERTA if original else None)
    if model is None:
        return {}
    layer = _LAYERS.get(model)
    return {"model": model} if layer is None else {"model": model, "layer": layer}


def _bertscore(config: Mapping[str, Json], original: bool) -> Mapping[str, Json]:
    weight = config.get("precision_weight")
    own = {} if weight is None else {"precision_weight": weight}
    return {**own, **_model(config, original)}


def _hedging(config: Mapping[str, Json], original: bool) -> Mapping[str, Json]:
    names = {"hedging_language": "sentence", "threshold": "threshold"}
    own = {ours: config[name] for name, ours in names.items() if config.get(name) is not None}
    return {**own, **_model(config, original), **_compat(config, original)}


def _unit_test(config: Mapping[str, Json], original: bool) -> Mapping[str, Json]:
    test = {"content": config["unit_test"], "timeout": _TEST_SECONDS}
    return {"tests": [test], "lang": "python", "imports": False}


_INVALID = Category("invalid", "the judge gave no verdict that could be read or used")

METHODS: Mapping[str, Method] = {
    "bertscore": Method(
        scorer="bert_similarity",
        params=_bertscore,
        config=frozenset({"model_type", "precision_weight"}),
        requires_reference=True,
    ),
    "exact_match": Method(
        scorer="exact_match",
        params=_exact_match,
        config=frozenset({"case_sensitive"}),
        requires_reference=True,
        categories={
            0.0: Category("non match", "the output differs from the reference"),
            1.0: Category("match", "the output equals the reference"),
        },
    ),
    "hallucination": Method(
        scorer="hallucination",
        params=_nothing,
        requires_context=True,
        asks_judge=True,
        categories={
            0.0: Category("hallucination", "the context does not support all of the output"),
            1.0: Category("no hallucination", "the context supports the output"),
            None: _INVALID,
        },
    ),
    "hedging_language": Method(
        scorer="hedging_language",
        params=_hedging,
        config=frozenset({"model_type", "hedging_language", "threshold"}),
    ),
    UNIT_TESTS: Method(
        scorer="unit_tests",
        params=_unit_test,
        config=frozenset({"unit_tests", "unit_test_dir"}),
        categories={
            0.0: Category("fail", "the program does not pass its test"),
            1.0: Category("pass", "the program passes its test"),
        },
    ),
    "qa_correctness": Method(
        scorer="qa_correctness",
        params=_compat,
        requires_context=True,
        asks_judge=True,
        categories={
            0.0: Category("incorrect", "the output is wrong by the context"),
            1.0: Category("correct", "the output is right by the context"),
            None: _INVALID,
        },
    ),
    "readability": Method(scorer="readability", params=_readability, full=100.0),
    "specificity": Method(scorer="specificity", params=_compat),
    "summary_quality": Method(
        scorer="summary_quality",
        params=_compat,
        requires_reference=True,
        asks_judge=True,
        categories={
            0.0: Category("reference", "the reference is the better summary"),
            1.0: Category("candidate", "the output is the better summary"),
            0.5: Category("equal", "neither is better"),
            None: _INVALID,
        },
    ),
    "word_count_match": Method(
        scorer="word_count_match", params=_compat, requires_reference=True
    ),
}  # fmt: skip


def method_named(name: str) -> Method:
    """Return a method, or say which one was probably meant."""
    if (method := METHODS.get(name)) is not None:
        return method
    meant = suggest(name, METHODS, listed=METHODS, cutoff=LOOSELY)
    raise UsageError(f"unknown scoring method {name!r} ({meant})")


def specs_of(name: str, config: Mapping[str, Json], compat: str, count: int) -> Sequence[Spec]:
    """Return what each of so many cases is scored by."""
    method = method_named(name)
    if wrong := sorted(config.keys() - method.config):
        settings = ", ".join(sorted(method.config)) or "nothing"
        raise UsageError(f"{name} has no setting {wrong[0]!r} (known are: {settings})")
    original = compat == ORIGINAL
    if name != UNIT_TESTS:
        spec = Spec(name=method.scorer, params=method.params(config, original))
        return [spec] * count
    tests = config.get("unit_tests") or ()
    if len(tests) != count:
        raise UsageError(f"{name}: {len(tests)} unit tests for {count} cases; each needs its own")
    return [
        Spec(name=method.scorer, params=method.params({"unit_test": test}, original))
        for test in tests
    ]


def category_of(name: str, score: Score | None) -> Category | None:
    """Return what a score is called by its method; none where it is just a number."""
    detail = score.detail if score is not None and isinstance(score.detail, Mapping) else {}
    stored, method = detail.get("category"), METHODS.get(name)
    if isinstance(stored, Mapping):
        return Category(str(stored.get("name")), stored.get("description"))
    categories = method.categories if method is not None else {}
    if isinstance(stored, str):
        matches = (category for category in categories.values() if category.name == stored)
        return next(matches, Category(stored))
    if score is None or score.status is not ScoreStatus.SCORED:
        return categories.get(None)
    return categories.get(score.points)
