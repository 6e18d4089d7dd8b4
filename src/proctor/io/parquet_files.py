"""Rows and columns of Parquet files, decoded in a process of its own, with limits."""

import json
import math
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from proctor.errors import MissingResource, SuiteError
from proctor.io.json_bytes import Json
from proctor.io.text_files import (
    LIMITS,
    MAX_COLUMNS,
    MAX_DEPTH,
    MAX_ROW,
    Document,
    file_error,
    limit,
    refuse_pipe,
    variable,
)

_MODULE = "proctor.io.parquet_process"


_MAGIC = b"PAR1"


_FEW = 1_000_000


_PATIENCE = 30.0
"""Seconds in which a process must end that has nothing more to say."""


def read_parquet(path: Path) -> Iterator[Document]:
    """Read a Parquet file, one document a row; nulls are left out.

    A small file may hold a great deal: how many rows and bytes it comes to is limited.
    """
    arrow = _arrow(path)
    limits = parquet_limits(path)
    number = 0
    with _decoding(path, "rows", limits) as process:
        try:
            with arrow.ipc.open_stream(process.stdout) as stream:
                simple = all(is_simple(arrow, field.type) for field in stream.schema)
                for batch in stream:
                    for row in plain_rows(path, arrow, batch, number, simple=simple):
                        number += 1
                        yield Document(path=path, data=row, row=number)
        except (OSError, arrow.ArrowException, ValueError):
            # The stream ends in the middle where its writer did; what that said is what counts.
            _ended(path, process)
            raise
        _ended(path, process)


def parquet_limits(path: Path) -> dict[str, int]:
    """Return how much a file may come to, by its size and by what the environment says."""
    size = _look(path)
    decoded = limit("decoded", max(LIMITS["decoded"], 200 * size))
    return {
        "rows": limit("rows", min(LIMITS["rows"], max(2 * _FEW, 8 * size))),
        "decoded": decoded,
        "row": min(MAX_ROW, decoded),
        "columns": MAX_COLUMNS,
        "depth": MAX_DEPTH // 2,
        "memory": limit("memory"),
    }


def parquet_columns(path: Path) -> list[str]:
    """Return the names of a Parquet file's columns, or raise a SuiteError."""
    _look(path)
    if (key := _state(path)) not in _COLUMNS:
        _arrow(path)
        note_columns(path, _columns(path))
    return list(_COLUMNS[key])


def note_columns(path: Path, names: Iterable[str]) -> None:
    """Note the columns of a file that some process has looked at already."""
    if len(_COLUMNS) >= _MOST_NOTED:
        _COLUMNS.clear()
    _COLUMNS[_state(path)] = tuple(names)


def _state(path: Path) -> tuple[Path, int, int]:
    status = path.stat()
    return path, status.st_size, status.st_mtime_ns


_COLUMNS: dict[tuple[Path, int, int], tuple[str, ...]] = {}
_MOST_NOTED = 64


def _columns(path: Path) -> tuple[str, ...]:
    with _decoding(path, "columns", {"memory": limit("memory")}) as process:
        assert process.stdout is not None
        text = process.stdout.read()
        _ended(path, process)
    return tuple(json.loads(text))


def _arrow(path: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise MissingResource(
            f"{path}: reading Parquet needs pyarrow (fix: pip install pyarrow)"
        ) from None
    return pyarrow


def _look(path: Path) -> int:
    """Return the size of a file that begins and ends as Parquet does."""
    try:
        size = refuse_pipe(path).st_size
        with path.open("rb") as file:
            begin = file.read(len(_MAGIC))
            file.seek(max(0, size - len(_MAGIC)))
            end = file.read(len(_MAGIC))
    except OSError as error:
        raise file_error(path, f"cannot be read: {error.strerror or error}") from None
    if begin != _MAGIC or end != _MAGIC or size < 3 * len(_MAGIC):
        raise file_error(
            path, "not readable as Parquet: it does not begin and end as such files do"
        )
    return size


@contextmanager
def _decoding(
    path: Path, what: str, limits: Mapping[str, int]
) -> Iterator["subprocess.Popen[bytes]"]:
    """Start the process that decodes a file; it ends when nobody reads any more."""
    from proctor.io import child_processes

    try:
        file = path.open("rb")
    except OSError as error:
        raise file_error(path, f"cannot be read: {error.strerror or error}") from None
    with file:
        process = child_processes.popen(
            child_processes.own_module(_MODULE, what, json.dumps(dict(limits))),
            env=child_processes.own_environment(keys=False),
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    try:
        yield process
    finally:
        process.kill()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        process.wait()


def _ended(path: Path, process: "subprocess.Popen[bytes]") -> None:
    """Raise what a process that has ended says is wrong, if anything is."""
    assert process.stderr is not None
    error_output = process.stderr.read()
    try:
        code = process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        raise file_error(path, "not readable as Parquet: its reader does not end") from None
    if code == 0:
        return
    from proctor.io.parquet_process import TOO_MUCH

    report = _last_object(error_output)
    message = report.get("message") or f"its reader ended with status {code}"
    if code != TOO_MUCH:
        raise file_error(path, f"not readable as Parquet: {message}")
    raise file_error(path, f"the file {message}", hint=_hint(str(report.get("setting", ""))))


def _last_object(output: bytes) -> dict[str, Any]:
    lines = output.strip().splitlines()
    try:
        value = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _hint(setting: str) -> str:
    return "" if setting not in LIMITS else f"if you trust it, set {variable(setting)} higher"


def plain_rows(
    path: Path, arrow: Any, batch: Any, before: int, *, simple: bool
) -> Iterator[dict[str, Json]]:
    """Yield the rows of a batch as plain values."""
    try:
        rows = batch.to_pylist()
    except (ValueError, ArithmeticError, LookupError, OSError, arrow.ArrowException) as error:
        raise _unreadable_row(path, arrow, batch, before) from error
    for row in rows:
        cells = {key: value for key, value in row.items() if value is not None}
        yield cells if simple else {key: _plain(value) for key, value in cells.items()}


def _unreadable_row(path: Path, arrow: Any, batch: Any, before: int) -> SuiteError:
    for place in range(batch.num_rows):
        try:
            batch.slice(place, 1).to_pylist()
        except (ValueError, ArithmeticError, LookupError, OSError, arrow.ArrowException) as error:
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            return file_error(
                path, f"not readable as Parquet: {reason[:200]}", before + place + 1, 1
            )
    return file_error(path, "not readable as Parquet", before + 1, 1)


def is_simple(arrow: Any, kind: Any) -> bool:
    """Tell whether the values of a type are JSON values as they are."""
    checks = (
        *(arrow.types.is_string, arrow.types.is_large_string, arrow.types.is_boolean),
        *(arrow.types.is_integer, arrow.types.is_floating),
    )
    return any(check(kind) for check in checks)


def _plain(value: Any) -> Json:
    """Return a value of a table as JSON has it: times as texts, bytes as UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        number = float(value)
        return number if math.isfinite(number) else str(value)
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        if value and all(isinstance(one, tuple) and len(one) == 2 for one in value):
            return {str(_plain(key)): _plain(inner) for key, inner in value}
        return [_plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
