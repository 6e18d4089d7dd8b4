"""Runs compared case by case: paired by id, refused where they differ, said in a sentence."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from proctor.core.fingerprint import case_key, suite_key
from proctor.core.run import Run, RunStatus, Summary, Totals
from proctor.core.score import ValueStatus
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.compare.as_json import compared_object
from proctor.engine.compare.comparing import (
    CompareSettings,
    case_pairs,
    compare,
    contrast_gate_names,
    missed_gates,
)
from proctor.engine.compare.sequential import order_seed
from proctor.engine.compare.wording import about, odds_text, points, sentence
from proctor.errors import UsageError
from proctor.store.rows import ResultRow
from proctor.store.store import Store

SIGNATURE = "suite:quiz@12345678|dialect:native|scorers:judged-1|judge:{judge}|prompts:{prompts}|reduce:avg|version:{version}"


def case(name: str, **more: Any) -> Case:
    criterion = Criterion(id="is", scorer=Spec(name="contains", params={"text": "x"}))
    made = {"messages": (Message(role="user", content=f"{name}?"),), "criteria": (criterion,)}
    return Case(id=name, **{**made, **more})  # type: ignore[arg-type]


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
            candidate=Spec(name="recorded", params={"name": name}),
            **{"status": RunStatus.COMPLETE, "signature": "", **more},
        )
        store.runs.save(run)
        store.results.put(run.id, [row(place, c, values[c.id]) for place, c in enumerate(cases)])
        totals = Totals(
            score=0.0, full=1.0, rate=0.5, spread=0.0, interval=None, cases=len(values), bounds=None,
            attempts=attempts, unanswered=0, unscored=0, errors=0, cases_unscored=0,
        )  # fmt: skip
        groups = {"half": {}, "metric": {}}
        store.summaries.save(run.id, Summary(totals=totals, groups=groups).to_json())  # type: ignore[arg-type]
        return run

    return make


def row(position: int, found: Case, value: float | str) -> ResultRow:
    known = None if isinstance(value, str) else value
    return ResultRow(
        position=position,
        case_id=found.id,
        status=ValueStatus.SCORED if known is not None else ValueStatus(value),
        value=known,
        full=found.full_score,
        weight=found.weight,
        low=0.0 if known is None else known,
        high=found.full_score if known is None else known,
        spread=0.0,
        tags=found.tags,
    )


def values(marks: Sequence[float | str]) -> dict[str, float | str]:
    return {f"c{place:03}": mark for place, mark in enumerate(marks)}


def test_a_better_run_is_told_so(store: Store, put: Callable[..., Run]) -> None:
    put("old", values([0.0] * 12 + [1.0] * 20 + [0.0] * 8))
    put("new", values([1.0] * 12 + [1.0] * 18 + [0.0] * 10))
    (found,) = compare(store, ["old", "new"]).contrasts
    assert found.verdict == "better"
    assert (found.flips.to_right, found.flips.to_wrong) == (12, 2)
    assert (found.flips.both_right, found.flips.both_wrong) == (18, 8)
    assert sentence(found) == (
        "new is better than old: +25.0 points of 100, 95 % interval +5.8 to +41.8, p = 0.007,"
        " 40 cases; 12 cases went from wrong to right, 2 the other way."
    )
    assert sentence(found, "zh").startswith("new 优于 old：+25.0 分（满分 100）")
    (back,) = compare(store, ["new", "old"]).contrasts
    assert back.verdict == "worse"
    assert back.paired.difference == -0.25
    assert sentence(back).startswith("old is worse than new: −25.0 points of 100")
    shown = [[pair.id for pair in pairs] for pairs in found.examples.values()]
    assert shown == [
        [f"c{n:03}" for n in range(10)],
        ["c030", "c031"],
        [f"c{n:03}" for n in range(32, 40)],
        [],
    ]


def test_what_cannot_be_told_apart_says_how_many_cases_it_would_take(
    store: Store, put: Callable[..., Run]
) -> None:
    put("old", values([0.0] * 5 + [1.0] * 35))
    put("new", values([1.0] * 5 + [0.0] * 3 + [1.0] * 32))
    put("same", values([0.0] * 5 + [1.0] * 35))
    (found,) = compare(store, ["old", "new"]).contrasts
    assert found.verdict == "unclear"
    assert "cannot be told apart" in sentence(found)
    assert "would take at least 26 more cases like these, and far more if" in sentence(found)
    assert found.paired.outlook is not None
    assert found.paired.outlook.needed_range() == (66, None)
    (equal,) = compare(store, ["old", "same"]).contrasts
    assert "not one case came out differently" in sentence(equal)
    assert "Only a difference of" in sentence(equal)


def test_errors_and_unscored_are_taken_out_in_pairs(store: Store, put: Callable[..., Run]) -> None:
    put("old", values([1.0, 1.0, "unscored", "error", 0.0, 1.0]))
    put("new", values([1.0, "error", 1.0, "unscored", 1.0, "unscored"]))
    compared = compare(store, ["old", "new"])
    (found,) = compared.contrasts
    assert found.paired.n == 2
    assert (found.left_out.unscored, found.left_out.errors) == (2, 2)
    # c0: 0, c2: from 0 to 1, c4: 1, c5: from -1 to 0.
    assert found.extremes is not None
    assert [paired.difference for paired in found.extremes] == pytest.approx([0.0, 2 / 4])
    assert found.bounds == pytest.approx(
        (-0.939, 1.0), abs=1e-3
    )  # with what chance may have done to so few cases


def test_nothing_is_said_that_the_unscored_could_turn_around(
    store: Store, put: Callable[..., Run]
) -> None:
    put("old", values([0.0] * 10 + [1.0] * 30))
    put("new", values([1.0] * 10 + [1.0] * 10 + ["unscored"] * 20))
    (found,) = compare(store, ["old", "new"]).contrasts
    assert found.paired.p is not None
    assert found.paired.p < 0.01
    assert found.verdict == "unclear"
    assert "could turn this around: the difference lies within −50.3 to +38.9" in sentence(found)
    put("few", values([1.0] * 10 + [1.0] * 29 + ["unscored"]))
    (found,) = compare(store, ["old", "few"]).contrasts
    assert found.verdict == "better"
    assert "turn" not in sentence(found)
    group = compare(store, ["old", "new"], CompareSettings(by=("half",))).contrasts[0].groups
    assert {row.verdict for row in group["half"].values()} == {"unclear"}


def test_an_unscored_attempt_of_several_counts_at_both_extremes(
    store: Store, put: Callable[..., Run]
) -> None:
    put("old", values([0.5] * 30))
    new = put("new", values([1.0] * 30))
    rows = [replace(row(place, case(f"c{place:03}"), 1.0), low=0.25) for place in range(30)]
    store.results.put(new.id, rows)
    (found,) = compare(store, ["old", "new"]).contrasts
    assert (found.left_out.unscored, found.paired.difference) == (0, 0.5)
    assert found.extremes is not None
    assert [paired.difference for paired in found.extremes] == pytest.approx([-0.25, 0.5])
    assert found.verdict == "unclear"


def test_cases_are_paired_by_id_wherever_they_stand(store: Store, put: Callable[..., Run]) -> None:
    put("old", {"a": 0.0, "b": 1.0, "c": 0.0, "é": 1.0}, cases=[case(n) for n in "abcé"])
    put("new", {"é": 0.0, "z": 1.0, "c": 1.0, "b": 1.0}, cases=[case(n) for n in "ézcb"])
    (found,) = compare(store, ["old", "new"]).contrasts
    assert found.paired.n == 3
    assert (found.left_out.only_first, found.left_out.only_second) == (1, 1)
    pairs = [(p.id, p.first, p.second) for p in case_pairs(store, found.first, found.second)]
    assert pairs == [("b", 1.0, 1.0), ("c", 0.0, 1.0), ("é", 1.0, 0.0)]
    assert [p.id for p in case_pairs(store, found.first, found.second, "worse")] == ["é"]


def test_graded_values_weights_and_full_marks(store: Store, put: Callable[..., Run]) -> None:
    cases = [
        case("a", weight=2.0, full_score=2.0),
        case("b"),
        case("c"),
        case("nothing", full_score=0.0),
    ]
    put("old", {"a": 0.5, "b": 0.5, "c": 1.0, "nothing": 0.0}, cases=cases)
    put("new", {"a": 1.5, "b": 0.25, "c": 1.0, "nothing": 0.0}, cases=cases)
    (found,) = compare(store, ["old", "new"]).contrasts
    assert found.paired.n == 3
    assert found.paired.difference == pytest.approx((2 * 1.0 - 0.25) / 6)
    assert found.paired.first == pytest.approx(2.5 / 6)
    assert "1 case got better, 1 got worse (from wrong to right 0" in sentence(found)


def test_breakdowns_by_tag(store: Store, put: Callable[..., Run]) -> None:
    put("old", values([0.0, 1.0] * 10))
    put("new", values([1.0, 1.0] * 10))
    (found,) = compare(store, ["old", "new"], CompareSettings(by=("half",))).contrasts
    groups = found.groups["half"]
    assert {name: group.verdict for name, group in groups.items()} == {
        "high": "better",
        "low": "unclear",
    }
    assert groups["high"].adjusted_p == pytest.approx(2 * 2 / 2**10)
    with pytest.raises(UsageError, match=r"no breakdown by 'lang' \(there are: half\)"):
        compare(store, ["old", "new"], CompareSettings(by=("lang",)))


def test_several_runs_are_adjusted_for(store: Store, put: Callable[..., Run]) -> None:
    put("a", values([0.0] * 7 + [1.0] * 13))
    put("b", values([1.0] * 7 + [1.0] * 13))
    put("c", values([0.0] * 7 + [1.0] * 13))
    found = compare(store, ["a", "b", "c"]).contrasts
    assert [(f.first.name, f.second.name) for f in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    once = 1 / 2**7
    assert [f.paired.p for f in found] == pytest.approx([once, 1.0, once])
    assert [f.adjusted_p for f in found] == pytest.approx([3 * once, 1.0, 3 * once])
    assert "interval +0.3 to +63.3 (95 % for all 3 rows together), p = 0.023" in sentence(found[0])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"reduce": "max"}, "way to fold attempts differs: avg and max"),
        (
            {"settings": {"judges": [{"model": "openai:two"}]},
             "signature": SIGNATURE.format(judge="openai:two", prompts="ab", version="1")},
            "the judge differs: openai:one and openai:two",
        ),
        (
            {"settings": {"judges": [{"model": "openai:one"}]},
             "signature": SIGNATURE.format(judge="openai:one", prompts="cd", version="1")},
            "the judge's prompt differs",
        ),
        (
            {"settings": {"judges": [{"model": "openai:one"}], "simulator": {"model": "x:y"}},
             "signature": SIGNATURE.format(judge="openai:one", prompts="ab", version="1")},
            "the simulator differs: none and x:y",
        ),
        (
            {"settings": {"judges": [{"model": "openai:one"}]},
             "signature": SIGNATURE.format(judge="openai:one", prompts="ab", version="1").replace(
                 "judged-1", "judged-2")},
            "the scorer 'judged' differs: version 1 and 2",
        ),
        (
            {"cases": [case("c000"), case("c001", weight=2.0)],
             "settings": {"judges": [{"model": "openai:one"}]},
             "signature": SIGNATURE.format(judge="openai:one", prompts="ab", version="1")},
            "other question, criteria or weight under the same id in 1 case",
        ),
    ],
)  # fmt: skip
def test_runs_that_differ_in_what_moves_numbers_are_refused(
    store: Store, put: Callable[..., Run], more: dict[str, Any], message: str
) -> None:
    like = {
        "cases": [case("c000"), case("c001")],
        "settings": {"judges": [{"model": "openai:one@http://127.0.0.1:1/v1"}]},
        "signature": SIGNATURE.format(judge="openai:one", prompts="ab", version="1"),
    }
    put("old", values([0.0, 1.0]), **like)
    put("new", values([1.0, 1.0]), **{**like, **more})
    with pytest.raises(UsageError, match="cannot be compared") as error:
        compare(store, ["old", "new"])
    assert message in str(error.value)
    forced = compare(store, ["old", "new"], CompareSettings(force=True))
    assert any(message in warning for warning in forced.warnings)
    assert forced.contrasts[0].paired.n == 2


@pytest.mark.parametrize(
    ("more", "warning"),
    [
        ({"suite": "other"}, "the suites have two names: 'quiz' and 'other'"),
        ({"attempts": 3}, "attempts a case: 1 of 'old' and 3 of 'new'"),
        ({"signature": "suite:quiz@1|version:9"}, "two versions of Proctor: None and 9"),
        ({"status": RunStatus.INCOMPLETE}, "the run 'new' is incomplete"),
        ({"cases": [case("c000", tags={"half": ("x",)}), case("c001")]}, "other tags in 1 case"),
    ],
)
def test_other_differences_are_told_and_compared(
    store: Store, put: Callable[..., Run], more: dict[str, Any], warning: str
) -> None:
    cases = [case("c000"), case("c001")]
    put("old", values([0.0, 1.0]), cases=cases)
    put("new", values([1.0, 1.0]), **{"cases": cases, **more})
    compared = compare(store, ["old", "new"])
    assert any(warning in found for found in compared.warnings), compared.warnings
    assert compared.complete == ("status" not in more)


def test_best_of_three_is_not_compared_with_best_of_one(
    store: Store, put: Callable[..., Run]
) -> None:
    put("old", values([0.0, 1.0]), reduce="max")
    put("new", values([1.0, 1.0]), reduce="max", attempts=3)
    with pytest.raises(UsageError, match="the max of 1 attempts a case is not that of 3"):
        compare(store, ["old", "new"])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["old"], "2 to 10 runs"),
        (["old", "old"], "named twice"),
        (["old", "far"], "no case in common"),
        (["old", "nobody"], "no run 'nobody'"),
    ],
)
def test_what_is_no_comparison(
    store: Store, put: Callable[..., Run], names: list[str], message: str
) -> None:
    put("old", values([0.0, 1.0]))
    put("far", {"elsewhere": 1.0})
    with pytest.raises(Exception, match=message):
        compare(store, names)


def test_one_case_is_not_enough(store: Store, put: Callable[..., Run]) -> None:
    put("old", values([0.0]))
    put("new", values([1.0]))
    (found,) = compare(store, ["old", "new"]).contrasts
    assert found.verdict == "nothing"
    assert "only 1 case counts in both" in sentence(found)


def test_two_runs_of_one_name_are_told_apart(store: Store, put: Callable[..., Run]) -> None:
    put("one", values([0.0, 1.0]), called="mine")
    put("two", values([1.0, 1.0]), called="mine")
    names = [side.name for side in compare(store, ["one-id", "two-id"]).sides]
    assert names == ["mine (one-id)", "mine (two-id)"]


def test_gates(store: Store, put: Callable[..., Run]) -> None:
    put("a", values([0.0, 1.0] * 10))
    put("b", values([1.0, 1.0] * 10))
    put("c", values([0.0, 1.0] * 10))
    gates = ("difference.low > 0", "half.low >= 0", "to_wrong == 0 and cases >= 20", "p < 0.05")
    two = compare(store, ["a", "b"], CompareSettings(gates=gates))
    assert missed_gates(gates, two) == []
    assert contrast_gate_names(two.contrasts[0])["half"]["high"]["value"] == 1.0
    # The worse of b and c is no matter of the first run.
    three = compare(store, ["a", "b", "c"], CompareSettings(gates=gates))
    assert missed_gates(gates, three) == ["difference.low > 0", "p < 0.05"]
    with pytest.raises(UsageError, match="did you mean 'difference'"):
        missed_gates(["diffrence > 0"], two)
    with pytest.raises(UsageError, match="cannot read"):
        compare(store, ["a", "b"], CompareSettings(gates=("difference >",)))


def test_the_object(store: Store, put: Callable[..., Run]) -> None:
    put("old", values([0.0, 1.0] * 10))
    put("new", values([1.0, 1.0] * 10))
    compared = compare(store, ["old", "new"], CompareSettings(by=("half",)))
    made = compared_object(compared)
    assert [run["name"] for run in made["runs"]] == ["old", "new"]
    (pair,) = made["pairs"]
    assert pair["verdict"] == "better"
    assert pair["difference"]["value"] == 0.5
    assert pair["counts"]["to_right"] == 10
    assert pair["groups"]["half"]["low"]["difference"]["value"] == 0.0
    assert [flip["id"] for flip in pair["flips"]["better"]][:2] == ["c000", "c002"]
    assert compared_object(replace(compared, warnings=("x",)))["warnings"] == ["x"]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0625, "+6.2"), (-0.02, "−2.0"), (0.0, "0.0"), (0.0004, "+0.04"), (1e-9, "0.0"), (1, "+100.0")],
)  # fmt: skip
def test_points(share: float, text: str) -> None:
    assert points(share) == text


@pytest.mark.parametrize(
    ("count", "text"), [(7, "7"), (10, "10"), (101, "110"), (395, "400"), (12345, "13,000")]
)
def test_about(count: int, text: str) -> None:
    assert about(count) == text


def test_what_is_partly_right_in_both_is_not_wrong(store: Store, put: Callable[..., Run]) -> None:
    put("old", values([2 / 3, 0.0, 1.0, 0.5]))
    put("new", values([2 / 3, 0.0, 1.0, 0.25]))
    (found,) = compare(store, ["old", "new"]).contrasts
    flips = found.flips
    assert (flips.both_partly, flips.both_wrong, flips.both_right) == (1, 1, 1)
    shown = {kind: [pair.id for pair in pairs] for kind, pairs in found.examples.items()}
    assert shown == {
        "better": [],
        "worse": ["c003"],
        "both_wrong": ["c001"],
        "both_partly": ["c000"],
    }


def many(better: int, worse: int, same: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make two runs of rights and wrongs."""
    old = [0.0] * better + [1.0] * worse + [1.0] * same
    new = [1.0] * better + [0.0] * worse + [1.0] * same
    return values(old), values(new)


