"""Evidence on stored runs, whenever there are more cases."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.compare.stored_pairs import case, many, row, values
from proctor.core.random_order import ORDER_SEED, order_key
from proctor.core.run import Run
from proctor.engine.compare.as_json import compared_object
from proctor.engine.compare.comparing import (
    CompareSettings,
    compare,
)
from proctor.engine.compare.sequential import order_seed
from proctor.engine.compare.wording import odds_text, sentence
from proctor.errors import UsageError
from proctor.store.store import Store


def test_evidence_decides_at_any_time(store: Store, put: Callable[..., Run]) -> None:
    for name, marks in zip(("old", "new"), many(40, 6, 154), strict=True):
        put(name, marks)
    compared = compare(store, ["old", "new"], CompareSettings(sequential=True))
    (found,) = compared.contrasts
    assert found.sequential is not None
    assert (found.verdict, found.told_apart) == ("better", "better")
    assert found.sequential.cases == 200
    assert f"evidence {odds_text(found.sequential.odds)}:1 after" in sentence(found)
    assert sentence(found).endswith("You may stop.")
    assert sentence(found, "zh").endswith("可以停止。")
    shown = compared_object(compared)["pairs"][0]["sequential"]
    assert shown["decision"] == "better"
    assert shown["odds"] >= 20
    again = compare(store, ["old", "new"], CompareSettings(sequential=True)).contrasts[0]
    assert again.sequential == found.sequential
    (plain,) = compare(store, ["old", "new"]).contrasts
    assert plain.interval is not None
    assert found.interval is not None
    assert found.interval[0] < plain.interval[0]


def test_evidence_that_is_not_enough_says_how_much_would_be(
    store: Store, put: Callable[..., Run]
) -> None:
    for name, marks in zip(("old", "new"), many(4, 2, 30), strict=True):
        put(name, marks)
    (found,) = compare(store, ["old", "new"], CompareSettings(sequential=True)).contrasts
    assert (found.verdict, found.told_apart) == ("unclear", "unclear")
    assert sentence(found).endswith("Evidence of 20:1 would be enough.")
    with pytest.raises(UsageError, match="leave out --by"):
        CompareSettings(sequential=True, by=("half",))


def test_the_unscored_weaken_evidence(store: Store, put: Callable[..., Run]) -> None:
    old, new = many(40, 6, 154)
    put("old", old)
    put("new", {name: "unscored" if mark == 0 else mark for name, mark in new.items()})
    (found,) = compare(store, ["old", "new"], CompareSettings(sequential=True)).contrasts
    put("gone", dict.fromkeys(new, "unscored"))
    (nothing,) = compare(store, ["old", "gone"], CompareSettings(sequential=True)).contrasts
    assert found.verdict == "better"
    assert nothing.verdict == "nothing"


def test_some_order_in_which_it_would_have_been_enough_is_not(
    store: Store, put: Callable[..., Run]
) -> None:
    """Cases that are added come in between the others: one such order after the other is no luck."""
    names = sorted(values([0.0] * 60), key=lambda name: order_key(name, ORDER_SEED))
    old = {name: 0.0 if place < 12 else float(place % 2) for place, name in enumerate(names)}
    new = {name: 1.0 if place < 12 else 1.0 - old[name] for place, name in enumerate(names)}
    put("old", old)
    put("new", new)
    (found,) = compare(store, ["old", "new"], CompareSettings(sequential=True)).contrasts
    assert found.sequential is not None
    assert (found.verdict, found.sequential.cases) == ("unclear", 60)
    early = {"stopped_early": {"seed": ORDER_SEED, "cases": 60}}
    put("planned", new, settings=early)
    (stopped,) = compare(store, ["old", "planned"]).contrasts
    assert stopped.sequential is not None
    assert (stopped.verdict, stopped.sequential.cases) == ("better", 7)


def test_penalties_that_were_not_seen_weaken_evidence(
    store: Store, put: Callable[..., Run]
) -> None:
    old, new = values([0.5] * 90), values([0.6] * 90)
    names = [f"c{place:03}" for place in range(90)]
    fine = case("fine").criteria[0]
    verdicts = []
    for kind, weight in (("plain", 0.0), ("fined", -9.0)):
        criteria = (fine, replace(fine, id="fine", weight=weight)) if weight else (fine,)
        cases = [case(name, criteria=criteria) for name in names]
        put(f"{kind} old", old, cases=cases)
        put(f"{kind} new", new, cases=cases)
        runs = [f"{kind} old", f"{kind} new"]
        (found,) = compare(store, runs, CompareSettings(sequential=True)).contrasts
        verdicts.append(found.verdict)
    assert verdicts == ["better", "unclear"]


def test_three_runs_take_more_evidence(store: Store, put: Callable[..., Run]) -> None:
    put("low", values([0.0] * 40 + [1.0] * 60))
    put("high", values([1.0] * 100))
    put("alike", values([1.0] * 100))
    found = compare(store, ["low", "high", "alike"], CompareSettings(sequential=True))
    assert {pair.sequential.sure for pair in found.contrasts if pair.sequential} == {60.0}
    assert found.ranks == {"low-id": (3, 3), "high-id": (1, 2), "alike-id": (1, 2)}


@pytest.mark.slow
def test_a_run_that_was_stopped_early_is_compared_by_its_evidence(
    store: Store, put: Callable[..., Run]
) -> None:
    old, new = many(40, 6, 154)
    put("old", old)
    early = put("new", new, settings={"stopped_early": {"seed": 7, "cases": 200}})
    compared = compare(store, ["old", "new"])
    (found,) = compared.contrasts
    assert found.sequential is not None
    assert found.sequential.seed == order_seed(early) == 7
    assert any("stopped early" in warning for warning in compared.warnings)
    assert replace(early, settings={}).stopped_early is None


def test_clusters_are_compared_as_one_draw(store: Store, put: Callable[..., Run]) -> None:
    old, new = many(16, 0, 64)
    asked = [case(name, cluster=f"q{place // 4}") for place, name in enumerate(old)]
    old_run, new_run = (
        put(name, marks, cases=asked, suite_cluster="question")
        for name, marks in (("old", old), ("new", new))
    )
    for run, marks in ((old_run, old), (new_run, new)):
        rows = [
            replace(row(place, one, marks[one.id]), cluster=one.cluster)
            for place, one in enumerate(asked)
        ]
        store.results.put(run.id, rows)
    (found,) = compare(store, ["old", "new"]).contrasts
    assert (found.paired.n, found.paired.clusters, found.paired.better) == (80, 20, 16)
    assert found.verdict == "unclear"
    assert found.paired.p == pytest.approx(1 / 2**4)
    assert "80 cases in 20 questions" in sentence(found)
    assert compared_object(compare(store, ["old", "new"]))["pairs"][0]["clusters"] == 20
    (looked,) = compare(store, ["old", "new"], CompareSettings(sequential=True)).contrasts
    assert looked.sequential is not None
    assert (looked.sequential.cases, looked.sequential.clustered) == (20, True)
    assert "after 20 questions, " in sentence(looked)


def test_a_cluster_of_which_a_run_did_not_ask_all_cases_is_no_evidence(
    store: Store, put: Callable[..., Run]
) -> None:
    cases = [case(f"c{place:03}", cluster=f"q{place // 4}") for place in range(80)]
    names = [one.id for one in cases]
    put("old", dict.fromkeys(names, 0.0), cases=cases)
    early = {"stopped_early": {"seed": ORDER_SEED, "cases": 42}}
    # Of ten clusters all cases are there, and of one the first two.
    put("new", dict.fromkeys(names[:42], 1.0), cases=cases, settings=early)
    (found,) = compare(store, ["old", "new"]).contrasts
    assert found.sequential is not None
    full = dict.fromkeys(names[:40], 1.0)
    put("ten", full, cases=cases, settings=early)
    (ten,) = compare(store, ["old", "ten"]).contrasts
    assert ten.sequential == found.sequential


@pytest.mark.parametrize(
    ("odds", "shown"),
    [(0.5, "0.5"), (9.96, "9.9"), (19.97, "19"), (20.0, "20"), (59.6, "59"), (1_999.9, "1,999")],
)
def test_evidence_that_is_not_enough_is_not_rounded_to_what_is(odds: float, shown: str) -> None:
    assert odds_text(odds) == shown
