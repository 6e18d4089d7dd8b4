"""Assertions of promptfoo as criteria: those that have a scorer."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from proctor.core.suite import Json

Criterion = dict[str, Json]
SIMILAR, ROUGE = 0.75, 0.75
"""promptfoo's thresholds where none is written."""
_JUDGED = {
    "answer-relevance": "answer_relevance",
    "context-faithfulness": "faithfulness",
    "context-recall": "context_recall",
    "context-relevance": "context_relevance",
}
NEEDS_CONTEXT = frozenset(_JUDGED) - {"answer-relevance"}
_LATENCY_UNIT = 1000.0


def criterion_of(entry: Mapping[str, Any]) -> Criterion | None:
    """Return the criterion that an assertion stands for, or none if no scorer does the same."""
    kind = str(entry.get("type", ""))
    value, threshold = entry.get("value"), entry.get("threshold")
    if isinstance(value, str) and value.startswith("file://"):
        return None
    maker = _MAKERS.get(kind)
    if maker is None:
        return None
    scorer_call = maker(value, threshold)
    if scorer_call is None:
        return None
    name, params = scorer_call
    label: Criterion = {"scorer": name, "with": params}
    if entry.get("weight") is not None:
        label["weight"] = entry["weight"]
    if entry.get("metric"):
        label["metric"] = str(entry["metric"])
    return label


ScorerCall = tuple[str, dict[str, Json]] | None
Maker = Callable[[Any, Any], ScorerCall]


def _texts(value: Any) -> list[str]:
    """Return a list of texts, which may be written with commas between them."""
    if isinstance(value, list):
        return [str(text) for text in value]
    return [part.strip() for part in str(value).split(",")]


def _contains(*, several: bool, every: bool, fold: bool, wanted: bool = True) -> Maker:
    def make(value: Any, threshold: Any) -> ScorerCall:
        if value is None:
            return None
        texts = _texts(value) if several else [str(value)]
        params: dict[str, Json] = {"texts": texts} if wanted else {"none": texts}
        if wanted and not every:
            params["all"] = False
        if fold:
            params["ignore_case"] = True
        return "contains", params

    return make


def _matches(before: str, after: str, *, plain: bool) -> Maker:
    def make(value: Any, threshold: Any) -> ScorerCall:
        if value is None:
            return None
        pattern = re.escape(str(value)) if plain else str(value)
        return "matches", {"pattern": f"{before}{pattern}{after}"}

    return make


def _equals(value: Any, threshold: Any) -> ScorerCall:
    if isinstance(value, dict | list):
        return "json_equal", {"value": value, "whole": True}
    return "matches", {"pattern": re.escape(str(value)), "full": True}


def _json(*, whole: bool) -> Maker:
    def make(value: Any, threshold: Any) -> ScorerCall:
        if isinstance(value, dict):
            return "json_schema", {"schema": value, "whole": whole}
        return None if value else ("is_json", {"whole": whole})

    return make


def _similar(value: Any, threshold: Any) -> ScorerCall:
    references = value if isinstance(value, list) else [value]
    return "similar", {
        "threshold": SIMILAR if threshold is None else threshold,
        "references": [str(text) for text in references],
    }


def _rouge(value: Any, threshold: Any) -> ScorerCall:
    """Give full marks from promptfoo's threshold on."""
    high = ROUGE if threshold is None else threshold
    return "rouge", {"metric": "rouge1", "references": [str(value)], "high": high}


def _words(value: Any, threshold: Any) -> ScorerCall:
    limits = value if isinstance(value, dict) else {"min": value, "max": value}
    bounds = {name: limits[name] for name in ("min", "max") if limits.get(name) is not None}
    return "length", {**bounds, "unit": "words"}


def _question(value: Any, threshold: Any) -> ScorerCall:
    text = "\n".join(map(str, value)) if isinstance(value, list) else value
    return ("judged", {"question": text}) if isinstance(text, str) and text else None


def _limit(name: str, parameter: str, unit: float) -> Maker:
    def make(value: Any, threshold: Any) -> ScorerCall:
        return None if threshold is None else (name, {parameter: threshold / unit})

    return make


def _plain(name: str, **params: Json) -> Maker:
    return lambda value, threshold: (name, params)


_MAKERS: Mapping[str, Maker] = {
    "equals": _equals,
    "contains": _contains(several=False, every=True, fold=False),
    "contains-all": _contains(several=True, every=True, fold=False),
    "contains-any": _contains(several=True, every=False, fold=False),
    "icontains": _contains(several=False, every=True, fold=True),
    "icontains-all": _contains(several=True, every=True, fold=True),
    "icontains-any": _contains(several=True, every=False, fold=True),
    "not-contains": _contains(several=False, every=True, fold=False, wanted=False),
    "not-contains-any": _contains(several=True, every=True, fold=False, wanted=False),
    "not-icontains": _contains(several=False, every=True, fold=True, wanted=False),
    "not-icontains-any": _contains(several=True, every=True, fold=True, wanted=False),
    "regex": _matches("", "", plain=False),
    "not-regex": _matches(r"(?s)\A(?!.*(?:", "))", plain=False),
    "starts-with": _matches(r"\A", "", plain=True),
    "not-starts-with": _matches(r"\A(?!", ")", plain=True),
    "is-json": _json(whole=True),
    "contains-json": _json(whole=False),
    "is-refusal": _plain("refusal"),
    "not-is-refusal": _plain("refusal", wanted=False),
    "llm-rubric": _question,
    "g-eval": _question,
    "similar": _similar,
    "rouge-n": _rouge,
    "word-count": _words,
    "latency": _limit("latency", "seconds", _LATENCY_UNIT),
    "cost": _limit("cost", "dollars", 1.0),
    **{kind: _plain(name) for kind, name in _JUDGED.items()},
}
