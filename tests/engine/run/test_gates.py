"""Gates of runs: whether they hold, and what unscored cases could still make of them."""

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.core.run import Summary
from proctor.core.suite import Case, Criterion, Spec, Suite
from proctor.engine.run.gates import check_gates, gate_results, missed_gates
from proctor.engine.run.totals import RunTotals
from proctor.errors import UsageError

TOTALS = replace(
    RunTotals().summary().totals,
    rate=0.6, score=3.0, full=5.0, cases=5, attempts=8, interval=(0.2, 0.9),
)  # fmt: skip
WHOLE = Summary(totals=TOTALS)
OPEN = Summary(totals=replace(TOTALS, unscored=3, cases_unscored=3, bounds=(0.375, 0.75)))
LIES = "3 cases are unscored, so the rate may be anything in [0.3750, 0.7500]; "


@pytest.mark.parametrize(
    ("gate", "held", "note"),
    [
        ("rate >= 0.5", True, LIES + "it would be missed at the worst"),
        ("rate >= 0.3", True, LIES + "it still holds at the worst"),
        ("rate <= 0.7", True, LIES + "it would be missed at the worst"),
        ("rate >= 0.3 and errors == 0", True, LIES + "it still holds at the worst"),
        ("rate >= 0.7", False, LIES + "it would hold at the best"),
        ("rate >= 0.8", False, LIES + "it is missed even at the best"),
        ("rate.low >= 0.1", True, LIES + "whether that would change it is not known"),
        ("score >= 1", True, LIES + "whether that would change it is not known"),
        ("unscored == 0", False, LIES[:-2]),
        ("cases == 5", True, LIES[:-2]),
    ],
)
def test_a_gate_says_what_unscored_cases_could_make_of_it(gate: str, held: bool, note: str) -> None:
    (found,) = gate_results([gate], OPEN)
    assert (found.passed, found.note) == (held, note)
    assert found.words.startswith(f"{gate} ({note}")
    assert missed_gates([gate], OPEN) == ([] if held else [gate])


@pytest.mark.parametrize(
    ("gate", "held", "unknown"),
    [
        ("corrected.low >= 0.7", False, "corrected.low is not known without labels"),
        ("not corrected.low < 0.7", False, "corrected.low is not known without labels"),
        ("not (corrected < 0.7 or rate < 0.5)", False, "corrected is not known"),
        ("rate >= 0.5 or corrected.low >= 0.7", True, ""),
        ("rate >= 0.5 or not corrected.low < 0.7", True, ""),
        ("not rate < 0.5", True, ""),
        ("rate >= spread", False, "spread is not known"),
        ("rate >= 0.7", False, ""),
    ],
)
def test_a_number_that_is_not_known_misses_its_gate_and_is_named(
    gate: str, held: bool, unknown: str
) -> None:
    (found,) = gate_results([gate], WHOLE)
    assert found.passed is held
    assert found.note.startswith(unknown)
    assert bool(found.note) == bool(unknown)


@pytest.mark.parametrize(
    ("gate", "held", "luck"),
    [
        ("rate >= 0", True, 0.0),
        ("0 <= rate", True, 0.0),
        ("rate <= 1", True, 0.0),
        ("1 >= rate", True, 0.0),
        # the interval is 0.2 to 0.9: half of it is 0.4 below the rate of 0.6, and 0.3 above it
        ("rate >= 0.5", True, 0.365),
        ("rate > 0.9", False, 0.083),
        ("0.9 < rate", False, 0.083),
        ("rate >= 0.6", True, 0.5),
        ("rate >= 0.5 and errors == 0", True, 0.365),
        ("rate >= -0.5", True, 0.0),
        ("0.5 <= rate <= 0.9", True, 0.365),
        ("rate.low >= 0.1", True, None),
        ("errors == 0", True, None),
        ("rate == 0.6", True, None),
        ("rate != 0.6", False, None),
    ],
)
def test_a_gate_on_a_bare_rate_says_how_often_luck_decides(
    gate: str, held: bool, luck: float | None
) -> None:
    (found,) = gate_results([gate], WHOLE)
    assert (found.passed, found.note) == (held, "")
    assert found.luck == (None if luck is None else pytest.approx(luck, abs=0.001))
    told = "luck alone would decide it the other way" in found.words
    assert told == (luck is not None and luck > 0.005)
    assert found.to_json() == {"gate": gate, "held": held, "note": "", "luck": found.luck}


