"""The native dialect: recognized at a first look, and read by what its files need."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.contracts.dialect import Dialect, Reading
from proctor.core.attempt import Attempt
from proctor.core.suite import CandidatePrompt, Json, Suite
from proctor.errors import MissingResource, SuiteError
from proctor.formats.native.answers import read_answers, read_columns
from proctor.formats.native.endings import ROW_ENDINGS, SUITE_FILES
from proctor.io.row_files import TABLE_ENDINGS
from proctor.io.text_files import Document, csv_delimiter, parse_json, unusable_name
from proctor.records import dataclass

if TYPE_CHECKING:
    from proctor.contracts.shares import FileRow, ShareReader

FIRST_LOOK = 64 * 1024

_ASKING = frozenset({"ask", "ask_file", "messages", "vars"})
_HEADER = frozenset(
    {"name", "reduce", "measures", "language", "system", "dialogue", "full_score", "null_score",
     "tags", "criteria", "description", "origin", "prompts"}
)  # fmt: skip
_FOREIGN = frozenset(
    {"attempt_reduce_mode", "full_score_per_question", "null_score_per_question", "prompt_path",
     "grading"}
)  # fmt: skip
_TOP_KEY = re.compile(r"^(?:- )?[\"']?([A-Za-z_]\w*)[\"']?\s*:(?=\s|$)", re.MULTILINE)
_ANY_KEY = re.compile(
    r"(?:^|[{,]|- )\s*[\"']?(ask|ask_file|messages|vars)[\"']?\s*:(?=\s|$)", re.MULTILINE
)


def looks_native(path: Path) -> bool:
    """Tell from a path and the beginning of its content whether it is a native suite."""
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        return False
    ending = path.suffix.lower()
    if ending in (".yaml", ".yml"):
        return _yaml(path)
    if ending == ".xlsx":
        return True
    tables = dict.fromkeys(TABLE_ENDINGS, _csv)
    look = {".jsonl": _jsonl, **tables, ".parquet": _parquet}.get(ending)
    return look is not None and look(path)


def _folder(path: Path) -> bool:
    for name in ("suite.yaml", "suite.yml"):
        if (path / name).is_file():
            return looks_native(path / name)
    endings = (".yaml", ".yml", ".jsonl", ".csv", ".parquet")
    files = sorted(entry for entry in path.iterdir() if entry.suffix.lower() in endings)
    return bool(files) and looks_native(files[0])


def _start(path: Path, size: int = FIRST_LOOK) -> str:
    try:
        with path.open("rb") as file:
            return file.read(size).decode("utf-8-sig", "ignore")
    except OSError:
        return ""


def _yaml(path: Path) -> bool:
    text = _start(path)
    keys = set(_TOP_KEY.findall(text))
    if keys & _FOREIGN:
        return False
    if keys & _ASKING or ("cases" in keys and (keys & _HEADER or _ANY_KEY.search(text))):
        return True
    if "name" in keys:
        return True
    if path.stat().st_size > FIRST_LOOK:
        return False
    from proctor.io.yaml_files import read_yaml

    try:
        return _values(path, read_yaml(path).data)
    except SuiteError:
        return False


def _values(path: Path, data: Any) -> bool:
    """Look at a small file's values: flow style and lists of paths show only here."""
    if isinstance(data, list):
        return bool(data) and isinstance(data[0], dict) and bool(_ASKING & set(data[0]))
    if not isinstance(data, dict) or set(data) & _FOREIGN:
        return False
    if set(data) & (_HEADER | _ASKING):
        return True
    cases = data.get("cases")
    first = cases[0] if isinstance(cases, list) and cases else cases
    if isinstance(first, dict):
        return bool(_ASKING & set(first))
    return isinstance(first, str) and _names_native(path, first)


def _names_native(path: Path, name: str) -> bool:
    """Tell whether a suite that is but a list of paths names files that only we read."""
    if any(char in name for char in "*?[") or not name.lower().endswith((".yaml", ".yml")):
        return True
    text = "" if unusable_name(name) else _start(path.parent / name)
    keys = set(_TOP_KEY.findall(text))
    return bool(keys & (_ASKING | {"cases"})) and not keys & _FOREIGN


