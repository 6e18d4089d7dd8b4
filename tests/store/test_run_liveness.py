"""Which runs are being worked at: told by the database's clock, on SQLite and PostgreSQL."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import text

from proctor.core.run import RunStatus
from proctor.store.connect import migrate
from proctor.store.rows import RunAttempt
from proctor.store.runs import patience
from proctor.store.schema import VERSION_TABLE, metadata
from proctor.store.store import Store
from waiting import until

from .test_store_runs import make_run

RUN = make_run("abcd1234")


def status(store: Store) -> RunStatus:
    return store.runs.get(RUN.id).status


def suite_put(store: Store) -> Callable[[], None]:
    from proctor.core.suite import Suite

    return lambda: store.suites.put(Suite(name="s", cases=()), RUN.suite_key, [])


def test_a_run_is_stored_with_its_first_work_and_its_suite(store: Store) -> None:
    store.liveness.await_work(RUN, suite_put(store))
    assert store.runs.find(RUN.id) is None
    assert store.suites.newest() == []
    store.attempts.link(RUN.id, [RunAttempt(position=0, index=0, attempt_key="a", score_keys={})])
    assert status(store) is RunStatus.RUNNING
    assert len(store.suites.newest()) == 1
    assert store.liveness.leave(RUN.id)
    assert status(store) is RunStatus.INTERRUPTED
    assert not store.liveness.leave(RUN.id), "it was left already"


def test_the_first_work_and_the_run_are_stored_whole_or_not_at_all(store: Store) -> None:
    store.liveness.await_work(RUN, suite_put(store))

    def rows() -> Iterator[RunAttempt]:
        yield RunAttempt(position=0, index=0, attempt_key="a", score_keys={})
        raise RuntimeError("the power fails")

    with pytest.raises(RuntimeError):
        store.attempts.link(RUN.id, rows())
    assert store.runs.find(RUN.id) is None
    assert store.suites.newest() == []
    assert store.attempts.count(RUN.id) == 0


@pytest.mark.slow
def test_a_run_lives_while_it_gives_signs_of_life(
    store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_BEAT", "1")
    store.liveness.await_work(RUN, suite_put(store))
    store.liveness.begin(RUN.id)
    with Store.open(address) as other:
        # This machine's clock is wrong by a day; nobody asks it.
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + 86_400)
        first = real() + patience()
        while real() < first + 1:
            assert status(other) is RunStatus.RUNNING
            time.sleep(0.1)
        store.liveness._ended.set()  # as if the process were gone
        store.liveness._pulse.join()  # type: ignore[union-attr]
        until(lambda: status(other) is RunStatus.INTERRUPTED)
        assert [run.status for run in other.runs.newest()] == [RunStatus.INTERRUPTED]
        other.liveness.await_work(RUN, suite_put(other))
        other.liveness.begin(RUN.id)
        assert status(store) is RunStatus.RUNNING, "another process goes on with it"


def test_a_store_that_is_closed_leaves_its_runs_interrupted(address: str) -> None:
    with Store.open(address) as store:
        store.liveness.await_work(RUN, suite_put(store))
        store.liveness.begin(RUN.id)
    with Store.open(address) as store:
        assert status(store) is RunStatus.INTERRUPTED


def test_a_run_that_has_ended_keeps_its_status(store: Store) -> None:
    from dataclasses import replace

    store.liveness.await_work(RUN, suite_put(store))
    store.liveness.begin(RUN.id)
    store.runs.save(replace(RUN, status=RunStatus.COMPLETE, finished=2.0))
    store.liveness.leave(RUN.id)
    assert status(store) is RunStatus.COMPLETE


def test_runs_that_an_earlier_version_left_running_are_interrupted(address: str) -> None:
    columns = "id, name, suite, suite_key, candidate, settings, status, started, signature"
    row = "'abcd1234', 'n', 's', 's1', '{\"name\": \"x\", \"params\": {}}', '{}', 'running', 1, ''"
    with Store.open(address) as store, store.database.write() as transaction:
        connection: Any = transaction.connection
        metadata.drop_all(connection)
        connection.exec_driver_sql(f"DROP TABLE {VERSION_TABLE}")
        migrate(connection, "0007")
        connection.execute(text(f"INSERT INTO runs ({columns}) VALUES ({row})"))
    with Store.open(address) as store:
        assert status(store) is RunStatus.INTERRUPTED