def test_a_gate_on_a_criterion_without_labels_is_missed() -> None:
    """Its name was checked before the run: that nobody has labelled it yet is no mistake."""
    gate = "corrected.x.low >= 0.7"
    check_gates([gate], PLAIN, MEASURES)
    (found,) = gate_results([gate], Summary(totals=TOTALS))
    assert not found.passed
    assert "corrected.x.low is not known without labels" in found.note


@pytest.mark.parametrize(
    ("gate", "possible"),
    [
        ("corrected.stars > 5", False),
        ("corrected.stars >= 5", True),
        ("corrected.stars < 1", False),
        ("corrected.x > 1", False),
        ("corrected > 5", False),
        ("corrected >= 4", True),
    ],
)
def test_corrected_ratings_lie_on_their_scale(gate: str, possible: bool) -> None:
    stars = Criterion(id="stars", scorer=Spec(name="rating", params={"question": "How good?"}))
    (case,) = PLAIN.cases
    suite = replace(PLAIN, cases=(replace(case, criteria=(*case.criteria, stars)),))
    if possible:
        check_gates([gate], suite, MEASURES)
        return
    with pytest.raises(UsageError, match="can never hold") as refused:
        check_gates([gate], suite, MEASURES)
    assert ("%" in str(refused.value)) is False


def test_rounding_misses_no_gate() -> None:
    rate = (0.7 + 0.7 + 0.7) / (0.7 + 0.7 + 0.7 + 0.7)
    assert rate < 0.75
    summary = Summary(totals=replace(TOTALS, rate=rate))
    assert missed_gates(["rate >= 0.75", "rate <= 0.75", "rate == 0.75"], summary) == []
    assert missed_gates(["rate > 0.75", "rate < 0.75", "rate != 0.75"], summary) == [
        "rate > 0.75",
        "rate < 0.75",
        "rate != 0.75",
    ]


PLAIN = Suite(
    name="s",
    cases=(
        Case(
            id="c",
            messages=(),
            criteria=(Criterion(id="x", scorer=Spec(name="contains")),),
            tags={"level": ("low",)},
        ),
    ),
)
MEASURES: dict[str, Any] = {"accuracy": (0.0, 1.0), "mean_points": (None, None), "pass@2": (0, 1)}


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("rate >= 70", "can never hold: rate lies between 0 and 1; write 0.7 for 70 %"),
        ("rate < 0", "can never hold: rate lies between 0 and 1"),
        ("rate.low > 1", "can never hold: rate.low lies between 0 and 1"),
        ("rate.low > 1 and errors < 0", "never hold: rate.low lies between 0 and 1, errors is 0"),
        ("rate == 2", "can never hold"),
        ("70 <= rate", "can never hold"),
        ("rate >= 0.5 and errors < 0", "errors is 0 or more"),
        ("not (rate < 0.5 or rate >= -1)", ""),
        ("level.low >= 50", "level.low lies between 0 and 1"),
        ("accuracy.low >= 95", "accuracy.low lies between 0 and 1"),
        ("pass_at_2 > 1", "pass_at_2 lies between 0 and 1"),
        ("rate * 100 >= 170", "can never hold"),
        ("rat >= 0.5", "unknown name 'rat'"),
        ("rate.lo >= 0.5", "unknown name 'lo'"),
        ("rate >= 0.9 and accurracy > 0.5", "unknown name 'accurracy'"),
        ("level.hihg > 0.5", "unknown name 'hihg'"),
        ("0.9 < rate < nothing", "unknown name 'nothing'"),
        ("cases.low > 3", "cases is a single number, without .low"),
        ("rate*100 >= 700", "rate lies between 0 and 1, rate * 100 lies between 0 and 100"),
        ("corrected >= 70", "corrected lies between 0 and 1; write 0.7 for 70 %"),
        ("corrected.x.low > 1", "corrected.x.low lies between 0 and 1"),
        ("corrected.y > 0.5", "unknown name 'y'"),
        ("0.8", "decides nothing: it names no number"),
        ("not False or 2 > 1", "decides nothing"),
        ("rate >= 70%", "write a share for a percentage: 0.7 for 70 %"),
        ("rate = 0.7", "compare with '==' for equal"),
    ],
)
def test_what_is_unknown_or_impossible_is_refused_before_a_run(gate: str, said: str) -> None:
    if not said:
        check_gates([gate], PLAIN, MEASURES)
        return
    with pytest.raises(UsageError, match=re.escape(said)):
        check_gates([gate], PLAIN, MEASURES)