@pytest.mark.parametrize(
    ("better", "worse", "same", "verdict", "words"),
    [
        (20, 2, 178, "better", "new is better than old"),
        (2, 20, 178, "worse", "new is worse than old"),
        (0, 0, 190, "equal", "new and old are equal within 2 points"),
        (0, 0, 150, "unclear", "cannot be told apart"),
        (9, 3, 488, "no_worse", "new is no worse than old by 2 points"),
        (10, 10, 180, "unclear", "cannot be told apart"),
        (2, 20, 5000, "equal", "are equal within 2 points"),
    ],
)
def test_one_verdict_with_a_margin(
    store: Store, put: Callable[..., Run], better: int, worse: int, same: int, verdict: str,
    words: str,
) -> None:  # fmt: skip
    for name, marks in zip(("old", "new"), many(better, worse, same), strict=True):
        put(name, marks)
    compared = compare(store, ["old", "new"], CompareSettings(margin=0.02))
    (found,) = compared.contrasts
    assert found.verdict == verdict
    assert words in sentence(found)
    assert contrast_gate_names(found)["verdict"] == verdict
    assert missed_gates([f"verdict == '{verdict}'"], compared) == []
    shown = compared_object(compared)["pairs"][0]
    assert (shown["verdict"], shown["margin"]) == (verdict, 0.02)
    assert sentence(found, "zh")


