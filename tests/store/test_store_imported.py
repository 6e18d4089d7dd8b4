"""Stores of version 0.1.0: what was imported into them is marked, where that can be told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proctor.core.attempt import Attempt
from proctor.core.fingerprint import answer_key, attempt_key, case_key, suite_key
from proctor.core.run import Run
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.store.connect import migrate
from proctor.store.rows import RunAttempt
from proctor.store.schema import SORT_KEYS, VERSION_TABLE
from proctor.store.store import Store

CASE = Case(
    id="a",
    messages=(Message(role="user", content="Q"),),
    criteria=(Criterion(id="says", scorer=Spec(name="contains", params={"text": "x"})),),
)
SUITE = Suite(name="s", cases=(CASE,))


def fill(store: Store, name: str, candidate: str, key: str, score: str, **settings: Any) -> None:
    keys = [case_key(CASE)]
    whole = suite_key(SUITE, keys)
    store.suites.put(SUITE, whole, list(zip(keys, SUITE.cases, strict=True)))
    run = Run(id=name, name=name, suite="s", suite_key=whole, candidate=Spec(name=candidate), settings=settings)  # fmt: skip
    store.runs.save(run)
    store.attempts.put([(key, Attempt.of("a", "x"))])
    store.scores.put([(score, "contains", Score(points=1.0, out_of=1.0))])
    store.attempts.link(
        name, [RunAttempt(position=0, index=0, attempt_key=key, score_keys={"says": score})]
    )


def take_back(run: Callable[[str], object]) -> None:
    """Make a database what it was at version 0005."""
    for table in ("runs", "suites"):
        run(f"ALTER TABLE {table} DROP COLUMN imported")
    run("ALTER TABLE runs DROP COLUMN alive_until")
    for name in SORT_KEYS:
        run(f"DROP INDEX ix_run_results_{name}")
        run(f"ALTER TABLE run_results DROP COLUMN {name}")
    run("ALTER TABLE run_results DROP COLUMN cluster")
    for table in (
        "audits",
        "scans",
        "run_parts",
        "suite_parts",
        "baselines",
        "batches",
        "batch_calls",
    ):
        run(f"DROP TABLE {table}")
    run("ALTER TABLE labels DROP COLUMN seen")
    run("DROP TABLE store_settings")
    run(f"UPDATE {VERSION_TABLE} SET version_num = '0005'")


def test_what_was_imported_no_longer_answers(address: str) -> None:
    attempt = Attempt.of("a", "x")
    on_file = answer_key(CASE, attempt)
    with Store.open(address) as store:
        fill(store, "asked", "model", attempt_key(CASE, 0, "m"), "s1")
        fill(store, "quoted", "model", on_file, "s2")
        fill(store, "answers", "recorded", on_file, "s3")
        fill(store, "arthur", "recorded", on_file, "s4", bench_id="5a3f")
        fill(store, "shared", "agent", on_file, "s1")
        with store.database.write() as transaction:
            run = transaction.connection.exec_driver_sql
            take_back(run)
    with Store.open(address) as store:
        marks = {run.name: run.imported for run in store.runs.newest()}
        assert marks == {
            "asked": False, "quoted": True, "answers": False, "arthur": True, "shared": True,
        }  # fmt: skip
        assert store.scores.stored_keys(["s1", "s2", "s3", "s4"]) == {"s1", "s3"}
        for name in marks:
            ((_, _, ((_, scores),), _),) = store.attempts.iter_cases(name)
            assert scores["says"].points == 1.0
        store.runs.delete("shared")
        assert store.scores.stored_keys(["s1"]) == {"s1"}


def test_a_store_with_broken_rows_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with Store.open(str(path)) as store:
        for name in ("one", "two", "three"):
            fill(store, name, "model", attempt_key(CASE, 0, name), name)
        with store.database.write() as connection:
            run = connection.connection.exec_driver_sql
            run("UPDATE runs SET candidate = 'x' WHERE id = 'one'")
            run(
                "UPDATE runs SET settings = '[]', candidate = ? WHERE id = 'two'",
                (json.dumps([1]),),
            )
            run(
                "UPDATE attempts SET document = '{' WHERE key = ?", (attempt_key(CASE, 0, "three"),)
            )
            take_back(run)
            migrate(connection.connection)
        with store.database.read() as reading:
            assert reading.exec_driver_sql("SELECT sum(imported), count(*) FROM runs").one() == (
                0,
                3,
            )
