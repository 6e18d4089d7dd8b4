"""Gates of runs: whether they hold, and what unscored cases could still make of them."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from proctor.core.run import Summary
from proctor.engine.run.aggregate import RunTotals
from proctor.engine.run.gates import gate_results, missed_gates

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
        ("unscored == 0", False, LIES + "whether that would change it is not known"),
        ("cases == 5", True, LIES + "whether that would change it is not known"),
    ],
)
def test_a_gate_says_what_unscored_cases_could_make_of_it(gate: str, held: bool, note: str) -> None:
    (found,) = gate_results([gate], OPEN)
    assert (found.passed, found.note) == (held, note)
    assert found.words == f"{gate} ({note})"
    assert missed_gates([gate], OPEN) == ([] if held else [gate])


def test_a_run_without_unscored_cases_has_nothing_to_say() -> None:
    for gate, held in (("rate >= 0.5", True), ("rate > 0.9", False)):
        (found,) = gate_results([gate], WHOLE)
        assert (found.passed, found.note, found.words) == (held, "", gate)


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
    assert f"gate held: rate >= 0.9 {open_rate}it would be missed at the worst)" in done.stderr
    assert f"gate held: rate >= 0.4 {open_rate}it still holds at the worst)" in done.stderr
    assert f"gate missed: rate < 0.9 {open_rate}it would hold at the best)" in done.stderr
