"""Commands on runs whose cases are files: they print what they print of rows."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.store.parts.moving import move_to_parts
from proctor.store.store import Store

OTHER = [
    {"case": "capital", "output": "Lyon."},
    {"case": "sum", "output": "42"},
    {"case": "words", "output": "one and two"},
    {"case": "silent", "output": "something", "temperature": 0.5},
]
COMMANDS = [
    ("report", "a"),
    ("report", "a", "--cases", "--by", "topic"),
    *(
        ("report", "a", "--cases", "--format", kind)
        for kind in ("md", "csv", "json", "junit", "html")
    ),
    ("report", "b", "--json"),
    ("show", "a", "words"),
    ("show", "b", "silent", "--json"),
    ("list", "runs", "--json"),
    ("list", "suites", "--json"),
    ("items", "a", "b", "--json"),
    ("compare", "a", "b"),
    ("compare", "b", "a", "--by", "topic", "--json"),
    ("grid", "a", "b", "--json"),
    ("grid", "a", "b", "--differing", "--format", "csv"),
]
FORMS = ("answers", "lm-eval", "events")
CHANGES = re.compile(r'"(created|exported|written)": ?[0-9.e]+|base64,[A-Za-z0-9+/=]+')
"""Times, and pictures, whose parts are numbered through a process."""


@pytest.fixture
def store(small: Any, run_small: Callable[..., Any]) -> Path:
    """Give the store of two runs, which have labels."""
    run_small("--name", "a")
    small.answers(OTHER, "other.jsonl")
    small.json("run", "suite.yaml", "--answers", "other.jsonl", "--name", "b")
    small.write("labels.csv", "case,points,author\ncapital,right,ann\nsum,wrong,ann\n")
    small("labels", "import", "a", "labels.csv")
    return small.folder / ".proctor" / "proctor.db"


def moved(path: Path) -> None:
    with Store.open(str(path)) as store:
        for name in ("a", "b"):
            run = store.runs.get(name)
            assert move_to_parts(store, run.id, cases=3) == 2
            assert store.parts.home_of(run.id) == "parts"


@pytest.mark.slow
def test_commands_print_the_same_of_both_homes(small: Any, store: Path) -> None:
    def everything() -> dict[str, str]:
        printed = {" ".join(command): small(*command).stdout for command in COMMANDS}
        for name in (
            "run.jsonl",
            "run.parquet",
            "labels.jsonl",
            *(f"as-{kind}.jsonl" for kind in FORMS),
        ):
            (small.folder / name).unlink(missing_ok=True)
        small("export", "a", "b", "--out", "run.jsonl")
        small("export", "a", "--out", "run.parquet")
        for kind in FORMS:
            small("export", "a", "--out", f"as-{kind}.jsonl", "--as", kind)
        small("labels", "export", "a", "labels.jsonl")
        small("labels", "export", "b", "todo.csv", "--sample", "2", "--seed", "x")
        small("charts", "a", "b", "--out", "charts")
        files = ("run.jsonl", "labels.jsonl", "todo.csv", *(f"as-{kind}.jsonl" for kind in FORMS))
        printed |= {name: (small.folder / name).read_text() for name in files}
        import pyarrow.parquet as pq

        printed["run.parquet"] = str(pq.read_table(small.folder / "run.parquet").to_pylist())
        return {name: CHANGES.sub("", text) for name, text in printed.items()}

    rows = everything()
    moved(store)
    parts = everything()
    for name, text in rows.items():
        assert parts[name] == text, name


@pytest.mark.slow
def test_a_large_run_is_imported_again_as_a_quotation_and_as_ones_own(
    small: Any, store: Path
) -> None:
    moved(store)
    report = small.json("report", "a", "--cases")
    small("export", "a", "--out", "plain.jsonl")
    small("export", "a", "--own", "--out", "own.jsonl")
    small("import", "plain.jsonl", "--store", "there.db")
    imported = small.json("report", "a", "--cases", "--store", "there.db")
    assert imported["cases"] == report["cases"]
    assert imported["totals"] == report["totals"]
    small("delete", "a", "--yes")
    small("import", "own.jsonl", "--own")
    again = small.json("report", "a", "--cases")
    assert again["cases"] == report["cases"]
    assert again["run"] == report["run"]


@pytest.mark.slow
def test_the_same_command_makes_the_same_run_of_either_home(
    small: Any, store: Path, run_small: Callable[..., Any]
) -> None:
    before = small.json("report", "a", "--cases")
    moved(store)
    again = run_small("--name", "a")
    assert again["totals"] == before["totals"]
    assert small.json("report", "a", "--cases")["cases"] == before["cases"]
    changed = [
        json.loads(line) for line in (small.folder / "answers.jsonl").read_text().splitlines()
    ]
    small.answers([{**row, "output": "42 Paris one two"} for row in changed])
    better = run_small("--name", "a")
    assert better["totals"]["score"] > before["totals"]["score"]


@pytest.mark.slow
def test_deleting_large_runs_leaves_nothing_behind(small: Any, store: Path) -> None:
    moved(store)
    folder = Path(f"{store}.parts")
    assert len(list(folder.rglob("*.parquet"))) == 2 * 2 * 2 + 2
    small("delete", "a", "--yes")
    assert len(list(folder.rglob("*.parquet"))) == 2 * 2 + 2
    small("delete", "b", "--yes")
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_a_large_run_without_its_files_still_has_its_numbers(small: Any, store: Path) -> None:
    before = small.json("report", "a")
    moved(store)
    for path in Path(f"{store}.parts").rglob("*.parquet"):
        path.write_bytes(b"PAR1 nothing PAR1")
    from proctor.store.parts.column_cache import COLUMNS

    COLUMNS.clear()
    after = small.json("report", "a")
    assert after["totals"] == before["totals"]
    shown = small("report", "a", "--cases").stdout
    assert "damaged" in shown
    assert "has no case 'capital'" in small("show", "a", "capital", code=2).stderr
