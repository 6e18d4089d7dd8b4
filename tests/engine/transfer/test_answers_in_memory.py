"""Answers in memory: scored here as a run, or stored with the scores that they came with."""

import asyncio
from dataclasses import replace
from typing import Any

from proctor.contracts.archive import KeptRun, KeptSuite
from proctor.core.attempt import Attempt
from proctor.core.run import RunStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.transfer.answers_in_memory import (
    InMemoryAnswers,
    examine,
    keep_new,
    keep_run,
    put_suite,
)
from proctor.store.store import Store

CASES = tuple(
    Case(
        id=name,
        messages=(Message(role="user", content=f"{name}?"),),
        criteria=(Criterion(id="e", scorer=Spec(name="exact_match")),),
        references=(name,),
    )
    for name in "abc"
)
SUITE = Suite(name="quiz", cases=CASES)
WHO = Spec(name="recorded", params={"name": "them"})


def test_answers_are_judged_once_and_replaced_when_they_change(store: Store) -> None:
    def judged(*texts: str | None) -> tuple[str, Any]:
        attempts = [Attempt.of(case.id, text) for case, text in zip(CASES, texts, strict=True)]
        given = InMemoryAnswers(
            suite=SUITE, attempts=attempts, name="mine", candidate=WHO, settings={"extra": 1}
        )
        outcome = asyncio.run(examine(given, store))
        return outcome.view.run.id, outcome.view.summary.totals

    first, totals = judged("a", "x", None)
    assert (totals.score, totals.attempts, totals.unanswered) == (1.0, 3, 1)
    run = store.runs.get("mine")
    assert (run.status, run.settings["extra"], run.candidate) == (RunStatus.COMPLETE, 1, WHO)
    again, better = judged("a", "b", None)
    assert (again, better.score, better.attempts) == (first, 2.0, 3)
    assert store.attempts.count(first) == 3


def kept(**changes: Any) -> KeptRun:
    """Return a run whose scores are not what would be given here."""
    rows = (
        (0, Attempt.of("a", "a"), {"e": Score(points=0.25, out_of=1.0)}),
        (2, Attempt.of("c", "x"), {"e": Score(points=1.0, out_of=1.0)}),
    )
    return replace(KeptRun(name="theirs", candidate=WHO, rows=rows, started=5.0), **changes)


def test_kept_scores_are_taken_as_they_are_and_silence_is_counted(store: Store) -> None:
    key = put_suite(store, SUITE)
    view = keep_run(store, SUITE, key, kept())
    totals = view.summary.totals
    assert (totals.score, totals.full, totals.unanswered) == (1.25, 3.0, 1)
    assert (view.run.imported, view.run.started, view.run.suite_key) == (False, 5.0, key)
    assert [len(row.attempts) for row in store.attempts.iter_cases(view.run.id)] == [1, 1, 1]


def test_what_another_tool_kept_is_quoted_once(store: Store) -> None:
    both = KeptSuite(suite=SUITE, runs=(kept(), kept(settings={"try": 2})))
    views, known = keep_new(store, both)
    assert ([view.run.name for view in views], known) == (["theirs", "theirs-imported"], 0)
    assert all(view.run.imported for view in views)
    assert all("imported:yes" in view.run.signature for view in views)
    assert keep_new(store, both) == ([], 2)
    changed = replace(both, runs=(kept(rows=kept().rows[:1]),))
    more, known = keep_new(store, changed)
    assert ([view.run.name for view in more], known) == (["theirs-imported-2"], 0)


def test_what_was_written_down_from_this_store_is_nothing_new(store: Store) -> None:
    own = keep_run(store, SUITE, put_suite(store, SUITE), kept()).run.id
    copies = KeptSuite(suite=SUITE, runs=(kept(copy_of=own), kept(copy_of="elsewhere")))
    views, known = keep_new(store, copies)
    assert ([view.run.name for view in views], known) == (["theirs-imported"], 1)
    assert keep_new(store, replace(copies, runs=copies.runs[:1])) == ([], 1)
    assert store.runs.get(own).imported is False
