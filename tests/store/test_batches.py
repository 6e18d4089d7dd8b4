"""Batch jobs in the store: kept before they are handed in, forgotten when all is stored."""

from proctor.store.batches import BatchCall, Batches, BatchRow
from proctor.store.store import Store


def test_a_job_from_its_beginning_to_its_end(store: Store) -> None:
    assert isinstance(store.batches, Batches)
    calls = [
        BatchCall(key=f"k{n}", request={"messages": [{"role": "user", "content": "\ud800"}]},
                  written={"rung": "tool"} if n else {})
        for n in range(3)
    ]  # fmt: skip
    for n, model in enumerate(("one", "one", "two")):
        row = BatchRow(id=f"b{n}", model=model, remote="", created=float(9 - n))
        store.batches.add(row, calls)
    assert [row.id for row in store.batches.of_model("one")] == ["b1", "b0"]
    assert store.batches.calls("b0") == calls
    assert store.batches.pending() == 9
    store.batches.arrived("b0", "batch_7")
    assert [row.remote for row in store.batches.of_model("one")] == ["", "batch_7"]
    store.batches.remove("b0")
    assert (store.batches.calls("b0"), store.batches.pending()) == ([], 6)
    assert [row.id for row in store.batches.of_model("one")] == ["b1"]
