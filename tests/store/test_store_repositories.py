"""Repositories: each stands alone on a database, and together they share its transaction."""

import inspect
from contextlib import suppress

from proctor.core.attempt import Attempt
from proctor.core.run import Run
from proctor.core.score import Score
from proctor.core.suite import Spec
from proctor.store.calls import Calls
from proctor.store.connect import open_engine
from proctor.store.database import Database
from proctor.store.rows import CallRow, Label, RunAttempt
from proctor.store.store import Store

MOST_METHODS = 12
"""How many public methods a repository may have: one that needs more is two."""
CALL = CallRow(key="k", model="m", request={}, response={"text": "yes"})
RUN = Run(id="r1", name="one", suite="s", suite_key="key", candidate=Spec(name="answers"))


def methods_of(thing: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(thing, callable) if not name.startswith("_")}


def test_a_store_holds_repositories_and_little_else(store: Store) -> None:
    assert methods_of(Store) == {"batch", "close", "is_there", "open", "reading"}
    for name, repository in vars(store).items():
        kind = type(repository)
        assert kind.__mro__ == (kind, object), f"store.{name} inherits"
        if name != "database":
            assert len(methods_of(kind)) <= MOST_METHODS, f"store.{name} does too much"


def test_a_repository_stands_alone(address: str) -> None:
    database = Database(*open_engine(address, create=True))
    try:
        Calls(database).put([CALL])
        assert Calls(database).find("k") == CALL
    finally:
        database.close()
    with Store.open(address) as store:
        assert store.calls.find("k") == CALL


def put_everywhere(store: Store) -> None:
    store.runs.save(RUN)
    store.calls.put([CALL])
    store.attempts.put([("a", Attempt.of("c", "x"))])
    store.scores.put([("s", "equal", Score(points=1.0, out_of=1.0))])
    store.attempts.link("r1", [RunAttempt(position=0, index=0, attempt_key="a")])
    store.summaries.save("r1", {"totals": {}})
    store.labels.add(Label(run_id="r1", case_id="c"))
    store.files.put({"f": b"x"})


def contents(store: Store) -> tuple[object, ...]:
    return (
        [run.id for run in store.runs.newest()],
        list(store.calls.get_many(["k"])),
        list(store.attempts.get_many(["a"])),
        list(store.scores.get_many(["s"])),
        store.attempts.count("r1"),
        store.summaries.get("r1"),
        [label.case_id for label in store.labels.of_run("r1")],
        list(store.files.get_many(["f"])),
    )


def test_a_batch_is_one_transaction_of_all_repositories(address: str, store: Store) -> None:
    empty = contents(store)
    with Store.open(address) as other:
        with suppress(KeyError), store.batch():
            put_everywhere(store)
            whole = contents(store)
            assert contents(other) == empty, "nothing is seen outside before it lasts"
            raise KeyError
        assert contents(store) == contents(other) == empty
        with store.batch():
            put_everywhere(store)
        assert contents(store) == contents(other) == whole
        assert all(whole)


def test_what_is_damaged_is_put_again_by_its_own_repository(store: Store) -> None:
    score = Score(points=1.0, out_of=1.0)
    store.attempts.put([("same", Attempt.of("c", "x"))])
    store.scores.put([("same", "equal", score)])
    with store.database.write() as transaction:
        transaction.connection.exec_driver_sql("UPDATE attempts SET document = '['")
    assert store.attempts.get_many(["same"]) == {}
    store.scores.put([])
    assert store.scores.get_many(["same"]) == {"same": score}
    store.attempts.put([("same", Attempt.of("c", "y"))])
    assert store.attempts.get_many(["same"]) == {"same": Attempt.of("c", "y")}
