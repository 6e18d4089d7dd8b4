"""Parquet files: rows as plain values, in a process that a file may ruin and nothing else."""

import datetime
import io
import json
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from level import LEVEL
from proctor.errors import SuiteError, UsageError
from proctor.io import child_processes, parquet_process
from proctor.io.parquet_files import parquet_columns
from proctor.io.row_files import read_rows

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

BIG = "x" * 3_000_000
MEGABYTE = 2**20


def written(path: Path, columns: Any, **how: Any) -> Path:
    parquet.write_table(pyarrow.table(columns), path, **{"compression": "zstd", **how})
    return path


def rows_of(path: Path) -> list[Any]:
    return [document.data for document in read_rows(path)]


@pytest.mark.slow
def test_values_are_those_of_json(tmp_path: Path) -> None:
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    columns = {
        "text": ["a", None],
        "number": [1.5, 2.0],
        "day": [datetime.date(2026, 1, 2)] * 2,
        "at": pyarrow.array([moment.replace(tzinfo=None)] * 2, pyarrow.timestamp("ms")),
        "took": pyarrow.array([1500] * 2, pyarrow.duration("ms")),
        "exact": pyarrow.array([Decimal("1.50")] * 2),
        "bytes": [b"caf\xc3\xa9", b"\xff"],
        "list": [["a", "b"], []],
        "object": [{"a": 1}, {"a": None}],
        "map": pyarrow.array([[("k", "v")], []], pyarrow.map_(pyarrow.string(), pyarrow.string())),
        "kind": pyarrow.array(["a", "b"]).dictionary_encode(),
    }
    path = written(tmp_path / "a.parquet", columns)
    assert parquet_columns(path) == list(columns)
    first, second = rows_of(path)
    assert first == {
        "text": "a", "number": 1.5, "day": "2026-01-02", "at": "2026-01-02T03:04:05", "took": 1.5,
        "exact": 1.5, "bytes": "café", "list": ["a", "b"], "object": {"a": 1}, "map": {"k": "v"},
        "kind": "a",
    }  # fmt: skip
    assert "text" not in second
    assert (second["bytes"], second["list"], second["kind"]) == ("\ufffd", [], "b")


def text_many_times(path: Path) -> Path:
    """A text of 3 MB that stands in 100,000 rows: a kilobyte."""
    indices = pyarrow.array([0] * 100_000, pyarrow.int32())
    kind = pyarrow.DictionaryArray.from_arrays(indices, pyarrow.array([BIG]))
    return written(path, {"ask": kind})


def plain_many_times(path: Path) -> Path:
    """The same as a plain column, as any program writes it."""
    return written(path, {"id": ["a"] * 700, "ask": [BIG] * 700})


def lists_of_texts(path: Path) -> Path:
    return written(path, {"ask": [[BIG] * 5] * 80})


def one_cell(path: Path) -> Path:
    return written(path, {"ask": ["y" * 200_000_000]})


def one_list(path: Path) -> Path:
    return written(path, {"ask": pyarrow.array([[0] * 40_000_000], pyarrow.list_(pyarrow.int64()))})


def many_rows(path: Path) -> Path:
    return written(path, {"ask": ["a"] * 30_000_000})


def many_columns(path: Path) -> Path:
    return written(path, {f"c{number}": ["a"] for number in range(10_001)})


def deep_type(path: Path) -> Path:
    kind, value = pyarrow.string(), "x"
    for _ in range(50):
        kind, value = pyarrow.struct([("a", kind)]), {"a": value}
    return written(path, {"ask": pyarrow.array([value], kind)})


def far_away(path: Path) -> Path:
    return written(path, {"ask": pyarrow.array([9 * 10**14], pyarrow.timestamp("ms"))})


def not_utf8(path: Path) -> Path:
    texts = pyarrow.array([b"a", b"\xff\xfe"]).cast(pyarrow.string(), safe=False)
    return written(path, {"ask": texts})


BOMBS = [
    (text_many_times, "decodes to more than 1,073,741,824 bytes.*PROCTOR_MAX_DECODED"),
    (plain_many_times, "decodes to more than 1,073,741,824 bytes.*PROCTOR_MAX_DECODED"),
    (lists_of_texts, "decodes to more than 1,073,741,824 bytes.*PROCTOR_MAX_DECODED|"
                     "takes more than 1,024 MiB to be decoded.*PROCTOR_MAX_MEMORY"),
    (one_cell, "takes more than 1,024 MiB to be decoded.*PROCTOR_MAX_MEMORY|a row of more"),
    (one_list, "takes more than 1,024 MiB to be decoded.*PROCTOR_MAX_MEMORY|a row of more"),
    (many_rows, "has 30,000,000 rows or more; no more than 2,000,000 are read.*PROCTOR_MAX_ROWS"),
    (many_columns, "has more than 10,000 columns"),
    (deep_type, "nested more than 30 deep"),
    (far_away, r":1:1: error: not readable as Parquet: .*out of range"),
    (not_utf8, r":2:1: error: not readable as Parquet: .*utf-8"),
]  # fmt: skip
SMALL = (many_columns, deep_type, far_away, not_utf8)
"""Those that take no memory to make, and none to refuse."""
ALWAYS = (text_many_times, many_rows)


