"""A process that decodes one Parquet file: whatever the file does to it, only it is lost.

Its standard input is the file. ``columns`` writes their names; ``rows`` writes all rows as a stream
of record batches, none of them larger than told. What is wrong is a line on standard error.
"""

import contextlib
import json
import os
import resource
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

PIECE = 8 * 2**20
"""Bytes of rows that are handed over together, unless a single row is larger."""
MOST_ROWS_AT_ONCE = 1024
FAILED, TOO_MUCH = 1, 3
"""How this process ends where the file is broken, and where it passes a limit."""


class LimitPassed(Exception):
    """A limit that a file passes, and the setting that would move it."""

    def __init__(self, message: str, setting: str = "") -> None:
        super().__init__(message)
        self.setting = setting


def main(arguments: list[str]) -> int:
    """Do what was asked for, and return how it ended."""
    what, limits = arguments[0], json.loads(arguments[1])
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    limit_memory(limits["memory"])
    try:
        with os.fdopen(0, "rb") as source, pyarrow.PythonFile(source, "r") as file:
            if what == "columns":
                _write_columns(pyarrow.parquet.read_schema(file))
            else:
                _write_rows(pyarrow, file, limits)
    except LimitPassed as error:
        return _report_failure(str(error), TOO_MUCH, error.setting)
    except (MemoryError, pyarrow.ArrowMemoryError):
        most = limits["memory"] // 2**20
        return _report_failure(f"takes more than {most:,} MiB to be decoded", TOO_MUCH, "memory")
    except (OSError, ValueError, ArithmeticError, LookupError, TypeError) as error:
        return _report_failure(next(iter(str(error).splitlines()), type(error).__name__), FAILED)
    except (pyarrow.ArrowException, RecursionError) as error:
        return _report_failure(next(iter(str(error).splitlines()), type(error).__name__), FAILED)
    return 0


def limit_memory(most: int, whole: int = 1024 * 2**20, data: int = 256 * 2**20) -> None:
    """Let the system refuse what is more than the limit, above what there is already.

    That is about ``whole`` bytes of addresses, of which ``data`` can be written to.
    """
    for kind, base in ((resource.RLIMIT_AS, whole), (resource.RLIMIT_DATA, data)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (base + most, base + most))
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _report_failure(message: str, code: int, setting: str = "") -> int:
    sys.stderr.write(json.dumps({"message": message[:500], "setting": setting}) + "\n")
    return code


def _write_columns(schema: Any) -> None:
    sys.stdout.write(json.dumps(schema.names))


def _write_rows(pyarrow: Any, file: Any, limits: Mapping[str, int]) -> None:
    opened = opened_file(pyarrow, file, limits)
    shown = shown_schema(pyarrow, opened)
    with pyarrow.ipc.new_stream(sys.stdout.buffer, shown) as writer:
        for batch, _ in plain_batches(pyarrow, opened, limits):
            writer.write_batch(batch)
    sys.stdout.buffer.flush()


def opened_file(pyarrow: Any, file: Any, limits: Mapping[str, int]) -> Any:
    """Return a file as a ``pyarrow.parquet.ParquetFile``; LimitPassed for what says too much."""
    opened = pyarrow.parquet.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)
    _check(pyarrow, opened.schema_arrow, opened.metadata, limits)
    return opened


def shown_schema(pyarrow: Any, opened: Any) -> Any:
    """Return the columns in the types in which they are handed over."""
    schema = opened.schema_arrow
    return pyarrow.schema([(field.name, _shown(pyarrow, field.type)) for field in schema])


def plain_batches(
    pyarrow: Any, opened: Any, limits: Mapping[str, int], groups: Iterable[int] | None = None
) -> Iterator[tuple[Any, int]]:
    """Yield the rows of all groups, or of some, a few at a time, with the bytes they come to."""
    shown = shown_schema(pyarrow, opened)
    total = rows = 0
    for batch in _batches(pyarrow, opened, groups):
        rows += batch.num_rows
        if rows > limits["rows"]:
            raise _too_many_rows(rows, limits)
        for piece, size in _pieces(pyarrow, batch, limits["row"]):
            total += size
            if total > limits["decoded"]:
                raise LimitPassed(f"decodes to more than {limits['decoded']:,} bytes", "decoded")
            columns = [
                _plain(pyarrow, column, field.type)
                for column, field in zip(piece.columns, shown, strict=True)
            ]
            yield pyarrow.record_batch(columns, schema=shown), size


