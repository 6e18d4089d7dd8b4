"""What AskBench's result files say of each case, compared with what the original wrote."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_askbench_golden import SCENARIOS, ending, run


@pytest.mark.parametrize("name", ["math500", "gpqa", "healthbench"])
@pytest.mark.sampled(3)
def test_every_case_is_written_as_the_original_does(cli: Any, name: str) -> None:
    run(cli, name, "--compat", "original", "--out", "written", code=ending(name))
    path = Path(name, name, "attempt_1", "api_responses.json")
    records = json.loads((cli.folder / "written" / path).read_text())
    expected = SCENARIOS[name]["expected"]["attempts"][0]["per_case"]
    for record, row in zip(records, expected, strict=True):
        if "rubrics" in record:
            met = [item.get("criteria_met", "absent") for item in record["rubrics"]]
            assert met == row["criteria_met"], row
            same = [key for key in row if key not in ("case", "criteria_met")]
            assert record["conversation"][-1]["content"] == record["assistant_response"]
        else:
            assert record["judge"]["parse_attempts"] == row["parse_attempts"], row
            same = ["correct", "skipped", "truncated", "thinking_process"]
            assert record.get("skip_reason") == row["skip_reason"], row
            said = re.sub(r"\s*(\[\[[\w:.-]+\]\])+$", "", record["response"])
            assert said == row["response"], row
        assert {key: record[key] for key in same} == {key: row[key] for key in same}


def test_rulings_of_dialogues_are_completed_as_the_original_does(cli: Any) -> None:
    """What the judge left out is written down as it was understood."""
    run(cli, "ask_mind", "--compat", "original", "--out", "written", code=ending("ask_mind"))
    path = cli.folder / "written" / "ask_mind" / "ask_mind" / "askbench_detailed_results.json"
    for record in json.loads(path.read_text()):
        last = record["turn_logs"][-1]["judge_decision"]
        assert (last is None) == record["skipped"]
        if last is not None:
            assert last["missing_required_points"] == record["missing_required_points"]
            assert last["all_required_points_resolved"] == record["all_required_points_resolved"]