@pytest.mark.parametrize(("make", "words"), BOMBS, ids=[make.__name__ for make, _ in BOMBS])
@pytest.mark.sampled(12)
@pytest.mark.slow
def test_a_small_file_that_holds_too_much_is_refused(
    tmp_path: Path, make: Callable[[Path], Path], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if make in SMALL:
        with pytest.raises(SuiteError, match=words):
            rows_of(make(tmp_path / "suite.parquet"))
        return
    if not LEVEL.ci:
        if make not in ALWAYS:
            pytest.skip(".ci/run makes the large ones")
        # The same in a tenth of the size, which shows as much.
        monkeypatch.setattr(sys.modules[__name__], "BIG", BIG[:300_000])
        monkeypatch.setenv("PROCTOR_MAX_DECODED", str(100 * MEGABYTE))
        words = words.replace("1,073,741,824", "104,857,600")
    path = make(tmp_path / "suite.parquet")
    # What makes the file takes memory itself, so another process reads it.
    program = (
        "import re, resource, sys; from pathlib import Path; from proctor.errors import SuiteError;"
        "from proctor.io.row_files import read_rows\n"
        "try:\n    print(sum(1 for _ in read_rows(Path(sys.argv[1]))))\n"
        "except SuiteError as error:\n    print(str(error).replace(chr(10), ' '))\n"
        "own = re.search(r'VmHWM:\\s*(\\d+)', Path('/proc/self/status').read_text())\n"
        "most = max(int(own[1]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "print(most // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    said, most = done.stdout.strip().splitlines()
    assert re.search(words, said), said
    assert int(most) < 1000, "megabytes"


@pytest.mark.slow
def test_whoever_trusts_a_file_may_raise_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a.parquet", {"ask": ["a"] * 3000})
    monkeypatch.setenv("PROCTOR_MAX_ROWS", "2000")
    with pytest.raises(SuiteError, match="3,000 rows or more; no more than 2,000 are read"):
        rows_of(path)
    (tmp_path / "a.jsonl").write_text("1\n" * 3000)
    with pytest.raises(SuiteError, match="more than 2,000 rows"):
        rows_of(tmp_path / "a.jsonl")
    (tmp_path / "a.csv").write_text("a\n" + "1\n" * 3000)
    with pytest.raises(SuiteError, match="more than 2,000 rows"):
        rows_of(tmp_path / "a.csv")
    monkeypatch.setenv("PROCTOR_MAX_ROWS", "4000")
    assert len(rows_of(path)) == 3000
    monkeypatch.setenv("PROCTOR_MAX_ROWS", "many")
    with pytest.raises(UsageError, match="PROCTOR_MAX_ROWS is a whole number, not 'many'"):
        rows_of(path)


@pytest.mark.slow
def test_a_million_rows_are_read_in_little_memory(tmp_path: Path) -> None:
    count = 1_000_000
    columns = {
        "case": [f"c{number}" for number in range(count)],
        "output": [f"The answer to {number} is {number * 7}." for number in range(count)],
        "context": ["the same passage for everybody " * 10] * count,
    }
    path = written(tmp_path / "a.parquet", columns)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert sum(1 for _ in read_rows(path)) == count
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


@pytest.mark.slow
def test_nobody_is_left_behind_when_reading_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []

    really_popen = child_processes.popen

    def popen(*args: Any, **how: Any) -> Any:
        started.append(really_popen(*args, **how))
        return started[-1]

    monkeypatch.setattr(child_processes, "popen", popen)
    path = written(tmp_path / "a.parquet", {"ask": ["a" * 100_000] * 300}, use_dictionary=False)
    rows = read_rows(path)
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    (process,) = started
    assert process.returncode is not None


# the process that decodes a file, part by part


@pytest.fixture
def arrow() -> Any:
    """Give pyarrow with the parts that the process uses."""
    pytest.importorskip("pyarrow.compute")
    return pyarrow


def opened(columns: Any, **how: Any) -> Any:
    """Give a file that lies in memory."""
    target = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), target, **how)
    return parquet.ParquetFile(io.BytesIO(target.getvalue()))


ENOUGH = {"rows": 3, "columns": 2, "depth": 3, "decoded": 2**20}


@pytest.mark.parametrize(
    ("limit", "words", "setting"),
    [
        ("rows", "has 3 rows or more; no more than 2 are read", "rows"),
        ("columns", "has more than 1 columns", ""),
        ("depth", "nested more than 2 deep", ""),
        ("decoded", "decodes to more than 1 bytes", "decoded"),
    ],
)
def test_what_a_file_says_of_itself_is_held_against_each_limit(
    arrow: Any, limit: str, words: str, setting: str
) -> None:
    file = opened({"text": ["a"] * 3, "lists": [[["a"]]] * 3})
    schema, about = file.schema_arrow, file.metadata
    parquet_process._check(arrow, schema, about, ENOUGH)
    least = 1 if limit == "decoded" else ENOUGH[limit] - 1
    with pytest.raises(parquet_process.LimitPassed, match=words) as caught:
        parquet_process._check(arrow, schema, about, {**ENOUGH, limit: least})
    assert caught.value.setting == setting


def test_columns_of_one_name_are_refused(arrow: Any) -> None:
    file = opened({"a": [1], "b": [2]})
    twice = arrow.schema([("b", arrow.int64()), ("a", arrow.int64()), ("b", arrow.string())])
    with pytest.raises(parquet_process.LimitPassed, match=r"columns that occur twice: b$"):
        parquet_process._check(arrow, twice, file.metadata, ENOUGH)


def test_the_depth_of_a_type_is_that_of_its_deepest_part(arrow: Any) -> None:
    text = arrow.string()
    assert parquet_process._depth(arrow, text) == 1
    branched = arrow.struct([("flat", text), ("deep", arrow.list_(arrow.list_(text)))])
    assert parquet_process._depth(arrow, branched) == 4


def test_a_piece_is_within_its_size_unless_one_row_is_larger(
    arrow: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["a" * length for length in (30, 30, 30, 200, 10)]
    batch = arrow.record_batch({"ask": texts})
    assert [piece.num_rows for piece, _ in parquet_process._pieces(arrow, batch, 10_000)] == [5]
    monkeypatch.setattr(parquet_process, "PIECE", 100)
    pieces = list(parquet_process._pieces(arrow, batch, 10_000))
    # Each row comes to 16 bytes besides its text.
    assert [(piece.num_rows, size) for piece, size in pieces] == [
        (2, 92), (1, 46), (1, 216), (1, 26),
    ]  # fmt: skip
    assert [text for piece, _ in pieces for text in piece["ask"].to_pylist()] == texts
    monkeypatch.undo()
    with pytest.raises(parquet_process.LimitPassed, match="a row of more than 215 bytes"):
        list(parquet_process._pieces(arrow, batch, 215))


def test_a_text_counts_in_every_row_that_shows_it(arrow: Any) -> None:
    repeated = arrow.DictionaryArray.from_arrays(
        arrow.array([0, 0, None], arrow.int32()), arrow.array(["x" * 50])
    )
    batch = arrow.record_batch({"kind": repeated, "text": ["äö", None, "b"]})
    fixed, sizes = parquet_process._sizes(arrow, batch)
    assert (fixed, sizes.to_pylist()) == (16, [54, 50, 1])
    numbers = arrow.record_batch({"number": arrow.array([1, 2], arrow.int64())})
    assert parquet_process._sizes(arrow, numbers) == (16 + 16 + 8, None)


def test_a_column_is_handed_over_without_its_dictionary(arrow: Any) -> None:
    column = arrow.array(["b", "a", "b"]).dictionary_encode()
    shown = parquet_process._shown(arrow, column.type)
    plain = parquet_process._plain(arrow, column, shown)
    assert (shown, plain.type, plain.to_pylist()) == (arrow.string(), shown, ["b", "a", "b"])


class Cramped:
    """A file of numbered rows whose later batches only fit when they are small."""

    def __init__(self, fits: int) -> None:
        self.fits, self.sizes = fits, list[int]()

    def iter_batches(self, batch_size: int, **how: Any) -> Any:
        self.sizes.append(batch_size)
        for start in range(0, 100, batch_size):
            if start and batch_size > self.fits:
                raise MemoryError
            yield pyarrow.record_batch({"n": list(range(start, min(100, start + batch_size)))})


def test_rows_that_do_not_fit_come_in_smaller_batches_each_once(arrow: Any) -> None:
    file = Cramped(fits=1)
    batches = parquet_process._of_group(arrow, file, 0, 64)
    assert [row for batch in batches for row in batch["n"].to_pylist()] == list(range(100))
    assert file.sizes == [64, 2, 1]
    with pytest.raises(MemoryError):
        list(parquet_process._of_group(arrow, Cramped(fits=0), 0, 64))


@pytest.mark.parametrize(
    ("rows", "size", "at_once"), [(10, 10, 1024), (4, 8 * MEGABYTE, 4), (1, 2**40, 1), (0, 0, 1024)]
)
def test_fewer_rows_are_read_at_once_where_each_is_large(
    arrow: Any, rows: int, size: int, at_once: int
) -> None:
    group = SimpleNamespace(num_rows=rows, total_byte_size=size)
    file: Any = Cramped(fits=10_000)
    file.metadata = SimpleNamespace(num_row_groups=1, row_group=lambda place: group)
    list(parquet_process._batches(arrow, file))
    assert file.sizes == [at_once]


def test_a_failure_is_one_line_that_names_the_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert parquet_process._report_failure("x" * 600, parquet_process.TOO_MUCH, "rows") == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line) == {"message": "x" * 500, "setting": "rows"}