def _jsonl(path: Path) -> bool:
    line = _start(path, 1024 * 1024).lstrip().partition("\n")[0]
    try:
        row = parse_json(line)
    except ValueError:
        return '"ask"' in line[:FIRST_LOOK]
    return isinstance(row, dict) and (set(row) == {"suite"} or bool(_ASKING & set(row)))


def _csv(path: Path) -> bool:
    lines = _start(path).splitlines(keepends=True)
    try:
        delimiter = csv_delimiter(lines[0] if lines else "")
        header = next(csv.reader(lines, delimiter=delimiter), [])
    except csv.Error:
        return False
    return bool(_ASKING & set(header)) and "case" not in header


def _parquet(path: Path) -> bool:
    from proctor.io.parquet_files import parquet_columns

    try:
        names = parquet_columns(path)
    except MissingResource:
        return True
    except SuiteError:
        return False
    return bool(_ASKING & set(names)) and "case" not in names


@dataclass(frozen=True)
class Native(Dialect):
    """Suites and answers in Proctor's own format."""

    name = "native"
    option_names = ("columns", "run_file")
    criteria: Any = None
    """Criteria of cases that have none of their own, as a file would have them."""

    def recognises(self, path: Path) -> bool:
        return looks_native(path)

    def read_all(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        self.check_options(options or {})
        return (self._read(path, compat, root, options or {}),)

    def read(self, path: Path, *, compat: str = "", root: Path | None = None) -> Reading:
        return self._read(path, compat, root, {})

    def _read(
        self, path: Path, compat: str, root: Path | None, options: Mapping[str, str]
    ) -> Reading:
        if path.is_dir():
            there = (path / name for name in SUITE_FILES if (path / name).is_file())
            folder, path = path, next(there, path)
        else:
            folder = path.parent
        if not options and not compat and self.criteria is None:
            from proctor.formats.native.plain_rows import read_plain

            if (suite := read_plain(path, root or folder)) is not None:
                return Reading(suite=suite)
        from proctor.formats.native.reader import CaseLoader

        loader = CaseLoader(root or folder, folder)
        if columns := options.get("columns"):
            from proctor.formats.native.rows import columns_called

            loader.columns = columns_called(columns)
        defaults = loader.defaults(self.criteria, path.stem)
        if run_file := options.get("run_file"):
            defaults = loader.offers(Path(run_file), defaults)
        if path.is_dir():
            loader.folder(path, defaults)
        else:
            loader.file(path, defaults, top=True)
        loader.read.tell()
        loader.check_clusters()
        try:
            loader.findings.check()
        except SuiteError as error:
            error.rest = loader.suite(path.stem)
            raise
        if compat and compat != loader.header.compat:
            document = Document(path=path, data=None)
            message = "native suites have no other behaviour to be compatible with"
            hint = "write 'compat' among the parameters of a criterion"
            problem = document.problem((), message, hint=hint, severity="warning")
            loader.findings.warn(problem)
        return Reading(
            suite=loader.suite(path.name if path.is_dir() else path.stem),
            warnings=tuple(loader.findings.warnings),
        )

    def prompts(
        self, source: "Path | Document", *, root: Path | None = None, key: str = ""
    ) -> tuple[CandidatePrompt, ...]:
        from proctor.formats.native.prompts import prompts_at, prompts_in

        if isinstance(source, Path):
            return prompts_in(source)
        return prompts_at(source, root or source.path.parent, key)

    def read_data(self, data: Json, name: str, criteria: Json = None) -> Reading:
        from proctor.formats.native.reader import CaseLoader

        folder = Path.cwd()
        loader = CaseLoader(folder, folder)
        loader.load_values(data, name, criteria)
        loader.check_clusters()
        loader.findings.check()
        return Reading(suite=loader.suite(name), warnings=tuple(loader.findings.warnings))

    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        return read_answers(path, suite)

    def answers_by(self, path: Path, suite: Suite, columns: str) -> Iterator[Attempt]:
        return read_columns(path, suite, columns)

    def shares(
        self, path: Path, *, root: Path | None = None, first_row: "FileRow | None" = None
    ) -> "ShareReader | None":
        from proctor.formats.native.reader import CaseLoader
        from proctor.formats.native.shares import NativeShares

        rows = path.suffix.lower() in ROW_ENDINGS
        loader = CaseLoader(root or path.parent, path.parent)
        return NativeShares(path, loader, first_row) if rows else None