@pytest.mark.parametrize(
    "gate",
    [
        "rate >= 0", "rate <= 1", "rate >= 1", "rate.low >= 0.99", "mean_points >= 70",
        "rate * 100 >= 70", "rate >= 70 or cases < 5", "metric.contains >= 70", "score >= 12",
        "cases == 200 and unscored == 0", "spread <= 0.1", "level.low - rate > -0.1",
    ],
)  # fmt: skip
def test_what_can_be_is_not(gate: str) -> None:
    check_gates([gate], PLAIN, MEASURES)


def test_penalties_leave_the_rate_open() -> None:
    penalty = Criterion(id="p", scorer=Spec(name="contains"), weight=-3.0)
    case = replace(PLAIN.cases[0], criteria=(*PLAIN.cases[0].criteria, penalty))
    check_gates(["rate > -1", "rate < 0"], replace(PLAIN, cases=(case,)), {})


def test_the_command_prints_it(tmp_path: Path, proctor: str) -> None:
    suite = {
        "name": "s",
        "cases": [
            {"id": "one", "ask": "?", "criteria": {"contains": "x"}},
            {"id": "two", "ask": "?", "criteria": {"exact_match": {}}},
        ],
    }
    (tmp_path / "s.yaml").write_text(json.dumps(suite))
    rows = [{"case": name, "output": "x"} for name in ("one", "two")]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    gates = ("--gate", "rate >= 0.9", "--gate", "rate >= 0.4", "--gate", "rate < 0.9")
    done = subprocess.run(
        [proctor, "run", "s.yaml", "--answers", "a.jsonl", *gates],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    open_rate = "(1 case is unscored, so the rate may be anything in [0.5000, 1.0000]; "
    assert f"gate held: rate >= 0.9 {open_rate}it would be missed at the worst" in done.stderr
    assert f"gate held: rate >= 0.4 {open_rate}it still holds at the worst" in done.stderr
    assert f"gate missed: rate < 0.9 {open_rate}it would hold at the best" in done.stderr


AGAINST = {"verdict": "worse", "difference": {"value": -0.1, "low": -0.2, "high": 0.0}, "worse": 3}


@pytest.mark.parametrize(
    ("gate", "refused", "held", "note"),
    [
        ("against.verdict != 'worse'", "", False, ""),
        ("against.difference.low >= -0.25", "", True, ""),
        ("against.worse <= 3 and rate >= 0.5", "", True, ""),
        ("against.verdict != 'better'", "other cases", False, "other cases"),
        ("rate >= 0.5", "other cases", True, ""),
    ],
)
def test_gates_on_the_comparison_with_an_earlier_run(
    gate: str, refused: str, held: bool, note: str
) -> None:
    (found,) = gate_results([gate], WHOLE, AGAINST, refused)
    assert (found.passed, found.note) == (held, note)


@pytest.mark.parametrize(
    ("gate", "against", "error"),
    [
        ("against.verdict != 'worse'", True, ""),
        ("against.difference.low >= -0.02", True, ""),
        ("against.topic.maths.high < 0", True, ""),
        ("against.verdict != 'worse'", False, "needs a run to compare with: --against"),
        ("against.rate >= 0", True, "unknown name 'rate'"),
    ],
)
def test_names_of_a_comparison_are_checked_before_the_run(
    gate: str, against: bool, error: str
) -> None:
    case = Case(id="a", messages=(), criteria=(), tags={"topic": ("maths",)})
    suite = Suite(name="s", cases=(case,))
    if not error:
        check_gates([gate], suite, {}, against=against)
        return
    with pytest.raises(UsageError, match=error):
        check_gates([gate], suite, {}, against=against)
