"""Runs compared case by case: paired by id, refused where they differ, said in a sentence."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from engine.compare.stored_pairs import case, row, values
from proctor.core.run import Run, RunStatus
from proctor.engine.compare.as_json import compared_object
from proctor.engine.compare.comparing import (
    CompareSettings,
    adjusted_together,
    case_pairs,
    compare,
    contrast_gate_names,
    missed_gates,
)
from proctor.engine.compare.results import Contrast, LeftOut
from proctor.engine.compare.verdict import Flips, GroupContrast
from proctor.engine.compare.wording import about, points, sentence
from proctor.errors import UsageError
from proctor.stats.paired import PairedCases
from proctor.store.store import Store

SIGNATURE = "suite:quiz@12345678|dialect:native|scorers:judged-1|judge:{judge}|prompts:{prompts}|reduce:avg|version:{version}"


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


def test_one_more_case_is_no_cases(store: Store, put: Callable[..., Run]) -> None:
    put("old", values([1.0, 0.5] * 6))
    put("new", values([1.0, 1.0, 2 / 3] * 4))
    (found,) = compare(store, ["old", "new"]).contrasts
    assert "would take at least 1 more case like these" in sentence(found)


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
@pytest.mark.slow
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
    with pytest.raises(UsageError, match=r"difference lies between -1 and 1; write 0\.05 for 5 %"):
        missed_gates(["difference >= 5"], two)
    with pytest.raises(UsageError, match="did you mean 'worse'"):
        missed_gates(["verdict != 'worst'"], two)
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


def flipped(better: int, worse: int, same: int) -> dict[str, Any]:
    pairs = PairedCases()
    for first, second, count in ((0, 1, better), (1, 0, worse), (1, 1, same)):
        if count:
            pairs.add(first, second, 1.0, count)
    return {"paired": pairs.compare(), "flips": Flips()}


def contrast(*counts: tuple[int, int, int]) -> Contrast:
    """Make a pair of runs with one row for each further triple."""
    side = cast("Any", None)
    groups = {str(place): GroupContrast(**flipped(*few)) for place, few in enumerate(counts[1:])}
    return Contrast(
        **flipped(*counts[0]), first=side, second=side, left_out=LeftOut(), groups={"tag": groups}
    )


def test_pairs_and_groups_are_one_family() -> None:
    one, two = adjusted_together([contrast((9, 0, 50), (8, 0, 20)), contrast((1, 1, 60))], None)
    rows = [one, one.groups["tag"]["0"], two]
    assert [found.tested for found in rows] == [3, 3, 3]
    assert [found.adjusted_p for found in rows] == pytest.approx([3 / 2**9, 2 / 2**8, 1.0])
    assert [found.verdict for found in rows] == ["better", "better", "unclear"]


def test_a_row_without_cases_takes_nothing_from_the_others() -> None:
    one, two = adjusted_together([contrast((9, 0, 50)), contrast((0, 0, 0))], 0.02)
    assert (one.tested, one.level, one.margin) == (1, 0.95, 0.02)
    assert (two.adjusted_p, two.verdict, two.interval) == (None, "nothing", None)


def test_both_extremes_of_the_unscored_must_agree() -> None:
    seen, worst, best = (flipped(*few)["paired"] for few in ((9, 0, 50), (9, 4, 50), (13, 0, 50)))
    found = GroupContrast(paired=seen, flips=Flips(), extremes=(worst, best))
    assert found.decision_p == pytest.approx(worst.p)
    turned = GroupContrast(
        paired=seen, flips=Flips(), extremes=(flipped(9, 12, 50)["paired"], best)
    )
    assert turned.decision_p == 1.0
