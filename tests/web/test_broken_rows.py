"""A store that others write to: one row that cannot be read breaks its own line, not the page."""

import json
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from level import LEVEL
from proctor.bench import TestSuite
from proctor.cli.main import cli
from proctor.core.comparison import Comparison, Preference
from proctor.errors import ProctorError
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.web.app import make_app

NUMBERS: Sequence[Any] = (1e30, -1e30, "x", b"\xff\xfe", 9e999, 2**62)
TEXTS: Sequence[Any] = (7, b"\xff\xfe\x00", "", "\x00\x10", "<b>\u202e")
DOCUMENTS: Sequence[Any] = (
    "", "{", "null", "7", "[]", "{}", '"x"', b"\xff", "[" * 500, '{"name": 7}', '{"totals": 7}',
    '{"id": 7, "messages": 7, "criteria": [7]}', '{"points": "x", "status": "scored"}', '{"points": []}',
    '{"messages": [{"role": 1, "content": 2}], "case_id": 3}', '{"usage": {"candidate": {"calls": "x"}}, "case_id": "c"}',
    '{"totals": {"rate": "x"}, "groups": 1}', '{"judges": 7, "attempts": "x", "simulator": [1]}',
    '{"notes": {"files": 7, "rounds": {"a": 1}, "ledger": [1], "turns": 2, "flags": 3}, "case_id": "c"}',
    '{"detail": {"rules": [{}], "tests": [{}], "blanks": [{}], "panel": 7, "raw": 7, "span": "x"}}',
)  # fmt: skip
COLUMNS: dict[str, dict[str, Sequence[Any]]] = {
    "runs": {"name": TEXTS, "suite": TEXTS, "suite_key": TEXTS, "candidate": DOCUMENTS,
             "settings": DOCUMENTS, "status": TEXTS, "started": NUMBERS, "finished": NUMBERS,
             "signature": TEXTS, "imported": NUMBERS},
    "suites": {"name": TEXTS, "version": TEXTS, "dialect": TEXTS, "cases": NUMBERS,
               "created": NUMBERS, "document": DOCUMENTS, "imported": NUMBERS},
    "cases": {"document": DOCUMENTS},
    "suite_cases": {"case_id": TEXTS, "source": TEXTS, "case_key": TEXTS},
    "attempts": {"status": TEXTS, "document": DOCUMENTS},
    "scores": {"status": TEXTS, "scorer": TEXTS, "document": DOCUMENTS},
    "run_attempts": {"attempt_key": TEXTS, "number": NUMBERS},
    "run_scores": {"score_key": TEXTS, "criterion": TEXTS},
    "run_results": {"case_id": TEXTS, "status": TEXTS, "value": NUMBERS, "full": NUMBERS,
                    "weight": NUMBERS, "low": NUMBERS, "high": NUMBERS, "spread": NUMBERS,
                    "tags": DOCUMENTS, "position": ("x", -5)},
    "run_tags": {"tag": TEXTS, "value": TEXTS},
    "summaries": {"document": DOCUMENTS},
    "labels": {"points": NUMBERS, "note": TEXTS, "author": TEXTS, "case_id": TEXTS, "number": NUMBERS},
    "comparisons": {"document": DOCUMENTS, "created": NUMBERS, "outcome": TEXTS, "judge": TEXTS},
}  # fmt: skip
CHANGES = [
    (table, column, value)
    for table, columns in COLUMNS.items()
    for column, values in columns.items()
    for value in values
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a store with two runs of one suite, a battle between them, and a label."""
    place = tmp_path_factory.mktemp("broken") / "store.db"
    ids = []
    for name, answers in (("one", ["A", "b"]), ("two", ["a", None])):
        suite = TestSuite(
            "quiz", "exact_match", store=str(place),
            input_text_list=["a", "b"], reference_output_list=["A", "B"],
        )  # fmt: skip
        ids.append(suite.run(name, candidate_output_list=answers).run_id)
    other = TestSuite(
        "other", "exact_match", store=str(place), input_text_list=["c"], reference_output_list=["C"]
    )
    other.run("third", candidate_output_list=["C"])
    with Store.open(str(place)) as store:
        case = next(iter(store.results.iter_rows(ids[0]))).case_id
        compared = Comparison(
            case_id=case,
            first=ids[0],
            second=ids[1],
            outcome=Preference.FIRST,
            judge="j",
            asked="h",
        )
        store.comparisons.put([("key", "content", compared)])
        store.labels.add(Label(run_id=ids[0], case_id=case, criterion="exact_match", points=1.0))
    with sqlite3.connect(place) as database:
        database.execute("INSERT INTO run_tags VALUES (?, 'lang', 'go', 0)", (ids[0],))
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return place


@pytest.fixture
def place(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "store.db"))


def changed(place: Path, table: str, column: str, value: Any) -> None:
    """Write into the first row of a table what nobody of ours would."""
    with sqlite3.connect(place) as database:
        key = {"run_tags": "position", "run_results": "position"}.get(table, "1")
        rows = f"SELECT * FROM {table} ORDER BY {key} LIMIT 1"
        found = database.execute(rows)
        names = [one[0] for one in found.description]
        first = found.fetchone()
        where = " AND ".join(f'"{name}" IS ?' for name in names)
        database.execute(f'UPDATE {table} SET "{column}" = ? WHERE {where}', (value, *first))
        assert database.total_changes == 1
    database.close()


def requested(place: Path) -> Iterator[tuple[str, Any]]:
    """Ask for every page with every run and case that there is, and its twin."""
    with sqlite3.connect(place) as database:
        runs = [row[0] for row in database.execute("SELECT id FROM runs").fetchall()]
        suites = [row[0] for row in database.execute("SELECT key FROM suites").fetchall()]
        cases = [row[0] for row in database.execute("SELECT case_id FROM suite_cases").fetchall()]
    database.close()
    cases = [quote(case, safe="", errors="replace") for case in cases if isinstance(case, str)]
    both = "&".join(f"run={run}" for run in runs[:2])
    paths = ["/", "/?q=a", *(f"/suites/{key}" for key in suites), f"/compare?{both}&force=1",
             f"/compare?{both}&force=1&q=a&kind=worse", f"/battles?{both}", "/api/v3/bench/test_suites"]  # fmt: skip
    for run in runs[:2]:
        paths += [f"/runs/{run}", f"/runs/{run}?sort=value&order=down&q=a", f"/runs/{run}/label",
                  f"/runs/{run}?where=value+<+0.5", f"/runs/{run}/histogram.svg",
                  f"/runs/{run}/progress.json"]  # fmt: skip
        paths += [f"/runs/{run}/case?id={case}" for case in cases[:2]]
    paths += [f"/compare?{both}&case={case}" for case in cases[:1]]
    for suite in suites:
        identity = f"/api/v3/bench/test_suites/{suite[:8]}-{suite[8:12]}-{suite[12:16]}-{suite[16:20]}-{suite[20:]}"
        paths += [identity, f"{identity}/runs?sort=avg_score", f"{identity}/runs/summary"]
    with TestClient(
        make_app(str(place)), base_url="http://127.0.0.1", raise_server_exceptions=True
    ) as client:
        for path in paths:
            page, _, query = path.partition("?")
            twins = {"/": "/home.json"}
            twin = twins.get(page, page if "." in page else f"{page}.json")
            for one in dict.fromkeys((page, twin)):
                if page.startswith("/api/") and one != page:
                    continue
                yield f"{one}?{query}", client.get(f"{one}?{query}")


def commands(place: Path) -> Iterator[tuple[tuple[str, ...], Any]]:
    out = place.with_name("out")
    with sqlite3.connect(place) as database:
        runs = [row[0] for row in database.execute("SELECT id FROM runs").fetchall()]
        cases = [row[0] for row in database.execute("SELECT case_id FROM suite_cases").fetchall()]
    database.close()
    lines: list[tuple[str, ...]] = [("list", "runs"), ("list", "suites"), ("compare", *runs[:2], "--force")]  # fmt: skip
    run = runs[0]
    lines += [
        ("report", run, "--format", form, "--cases") for form in ("table", "json", "html", "junit")
    ]
    lines += [("show", run, str(cases[0]), "--full"), ("export", run, "--out", f"{out}.jsonl")]
    for line in lines:
        done = CliRunner().invoke(cli, [*line, "--store", str(place)], standalone_mode=False)
        yield line, done


def check(place: Path) -> None:
    for path, answer in requested(place):
        assert "what went wrong is in the server's log" not in answer.text, path
        if path in ("/?", "/home.json?"):
            assert answer.status_code == 200, path
            assert "third" in answer.text
        if answer.headers["content-type"] == "application/json":
            json.loads(answer.text)
    for line, done in commands(place):
        error = done.exception
        if error is not None and not isinstance(error, ProctorError | SystemExit):
            raise AssertionError(f"{line} broke") from error
        if line[0] == "list":
            assert done.exit_code == 0, (line, done.output, error)
            assert any(name in done.output for name in ("third", "quiz", "other"))


FEW = 12
"""How many of them `make test` tries, spread all over."""
TRIED = CHANGES if LEVEL.ci else CHANGES[:: len(CHANGES) // FEW]


@pytest.mark.parametrize(("table", "column", "value"), TRIED)
@pytest.mark.sampled(16)
@pytest.mark.slow
def test_pages_and_commands(place: Path, table: str, column: str, value: Any) -> None:
    changed(place, table, column, value)
    check(place)


def leaves(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in inner:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))


@pytest.mark.parametrize("bad", [2.5, "x", None, [], {}, True], ids=repr)
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_no_single_value_of_a_summary_breaks_the_lists(place: Path, bad: Any) -> None:
    with sqlite3.connect(place) as database:
        run, text = database.execute("SELECT run_id, document FROM summaries").fetchone()
    with TestClient(make_app(str(place)), base_url="http://127.0.0.1") as client:
        for path in leaves(json.loads(text)):
            document = part = json.loads(text)
            for key in path[:-1]:
                part = part[key]
            part[path[-1]] = bad
            new = (json.dumps(document), run)
            database.execute("UPDATE summaries SET document = ? WHERE run_id = ?", new)
            database.commit()
            assert client.get("/home.json").status_code == 200, path
            assert client.get(f"/runs/{run}.json").status_code in (200, 500), path
    database.close()
