"""Runs in a store, made of the values of their cases."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from engine.compare.stored_pairs import case, row
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.run import Run, RunStatus, Summary, Totals
from proctor.core.suite import Spec, Suite
from proctor.store.store import Store


@pytest.fixture
def put(store: Store) -> Callable[..., Run]:
    """Store a run whose cases are worth what is given: a value, or a status."""

    def make(name: str, values: Mapping[str, Any], **more: Any) -> Run:
        cases = more.pop("cases", None) or [
            case(key, tags={"half": ("low" if place % 2 else "high",)})
            for place, key in enumerate(values)
        ]
        suite = Suite(
            name=more.pop("suite", "quiz"),
            cases=tuple(cases),
            reduce=more.pop("reduce", "avg"),
            cluster=more.pop("suite_cluster", ""),
        )
        key = suite_key(suite, [case_key(c) for c in cases])
        store.suites.put(suite, key, [(case_key(c), c) for c in cases])
        attempts = more.pop("attempts", 1) * len(values)
        run = Run(
            id=f"{name}-id",
            name=more.pop("called", name),
            suite=suite.name,
            suite_key=key,
            candidate=more.pop("candidate", Spec(name="recorded", params={"name": name})),
            **{"status": RunStatus.COMPLETE, "signature": "", **more},
        )
        store.runs.save(run)
        there = [(place, one) for place, one in enumerate(cases) if one.id in values]
        store.results.put(run.id, [row(place, one, values[one.id]) for place, one in there])
        totals = Totals(
            score=0.0, full=1.0, rate=0.5, spread=0.0, interval=None, cases=len(values), bounds=None,
            attempts=attempts, unanswered=0, unscored=0, errors=0, cases_unscored=0,
        )  # fmt: skip
        groups = {"half": {}, "metric": {}}
        store.summaries.save(run.id, Summary(totals=totals, groups=groups).to_json())  # type: ignore[arg-type]
        return run

    return make
