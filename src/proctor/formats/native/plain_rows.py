"""Files whose rows are all plain cases: read without the models of the full format.

A plain case has an id, a question, one criterion with one value or references, and perhaps tags.
A file with any other row, or with anything that a person should be told of, is left to the reader
of the full format, which reads it from its beginning.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from proctor import registry
from proctor.contracts.case_spool import SpooledCases
from proctor.contracts.scorer import Scorer, decided_by_class
from proctor.core.suite import Case, Criterion, Json, Message, Spec, Suite
from proctor.errors import PluginError, SuiteError
from proctor.io.concurrency import PhaseCount
from proctor.io.text_files import jsonl_values, short_name
from proctor.records import maker

KEYS = frozenset({"id", "ask", "criteria", "references", "tags"})
MOST_IDS = 100_000
"""How many ids are compared; a larger file is left to the full reader, which spools them."""
_WITH_PARTS = frozenset({"keywords", "blanks", "python_check"})
"""Scorers whose parameters are written in several ways, or name a module."""
_BY_REFERENCES = frozenset({"exact_match", "token_f1", "rouge"})
_CASES, _MESSAGES, _CRITERIA, _SPECS = maker(Case), maker(Message), maker(Criterion), maker(Spec)


def read_plain(path: Path, root: Path) -> Suite | None:
    """Read a JSONL file of plain cases; None for any other file."""
    if path.suffix.lower() != ".jsonl" or not path.is_file():
        return None
    reader = _PlainReader(path, root)
    cases = SpooledCases()
    read = PhaseCount("read")
    try:
        for number, (line, row) in enumerate(jsonl_values(path), 1):
            cases.append(reader.case(row, line, number))
            read.add()
    except (_NotPlain, PluginError, SuiteError):
        return None
    if not len(cases):
        return None
    read.tell()
    return Suite(name=path.stem, cases=cases.done())


class _NotPlain(Exception):
    """A row that is left to the full reader."""


class _PlainReader:
    """Reader of the rows of one file."""

    def __init__(self, path: Path, root: Path) -> None:
        self._stem = path.stem
        self._place = short_name(path, root)
        self._ids: set[str] = set()
        self._dialogue = Spec(name="single_turn")
        self._vars: Mapping[str, Json] = {}

    def case(self, row: Json, line: int, number: int) -> Case:
        """Return the case of a row, or raise `_NotPlain`."""
        if type(row) is not dict or not row.keys() <= KEYS:
            raise _NotPlain
        case_id = _text(row["id"]) if "id" in row else f"{self._stem}-{number}"
        if not case_id or min(case_id) < " " or case_id in self._ids:
            raise _NotPlain
        if len(self._ids) >= MOST_IDS:
            raise _NotPlain
        self._ids.add(case_id)
        references = _texts(row["references"]) if "references" in row else ()
        return _CASES.make(
            id=case_id,
            messages=(_MESSAGES.make(role="user", content=_text(row.get("ask"))),),
            criteria=(_criterion(row, references),),
            references=references,
            dialogue=self._dialogue,
            tags=_tags(row["tags"]) if "tags" in row else {},
            vars=self._vars,
            source=f"{self._place}:{line}",
        )


def _criterion(row: Mapping[str, Any], references: tuple[str, ...]) -> Criterion:
    """Return the one criterion of a case: its own, or equality with its references."""
    written = row.get("criteria")
    if "criteria" not in row and references:
        written = {"exact_match": True}
    if type(written) is not dict or len(written) != 1:
        raise _NotPlain
    ((name, value),) = written.items()
    if name not in registry.BUILT_IN["scorer"] or name in _WITH_PARTS:
        raise _NotPlain
    params = _params(name, value)
    if not references and (name in _BY_REFERENCES or "references" in params.values()):
        raise _NotPlain
    spec = _SPECS.make(name=name, params=params)
    scorer: Scorer = registry.build("scorer", spec)
    if not _always_sound(type(scorer)) and not _is_sound(scorer):
        raise _NotPlain
    return _CRITERIA.make(id=name, scorer=spec)


def _is_sound(scorer: Scorer) -> bool:
    """Tell whether a scorer has no problems, and gives marks."""
    for _ in scorer.problems():
        return False
    marks = scorer.full_marks if scorer.fixed_marks and not scorer.finishes else None
    return marks is None or marks > 0


@cache
def _always_sound(kind: type[Scorer]) -> bool:
    """Tell whether all scorers of a class are sound: the contract says all that matters."""
    return decided_by_class(kind, "problems", "full_marks", "out_of")


def _params(name: str, value: Any) -> dict[str, Json]:
    """Return a scorer's parameters as the full reader does, of one text or number."""
    if value is True:
        return {}
    if type(value) is str:
        if name == "contains" and value == "references":
            return {"any": "references"}
        return _main(name, _text(value))
    # Where a text is wanted, a number keeps the spelling of its author.
    if type(value) in (int, float) and name == "number":
        return _main(name, value)
    raise _NotPlain


def _main(name: str, value: Json) -> dict[str, Json]:
    """Return a value as the main parameter of a scorer."""
    main = _main_parameter(name)
    return registry.params_from("scorer", name, value) if main is None else {main: value}


@cache
def _main_parameter(name: str) -> str | None:
    return registry.main_parameter("scorer", name)


def _tags(written: Any) -> dict[str, tuple[str, ...]]:
    if type(written) is not dict or not written:
        raise _NotPlain
    return {_text(name): _texts(values) for name, values in written.items()}


def _texts(written: Any) -> tuple[str, ...]:
    if type(written) is list and written:
        return tuple(map(_text, written))
    return (_text(written),)


def _text(written: Any) -> str:
    """Return a text that can be written as UTF-8."""
    if type(written) is not str:
        raise _NotPlain
    if not written.isascii():
        try:
            written.encode()
        except UnicodeEncodeError:
            raise _NotPlain from None
    return written