def test_a_difference_below_the_margin_says_that_it_shows(
    store: Store, put: Callable[..., Run]
) -> None:
    for name, marks in zip(("old", "new"), many(2, 20, 5000), strict=True):
        put(name, marks)
    (found,) = compare(store, ["old", "new"], CompareSettings(margin=0.02)).contrasts
    assert sentence(found).endswith("The difference that shows is smaller than the margin.")
    (found,) = compare(store, ["old", "new"]).contrasts
    assert found.verdict == "worse"


@pytest.mark.parametrize("margin", [0.0, -0.02, 1.0, float("nan")])
def test_a_margin_is_a_part_of_the_scale(margin: float) -> None:
    with pytest.raises(UsageError, match="points of 100"):
        CompareSettings(margin=margin)


def test_all_rows_shown_are_one_family(store: Store, put: Callable[..., Run]) -> None:
    for name, marks in zip(("old", "new"), many(12, 2, 26), strict=True):
        put(name, marks)
    (alone,) = compare(store, ["old", "new"]).contrasts
    (beside,) = compare(store, ["old", "new"], CompareSettings(by=("half",))).contrasts
    rows = [beside, *beside.groups["half"].values()]
    assert {row.tested for row in rows} == {3}
    assert (alone.tested, alone.level) == (1, 0.95)
    assert beside.level == pytest.approx(1 - 0.05 / 3)
    assert beside.adjusted_p == pytest.approx(3 * (alone.adjusted_p or 9))
    assert beside.interval is not None
    assert alone.interval is not None
    assert beside.interval[0] < alone.interval[0]
    assert beside.interval[1] > alone.interval[1]


