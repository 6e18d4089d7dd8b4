"""Baselines in a real store: pinned, replaced, cleared, and gone with their run."""

import pytest

from proctor.core.run import Run, RunStatus
from proctor.core.suite import Spec
from proctor.errors import StoreError
from proctor.store.baselines import Baselines
from proctor.store.store import Store
from proctor.store.upkeep import PruneChoice, prune

AWKWARD = "a\x00b\ud800c\x10d"


def save(store: Store, run_id: str, suite: str) -> None:
    store.runs.save(
        Run(
            id=run_id,
            name=f"run {run_id}",
            suite=suite,
            suite_key=f"key{len(suite)}",
            candidate=Spec(name="recorded"),
            status=RunStatus.COMPLETE,
        )
    )


def pinned(store: Store) -> dict[str, str]:
    return {baseline.suite: baseline.run_id for baseline in store.baselines.all()}


def test_one_for_each_suite_which_is_replaced_and_cleared(store: Store) -> None:
    assert isinstance(store.baselines, Baselines)
    assert store.baselines.get("quiz") is None
    assert pinned(store) == {}
    for suite, run_id in (("quiz", "one"), (AWKWARD, "two"), ("quiz", "three")):
        save(store, run_id, suite)
        store.baselines.pin(suite, run_id)
    assert pinned(store) == {AWKWARD: "two", "quiz": "three"}
    found = store.baselines.get("quiz")
    assert found is not None
    assert found.run_id == "three"
    assert found.pinned > 1_600_000_000
    assert [store.baselines.clear("quiz"), store.baselines.clear("quiz")] == [True, False]
    assert pinned(store) == {AWKWARD: "two"}


def test_a_deleted_run_is_no_baseline(store: Store) -> None:
    save(store, "one", "quiz")
    store.baselines.pin("quiz", "one")
    store.runs.delete("one")
    assert pinned(store) == {}


def test_pruning_removes_those_without_a_run_alone(store: Store) -> None:
    save(store, "one", "quiz")
    store.baselines.pin("quiz", "one")
    store.baselines.pin("other", "gone")
    prune(store, PruneChoice())
    assert pinned(store) == {"quiz": "one"}


def test_pruning_keeps_a_baseline_however_old(store: Store) -> None:
    for number in range(3):
        save(store, f"run{number}", "quiz")
    store.baselines.pin("quiz", "run0")
    done = prune(store, PruneChoice(keep=1))
    assert [run.id for run in done.pinned] == ["run0"]
    assert sorted(run.id for run in store.runs.newest()) == ["run0", "run2"]


@pytest.mark.parametrize(
    ("pins", "reference", "found"),
    [
        (["quiz"], "@baseline", "run of quiz"),
        (["quiz"], "@baseline:quiz", "run of quiz"),
        (["quiz", "maths"], "@baseline:maths", "run of maths"),
        (["quiz", "maths"], "@baseline", "write one of @baseline:maths, @baseline:quiz"),
        (["quiz"], "@baseline:maths", "the suite 'maths' has no baseline"),
        ([], "@baseline", "no suite has a baseline"),
    ],
)
def test_references(store: Store, pins: list[str], reference: str, found: str) -> None:
    for suite in pins:
        save(store, f"run of {suite}", suite)
        store.baselines.pin(suite, f"run of {suite}")
    if found.startswith("run of"):
        assert store.runs.get(reference).id == found
        return
    with pytest.raises(StoreError, match=found):
        store.runs.get(reference)
