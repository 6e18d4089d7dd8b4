"""The grading part of an InfiBench case as criteria."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from proctor import registry
from proctor.core.suite import Criterion, Spec
from proctor.errors import PluginError
from proctor.io.text_files import Loc
from proctor.origins.infibench.blank_parameters import blank_params
from proctor.origins.infibench.format import (
    BlankFilling,
    Customized,
    Grading,
    Reference,
    Similarity,
    WrittenHandler,
    WrittenRule,
    WrittenUnitTest,
    WrittenUnitTests,
    weight_of,
)
from proctor.origins.infibench.keyword_parameters import full_marks, keyword_rules
from proctor.origins.infibench.notes import ORIGINAL, Notes, Params

LOW = 0.3
HIGH, HIGH_ROUGE1 = 0.51, 0.53
AT: Loc = ("grading",)
NO_LANGUAGE = "there is no language "
"""How a scorer begins to say that it does not know a language."""
UNIT_TEST = "unit_test"
KINDS = ("keywords", "blank_filling", UNIT_TEST, "similarity")
_KIND = re.compile(r"grading\.(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedCase:
    """A criterion with its full marks; none where a function decides."""

    criterion: Criterion
    full: float | None


def criteria_of(
    notes: Notes, grading: Grading, lang: str, misshapen: Sequence[str] = ()
) -> tuple[GradedCase, ...]:
    """Turn a grading into criteria, in the order in which the original adds them up.

    Of a kind in which something was left out for its shape, only what does not follow from that is
    looked at: the language of tests, and the files that they name.
    """
    doubtful = {hit[1] for name in misshapen if (hit := _KIND.match(name)) is not None}
    criteria: list[GradedCase] = []
    for kind, loc, make in _parts(notes, grading, lang):
        if kind in doubtful and kind != UNIT_TEST:
            continue
        before = notes.findings.total
        graded = make()
        if kind in doubtful:
            _check_scorer(notes, graded.criterion.scorer, loc, whole=False)
            continue
        criteria.append(graded)
        if notes.findings.total == before:
            _check_scorer(notes, graded.criterion.scorer, loc, whole=True)
    if not criteria and not misshapen:
        kinds = ", ".join(KINDS)
        notes.error(AT, "nothing is graded", hint=f"add one of {kinds} and customized")
    _check_limits(notes, grading, criteria)
    return tuple(criteria)


def _parts(
    notes: Notes, grading: Grading, lang: str
) -> Iterator[tuple[str, Loc, Callable[[], GradedCase]]]:
    """Yield what is graded: its kind, its place, and what makes a criterion of it."""
    if grading.keywords is not None:
        loc: Loc = (*AT, "keywords")
        yield "keywords", loc, partial(_keywords, notes, grading.keywords, loc)
    if grading.blank_filling is not None:
        loc = (*AT, "blank_filling")
        yield "blank_filling", loc, partial(_blanks, notes, grading.blank_filling, loc)
    if grading.unit_test is not None:
        make = partial(_unit_tests, notes, grading.unit_test, lang)
        yield UNIT_TEST, (*AT, UNIT_TEST), make
    for index, similarity in enumerate(grading.similarity or ()):
        loc = (*AT, "similarity", index)
        yield "similarity", loc, partial(_similarity, notes, similarity, loc)
    if grading.customized is not None:
        loc = (*AT, "customized")
        yield "customized", loc, partial(_customized, notes, grading.customized, loc)


def _check_scorer(notes: Notes, spec: Spec, loc: Loc, *, whole: bool) -> None:
    """Note what keeps a criterion from being judged, as near to its place as the words tell."""
    try:
        messages = list(registry.build("scorer", spec).problems())
    except PluginError as error:
        messages = [str(error)] if whole else []
    for message in messages:
        if whole or message.startswith(NO_LANGUAGE):
            notes.error(_place_of(notes, message, loc), message)


def _place_of(notes: Notes, message: str, loc: Loc) -> Loc:
    if message.startswith(NO_LANGUAGE):
        own = (*loc, "lang")
        return own if own in notes.document.places else ("lang",)
    numbered = re.match(r"(test|keyword|blank) (\d+)\b", message)
    if numbered is None:
        return loc
    within = {"test": ("tests",), "blank": ("targets",)}.get(numbered[1], ())
    return (*loc, *within, int(numbered[2]) - 1)


def _check_limits(notes: Notes, grading: Grading, criteria: list[GradedCase]) -> None:
    """Compare the limits of a case with each other and with what its criteria can give."""
    high, low = grading.max_score, grading.min_score
    if high is not None and low is not None and low > high:
        notes.error((*AT, "min_score"), f"min_score ({low:g}) is greater than max_score ({high:g})")
    if not criteria or any(graded.full is None for graded in criteria):
        return
    full = sum(graded.full or 0.0 for graded in criteria)
    if full <= 0:
        notes.warn(AT, "no points can be won here: the case can never be scored")
    elif high is not None and high > full + 1e-9:
        notes.differs(
            (*AT, "max_score"),
            f"max_score is {high:g}, but the criteria give {full:g} at most",
            f"divides by {high:g}, so that full marks cannot be reached",
            f"divides by {full:g}",
        )


def _criterion(notes: Notes, name: str, scorer: str, params: Params) -> Criterion:
    if notes.original:
        params = {**params, "compat": ORIGINAL}
    return Criterion(id=name, scorer=Spec(name=scorer, params=params), metric=name)


def _keywords(notes: Notes, items: list[Any], at: Loc) -> GradedCase:
    params: Params = {"rules": keyword_rules(notes, items, at)}
    for index, item in enumerate(items):
        if isinstance(item, WrittenRule) and item.post_handler is not None:
            loc = (*at, index, "post_handler")
            params["post_handler"] = _handler(notes, item.post_handler, loc)
    criterion = _criterion(notes, "keywords", "keywords", params)
    return GradedCase(
        criterion=criterion, full=None if "post_handler" in params else full_marks(items)
    )


def _blanks(notes: Notes, filling: BlankFilling, at: Loc) -> GradedCase:
    params = blank_params(notes, filling, at)
    if filling.post_handler is not None:
        params["post_handler"] = _handler(notes, filling.post_handler, (*at, "post_handler"))
    full = sum(weight_of(target) for target in filling.targets)
    criterion = _criterion(notes, "blank_filling", "blanks", params)
    return GradedCase(criterion=criterion, full=None if filling.post_handler else full)


def _unit_tests(notes: Notes, unit_test: WrittenUnitTests, lang: str) -> GradedCase:
    loc: Loc = (*AT, "unit_test")
    own = unit_test.lang
    lang = notes.document.spelt((*loc, "lang"), own) if own is not None else lang
    if not lang:
        notes.error(loc, "no language to run the tests in", hint="add lang here or in the case")
    tests = [
        _unit_test(notes, test, (*loc, "tests", index))
        for index, test in enumerate(unit_test.tests)
    ]
    criterion = _criterion(notes, "unit_test", "unit_tests", {"lang": lang, "tests": tests})
    return GradedCase(criterion=criterion, full=sum(weight_of(test) for test in unit_test.tests))


def _unit_test(notes: Notes, test: Any, loc: Loc) -> Params:
    if not isinstance(test, WrittenUnitTest):
        return {"content": notes.spelt(loc, test)}
    params: Params = {"content": test.content}
    if test.path is not None:
        params["content"] = notes.text_of((*loc, "path"), test.path)
        if test.content is not None:
            notes.ignored(loc, ["content"], "'path' comes first")
    if test.prefix:
        params["prefix"] = test.prefix
        notes.differs(
            (*loc, "prefix"),
            "'prefix' before the answer",
            "loses it when the answer has code fences, and cuts it when it has none",
            "puts it before the code",
        )
    if test.prefix_path is not None:
        params["before"] = notes.text_of((*loc, "prefix_path"), test.prefix_path)
    if test.cleanup_path is not None:
        params["cleanup"] = notes.text_of((*loc, "cleanup_path"), test.cleanup_path)
    if test.weight != 1.0:
        params["weight"] = test.weight
    if test.timeout is not None:
        params["timeout"] = test.timeout
    if test.only_longest:
        params["only_longest"] = True
    return params


def _similarity(notes: Notes, similarity: Similarity, loc: Loc) -> GradedCase:
    low = LOW if similarity.min_score is None else similarity.min_score
    high = HIGH_ROUGE1 if similarity.metric == "rouge1" else HIGH
    high = high if similarity.max_score is None else similarity.max_score
    if high <= low:
        message = f"max_score ({high:g}) must be greater than min_score ({low:g})"
        key = "max_score" if similarity.max_score is not None else "min_score"
        notes.error((*loc, key), message)
    references = []
    for index, reference in enumerate(similarity.references):
        place = (*loc, "references", index)
        if isinstance(reference, Reference):
            references.append(notes.text_of((*place, "path"), reference.path))
        else:
            references.append(notes.spelt(place, reference))
    params = {"metric": similarity.metric, "references": references, "low": low, "high": high}
    first = _criterion(notes, "similarity", "rouge", params)
    number = loc[-1]
    assert isinstance(number, int)
    criterion = Criterion(
        id=f"similarity-{number + 1}" if number else "similarity",
        scorer=first.scorer,
        weight=similarity.weight,
        metric="similarity",
    )
    return GradedCase(criterion=criterion, full=similarity.weight)


def _customized(notes: Notes, customized: Customized, loc: Loc) -> GradedCase:
    label = customized.real_metric_type or "customized"
    if label not in (*KINDS, "customized"):
        notes.warn(
            (*loc, "real_metric_type"),
            f"{label!r} is none of {', '.join(KINDS)}; its row is its own",
        )
    spec = Spec(name="python_check", params=_handler(notes, customized, loc))
    return GradedCase(criterion=Criterion(id="customized", scorer=spec, metric=label), full=None)


def _handler(notes: Notes, handler: WrittenHandler, loc: Loc) -> Params:
    carried = notes.module_params((*loc, "module"), handler.module)
    return {"module": handler.module, "func": handler.func, **carried}
