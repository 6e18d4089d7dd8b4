"""A first look at a path, to tell whether it is a native suite."""

import csv
import re
from pathlib import Path
from typing import Any

from proctor.errors import MissingResource, SuiteError
from proctor.io.row_files import TABLE_ENDINGS, parquet_columns
from proctor.io.text_files import csv_delimiter, parse_json, unusable_name
from proctor.io.yaml_files import read_yaml

FIRST_LOOK = 64 * 1024

_ASKING = frozenset({"ask", "ask_file", "messages"})
_HEADER = frozenset(
    {"name", "reduce", "measures", "language", "system", "dialogue", "full_score", "null_score",
     "tags", "criteria", "description", "origin"}
)  # fmt: skip
_FOREIGN = frozenset(
    {"attempt_reduce_mode", "full_score_per_question", "null_score_per_question", "prompt_path",
     "grading"}
)  # fmt: skip
_TOP_KEY = re.compile(r"^(?:- )?[\"']?([A-Za-z_]\w*)[\"']?\s*:(?=\s|$)", re.MULTILINE)
_ANY_KEY = re.compile(
    r"(?:^|[{,]|- )\s*[\"']?(ask|ask_file|messages)[\"']?\s*:(?=\s|$)", re.MULTILINE
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
    try:
        names = parquet_columns(path)
    except MissingResource:
        return True
    except SuiteError:
        return False
    return bool(_ASKING & set(names)) and "case" not in names
