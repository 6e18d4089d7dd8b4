"""Runs: how they are found, what they consist of, what stays when one is deleted."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.run import Run, RunStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.errors import StoreError
from proctor.store.rows import CallRow, Label, LinkedCase, ResultRow, RunAttempt
from proctor.store.scores import DAMAGED
from proctor.store.store import Store

AWKWARD = "a\x00b\ud800c\x10d"


TRIES = 2


def make_run(run_id: str, name: str = "trial", started: float = 1.0, suite: str = "s1") -> Run:
    return Run(
        id=run_id,
        name=name,
        suite="first",
        suite_key=suite,
        candidate=Spec(name="recorded", params={"path": "answers"}),
        settings={"attempts": 3, "where": None},
        started=started,
        signature="attempts:3|version:0.1.0",
    )


def make_case(name: str) -> Case:
    criteria = tuple(Criterion(id=c, scorer=Spec(name="contains")) for c in ("says", AWKWARD))
    return Case(id=name, messages=(Message(role="user", content=name),), criteria=criteria)


def make_attempt(name: str, index: int) -> tuple[Attempt, dict[str, Score]]:
    """Make an attempt with its scores; the second attempt has none."""
    attempt = Attempt.of(name, f"answer {index} to {name}", index=index)
    if index == 1:
        return attempt, {}
    score = Score(points=1.0, out_of=2.0, reason=f"{name} said")
    return attempt, {"says": score, AWKWARD: replace(score, points=0.0)}


def expected(names: Iterable[str], *, start: int = 0) -> list[LinkedCase]:
    return [
        LinkedCase(
            position,
            make_case(name),
            [make_attempt(name, i) for i in range(TRIES)],
            [score_keys(name, i) for i in range(TRIES)],
        )
        for position, name in enumerate(names, start)
    ]


def score_keys(name: str, index: int) -> dict[str, str]:
    judged = make_attempt(name, index)[1]
    return {criterion: f"{name}-{index}-{place}" for place, criterion in enumerate(judged)}


def links(names: Iterable[str]) -> list[RunAttempt]:
    return [
        RunAttempt(
            position=position,
            index=index,
            attempt_key=f"{name}-{index}",
            score_keys=score_keys(name, index),
        )
        for position, name in enumerate(names)
        for index in range(TRIES)
    ]


def fill(store: Store, run: Run, names: Iterable[str]) -> None:
    """Store a run on a suite of these cases; keys follow from the name of the case."""
    names = list(names)
    cases = [(f"case-{name}", make_case(name)) for name in names]
    with store.batch():
        store.suites.put(Suite(name=run.suite, cases=()), run.suite_key, cases)
        store.runs.save(run)
        for name in names:
            for index in range(TRIES):
                attempt, scores = make_attempt(name, index)
                store.attempts.put([(f"{name}-{index}", attempt)])
                store.scores.put(
                    (f"{name}-{index}-{place}", "contains", score)
                    for place, score in enumerate(scores.values())
                )
        store.attempts.link(run.id, links(names))


def scored_row(position: int, case_id: str, **tags: tuple[str, ...]) -> ResultRow:
    numbers = dict.fromkeys(("value", "full", "weight", "low", "high", "spread"), 0.5)
    return ResultRow(
        position=position, case_id=case_id, status=ValueStatus.SCORED, tags=tags, **numbers
    )


def test_a_run_comes_back_and_changes(store: Store) -> None:
    run = make_run("abcd1234", name=AWKWARD)
    store.runs.save(run)
    assert store.runs.get("abcd1234") == run
    done = replace(run, status=RunStatus.COMPLETE, finished=9.5, signature="x", settings={})
    store.runs.save(done)
    assert store.runs.newest() == [done]


RUNS = [
    make_run("aaaa1111", "baseline", 10.0),
    make_run("aaaa2222", "tuned", 30.0),
    make_run("bbbb3333", "baseline", 20.0),
    make_run("cccc_444", "aaaa", 5.0, suite="s2"),
]


@pytest.mark.parametrize(
    ("ref", "run_id"),
    [
        ("aaaa1111", "aaaa1111"),
        ("aaaa1", "aaaa1111"),
        ("bbbb", "bbbb3333"),
        ("cccc_", "cccc_444"),
        ("baseline", "bbbb3333"),
        ("tuned", "aaaa2222"),
        ("aaaa", "cccc_444"),
        ("@last", "aaaa2222"),
        ("@last~0", "aaaa2222"),
        ("@last~1", "bbbb3333"),
        ("@last~3", "cccc_444"),
    ],
)
@pytest.mark.sampled(2)
def test_runs_are_found(store: Store, ref: str, run_id: str) -> None:
    for run in RUNS:
        store.runs.save(run)
    assert store.runs.get(ref).id == run_id


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("aaaa1112", "no run 'aaaa1112'.*did you mean 'aaaa1111'"),
        ("bbb", "no run 'bbb'"),
        ("BBBB", "no run 'BBBB'"),
        ("cccc%", "no run 'cccc%'"),
        ("basline", "did you mean 'baseline'"),
        ("zzzzzzzz", "the newest are: 'tuned', 'baseline', 'aaaa'"),
        ("@last~4", "no run '@last~4'"),
        ("@first", "use @last, @last~1"),
        ("@last~x", "use @last, @last~1"),
        ("", "no run ''"),
        (AWKWARD, "no run"),
    ],
)
def test_a_run_that_is_not_there_is_an_error_with_close_names(
    store: Store, ref: str, message: str
) -> None:
    for run in RUNS:
        store.runs.save(run)
    with pytest.raises(StoreError, match=message):
        store.runs.get(ref)


def test_an_ambiguous_beginning_names_the_runs(store: Store) -> None:
    for run in RUNS[:3]:
        store.runs.save(run)
    with pytest.raises(StoreError, match=r"any of 2 runs: aaaa2222 \(tuned\), aaaa1111 \(base"):
        store.runs.get("aaaa")


def test_a_store_without_runs_says_so(store: Store) -> None:
    for ref in ("@last", "anything"):
        with pytest.raises(StoreError, match="has no runs; run `proctor run` first"):
            store.runs.get(ref)


def test_runs_are_listed_newest_first(store: Store) -> None:
    for run in RUNS:
        store.runs.save(run)
    ids = [run.id for run in store.runs.newest()]
    assert ids == ["aaaa2222", "bbbb3333", "aaaa1111", "cccc_444"]
    assert [run.id for run in store.runs.newest(limit=2)] == ids[:2]
    assert [run.id for run in store.runs.newest(suite_key="s2")] == ["cccc_444"]
    assert store.runs.newest(suite_key="s3") == []


def test_linked_cases_are_streamed_in_order(store: Store) -> None:
    names = [f"case{number}" for number in range(25)]
    fill(store, make_run("r1"), names)
    for positions in (1, 7, 25, 200):
        assert list(store.attempts.iter_cases("r1", positions=positions)) == expected(names)
    assert list(store.attempts.iter_cases("r1", after=20, positions=2)) == expected(
        names[21:], start=21
    )
    assert list(store.attempts.iter_cases("r1", after=24)) == []


def test_linking_again_changes_nothing_and_unlinking_clears(store: Store) -> None:
    fill(store, make_run("r1"), "ab")
    store.attempts.link("r1", links("ab"))
    assert list(store.attempts.iter_cases("r1")) == expected("ab")
    store.attempts.unlink("r1")
    assert list(store.attempts.iter_cases("r1")) == []
    assert store.attempts.stored_keys(["a-0"]) == {"a-0"}
    store.attempts.link("r1", [row for row in links("ab") if row.position == 1])
    assert list(store.attempts.iter_cases("r1")) == expected("b", start=1)


def test_linking_another_attempt_at_the_same_place_replaces_it(store: Store) -> None:
    fill(store, make_run("r1"), "ab")
    new = RunAttempt(position=0, index=0, attempt_key="b-0", score_keys={"says": "b-0-0"})
    store.attempts.link("r1", [new])
    first = next(store.attempts.iter_cases("r1"))
    assert first.attempts[0][0] == make_attempt("b", 0)[0]
    assert first.attempts[0][1]["says"] == make_attempt("b", 0)[1]["says"]


def test_one_case_of_a_run(store: Store) -> None:
    fill(store, make_run("r1"), ["a", "b", "漢字"])
    assert store.attempts.case("r1", "b") == expected("b", start=1)[0]
    assert store.attempts.case("r1", "漢字") == expected(["漢字"], start=2)[0]
    with pytest.raises(StoreError, match="no case 'z', nor has its suite"):
        store.attempts.case("r1", "z")
    with pytest.raises(StoreError, match="no case"):
        store.attempts.case("r1", AWKWARD)
    store.attempts.unlink("r1")
    with pytest.raises(StoreError, match=r"the run r1 has no case 'b'$"):
        store.attempts.case("r1", "b")


def test_links_of_an_unknown_run_are_an_error(store: Store) -> None:
    with pytest.raises(StoreError, match="no runs"):
        list(store.attempts.iter_cases("nowhere"))
    with pytest.raises(StoreError, match="no runs"):
        store.attempts.case("nowhere", "a")


def test_what_was_lost_is_an_error_not_a_gap(store: Store) -> None:
    fill(store, make_run("r1"), "ab")
    store.attempts.link("r1", [RunAttempt(position=1, index=2, attempt_key="nowhere")])
    lost = [
        attempt.error
        for case in store.attempts.iter_cases("r1")
        for attempt, _ in case.attempts
        if attempt.status is AttemptStatus.ERROR
    ]
    assert lost == [DAMAGED]
    store.attempts.link("r1", [RunAttempt(position=1, index=2, attempt_key="b-0")])
    store.attempts.link("r1", [RunAttempt(position=7, index=0, attempt_key="b-0")])
    assert [case.position for case in store.attempts.iter_cases("r1")][-1] == 7


def test_deleting_a_run_keeps_what_others_share(store: Store) -> None:
    fill(store, make_run("r1", suite="s1"), "abc")
    fill(store, make_run("r2", suite="s2"), "bcd")
    fill(store, make_run("r3", suite="s2"), "bcd")
    for run_id in ("r1", "r2", "r3"):
        store.results.put(run_id, [scored_row(0, "c0", lang=("c",))])
        store.summaries.save(run_id, {"of": run_id})
        store.labels.add(Label(run_id=run_id, case_id="b"))
    store.runs.delete("r1")
    assert store.attempts.get_many(["a-0", "a-1"]) == {}
    assert store.scores.get_many(["a-0-0", "a-0-1"]) == {}
    assert [row.key for row in store.suites.newest()] == ["s2"]
    assert list(store.results.iter_rows("r1")) == []
    assert store.summaries.get("r1") is None
    assert store.labels.of_run("r1") == []
    for run_id in ("r2", "r3"):
        assert list(store.attempts.iter_cases(run_id)) == expected("bcd")
        assert len(list(store.results.iter_rows(run_id, tag=("lang", "c")))) == 1
        assert store.summaries.get(run_id) == {"of": run_id}
        assert len(store.labels.of_run(run_id)) == 1
    store.runs.delete("r3")
    assert list(store.attempts.iter_cases("r2")) == expected("bcd")
    store.runs.delete("r2")
    assert store.runs.newest() == []
    assert store.suites.newest() == []
    keys = [f"{name}-{index}" for name in "abcd" for index in range(TRIES)]
    assert store.attempts.get_many(keys) == {}
    assert store.scores.get_many(f"{k}-{n}" for k in keys for n in "01") == {}
    assert list(store.suites.iter_cases("s2")) == []


def test_deleting_leaves_no_row_behind(store: Store) -> None:
    from sqlalchemy import func, select

    from proctor.store.schema import metadata

    fill(store, make_run("r1"), "ab")
    store.results.put("r1", [scored_row(0, "c0", lang=("c",))])
    store.summaries.save("r1", {})
    store.runs.delete("r1")
    with store.database.read() as connection:
        counts = {
            t.name: connection.scalar(select(func.count()).select_from(t))
            for t in metadata.sorted_tables
            if t.name != "store_settings"
        }
    assert set(counts.values()) == {0}, counts


def test_deleting_a_run_that_is_not_there_is_an_error(store: Store) -> None:
    store.runs.save(make_run("r1"))
    with pytest.raises(StoreError, match="no run 'r2'"):
        store.runs.delete("r2")


def test_results_may_be_made_of_the_store_itself(store: Store) -> None:
    fill(store, make_run("r1"), "abc")
    store.results.put(
        "r1",
        (scored_row(found.position, found.case.id) for found in store.attempts.iter_cases("r1")),
    )
    assert [row.position for row in store.results.iter_rows("r1")] == [0, 1, 2]


def test_calls_come_back_and_only_errors_are_replaced(store: Store) -> None:
    failed = CallRow(key="k", model="m", request={"messages": [AWKWARD]}, status="error")
    good = replace(
        failed,
        response={"text": AWKWARD},
        usage={"prompt_tokens": 3},
        cost=0.5,
        seconds=1.5,
        created=7.0,
        status="ok",
    )
    assert store.calls.find("k") is None
    for put, kept in [
        (failed, failed),
        (good, good),
        (failed, good),
        (replace(good, cost=9), good),
    ]:
        store.calls.put([put])
        assert store.calls.find("k") == kept


def test_a_discarded_call_says_so_and_is_replaced_by_the_next(store: Store) -> None:
    created = 1763261652.1234567
    rows = [
        CallRow(key=key, model="m", request={}, response={"text": "old"}, created=created)
        for key in "ab"
    ]
    store.calls.put(rows)
    store.calls.discard([("a", created + 0.001), ("c", created)])
    assert [store.calls.get_many("ab")[key].status for key in "ab"] == ["ok", "ok"]
    store.calls.discard([("a", created)])
    assert [store.calls.get_many("ab")[key].status for key in "ab"] == ["unusable", "ok"]
    newer = [replace(row, response={"text": "new"}, created=created + 1) for row in rows]
    store.calls.put(newer)
    found = store.calls.get_many("ab")
    assert [(found[key].response["text"], found[key].status) for key in "ab"] == [
        ("new", "ok"),
        ("old", "ok"),
    ]


def test_labels_come_back_in_order(store: Store) -> None:
    first = Label(run_id="r1", case_id=AWKWARD, index=2, criterion="says", points=0.5, note="so so")
    second = Label(run_id="r1", case_id="b", note=AWKWARD, author="me", created=5.0)
    ids = [store.labels.add(label) for label in (first, replace(first, run_id="r2"), second)]
    assert ids == sorted(set(ids))
    assert store.labels.of_run("r1") == [replace(first, id=ids[0]), replace(second, id=ids[2])]
