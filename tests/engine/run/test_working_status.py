"""A run at work: what ends it early leaves a status that is true, or nothing at all."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from proctor.core.run import Run, RunStatus
from proctor.core.suite import Spec, Suite
from proctor.engine.run.lock import allow_time_to_sum_up, at_work
from proctor.errors import ModelError, StoreError, UsageError
from proctor.store.store import Store

RUN = Run(id="id", name="n", suite="s", suite_key="k", candidate=Spec(name="m"), started=5.0)
SUITE = Suite(name="s", cases=())


def work(store: Store, error: BaseException | None, *, begin: bool = True) -> RunStatus | None:
    """Work at a run until an error ends it, and return the status that it has afterwards."""
    raises = nullcontext() if error is None else pytest.raises(type(error))
    with raises, at_work(store, RUN, lambda: store.suites.put(SUITE, "k", [])):
        if begin:
            store.liveness.begin(RUN.id)
        if error is not None:
            raise error
        store.runs.save(replace(RUN, status=RunStatus.COMPLETE, finished=9.0))
    known = store.runs.find(RUN.id)
    return None if known is None else known.status


def test_what_ends_a_run_early_is_told_by_its_status(store: Store) -> None:
    assert work(store, UsageError("refused at once"), begin=False) is None
    assert work(store, KeyboardInterrupt(), begin=False) is None
    assert work(store, UsageError("refused before any attempt")) is None
    assert work(store, KeyboardInterrupt()) is RunStatus.INTERRUPTED
    assert work(store, ValueError("a bug")) is RunStatus.INTERRUPTED
    assert work(store, StoreError("disk full")) is RunStatus.INTERRUPTED
    assert work(store, None) is RunStatus.COMPLETE


def test_a_run_that_had_its_numbers_keeps_them_when_it_is_refused(store: Store) -> None:
    assert work(store, None) is RunStatus.COMPLETE
    assert work(store, ModelError("no key", status=401)) is RunStatus.COMPLETE
    assert store.runs.get("id").finished == 9.0


@pytest.mark.parametrize(("cases", "seconds"), [(1000, []), (3000, [3.0])])
def test_summing_up_many_cases_may_take_its_time(cases: int, seconds: list[float]) -> None:
    allowed: list[float] = []
    liveness = SimpleNamespace(allow_silence=lambda _, time: allowed.append(time))
    store: Any = SimpleNamespace(liveness=liveness)
    allow_time_to_sum_up(store, RUN, cases)
    assert allowed == seconds
