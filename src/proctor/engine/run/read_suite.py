"""Reading of a suite: find its dialect, parse it, and select cases."""

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor import origin_tables, registry
from proctor.contracts.case_spool import Part, SpooledCases
from proctor.contracts.dialect import Dialect, Reading
from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Spec, Suite
from proctor.engine.run.settings import SuiteSettings
from proctor.errors import DialectError, Problem, SuiteError, UsageError
from proctor.suggestions import LOOSELY, closest, did_you_mean

if TYPE_CHECKING:
    from proctor.core.expression import Several

FALLBACK = "native"
OWN_SIGNS: Mapping[str, Mapping[str, str]] = {
    "harbor": {".toml": ""},
    "promptfoo": {
        **dict.fromkeys((".yaml", ".yml"), r"(?m)^(providers|targets|tests)\s*:"),
        ".json": r'"(providers|targets)"\s*:',
    },
    "tau": {".json": r'"(user_scenario|instruction)"'},
    "recipe": dict.fromkeys((".yaml", ".yml"), r"(?m)^recipe\s*:"),
}
"""By suffix, what a file says that makes a dialect outside of origins worth loading."""
FIRST_LOOK = 4 * 1024 * 1024


def read(settings: SuiteSettings) -> Reading:
    """Read the one suite that the settings name."""
    readings = read_all(settings)
    if len(readings) > 1:
        names = ", ".join(reading.suite.name for reading in readings)
        raise UsageError(f"{settings.path} holds several suites ({names}); expected one")
    return readings[0]


def read_all(settings: SuiteSettings) -> Sequence[Reading]:
    """Read all suites that the settings name."""
    dialect = find_dialect(settings.path, settings.dialect)
    return dialect.read_all(settings.path, **settings.reading)


def read_each(settings: SuiteSettings) -> Sequence[Reading]:
    """Read all suites that the settings name, unusable ones with their problems."""
    dialect = find_dialect(settings.path, settings.dialect)
    return dialect.read_each(settings.path, **settings.reading)


def read_usable(settings: SuiteSettings) -> Sequence[Reading]:
    """Read all suites as ``read_each`` does; raise an error if none is usable."""
    readings = read_each(settings) if settings.in_memory is None else [settings.in_memory]
    if all(reading.problems for reading in readings):
        problems = dict.fromkeys(one for reading in readings for one in reading.problems)
        raise SuiteError(problems)
    return readings


def find_dialect(path: Path, name: str = "") -> Dialect:
    """Return the dialect with a name, or the one that recognises the path."""
    if name:
        return _dialect(name)
    if not path.exists():
        raise DialectError([_missing(path)])
    names = sorted(registry.names("dialect"), key=lambda name_tried: name_tried == FALLBACK)
    signs = {**OWN_SIGNS, **origin_tables.signs()}
    for name_tried in names:
        if _may_be(path, signs.get(name_tried)) and (dialect := _dialect(name_tried)).recognises(
            path
        ):
            return dialect
    return _dialect(FALLBACK)


def _may_be(path: Path, signs: Mapping[str, str] | None) -> bool:
    """Tell by a file's suffix and first bytes whether a dialect is worth loading."""
    if signs is None or not path.is_file():
        return True
    pattern = signs.get(path.suffix.lower())
    if not pattern:
        return pattern is not None
    try:
        with path.open("rb") as file:
            beginning = file.read(FIRST_LOOK)
    except OSError:
        return True
    return re.search(pattern.encode(), beginning) is not None


def chosen(suite: Suite, settings: SuiteSettings) -> Suite:
    """Keep the cases that are selected, match the filter, and are within the limit."""
    cases: Sequence[Case] = suite.cases
    if settings.select:
        cases = _selected(cases, settings.select)
    if settings.where:
        cases = _fulfilling(cases, settings.where)
        if not cases:
            raise UsageError(f"no case of {suite.name!r} fulfils --where {settings.where!r}")
    if settings.limit is not None:
        cases = cases[: settings.limit]
    return replace(suite, cases=tuple(cases) if isinstance(cases, list) else cases)


def case_names(case: Case, tags: set[str]) -> Mapping[str, Any]:
    """Return the names of a case for filters: id, weight, scorers and tags."""
    from proctor.core.expression import Several

    names: dict[str, Any] = dict.fromkeys(tags)
    names.update({name: _tag(values) for name, values in case.tags.items()})
    scorers = Several(criterion.scorer.name for criterion in case.criteria)
    return {**names, "id": case.id, "weight": case.weight, "scorer": scorers}


def answers(path: Path, suite: Suite, columns: str = "") -> Iterator[Attempt]:
    """Read answers on file, in the suite's own format or the native one."""
    if not path.exists():
        raise DialectError([_missing(path)])
    if columns:
        yield from _dialect(FALLBACK).answers_by(path, suite, columns)
        return
    own = _dialect(suite.dialect).answers(path, suite)
    try:
        first = next(own, None)
    except DialectError:
        if suite.dialect == FALLBACK:
            raise
        own = _dialect(FALLBACK).answers(path, suite)
        first = next(own, None)
    if first is not None:
        yield first
        yield from own


def _tag(values: tuple[str, ...]) -> "str | Several":
    from proctor.core.expression import Several

    return values[0] if len(values) == 1 else Several(values)


def _fulfilling(cases: Sequence[Case], where: str) -> Sequence[Case]:
    """Keep the cases that match an expression; spooled ones stay spooled."""
    from proctor.core.expression import Expression

    expression = Expression(where)
    tags = {name for case in cases for name in case.tags}
    names = (case_names(case, tags) for case in cases)
    places = [place for place, values in enumerate(names) if expression.holds(values)]
    if isinstance(cases, SpooledCases):
        return Part(cases, array("q", places))
    return [cases[place] for place in places]


def _selected(cases: Sequence[Case], references: tuple[str, ...]) -> list[Case]:
    chosen_cases = [case for case in cases if case.id in references or case.source in references]
    valid_names = {case.id for case in cases} | {case.source for case in cases}
    if missing := [name for name in references if name not in valid_names]:
        close = closest(missing[0], sorted(valid_names), cutoff=LOOSELY)
        meant = f" ({did_you_mean(close)})" if close else ""
        raise UsageError(f"the suite has no case {missing[0]!r}{meant}")
    return chosen_cases


def _missing(path: Path) -> Problem:
    folder = path.parent if path.parent.is_dir() else Path()
    near = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    close = closest(path.name, near)
    hint = f"did you mean {folder / close}?" if close else ""
    from proctor.engine.run.recipes import recipe_names

    if not hint and len(path.parts) == 1 and (close := closest(path.name, recipe_names())):
        hint = f"did you mean the recipe {close}? (`proctor list recipes`)"
    return Problem(message="there is no such file or folder", file=str(path), hint=hint)


def _dialect(name: str) -> Dialect:
    dialect: Dialect = registry.build("dialect", Spec(name=name))
    return dialect
