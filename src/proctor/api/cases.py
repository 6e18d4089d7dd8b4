"""Cases as people have them in Python: paths, suites, mappings, cases, tables."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any, TypeGuard, Unpack

from proctor import registry
from proctor.api.object_specs import AnyCriteria, spec_of, written_criteria
from proctor.api.options import EvaluateOptions, ReadOptions
from proctor.api.python_words import told_in_python
from proctor.api.tables import Table
from proctor.contracts.dialect import Dialect, Reading
from proctor.contracts.dialogue import Dialogue
from proctor.contracts.measure import Measure
from proctor.core.fingerprint import digest
from proctor.core.suite import Case, Criterion, Json, Spec, Suite
from proctor.engine.run.settings import SuiteSettings
from proctor.errors import Problem, SuiteError, UsageError
from proctor.suggestions import suggest

AnyCases = (
    str | os.PathLike[str] | Suite | Case | Mapping[str, Any] | Iterable[Mapping[str, Any]]
    | Iterable[Case] | Iterable[str] | Iterable[tuple[str, Any]] | Iterable[list[str]] | Table
)  # fmt: skip
"""Cases: a path, a Suite, mappings in the native format, Cases, questions, or a table."""
NAME = "cases"
"""What a suite is called that nobody named."""
LONGEST_ID = 48
LONGEST_TAG = 80
"""A longer text in a column that no case knows is no tag, and is passed over."""
ASKING = ("ask", "ask_file", "messages")
_WORDS = re.compile(r"[\W_]+")
_TEXTS = frozenset({"id", "ask", "ask_file", "system", "cluster", "source"})
_MEANT: Mapping[str, str] = {
    "question": "ask", "prompt": "ask", "input": "ask", "query": "ask", "instruction": "ask",
    "problem": "ask",
    "answer": "references", "answers": "references", "expected": "references",
    "expected_output": "references", "target": "references", "targets": "references",
    "ideal": "references", "label": "references", "ground_truth": "references",
    "gold": "references", "solution": "references", "output": "references",
    "case_id": "id", "contexts": "context",
}  # fmt: skip
"""What columns of tables that others made are called, and what they are here."""


def reading_of(
    cases: AnyCases,
    criteria: AnyCriteria | None = None,
    name: str = "",
    columns: Mapping[str, str] | None = None,
) -> Reading:
    """Read cases in memory, or raise a SuiteError with every problem."""
    if columns is not None and not isinstance(columns, Mapping):
        raise UsageError(
            f"columns= is a mapping from columns to keys of cases, not {columns!r:.80}"
            " (fix: columns={'frage': 'ask', 'antwort': 'reference'})"
        )
    if isinstance(cases, Suite):
        return _of_suite(cases, criteria)
    if isinstance(cases, Case):
        cases = [cases]
    if isinstance(cases, Mapping) and "cases" in cases:
        header = {str(key): value for key, value in cases.items() if key != "cases"}
        return _of_entries(cases["cases"], criteria, name or str(header.get("name", "")), header)
    if isinstance(cases, Mapping) and any(key in cases for key in ASKING):
        cases = [cases]
    if (rows := table_rows(cases)) is not None:
        cases = [_row_case(row, renamed) for row, renamed in _renamed(rows, columns or {})]
    elif isinstance(cases, Iterable) and not isinstance(cases, str | bytes | Mapping):
        cases = [_meant(one, columns or {}) for one in cases]
    return _of_entries(cases, criteria, name, {})


def is_path(cases: object) -> TypeGuard[str | os.PathLike[str]]:
    """Tell whether cases lie in a file or a folder."""
    return isinstance(cases, str | os.PathLike)


def reading_on_file(settings: SuiteSettings, criteria: AnyCriteria | None = None) -> Reading:
    """Read the suite at a path; criteria serve cases of our own format that have none."""
    from proctor.engine.run import read_suite

    if criteria is None:
        return read_suite.read(settings)
    name = read_suite.find_dialect(settings.path, settings.dialect).name
    if name != "native":
        raise UsageError(
            f"criteria= is for cases of our own format, and {settings.path} is in that of {name!r}"
        )
    params = {"criteria": written_criteria(criteria)}
    native: Dialect = registry.build("dialect", Spec(name="native", params=params))
    readings = native.read_all(settings.path, **settings.reading)
    if len(readings) != 1:
        raise UsageError(f"{settings.path} holds several suites; expected one")
    return readings[0]


def _of_suite(suite: Suite, criteria: Any) -> Reading:
    if all(case.criteria for case in suite.cases):
        return Reading(suite=suite)
    own = read_criteria(criteria) if criteria is not None else ()
    return Reading(suite=replace(suite, cases=[_with(case, own) for case in suite.cases]))


def _of_entries(entries: Any, criteria: Any, name: str, header: Mapping[str, Any]) -> Reading:
    if isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable):
        raise UsageError(
            f"cases are a path, a Suite, a list of mappings or a DataFrame, not {entries!r:.80}"
            " (fix: [{'ask': 'What is …?', 'reference': 'It is …'}, …])"
        )
    entries = list(entries)
    if not entries:
        raise UsageError("there are no cases: the list is empty")
    written = [(place, one) for place, one in enumerate(entries) if not isinstance(one, Case)]
    data = {
        **_written_header(header),
        "cases": _with_ids([_written_case(one, place) for place, one in written]),
    }
    cases_by_place = {place: one for place, one in enumerate(entries) if isinstance(one, Case)}
    if not written:
        return _of_suite(
            _named(Suite(name=name or NAME, cases=list(cases_by_place.values()))), criteria
        )
    reading = dialect().read_data(data, name or NAME, written_criteria(criteria))
    if not cases_by_place:
        return reading
    own = read_criteria(criteria) if criteria is not None else ()
    read = iter(reading.suite.cases)
    cases = [
        _with(cases_by_place[place], own) if place in cases_by_place else next(read)
        for place in range(len(entries))
    ]
    return replace(reading, suite=_named(replace(reading.suite, cases=cases)))


def dialect() -> Dialect:
    """Return what reads our own format."""
    native: Dialect = registry.build("dialect", Spec(name="native"))
    return native


def read_criteria(criteria: Any) -> tuple[Criterion, ...]:
    """Read criteria that serve cases which have none of their own."""
    probe = [{"id": "probe", "ask": "probe", "references": "probe"}]
    reading = dialect().read_data(probe, "criteria", written_criteria(criteria))
    return reading.suite.cases[0].criteria


def _with(case: Case, criteria: tuple[Criterion, ...]) -> Case:
    """Return a case with the criteria of all, where it has none; references alone are compared."""
    if case.criteria:
        return case
    if not criteria and case.references:
        criteria = (Criterion(id="exact_match", scorer=Spec(name="exact_match")),)
    if not criteria:
        problem = Problem(
            message="the case has neither criteria nor references",
            about=f"case {case.id!r}",
            hint="give it some, or pass criteria= for all cases",
        )
        raise SuiteError([problem])
    return replace(case, criteria=criteria)


def _named(suite: Suite) -> Suite:
    """Check that every case has an id of its own."""
    seen: set[str] = set()
    for case in suite.cases:
        if case.id in seen:
            raise UsageError(f"the id {case.id!r} is used twice: every case needs its own")
        seen.add(case.id)
    return suite


def _written_header(header: Mapping[str, Any]) -> dict[str, Json]:
    written: dict[str, Json] = {}
    for key, value in header.items():
        if key == "measures":
            several = [value] if isinstance(value, str | Mapping | Measure | type) else list(value)
            written[key] = [written_plugin("measure", one) for one in several]
        else:
            written[key] = _written_value(key, value)
    return written


def written_plugin(kind: str, plugin: Any) -> Json:
    """Write a measure or a dialogue as a suite's file would."""
    if isinstance(plugin, str | Mapping):
        return dict(plugin) if isinstance(plugin, Mapping) else plugin
    spec = spec_of(kind, plugin)
    return {spec.name: dict(spec.params)} if spec.params else spec.name


