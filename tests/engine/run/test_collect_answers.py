"""Answers on file: those that were asked for, at the places of their cases, and silence counted."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from proctor.contracts.case_spool import CaseFinder
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.run import Run
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run import read_suite
from proctor.engine.run.attempt_writer import AttemptWriter
from proctor.engine.run.collect_answers import AnswerImporter, answer_row, requested_attempts
from proctor.engine.run.scorer_pool import Scorers
from proctor.store.store import Store

EXACT = Criterion(id="e", scorer=Spec(name="exact_match"))
CASES = tuple(
    Case(id=name, messages=(Message(role="user", content=name),), criteria=(EXACT,))
    for name in "abc"
)
SUITE = Suite(name="s", cases=CASES)
Link = Callable[..., tuple[int, dict[tuple[str, int], Attempt]]]


def test_answers_come_with_the_place_of_their_case() -> None:
    answers = [
        Attempt.of("c", "1"),
        Attempt.of("other", "1"),
        Attempt.of("a", "1"),
        Attempt.of("a", "2", index=1),
    ]

    def places(attempts: int | None) -> list[tuple[int, int]]:
        found = requested_attempts(answers, CaseFinder(CASES), attempts)
        return [(place, attempt.index) for place, attempt in found]

    assert places(None) == [(2, 0), (0, 0), (0, 1)]
    assert places(1) == [(2, 0), (0, 0)]
    assert places(2) == places(None)


def test_only_an_answer_is_to_be_scored() -> None:
    scorers = Scorers()
    answered = answer_row(4, CASES[0], Attempt.of("a", "x", index=2), scorers)
    assert (answered.position, answered.index, list(answered.score_keys)) == (4, 2, ["e"])
    silent = answer_row(4, CASES[0], Attempt.of("a", None), scorers)
    assert (dict(silent.score_keys), silent.key == answered.key) == ({}, False)


@pytest.fixture
def link(store: Store, monkeypatch: pytest.MonkeyPatch) -> Link:
    keyed = [(case_key(case), case) for case in CASES]
    key = suite_key(SUITE, [found for found, _ in keyed])
    store.suites.put(SUITE, key, keyed)
    store.runs.save(Run(id="r", name="r", suite="s", suite_key=key, candidate=Spec(name="m")))

    def make(*answers: Attempt) -> tuple[int, dict[tuple[str, int], Attempt]]:
        def read(*_: object) -> Iterator[Attempt]:
            return iter(answers)

        monkeypatch.setattr(read_suite, "answers", read)
        importer = AnswerImporter(
            writer=AttemptWriter(store, "r"), whole=SUITE, suite=SUITE, scorers=Scorers()
        )
        told: list[int] = []
        done = asyncio.run(importer.collect(Path("answers"), None, told.append))
        assert set(told) == ({len(answers)} if answers else set())
        linked = {
            (row.case.id, attempt.index): attempt
            for row in store.attempts.iter_cases("r")
            for attempt, _ in row.attempts
        }
        assert done == len(linked)
        return done, linked

    return make


def test_a_case_without_an_answer_is_unanswered_and_changed_answers_replace_all(link: Link) -> None:
    done, linked = link(Attempt.of("b", "x"), Attempt.of("b", "y", index=1))
    assert done == 4
    assert [linked[name, 0].status for name in "abc"] == [
        AttemptStatus.UNANSWERED,
        AttemptStatus.ANSWERED,
        AttemptStatus.UNANSWERED,
    ]
    again, fewer = link(Attempt.of("b", "z"), Attempt.of("a", "x"))
    assert (again, fewer["b", 0].output, ("b", 1) in fewer) == (3, "z", False)
    assert link()[1]["b", 0].status is AttemptStatus.UNANSWERED
