"""Who faces whom: the same question, attempts that were made, and every pair of runs once."""

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.run import Run
from proctor.core.suite import Case, Message, Spec
from proctor.engine.battle.entries import BattleEntry, Entries, chosen, jobs_of, paired
from proctor.errors import UsageError
from proctor.store.store import Store


def entry(case_id: str, *answers: str | AttemptStatus | None, ask: str = "?") -> BattleEntry:
    case = Case(id=case_id, messages=(Message(role="user", content=ask),), criteria=())
    attempts = [
        Attempt(case_id=case_id, index=index, status=answer)
        if isinstance(answer, AttemptStatus)
        else Attempt.of(case_id, answer, index=index)
        for index, answer in enumerate(answers)
    ]
    return BattleEntry(case, attempts)


def entries(**runs: list[BattleEntry]) -> Entries:
    return {run: {one.case.id: one for one in listed} for run, listed in runs.items()}


def outputs(entries: Entries, one: str, two: str) -> list[tuple[str, str, str]]:
    return [(case.id, a.output, b.output) for case, a, b in paired(entries, one, two)]


def test_attempts_face_each_other_in_the_order_of_the_first_run() -> None:
    both = entries(
        a=[entry("2", "x", "y"), entry("1", "z")],
        b=[entry("1", "p", "q"), entry("2", "r", "s")],
    )
    assert outputs(both, "a", "b") == [("2", "x", "r"), ("2", "y", "s"), ("1", "z", "p")]
    assert outputs(both, "b", "a") == [("1", "p", "z"), ("2", "r", "x"), ("2", "s", "y")]


def test_what_only_one_run_has_and_another_question_are_left_out() -> None:
    both = entries(
        a=[entry("alone", "x"), entry("reworded", "x", ask="One?"), entry("same", "x")],
        b=[entry("reworded", "y", ask="Two?"), entry("same", "y")],
    )
    assert outputs(both, "a", "b") == [("same", "x", "y")]


@pytest.mark.parametrize(
    ("answer", "compared"),
    [
        ("text", True),
        (None, True),
        (AttemptStatus.ERROR, False),
        (AttemptStatus.STOPPED, False),
    ],
)
def test_silence_is_compared_and_a_failure_is_not(
    answer: str | AttemptStatus | None, compared: bool
) -> None:
    both = entries(a=[entry("1", "x")], b=[entry("1", answer)])
    assert len(list(jobs_of(both, ["a", "b"], both_orders=False))) == compared
    assert len(list(jobs_of(both, ["b", "a"], both_orders=True))) == 2 * compared


def test_every_two_runs_meet_once_and_both_orders_follow_each_other() -> None:
    three = entries(**{run: [entry("1", run)] for run in "abc"})
    jobs = list(jobs_of(three, ["a", "b", "c"], both_orders=True))
    pairs = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")]
    assert [(job.first, job.second) for job in jobs] == pairs
    assert [tuple(attempt.output for attempt in job.attempts) for job in jobs] == pairs


def test_a_battle_is_between_different_runs(store: Store) -> None:
    for name in "ab":
        store.runs.save(
            Run(id=f"id-{name}", name=name, suite="s", suite_key="k", candidate=Spec(name="m"))
        )
    assert [run.name for run in chosen(store, ["b", "id-a"])] == ["b", "a"]
    with pytest.raises(UsageError, match="at least two"):
        chosen(store, ["a"])
    with pytest.raises(UsageError, match="'a' is named twice"):
        chosen(store, ["a", "b", "id-a"])


def test_with_one_order_a_hash_decides_who_is_shown_first() -> None:
    names = [str(number) for number in range(200)]
    both = entries(a=[entry(n, "x") for n in names], b=[entry(n, "y") for n in names])
    jobs = list(jobs_of(both, ["a", "b"], both_orders=False, alternate=True))
    swapped = list(jobs_of(both, ["b", "a"], both_orders=False, alternate=True))
    assert 70 < sum(job.first == "a" for job in jobs) < 130
    assert [job.case.id for job in jobs] == names
    assert {(job.case.id, job.first) for job in jobs} == {(j.case.id, j.first) for j in swapped}
    assert all(job.attempts[0].output == {"a": "x", "b": "y"}[job.first] for job in jobs)
    plain = jobs_of(both, ["a", "b"], both_orders=False)
    assert {job.first for job in plain} == {"a"}
