"""Findings on the criteria of a share of a suite, as JSON, and put together again."""

from collections.abc import Iterable, Mapping

from proctor.core.encoding import criterion_from, spec_from
from proctor.core.fingerprint import plain
from proctor.core.suite import Json
from proctor.engine.run.scorer_pool import Lacking, Survey


def survey_to_json(survey: Survey) -> Json:
    """Write findings as JSON."""
    return {
        "missing": _lacking_to_json(survey.missing),
        "doubts": _lacking_to_json(survey.doubts),
        "examples": [[list(kind), plain(one)] for kind, one in survey.examples.items()],
        "specs": [plain(spec) for spec in survey.specs.values()],
    }


def joined(surveys: Iterable[Json]) -> Survey:
    """Put together the findings of shares that come one after the other."""
    survey = Survey()
    for data in surveys:
        _add(survey.missing, data["missing"])
        _add(survey.doubts, data["doubts"])
        for kind, criterion in data["examples"]:
            survey.examples.setdefault(tuple(kind), criterion_from(criterion))
        for spec in map(spec_from, data["specs"]):
            survey.specs[spec.name] = spec
    return survey


def _lacking_to_json(lacking: Mapping[str, Lacking]) -> Json:
    return {message: [one.count, one.first] for message, one in lacking.items()}


def _add(whole: dict[str, Lacking], more: Mapping[str, Json]) -> None:
    for message, (count, first) in more.items():
        lacking = whole.setdefault(message, Lacking())
        lacking.count += count
        lacking.first += first[: 3 - len(lacking.first)]
