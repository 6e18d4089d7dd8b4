"""The dialect of Arthur Bench: CSV files of inputs and references, and its suite files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from proctor.contracts.dialect import Dialect, Reading
from proctor.core.attempt import Attempt
from proctor.core.suite import Suite
from proctor.errors import DialectError, Problem, SuiteError, UsageError
from proctor.io.findings import Findings
from proctor.io.text_files import csv_delimiter
from proctor.origins.arthur.folder import RUN, SUITE, is_suite, read_run, read_suite
from proctor.origins.arthur.method_table import METHODS, method_named, specs_of
from proctor.origins.arthur.rows import (
    CANDIDATE,
    CONTEXT,
    ID,
    INPUT,
    REFERENCE,
    BenchCases,
    Table,
    place_id,
    read_table,
    suite_of,
)

DEFAULT = "exact_match"
OPTION = "scoring_method"


@dataclass(frozen=True)
class Bench(Dialect):
    """Arthur Bench's CSV files, and the suites and runs that it keeps as JSON."""

    name: ClassVar[str] = "bench"
    option_names: ClassVar[tuple[str, ...]] = (OPTION,)

    def recognises(self, path: Path) -> bool:
        if path.is_dir() or path.name == SUITE:
            return is_suite(path)
        if path.suffix.lower() != ".csv" or not path.is_file():
            return False
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            first = file.readline(100_000)
        header = {name.strip().strip('"') for name in first.split(csv_delimiter(first))}
        return {INPUT, REFERENCE} <= header

    def read(self, path: Path, *, compat: str = "", root: Path | None = None) -> Reading:
        return self.read_all(path, compat=compat, root=root)[0]

    def read_all(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        """Read a suite; the option ``scoring_method`` says what a CSV file is scored by."""
        self.check_options(options or {})
        method = (options or {}).get(OPTION, "")
        if path.is_dir() or path.suffix.lower() == ".json":
            if method:
                raise UsageError(f"{path} names its own scoring method")
            return (Reading(suite=read_suite(path, compat)),)
        return (Reading(suite=_from_table(path, method or DEFAULT, compat)),)

    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        """Read candidate outputs: a CSV file, or a run as Arthur Bench keeps it."""
        if path.is_dir() or path.name == RUN:
            return (attempt for _, attempt, _ in read_run(path, suite).rows)
        if path.suffix.lower() != ".csv":
            raise DialectError(f"{path}: candidate outputs are a CSV file, or a folder with {RUN}")
        table = read_table(path)
        if CANDIDATE not in table:
            raise DialectError(f"{path}: there is no column {CANDIDATE!r}")
        return _attempts(path, table, suite)


def _from_table(path: Path, name: str, compat: str) -> Suite:
    table, method = read_table(path), method_named(name)
    findings = Findings()
    for column in (INPUT, REFERENCE):
        if column not in table and (column == INPUT or method.requires_reference):
            message = f"there is no column {column!r}"
            findings.add(Problem(message=message, file=str(path), line=1))
    if not findings.errors and not table[INPUT]:
        findings.add(Problem(message="a suite needs at least one case", file=str(path)))
    ids = table.get(ID)
    if ids is not None and len(set(ids)) < len(ids):
        findings.add(Problem(message=f"the column {ID!r} has an id twice", file=str(path)))
    findings.check()
    contexts = table.get(CONTEXT)
    cases = BenchCases(
        inputs=table[INPUT],
        references=table.get(REFERENCE),
        contexts=None if contexts is None else [(text,) if text else () for text in contexts],
        ids=ids,
    )
    try:
        specs = specs_of(name, {}, compat, len(cases.inputs))
    except UsageError as error:
        raise SuiteError([Problem(message=str(error), file=str(path))]) from None
    header = Suite(name=path.stem, cases=(), compat=compat)
    return suite_of(header, cases, name, specs, METHODS[name].full)


def _attempts(path: Path, table: Table, suite: Suite) -> Iterator[Attempt]:
    """Yield one attempt a row: by id where both sides have ids, else by place."""
    outputs, contexts = table[CANDIDATE], table.get(CONTEXT)
    ids = [case.id for case in suite.cases]
    named = any(name != place_id(position) for position, name in enumerate(ids))
    rows = table[ID] if named and ID in table else None
    if rows is None and len(outputs) != len(ids):
        message = f"candidate data has {len(outputs)} tests but expected {len(ids)} tests"
        raise SuiteError([Problem(message=message, file=str(path))])
    if rows is not None and (strange := [name for name in rows if name not in set(ids)]):
        message = f"the suite has no case with the id {strange[0]!r}"
        raise SuiteError([Problem(message=message, file=str(path))])
    for position, output in enumerate(outputs):
        case_id = ids[position] if rows is None else rows[position]
        yield attempt_of(case_id, output, contexts[position] if contexts else "")


def attempt_of(case_id: str, output: str | None, context: str | Sequence[str] = "") -> Attempt:
    """Make an attempt of an output, with the context that the candidate had."""
    attempt = Attempt.of(case_id, output)
    texts = [context] if isinstance(context, str) else list(context)
    texts = [text for text in texts if text]
    return replace(attempt, notes={CONTEXT: texts}) if texts else attempt
