"""The run that a reference means where a suite's baseline may be meant."""

from collections.abc import Sequence

from proctor.core.run import Run
from proctor.store.runs import BASELINE
from proctor.store.store import Store


def earlier_run(store: Store, reference: str, suite: str) -> Run | None:
    """Return the run that a reference means; ``@baseline`` is the suite's, if it has one."""
    if reference != BASELINE:
        return store.runs.get(reference)
    pinned = store.baselines.get(suite)
    return None if pinned is None else store.runs.find(pinned.run_id)


def with_baselines(store: Store, references: Sequence[str]) -> list[str]:
    """Return references to runs with ``@baseline`` resolved by the suite of the others."""
    others = [reference for reference in references if reference != BASELINE]
    if len(others) == len(references):
        return list(references)
    if not others:
        return list(references)
    suite = store.runs.get(others[0]).suite
    baseline = store.runs.get(f"{BASELINE}:{suite}").id
    return [baseline if reference == BASELINE else reference for reference in references]
