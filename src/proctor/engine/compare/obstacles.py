"""Whether two runs can be compared: what differs between them besides the candidate."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from proctor.core.fold import parse_fold
from proctor.core.run import Run, Totals
from proctor.core.suite import VARIANT, Case, Json, Suite
from proctor.engine.run.resources import resources_differ
from proctor.engine.run.settings import short_name
from proctor.store.store import Store

MOST_CHANGED = 1000
"""So many changed cases are enough to know that the suites are not the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the runs that are compared."""

    run: Run
    name: str
    """The run's name, made different from the others' where two are the same."""
    candidate: str
    suite: Suite
    """The suite without its cases."""
    totals: Totals
    tags: tuple[str, ...] = ()
    """The tags that its numbers can be broken down by."""


def obstacles(store: Store, first: Side, second: Side) -> tuple[list[str], list[str]]:
    """Return why the numbers of two runs cannot be compared, and what else to know of them."""
    refused = list(_refused(first, second))
    noted = list(_noted(first, second))
    changed, retagged, reclustered = _changed(store, first.run, second.run)
    if changed:
        many = f"{MOST_CHANGED} or more cases" if changed >= MOST_CHANGED else _cases(changed)
        refused.append(f"other question, criteria or weight under the same id in {many}")
    if retagged:
        noted.append(f"other tags in {_cases(retagged)}; those of {first.name!r} are used")
    if reclustered:
        noted.append(f"other clusters in {_cases(reclustered)}; those of {first.name!r} are used")
    return refused, noted


def _refused(first: Side, second: Side) -> Iterator[str]:
    one, two = first.run.signed.parts, second.run.signed.parts
    for name, words in ((VARIANT, f"{VARIANT} mode"), ("reduce", "way to fold attempts")):
        mine, other = getattr(first.suite, name), getattr(second.suite, name)
        if mine != other:
            yield f"the {words} differs: {mine or 'none'} and {other or 'none'}"
    for name, mine, other in second.run.signed.changed_scorers(first.run.signed):
        if "?" not in (mine, other):
            yield f"the scorer {name!r} differs: version {mine} and {other}"
    if (one.get("prompts") or two.get("prompts")) and (
        words := unlike_judges(first.run.settings, second.run.settings)
    ):
        yield words
    elif first.run.suite_key == second.run.suite_key and one.get("prompts") != two.get("prompts"):
        yield "the judge's prompt differs"
    if words := unlike_simulators(first.run.settings, second.run.settings):
        yield words
    if parse_fold(first.suite.reduce).pick != "avg" and _each(first) != _each(second):
        mine, other = f"{_each(first):g}", f"{_each(second):g}"
        yield f"the {first.suite.reduce} of {mine} attempts a case is not that of {other}"


def _noted(first: Side, second: Side) -> Iterator[str]:
    if first.run.suite != second.run.suite:
        yield f"the suites have two names: {first.run.suite!r} and {second.run.suite!r}"
    if parse_fold(first.suite.reduce).pick == "avg" and _each(first) != _each(second):
        yield (
            f"attempts a case: {_each(first):.3g} of {first.name!r}"
            f" and {_each(second):.3g} of {second.name!r}"
        )
    one, two = first.run.signed.parts, second.run.signed.parts
    if one.get("version") != two.get("version"):
        yield f"two versions of Proctor: {one.get('version')} and {two.get('version')}"
    if one.get("refused") != two.get("refused"):
        mine, other = one.get("refused") or "nothing", two.get("refused") or "nothing"
        yield f"servers refused other settings: {mine}, and {other}"
    if words := resources_differ(first.run.settings, second.run.settings):
        yield words
    for side in (first, second):
        if side.run.status != "complete":
            yield f"the run {side.name!r} is {side.run.status.value}"
        if side.run.imported:
            yield f"the run {side.name!r} was imported: its scores are what the file says"


def _changed(store: Store, first: Run, second: Run) -> tuple[int, int, int]:
    """Count the cases that differ in what moves numbers, and in tags or clusters alone."""
    changed = retagged = reclustered = 0
    for one, two in store.pairs.iter_changed_cases(first.suite_key, second.suite_key):
        if _untagged(one) != _untagged(two):
            changed += 1
        elif one.cluster != two.cluster:
            reclustered += 1
        else:
            retagged += 1
        if changed >= MOST_CHANGED:
            break
    return changed, retagged, reclustered


def _untagged(case: Case) -> Case:
    return replace(case, tags={}, cluster="", source="")


def unlike_judges(one: Mapping[str, Json], two: Mapping[str, Json]) -> str:
    """Say how the judges of two runs differ, by their settings; nothing where they do not."""
    sides = [
        [_without_address(judge) for judge in settings.get("judges", ())] for settings in (one, two)
    ]
    if sides[0] != sides[1]:
        words = "and other settings" if _named(sides[0]) == _named(sides[1]) else "and"
        return f"the judge differs: {_named(sides[0])} {words} {_named(sides[1])}"
    for name in ("combine", "repeats", "tie"):
        if one.get(name) != two.get(name):
            return f"the judge's {name!r} differs: {one.get(name)} and {two.get(name)}"
    return ""


def unlike_simulators(one: Mapping[str, Json], two: Mapping[str, Json]) -> str:
    """Say how the simulated users of two runs differ; nothing where they do not."""
    mine, other = (_without_address(settings.get("simulator")) for settings in (one, two))
    if mine == other:
        return ""
    return f"the simulator differs: {_named([mine])} and {_named([other])}"


def _without_address(choice: Json) -> Json:
    """Return what of a judge or simulator moves numbers; where it is served does not."""
    return {**choice, "model": short_name(choice.get("model", ""))} if choice else {}


def _named(choices: list[Json]) -> str:
    return ", ".join(choice["model"] for choice in choices if choice) or "none"


def _each(side: Side) -> float:
    return side.totals.attempts / side.totals.cases if side.totals.cases else 0.0


def _cases(number: int) -> str:
    return "1 case" if number == 1 else f"{number:,} cases"
