"""Statements for many rows: compiled once, and what they write is what SQLAlchemy would write."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Executable, event

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.score import Score
from proctor.errors import StoreError
from proctor.store.rows import CallRow, RunAttempt
from proctor.store.schema import attempts, calls, run_scores, scores
from proctor.store.store import Store
from proctor.store.transactions import PreparedStatement, PreparedStatements

AWKWARD = "a\x00b\x10c\ud800d é 巴"


class Slow(PreparedStatements):
    """Let SQLAlchemy prepare every row, as it does for other databases."""

    def execute(self, connection: Any, statement: Executable, rows: Any) -> Any:
        return connection.execute(statement, rows)


def write_all(store: Store) -> None:
    call = CallRow(key="k", model=AWKWARD, request={"a": AWKWARD}, response={}, created=2.0)
    store.calls.put([call, CallRow(key="l", model="m", request={}, cost=0.5, seconds=1.5)])
    store.calls.put([CallRow(key="k", model="kept", request={}, response={})])
    store.calls.discard([("l", 0.0), ("k", 3.0)])
    store.calls.put([CallRow(key="l", model="replaced", request={}, response={})])
    failed = Attempt(case_id="c", status=AttemptStatus.ERROR, error="no")
    store.attempts.put([("a", failed), ("b", Attempt.of("c", AWKWARD))])
    store.attempts.put([("a", Attempt.of("c", "now")), ("b", Attempt.of("c", "kept as it was"))])
    store.scores.put([("s", "contains", Score(points=1.0)), ("t", AWKWARD, Score.failed("x"))])
    store.scores.put([("s", "other", Score(points=0.0)), ("t", "again", Score(points=0.5))])
    place = RunAttempt(position=3, index=0, attempt_key="a", score_keys={AWKWARD: "s", "2": "t"})
    store.attempts.link("run", [place])


def contents(store: Store) -> list[Any]:
    with store.database.read() as connection:
        return [
            sorted(map(tuple, connection.exec_driver_sql(f"SELECT * FROM {table.name}")), key=repr)
            for table in (attempts, calls, scores, run_scores)
        ]


def test_rows_are_written_as_sqlalchemy_would_write_them(tmp_path: Path) -> None:
    found = []
    for name in ("quick", "slow"):
        with Store.open(str(tmp_path / name)) as store:
            assert store.database.engine.name == "sqlite", "SQLAlchemy takes over"
            if name == "slow":
                store.database._prepared = Slow()
            write_all(store)
            found.append(contents(store))
            assert store.calls.get_many(["l"])["l"].model == "replaced"
            assert store.attempts.get_many(["b"])["b"].output == AWKWARD
    assert found[0] == found[1]


def test_a_statement_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    original = PreparedStatement.of

    def counted(*args: Any) -> PreparedStatement:
        compiled.append(args[0])
        return original(*args)

    monkeypatch.setattr(PreparedStatement, "of", counted)
    with Store.open(str(tmp_path / "store.db")) as store:
        assert store.database.engine.name == "sqlite", "SQLAlchemy takes over"
        for number in range(3):
            store.scores.put([(f"k{number}", "contains", Score(points=1.0))])
            store.attempts.put([(f"k{number}", Attempt.of("c", "x"))])
    assert len(compiled) == 2


def test_what_the_database_refuses_is_a_store_error(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "store.db")) as store:
        missing: Any = None
        with pytest.raises(StoreError, match="NOT NULL"):
            store.calls.put([CallRow(key=missing, model=missing, request={}, response={})])
        assert store.calls.get_many(["k"]) == {}


def test_a_block_of_queries_takes_one_connection_and_sees_what_was_written_meanwhile(
    tmp_path: Path,
) -> None:
    place = str(tmp_path / "p.db")
    known = CallRow(key="k", model="m", request={}, response={"text": "yes"})
    with Store.open(place) as store, Store.open(place) as other:
        taken: list[object] = []
        event.listen(store.database.engine, "checkout", lambda *_: taken.append(1))
        with store.reading():
            assert store.runs.newest(limit=5) == []
            other.calls.put([known])
            assert store.runs.newest(limit=5) == []
            assert len(taken) == 1
            with store.reading():
                store.calls.put([replace(known, key="own")])
            assert set(store.calls.get_many(["k", "own"])) == {"k", "own"}
        assert set(store.calls.get_many(["k", "own"])) == {"k", "own"}
