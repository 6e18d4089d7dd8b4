"""The connection by the standard library: what it writes, reads and refuses is what SQLAlchemy does."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.run import Run, RunStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.errors import StoreError, StoreGone
from proctor.store import sqlite_connection
from proctor.store.batches import BatchRow
from proctor.store.rows import ResultRow, RunAttempt, SortKeys
from proctor.store.runs import sign_of_life
from proctor.store.sqlite_connection import WAIT_SECONDS, set_up
from proctor.store.store import Store
from waiting import PATIENCE

AWKWARD = "a\x00b\x10c\ud800d é 巴"


def suite_of(name: str = "s") -> tuple[Suite, list[tuple[str, Case]]]:
    cases = tuple(
        Case(
            id=f"{AWKWARD}{number}",
            messages=(Message(role="user", content="What?"),),
            criteria=(Criterion(id="c", scorer=Spec(name="contains", params={"texts": "x"})),),
            source=f"here:{number}",
        )
        for number in range(3)
    )
    keyed = [(f"case{number}", case) for number, case in enumerate(cases)]
    return Suite(name=f"{AWKWARD} {name}", cases=cases), keyed


def run_of(run_id: str = "run", **changed: Any) -> Run:
    return Run(
        id=run_id, name=AWKWARD, suite="s", suite_key="suite", candidate=Spec(name="recorded"),
        settings={"attempts": None}, started=5.0, **changed,
    )  # fmt: skip


def result(position: int, **changed: Any) -> ResultRow:
    return ResultRow(
        position=position, case_id=AWKWARD, status=ValueStatus.SCORED, value=0.5, full=1.0,
        weight=1.0, low=0.0, high=1.0, spread=0.0, tags={AWKWARD: ("1", "2")}, cluster=AWKWARD,
        sort_keys=SortKeys(attempts=1, reason=AWKWARD, cost=0.25), **changed,
    )  # fmt: skip


def write_all(store: Store) -> None:
    """Execute every statement that writes."""
    suite, keyed = suite_of()
    store.suites.put(suite, "imported", keyed, imported=True, created=3.0)
    store.suites.put(suite, "suite", keyed, created=4.0)
    store.suites.put(suite_of("renamed")[0], "suite", keyed, created=9.0)
    store.runs.save(run_of(finished=7.0, status=RunStatus.COMPLETE))
    store.runs.save(run_of("other", status=RunStatus.INTERRUPTED))
    failed = Attempt(case_id="c", status=AttemptStatus.ERROR, error="no")
    store.attempts.put([("a", failed), ("b", Attempt.of("c", AWKWARD))])
    store.attempts.put([("a", Attempt.of("c", "now")), ("b", Attempt.of("c", "kept as it was"))])
    store.scores.put([("s", "contains", Score(points=1.0)), ("t", AWKWARD, Score.failed("x"))])
    store.scores.put([("s", "other", Score(points=0.0)), ("t", "again", Score(points=0.5))])
    place = RunAttempt(position=3, index=0, attempt_key="a", score_keys={AWKWARD: "s", "2": "t"})
    store.attempts.link("run", [place])
    store.results.put("run", [result(0), result(1)])
    store.results.put("run", [result(2)])
    store.summaries.save("run", {"first": 1})
    store.summaries.save("run", {"second": AWKWARD})
    store.files.put({"f": b"\x00\xff"})
    left = Attempt(case_id="c", notes={"files": [{"a.txt": "f"}]})
    store.attempts.put([("l", left)])


def read_all(store: Store) -> list[Any]:
    """Execute every statement that reads."""
    keys = ["a", "b", "s", "t", "none"]
    return [
        store.attempts.stored_keys(keys), store.attempts.get_many(keys),
        store.attempts.count("run"), store.attempts.count("none"),
        store.scores.stored_keys(keys), store.scores.get_many(keys), store.scores.count("run"),
        store.runs.find("run"), store.runs.find("none"), store.runs.named(AWKWARD),
        store.runs.get("othe"), store.runs.is_reviewed("run"),
        store.summaries.get("run"), store.summaries.get("none"),
        store.homes.run("run"), store.homes.suite("suite"),
    ]  # fmt: skip


def contents(path: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {
            name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
            for (name,) in tables.fetchall()
            if name != "store_settings"
        }


def test_the_same_is_written_and_read_as_by_sqlalchemy(tmp_path: Path) -> None:
    direct, other = tmp_path / "direct.db", tmp_path / "other.db"
    with Store.open(str(direct)) as one, Store.open(f"sqlite:///{other}") as two:
        for store in (one, two):
            write_all(store)
        read = read_all(one)
        assert read == read_all(two)
        assert one.database._engine is None, "SQLAlchemy took no part in it"
        assert two.database._direct is None
        with pytest.raises(StoreError, match="there is no run 'nobody'") as mine:
            one.runs.get("nobody")
        with pytest.raises(StoreError) as its:
            two.runs.get("nobody")
        assert str(mine.value) == str(its.value).replace(str(other), str(direct))
    assert contents(direct) == contents(other)


JOB = BatchRow(id="k", model="m", remote="", created=1.0)


@pytest.mark.parametrize("count", [99, 100, 124, 125, 126])
def test_many_rows_are_written_as_single_ones(tmp_path: Path, count: int) -> None:
    direct, other = tmp_path / "direct.db", tmp_path / "other.db"
    with Store.open(str(direct)) as one, Store.open(f"sqlite:///{other}") as two:
        for store in (one, two):
            suite, _ = suite_of()
            cases = [(f"case{n % 90}", Case(id=f"{n}", messages=(), criteria=(), source=AWKWARD))
                     for n in range(count)]  # fmt: skip
            store.suites.put(suite, "suite", cases, created=4.0)
            failed = Attempt(case_id="c", status=AttemptStatus.ERROR, error="no")
            store.attempts.put((f"a{n % 95}", failed) for n in range(count))
            store.attempts.put((f"a{n}", Attempt.of("c", f"{AWKWARD}{n}")) for n in range(count))
            store.attempts.put((f"a{n}", Attempt.of("c", "late")) for n in range(count))
            store.scores.put((f"s{n}", "contains", Score(points=n / 7)) for n in range(count))
            links = [RunAttempt(position=n, index=0, attempt_key=f"a{n}", score_keys={"c": f"s{n}"})
                     for n in range(count)]  # fmt: skip
            store.attempts.link("run", links)
            store.results.put("run", [result(n) for n in range(count)])
        assert one.database._engine is None
    assert contents(direct) == contents(other)


def broken_batch(store: Store) -> None:
    with store.batch():
        store.scores.put([("s", "contains", Score(points=1.0))])
        store.batches.add(JOB, [])
        assert store.batches.of_model("m") == [JOB]
        store.scores.put([("t", "contains", Score(points=1.0))])
        _ = 1 / 0


def test_what_is_no_text_is_executed_in_the_same_transaction(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "x.db")) as store:
        with pytest.raises(ZeroDivisionError):
            broken_batch(store)
        assert store.scores.stored_keys(["s", "t"]) == set()
        assert store.batches.of_model("m") == []
    with Store.open(str(tmp_path / "x.db")) as store:
        with store.batch():
            store.scores.put([("s", "contains", Score(points=1.0))])
            store.batches.add(JOB, [])
            store.scores.put([("t", "contains", Score(points=1.0))])
            assert store.database._direct is not None
        assert store.scores.stored_keys(["s", "t"]) == {"s", "t"}
        assert store.batches.of_model("m") == [JOB]
        assert store.database._direct is None, "SQLAlchemy has taken over"


def interrupted_batch(store: Store) -> None:
    with store.batch():
        store.scores.put([("t", "contains", Score(points=1.0))])
        raise KeyboardInterrupt


def test_a_transaction_is_all_or_nothing_and_seen_by_others_at_its_end(tmp_path: Path) -> None:
    path = str(tmp_path / "x.db")
    with Store.open(path) as one, Store.open(path) as two:
        with one.batch():
            one.scores.put([("s", "contains", Score(points=1.0))])
            assert one.scores.stored_keys(["s"]) == {"s"}
            assert two.scores.stored_keys(["s"]) == set()
        assert two.scores.stored_keys(["s"]) == {"s"}
        with pytest.raises(KeyboardInterrupt):
            interrupted_batch(one)
        assert two.scores.stored_keys(["s", "t"]) == {"s"}
        two.scores.put([("t", "contains", Score(points=1.0))])


def test_many_keys_and_none_are_asked_for(tmp_path: Path) -> None:
    keys = [f"k{number}" for number in range(1203)]
    with Store.open(str(tmp_path / "x.db")) as store:
        store.scores.put((key, "contains", Score(points=1.0)) for key in keys)
        assert store.scores.stored_keys([*keys, "other"]) == set(keys)
        assert store.scores.stored_keys([]) == set()
        statement = sqlite_connection.SqliteStatement(
            "SELECT 1 WHERE 1 IN (__[POSTCOMPILE_keys]) OR ? = 2", ("keys", "last"), {}, (), ()
        )
        sql, values = statement.with_keys({"keys": [], "last": 3})
        with closing(sqlite3.connect(":memory:")) as connection:
            assert connection.execute(sql, values).fetchall() == []
            sql, values = statement.with_keys({"keys": [4, 1], "last": 3})
            assert values == (4, 1, 3)
            assert connection.execute(sql, values).fetchall() == [(1,)]


def deleted(place: Path) -> None:
    place.unlink()


def replaced(place: Path) -> None:
    for path in place.parent.glob(f"{place.name}*"):
        path.unlink()
    Store.open(str(place)).close()


def journal_deleted(place: Path) -> None:
    Path(f"{place}-wal").unlink()


def read(store: Store) -> None:
    store.scores.stored_keys(["s"])


def write(store: Store) -> None:
    store.scores.put([("t", "contains", Score(points=1.0))])


def write_aside(store: Store) -> None:
    store.database.write_aside(sign_of_life, [{"run": "r", "silence": 1.0}])


def hand_over(store: Store) -> None:
    store.batches.of_model("m")


@pytest.mark.parametrize("harm", [deleted, replaced, journal_deleted])
@pytest.mark.parametrize("use", [read, write, write_aside, hand_over])
def test_a_file_that_is_gone_is_noticed(
    tmp_path: Path, harm: Callable[[Path], None], use: Callable[[Store], None]
) -> None:
    place = tmp_path / "x.db"
    with Store.open(str(place)) as store:
        store.scores.put([("s", "contains", Score(points=1.0))])
        harm(place)
        if (use, harm) == (write_aside, journal_deleted):
            return  # what is opened anew knows of no journal before it
        with pytest.raises(StoreGone):
            use(store)


def test_a_heartbeat_goes_beside_an_open_connection(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "x.db")) as store:
        store.runs.save(run_of(status=RunStatus.RUNNING))
        before = store.database.fetch_all(sqlite_runs(store), {"run_id": "run"})[0].alive_until
        store.database.write_aside(sign_of_life, [{"run": "run", "silence": 1000.0}])
        after = store.database.fetch_all(sqlite_runs(store), {"run_id": "run"})[0].alive_until
        assert after > before + 500
        assert store.database._engine is None


def sqlite_runs(_store: Store) -> Any:
    from proctor.store.runs import run_by_id

    return run_by_id


def test_a_locked_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_connection, "WAIT_SECONDS", 0.05)
    path = tmp_path / "x.db"
    with Store.open(str(path)) as store:
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        assert store.runs.named("none") == []
        with pytest.raises(StoreError, match=rf"{path} is locked by another process \(fix"):
            store.scores.put([("s", "contains", Score(points=1.0))])
        writer.execute("ROLLBACK")
        writer.close()
        store.scores.put([("s", "contains", Score(points=1.0))])
        assert store.scores.stored_keys(["s"]) == {"s"}


def test_a_row_is_read_by_names_and_in_order() -> None:
    row = sqlite_connection.StoredRow({"a": 0, "b": 1}, ("x", 2))
    assert (row.a, row.b, row[1], len(row), tuple(row)) == ("x", 2, 2, 2, ("x", 2))
    with pytest.raises(AttributeError, match="c"):
        _ = row.c


def test_what_others_wrote_into_columns_is_made_usable(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with Store.open(str(path)) as store:
        store.runs.save(run_of(status=RunStatus.COMPLETE))
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("UPDATE runs SET started = 'late', imported = 'x', name = 5")
        found = store.runs.find("run")
        with Store.open(f"sqlite:///{path}") as again:
            assert found == again.runs.find("run")
        assert found is not None
        assert (found.status, found.name, found.imported) == (RunStatus.BROKEN, "5", True)


@pytest.mark.parametrize("rows", [3, sqlite_connection.FEWEST_ROWS + 1])
@pytest.mark.parametrize("odd", [{}, {"cost": 0.5}, {"reason": AWKWARD, "tag_text": "é"}])
def test_values_that_all_rows_lack_are_stored_as_missing(
    tmp_path: Path, rows: int, odd: dict[str, Any]
) -> None:
    columns = ("position", "cost", "tokens", "reason", "tag_text", "cluster", "case_id")
    found = []
    for address in (str(tmp_path / "direct.db"), f"sqlite:///{tmp_path / 'usual.db'}"):
        with Store.open(address) as store:
            store.results.put(
                "run",
                (
                    ResultRow(
                        position=place, case_id=f"c{place}", status=ValueStatus.SCORED, value=None,
                        full=1.0, weight=1.0, low=0.0, high=1.0, spread=0.0,
                        sort_keys=SortKeys(attempts=1, **(odd if place == rows - 1 else {})),
                    )
                    for place in range(rows)
                ),
            )  # fmt: skip
        with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as file:
            query = f"SELECT {', '.join(columns)}, value FROM run_results ORDER BY position"
            found.append(file.execute(query).fetchall())
    assert found[0] == found[1]
    assert len(found[0]) == rows
    assert found[0][0][1:6] == (None,) * 5


def test_a_new_file_that_another_process_holds_is_waited_for(tmp_path: Path) -> None:
    place = tmp_path / "p.db"
    with (
        closing(sqlite3.connect(place, isolation_level=None)) as other,
        closing(sqlite3.connect(place, timeout=WAIT_SECONDS, check_same_thread=False)) as own,
    ):
        other.execute("CREATE TABLE t (a)")
        own.execute("SELECT * FROM t").fetchall()
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            own.execute("PRAGMA journal_mode=WAL")
        thread = threading.Thread(target=set_up, args=(own,))
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        other.execute("COMMIT")
        thread.join(PATIENCE)
        assert own.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_is_held_too_long_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_connection, "WAIT_SECONDS", 0.05)
    place = tmp_path / "p.db"
    with closing(sqlite3.connect(place, isolation_level=None)) as other:
        other.execute("CREATE TABLE t (a)")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another process"):
            Store.open(str(place))
