"""Parquet files: rows as plain values, in a process that a file may ruin and nothing else."""

import datetime
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from level import LEVEL
from proctor.errors import SuiteError, UsageError
from proctor.io import child_processes
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