def _written_case(entry: Any, place: int) -> Json:
    """Write a case as a suite's file would."""
    if isinstance(entry, str):
        return {"ask": entry}
    if not isinstance(entry, Mapping):
        raise UsageError(
            f"case {place + 1}: expected a mapping such as {{'ask': …, 'reference': …}}, a pair of"
            f" a question and its answer, or a Case, not {entry!r:.80}"
        )
    written = {str(key): _written_value(str(key), value) for key, value in entry.items()}
    return {key: value for key, value in written.items() if value is not None}


def _written_value(key: str, value: Any) -> Json:
    if key == "criteria":
        return written_criteria(value)
    if key == "dialogue" and isinstance(value, Dialogue | type):
        return written_plugin("dialogue", value)
    return as_json(value)


def as_json(value: Any) -> Json:
    """Return a value of Python, or of a table, as JSON has it; what is no number is nothing."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if isnan(value) else value
    if isinstance(value, Mapping):
        return {str(key): as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(part) for part in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    kind = type(value)
    if kind.__module__.partition(".")[0] == "numpy":
        return as_json(value.tolist())
    if kind.__name__ in ("NAType", "NaTType"):
        return None
    return str(value)


def _with_ids(cases: list[Json]) -> list[Json]:
    """Give each case without an id one that follows from what it asks, whatever its place."""
    taken = {str(case["id"]) for case in cases if case.get("id") is not None}
    named = []
    for case in cases:
        if case.get("id") is not None:
            named.append(case)
            continue
        name = free = _id_of(case)
        number = 2
        while free in taken:
            free, number = f"{name}-{number}", number + 1
        taken.add(free)
        named.append({**case, "id": free})
    return named


def _id_of(case: Mapping[str, Json]) -> str:
    question = case.get("ask") or case.get("ask_file")
    if not question and isinstance(case.get("messages"), list) and case["messages"]:
        last = case["messages"][-1]
        question = last.get("content", "") if isinstance(last, Mapping) else ""
    text = str(question or "")
    words = _WORDS.sub("-", text.casefold()).strip("-")
    if not words:
        return f"case-{digest(text or dict(case))[:6]}"
    if len(words) <= LONGEST_ID:
        return words
    return f"{words[:LONGEST_ID].rstrip('-')}-{digest(text)[:6]}"


def table_rows(table: Any) -> list[Mapping[str, Any]] | None:
    """Return the rows of a DataFrame, an Arrow table or a data set; none for anything else."""
    root = type(table).__module__.partition(".")[0]
    if root == "pandas":
        frame = table.to_frame() if type(table).__name__ == "Series" else table
        return [dict(row) for row in frame.to_dict(orient="records")]
    if root == "polars":
        return list(table.to_dicts())
    if root == "pyarrow":
        return list(table.to_pylist())
    if root == "datasets":
        if type(table).__name__.endswith("Dict"):
            names = ", ".join(map(repr, table))
            raise UsageError(f"the data set has several splits (fix: choose one of {names})")
        return [dict(row) for row in table]
    return None


def _meant(entry: Any, columns: Mapping[str, str]) -> Any:
    """Return an entry with the keys of a case; a pair of texts is a question and its answer."""
    if columns and not isinstance(entry, Mapping):
        raise UsageError(
            f"columns= names keys of mappings or columns of a table, and a case is {entry!r:.80}"
        )
    if isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], str):
        return {"ask": entry[0], "reference": entry[1]}
    if not isinstance(entry, Mapping):
        return entry
    _check_columns(entry, columns)
    named = {columns.get(key, key): value for key, value in entry.items()}
    if any(key in named for key in (*ASKING, "vars")):
        return named
    # Nothing of it is a question here, so that it was written for another tool.
    renamed: dict[str, Any] = {}
    for key, value in named.items():
        meant = _MEANT.get(str(key), str(key))
        renamed[str(key) if meant in renamed or meant in named else meant] = value
    return renamed if "ask" in renamed else named


def _check_columns(row: Mapping[str, Any], columns: Mapping[str, str]) -> None:
    for column, name in columns.items():
        if name not in CASE_KEYS and not name.startswith(("tags.", "tag:")):
            swapped = f"write the column first: {{{name!r}: {column!r}}}"
            hint = swapped if column in CASE_KEYS else suggest(name, CASE_KEYS)
            raise UsageError(f"columns: no case has a key {name!r} ({hint})")
        if column not in row:
            there = suggest(column, [str(one) for one in row])
            raise UsageError(f"columns: there is no column {column!r} ({there})")


def _renamed(
    rows: Sequence[Mapping[str, Any]],
    named_columns: Mapping[str, str],
) -> list[tuple[Mapping[str, Any], Mapping[str, str]]]:
    """Return the rows, with what each column is that has another name than here."""
    if not rows:
        return []
    _check_columns(rows[0], named_columns)
    columns = list(rows[0])
    plain = {name: str(name).strip().lower().replace(" ", "_") for name in columns}
    names: dict[str, str] = dict(named_columns)
    taken = {name for name in plain.values() if name in ("ask", "id", "reference", "references")}
    taken |= set(named_columns.values())
    for name in columns:
        meant = None if name in names else _MEANT.get(plain[name])
        if (
            meant is not None
            and meant not in taken
            and not (meant == "references" and "reference" in taken)
        ):
            names[name] = meant
            taken.add(meant)
    if not {"ask", "messages", "ask_file"} & {*plain.values(), *names.values()}:
        there = ", ".join(repr(str(name)) for name in columns[:20])
        raise UsageError(
            f"no column of the table holds a question: there are {there}"
            " (fix: columns={…: 'ask'})"
        )
    return [(row, names) for row in rows]


CASE_KEYS = frozenset(
    {"id", "ask", "ask_file", "messages", "images", "reference", "references", "context", "hidden",
     "criteria", "weight", "full_score", "null_score", "system", "examples", "dialogue", "tags",
     "min_points", "max_points", "out_of", "files", "setup", "cluster", "source", "vars", "tools",
     "tool_choice", "tool_results", "mcp", "response_format", "solution", "state"}
)  # fmt: skip


def _row_case(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Make the case of a row; a column that no case knows is a tag."""
    case: dict[str, Any] = {}
    tags: dict[str, Any] = {}
    for column, cell in row.items():
        value = as_json(cell) if not callable(cell) else cell
        if value is None or (isinstance(value, str) and not value and column not in names):
            continue
        name = names.get(column, str(column))
        if name.startswith(("tags.", "tag:")):
            tags[re.sub(r"^tags?[.:]", "", name)] = value
        elif name in CASE_KEYS:
            case[name] = str(value) if name in _TEXTS else value
        elif isinstance(value, str | bool | int | float) and len(str(value)) <= LONGEST_TAG:
            tags[name] = value
    if tags:
        own = case.get("tags")
        case["tags"] = {**tags, **(own if isinstance(own, Mapping) else {})}
    return case


@told_in_python()
def load_suite(path: str | Path, **options: Unpack[EvaluateOptions]) -> Suite:
    """Read the suite at a path, in any of the formats that Proctor knows.

    Options are those of ``evaluate`` that are about reading: ``dialect``, ``root``, ``where``,
    ``limit`` and so on. A SuiteError lists every problem with its file and line.
    """
    from proctor.engine.run import read_suite

    settings = ReadOptions.of(options).suite(Path(path))
    return read_suite.chosen(read_suite.read(settings).suite, settings)