def _check(pyarrow: Any, schema: Any, about: Any, limits: Mapping[str, int]) -> None:
    """Refuse what a file says of itself, before any of it is decoded."""
    if about.num_rows > limits["rows"]:
        raise _too_many_rows(about.num_rows, limits)
    if about.num_columns > limits["columns"]:
        raise LimitPassed(f"has more than {limits['columns']:,} columns")
    if max((_depth(pyarrow, field.type) for field in schema), default=0) > limits["depth"]:
        raise LimitPassed(f"has columns that are nested more than {limits['depth']} deep")
    twice = sorted(name for name, times in Counter(schema.names).items() if times > 1)
    if twice:
        raise LimitPassed(f"has columns that occur twice: {', '.join(twice)[:200]}")
    decoded_size = sum(
        about.row_group(place).total_byte_size for place in range(about.num_row_groups)
    )
    if decoded_size > limits["decoded"]:
        raise LimitPassed(f"decodes to more than {limits['decoded']:,} bytes", "decoded")


def _too_many_rows(rows: int, limits: Mapping[str, int]) -> LimitPassed:
    return LimitPassed(
        f"has {rows:,} rows or more; no more than {limits['rows']:,} are read", "rows"
    )


def _batches(pyarrow: Any, file: Any, groups: Iterable[int] | None = None) -> Iterator[Any]:
    """Yield a few rows at a time: fewer where each of them is said to be large."""
    for place in range(file.metadata.num_row_groups) if groups is None else groups:
        group = file.metadata.row_group(place)
        each = max(1, group.total_byte_size // max(1, group.num_rows))
        yield from _of_group(pyarrow, file, place, max(1, min(MOST_ROWS_AT_ONCE, PIECE // each)))


def _of_group(pyarrow: Any, file: Any, place: int, size: int) -> Iterator[Any]:
    """Yield the rows of a group, fewer at a time where so many do not fit.

    A text may be written once and stand in every row, which only shows when it is decoded.
    """
    done = 0
    while True:
        seen = 0
        try:
            for batch in file.iter_batches(batch_size=size, row_groups=[place], use_threads=False):
                new = batch.slice(max(0, done - seen))
                seen += batch.num_rows
                if new.num_rows:
                    done += new.num_rows
                    yield new
            return
        except (MemoryError, pyarrow.ArrowMemoryError):
            if size == 1:
                raise
            size = max(1, size // 32)


def _pieces(pyarrow: Any, batch: Any, most: int) -> Iterator[tuple[Any, int]]:
    """Cut a batch where its rows come to enough bytes; return each piece with its size."""
    fixed, texts = _sizes(pyarrow, batch)
    whole = fixed * batch.num_rows + (0 if texts is None else pyarrow.compute.sum(texts).as_py())
    if whole <= min(PIECE, most):
        yield batch, whole
        return
    text_sizes = [0] * batch.num_rows if texts is None else texts.to_pylist()
    sizes = [fixed + size for size in text_sizes]
    start = piece_size = 0
    for place, size in enumerate(sizes):
        if size > most:
            raise LimitPassed(f"has a row of more than {most:,} bytes")
        if piece_size and piece_size + size > PIECE:
            yield batch.slice(start, place - start), piece_size
            start, piece_size = place, 0
        piece_size += size
    if start < len(sizes):
        yield batch.slice(start), piece_size


def _sizes(pyarrow: Any, batch: Any) -> tuple[int, Any]:
    """Return how many bytes every row comes to, and those of its texts besides; none without."""
    compute = pyarrow.compute
    fixed = 16
    totals = None
    for column in batch.columns:
        kind = column.type
        if pyarrow.types.is_dictionary(kind) and _is_text(pyarrow, kind.value_type):
            lengths = compute.take(compute.binary_length(column.dictionary), column.indices)
        elif _is_text(pyarrow, kind):
            lengths = compute.binary_length(column)
        else:
            fixed += 16 + column.nbytes // max(1, batch.num_rows)
            continue
        lengths = compute.fill_null(compute.cast(lengths, pyarrow.int64()), 0)
        totals = lengths if totals is None else compute.add(totals, lengths)
    return fixed, totals


def _shown(pyarrow: Any, kind: Any) -> Any:
    """Return the type in which a column is handed over."""
    return kind.value_type if pyarrow.types.is_dictionary(kind) else kind


def _plain(pyarrow: Any, column: Any, kind: Any) -> Any:
    decoded = column.dictionary_decode() if pyarrow.types.is_dictionary(column.type) else column
    return decoded if decoded.type == kind else decoded.cast(kind)


def _is_text(pyarrow: Any, kind: Any) -> bool:
    return any(
        check(kind)
        for check in (
            *(pyarrow.types.is_string, pyarrow.types.is_large_string),
            *(pyarrow.types.is_binary, pyarrow.types.is_large_binary),
        )
    )


def _depth(pyarrow: Any, kind: Any) -> int:
    """Return how deep a type is nested, without going down further than anybody may."""
    depth, level = 0, [kind]
    while level and depth < 1000:
        depth += 1
        level = [
            one.field(place).type
            for one in level
            if pyarrow.types.is_nested(one)
            for place in range(one.num_fields)
        ]
    return depth


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever asked has had enough.
        code = 0
    os._exit(code)
