"""The grading part of an InfiBench case as criteria."""

from dataclasses import dataclass
from typing import Any

from proctor.core.suite import Criterion, Spec
from proctor.dialects.infibench_blanks import blank_params
from proctor.dialects.infibench_format import (
    BlankFilling,
    Customized,
    Grading,
    Handler,
    Reference,
    Rule,
    Similarity,
    UnitTest,
    UnitTests,
    weight_of,
)
from proctor.dialects.infibench_keywords import full_marks, keyword_rules
from proctor.dialects.infibench_notes import ORIGINAL, Notes, Params
from proctor.source import Loc

LOW = 0.3
HIGH, HIGH_ROUGE1 = 0.51, 0.53
AT: Loc = ("grading",)
KINDS = ("keywords", "blank_filling", "unit_test", "similarity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """Hold a criterion with the most points it can give; none where a function decides."""

    criterion: Criterion
    full: float | None


def criteria_of(notes: Notes, grading: Grading, lang: str) -> tuple[Graded, ...]:
    """Turn a grading into criteria, in the order in which the original adds them up."""
    found: list[Graded] = []
    if grading.keywords is not None:
        found.append(_keywords(notes, grading.keywords, (*AT, "keywords")))
    if grading.blank_filling is not None:
        found.append(_blanks(notes, grading.blank_filling, (*AT, "blank_filling")))
    if grading.unit_test is not None:
        found.append(_unit_tests(notes, grading.unit_test, lang))
    for index, similarity in enumerate(grading.similarity or ()):
        found.append(_similarity(notes, similarity, (*AT, "similarity", index)))
    if grading.customized is not None:
        found.append(_customized(notes, grading.customized, (*AT, "customized")))
    if not found:
        kinds = ", ".join(KINDS)
        notes.error(AT, "nothing is graded", hint=f"add one of {kinds} and customized")
    _check_limits(notes, grading, found)
    return tuple(found)


def _check_limits(notes: Notes, grading: Grading, found: list[Graded]) -> None:
    """Compare the limits of a case with each other and with what its criteria can give."""
    high, low = grading.max_score, grading.min_score
    if high is not None and low is not None and low > high:
        notes.error((*AT, "min_score"), f"min_score ({low:g}) is greater than max_score ({high:g})")
    if not found or any(graded.full is None for graded in found):
        return
    full = sum(graded.full or 0.0 for graded in found)
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


def _keywords(notes: Notes, items: list[Any], at: Loc) -> Graded:
    params: Params = {"rules": keyword_rules(notes, items, at)}
    for index, item in enumerate(items):
        if isinstance(item, Rule) and item.post_handler is not None:
            loc = (*at, index, "post_handler")
            params["post_handler"] = _handler(notes, item.post_handler, loc)
    criterion = _criterion(notes, "keywords", "keywords", params)
    return Graded(criterion=criterion, full=None if "post_handler" in params else full_marks(items))


def _blanks(notes: Notes, filling: BlankFilling, at: Loc) -> Graded:
    params = blank_params(notes, filling, at)
    if filling.post_handler is not None:
        params["post_handler"] = _handler(notes, filling.post_handler, (*at, "post_handler"))
    full = sum(weight_of(target) for target in filling.targets)
    criterion = _criterion(notes, "blank_filling", "blanks", params)
    return Graded(criterion=criterion, full=None if filling.post_handler else full)


def _unit_tests(notes: Notes, unit_test: UnitTests, lang: str) -> Graded:
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
    return Graded(criterion=criterion, full=sum(weight_of(test) for test in unit_test.tests))


def _unit_test(notes: Notes, test: Any, loc: Loc) -> Params:
    if not isinstance(test, UnitTest):
        return {"content": notes.spelt(loc, test)}
    made: Params = {"content": test.content}
    if test.path is not None:
        made["content"] = notes.text_of((*loc, "path"), test.path)
        if test.content is not None:
            notes.ignored(loc, ["content"], "'path' comes first")
    if test.prefix:
        made["prefix"] = test.prefix
        notes.differs(
            (*loc, "prefix"),
            "'prefix' before the answer",
            "loses it when the answer has code fences, and cuts it when it has none",
            "puts it before the code",
        )
    if test.prefix_path is not None:
        made["before"] = notes.text_of((*loc, "prefix_path"), test.prefix_path)
    if test.cleanup_path is not None:
        made["cleanup"] = notes.text_of((*loc, "cleanup_path"), test.cleanup_path)
    if test.weight != 1.0:
        made["weight"] = test.weight
    if test.timeout is not None:
        made["timeout"] = test.timeout
    if test.only_longest:
        made["only_longest"] = True
    return made


def _similarity(notes: Notes, similarity: Similarity, loc: Loc) -> Graded:
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
    return Graded(criterion=criterion, full=similarity.weight)


def _customized(notes: Notes, customized: Customized, loc: Loc) -> Graded:
    label = customized.real_metric_type or "customized"
    if label not in (*KINDS, "customized"):
        notes.warn(
            (*loc, "real_metric_type"),
            f"{label!r} is none of {', '.join(KINDS)}; its row is its own",
        )
    spec = Spec(name="python_check", params=_handler(notes, customized, loc))
    return Graded(criterion=Criterion(id="customized", scorer=spec, metric=label), full=None)


def _handler(notes: Notes, handler: Handler, loc: Loc) -> Params:
    carried = notes.module_params((*loc, "module"), handler.module)
    return {"module": handler.module, "func": handler.func, **carried}