def test_interval_and_verdict_never_contradict_each_other(
    store: Store, put: Callable[..., Run]
) -> None:
    for place, (better, worse, same) in enumerate(
        [(5, 0, 0), (5, 0, 3), (7, 1, 0), (9, 2, 40), (8, 2, 40), (0, 6, 6)]
    ):
        names = f"old{place}", f"new{place}"
        for name, marks in zip(names, many(better, worse, same), strict=True):
            put(name, marks)
        (found,) = compare(store, names).contrasts
        assert found.interval is not None
        low, high = found.interval
        assert found.verdict != "unclear" or low <= 0 <= high, place
        if found.verdict == "better":
            assert low >= 0
        if found.verdict == "worse":
            assert high <= 0


def test_ranks_follow_from_what_is_sure(store: Store, put: Callable[..., Run]) -> None:
    put("low", values([0.0] * 40 + [1.0] * 60))
    put("middle", values([1.0] * 20 + [0.0] * 20 + [1.0] * 60))
    put("alike", values([1.0] * 21 + [0.0] * 19 + [1.0] * 60))
    put("high", values([1.0] * 100))
    compared = compare(store, ["low", "middle", "alike", "high"])
    assert compared.ranks == {
        "low-id": (4, 4), "middle-id": (2, 3), "alike-id": (2, 3), "high-id": (1, 1),
    }  # fmt: skip
    assert [run["rank"] for run in compared_object(compared)["runs"]] == [
        (4, 4), (2, 3), (2, 3), (1, 1),
    ]  # fmt: skip


def test_evidence_decides_at_any_time(store: Store, put: Callable[..., Run]) -> None:
    for name, marks in zip(("old", "new"), many(40, 6, 154), strict=True):
        put(name, marks)
    compared = compare(store, ["old", "new"], CompareSettings(sequential=True))
    (found,) = compared.contrasts
    assert found.sequential is not None
    assert (found.verdict, found.told_apart) == ("better", "better")
    assert found.sequential.cases < 200
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


def test_three_runs_take_more_evidence(store: Store, put: Callable[..., Run]) -> None:
    put("low", values([0.0] * 40 + [1.0] * 60))
    put("high", values([1.0] * 100))
    put("alike", values([1.0] * 100))
    found = compare(store, ["low", "high", "alike"], CompareSettings(sequential=True))
    assert {pair.sequential.sure for pair in found.contrasts if pair.sequential} == {60.0}
    assert found.ranks == {"low-id": (3, 3), "high-id": (1, 2), "alike-id": (1, 2)}


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
    assert "after 20 questions in random order" in sentence(looked)
