"""The rule by which a run may stop: order, evidence, errors, what is unscored, what was saved."""

from collections.abc import Callable
from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.fold import parse_fold
from proctor.core.run import CaseResult, Run, Summary, Totals
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec
from proctor.engine.run.aggregate import case_result
from proctor.engine.run.settings import StopSettings
from proctor.engine.run.stop_early import EarlierRun, StopRule, at_any_time
from proctor.errors import UsageError
from proctor.store.rows import ResultRow


def case(number: int, **more: Any) -> Case:
    criteria = more.pop("criteria", (Criterion(id="is", scorer=Spec(name="contains")),))
    return Case(id=f"c{number}", messages=(), criteria=criteria, **more)


def result(found: Case, points: float | None, **more: Any) -> CaseResult:
    """Make a case of one attempt; none means that its judge failed."""
    usage = {"candidate": {"calls": 2, "cost": 0.01}}
    attempt = Attempt(case_id=found.id, index=0, status=AttemptStatus.ANSWERED, usage=usage, **more)
    score = (
        Score.failed("broken", out_of=1.0) if points is None else Score(points=points, out_of=1.0)
    )
    return case_result(parse_fold("avg"), found, [(attempt, {"is": score})])


def baseline(cases: list[Case], value: Callable[[int], float]) -> EarlierRun:
    rows = {
        one.id: ResultRow(
            position=place, case_id=one.id, status=ValueStatus.SCORED, value=value(place),
            full=1.0, weight=1.0, low=value(place), high=value(place), spread=0.0,
        )
        for place, one in enumerate(cases)
    }  # fmt: skip
    return EarlierRun(id="old-id", name="old", rows=rows)


def fed(rule: StopRule, value: Callable[[int], float | None]) -> StopRule:
    for batch in rule.batches(64):
        rule.take(batch, {place: result(rule.cases[place], value(place)) for place in batch})
        if rule.answered:
            break
    return rule


def test_the_order_is_random_and_the_same_again() -> None:
    cases = [case(n) for n in range(45)]
    rule = StopRule(settings=StopSettings(when="rate >= 0.8"), name="new", cases=cases, seed=5)
    batches = list(rule.batches(64))
    places = [place for batch in batches for place in batch]
    assert [len(batch) for batch in batches] == [10, 10, 10, 10, 5]
    assert sorted(places) == list(range(45)) != places
    assert [place for batch in rule.batches(2) for place in batch] == places
    assert {len(batch) for batch in rule.batches(2)} == {4, 1}


def test_cases_that_the_other_run_lacks_come_last() -> None:
    cases = [case(n) for n in range(30)]
    settings = StopSettings(when="decided", against="old")
    rule = StopRule(
        settings=settings, name="new", cases=cases, seed=5, baseline=baseline(cases[:20], float)
    )
    places = [place for batch in rule.batches(64) for place in batch]
    assert sorted(places[:20]) == list(range(20))


@pytest.mark.parametrize(
    ("old", "new", "margin", "answer"),
    [
        (0.0, 1.0, None, "better"),
        (1.0, 0.0, None, "worse"),
        (1.0, 1.0, None, ""),
        (1.0, 1.0, 0.05, "equal"),
        (0.0, 0.5, None, "better"),
    ],
)
def test_comparisons(old: float, new: float, margin: float | None, answer: str) -> None:
    cases = [case(n) for n in range(200)]
    settings = StopSettings(when="decided", against="old", margin=margin)
    others = baseline(cases, lambda _: old)
    rule = StopRule(settings=settings, name="new", cases=cases, seed=1, baseline=others)
    assert fed(rule, lambda _: new).answer == answer
    early = rule.stopped(50)
    assert (early is None) == (not answer)
    if early is not None:
        assert (early["against"], early["of"], early["answer"]) == ("old-id", 200, answer)
        assert early["odds"] >= 20
        assert "new is" in rule.words(50)
        assert rule.stopped(200) is None
        assert "stopped early" not in rule.words(200)


def test_the_saved_are_estimated_by_what_was_asked() -> None:
    cases = [case(n) for n in range(100)]
    rule = StopRule(settings=StopSettings(when="rate >= 0.5"), name="new", cases=cases, seed=1)
    early = fed(rule, lambda _: 1.0).stopped(10)
    assert early is not None
    assert early["saved"] == {"cases": 90, "calls": 180, "cost": pytest.approx(0.9)}
    assert "saved 90 cases and about 180 calls and about $0.9" in rule.words(10)


def test_what_is_unscored_is_no_evidence() -> None:
    cases = [case(n) for n in range(60)]
    settings = StopSettings(when="decided", against="old")
    rule = StopRule(
        settings=settings, name="new", cases=cases, seed=1, baseline=baseline(cases, lambda _: 0.5)
    )
    assert fed(rule, lambda _: None).answer == ""
    rate = StopRule(settings=StopSettings(when="rate >= 0.5"), name="new", cases=cases, seed=1)
    assert fed(rate, lambda _: None).answer == ""
    assert rate.rate_interval() == (0.0, 1.0)


def test_a_candidate_that_cannot_be_reached_counts_for_nothing() -> None:
    cases = [case(n) for n in range(40)]
    rule = StopRule(settings=StopSettings(when="rate >= 0.5"), name="new", cases=cases, seed=1)
    for batch in rule.batches(64):
        broken = {}
        for place in batch:
            attempt = Attempt(case_id=cases[place].id, index=0, status=AttemptStatus.ERROR)
            broken[place] = case_result(parse_fold("avg"), cases[place], [(attempt, {})])
        rule.take(batch, broken)
    assert not rule.answered
    assert rule.rate_interval() is None


def test_penalties_widen_what_a_case_can_lose() -> None:
    """A loss of twice the full marks is possible: the evidence of a gain grows more slowly."""
    penalty = (
        Criterion(id="is", scorer=Spec(name="contains")),
        Criterion(id="bad", scorer=Spec(name="contains"), weight=-1.0),
    )
    plain, risky = ([case(n, **more) for n in range(100)] for more in ({}, {"criteria": penalty}))
    after = []
    for cases in (plain, risky):
        rule = StopRule(
            settings=StopSettings(when="decided", against="old"), name="new", cases=cases, seed=1,
            baseline=baseline(cases, lambda _: 0.0),
        )  # fmt: skip
        for batch in rule.batches(1):
            made = {}
            for place in batch:
                attempt = Attempt(case_id=cases[place].id, index=0, status=AttemptStatus.ANSWERED)
                scores = {"is": Score(points=1.0, out_of=1.0), "bad": Score(points=0.0, out_of=1.0)}
                made[place] = case_result(parse_fold("avg"), cases[place], [(attempt, scores)])
            rule.take(batch, made)
        early = rule.stopped(50)
        assert early is not None
        after.append(early["decided_after"])
    assert after[0] < after[1]


@pytest.mark.parametrize(
    ("when", "claim", "more"),
    [("rate >= 0.8", 0.8, True), ("rate>80%", 0.8, True), ("rate < .5", 0.5, False)],
)
def test_conditions(when: str, claim: float, more: bool) -> None:
    settings = StopSettings(when=when)
    assert (settings.claim, settings.wants_more) == (pytest.approx(claim), more)


@pytest.mark.parametrize("when", ["rate >= 80", "rate >= 0", "rate", "p < 0.05", "", "rate == 1"])
def test_questions_that_nobody_can_answer(when: str) -> None:
    with pytest.raises(UsageError, match="--stop-when"):
        StopSettings(when=when)


def test_the_rate_of_a_stopped_run_has_an_interval_that_holds_at_any_time() -> None:
    totals = Totals(
        score=9.0, full=10.0, rate=0.9, spread=None, interval=(0.8, 0.95), cases=10, bounds=None,
        attempts=10, unanswered=0, unscored=0, errors=0, cases_unscored=0,
    )  # fmt: skip
    run = Run(id="r", name="r", suite="s", suite_key="k", candidate=Spec(name="model"))
    summary = Summary(totals=totals, groups={})
    assert at_any_time(run, summary) is summary
    early = {"stopped_early": {"rate_interval": [0.5, 1.0]}}
    stopped = Run(
        id="r", name="r", suite="s", suite_key="k", candidate=Spec(name="model"), settings=early
    )
    assert at_any_time(stopped, summary).totals.interval == (0.5, 1.0)


def test_a_cluster_counts_when_its_last_case_is_there() -> None:
    cases = [case(n, cluster=f"q{n // 4}") for n in range(80)]
    rule = StopRule(
        settings=StopSettings(when="decided", against="old"), name="new", cases=cases, seed=1,
        baseline=baseline(cases, lambda _: 0.0),
    )  # fmt: skip
    places = [place for batch in rule.batches(1) for place in batch]
    assert all(len({cases[place].cluster for place in places[n : n + 4]}) == 1
               for n in range(0, 80, 4))  # fmt: skip
    for batch in rule.batches(1):
        rule.take(batch, {place: result(cases[place], 1.0) for place in batch})
        if rule.answered:
            break
    early = rule.stopped(40)
    assert early is not None
    assert (early["answer"], early["decided_after"]) == ("better", 7)
