"""A stranger's package is installed, and its scorer and measure are used by name."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.run.attempt_writer import MOST_IN_MEMORY

PACKAGE = Path(__file__).resolve().parents[1] / "example_plugin"
SUITE = """\
name: manners
measures: [perfect_cases, perfect_sum]
cases:
  - {{id: one, ask: Ask for salt., criteria: {{'{scorer}': {params}}}}}
  - {{id: two, ask: Ask for salt., criteria: {{'{scorer}': {params}}}}}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    target = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation",
         "--disable-pip-version-check", "--no-index", "--target", str(target), str(PACKAGE)],
        check=True, capture_output=True,
    )  # fmt: skip
    return target


@pytest.mark.slow
def test_by_name_and_by_module(cli: Any, installed: Path) -> None:
    cli.env["PYTHONPATH"] = str(installed)
    cli.answers([{"case": "one", "output": "Salt, please."}, {"case": "two", "output": "Salt!"}])
    names = [row["name"] for row in cli.json("list", "scorers")["scorers"]]
    assert "polite" in names
    rows = [
        ("polite", "{}", [], 0.5),
        ("polite", "{words: [salt]}", [], 1.0),
        ("courtesy.scorers:Polite", "{}", ["--allow-import"], 0.5),
    ]
    for scorer, params, options, rate in rows:
        cli.write("suite.yaml", SUITE.format(scorer=scorer, params=params))
        made = cli.json("run", "suite.yaml", "--answers", "answers.jsonl", *options)
        assert made["totals"]["rate"] == rate
        for name in ("perfect_cases", "perfect_sum"):
            assert made["measures"][name] == {**made["measures"][name], "value": rate * 2, "n": 2}
    refused = cli("run", "suite.yaml", "--answers", "answers.jsonl", code=2)
    assert "--allow-import" in refused.stderr
    cli.write("suite.yaml", SUITE.format(scorer="polite", params="{wrods: [a]}"))
    wrong = cli("run", "suite.yaml", "--answers", "answers.jsonl", code=2)
    assert "did you mean 'words'" in wrong.stderr


@pytest.mark.slow("full")
def test_a_large_run_is_measured_from_the_store_and_from_sums(cli: Any, installed: Path) -> None:
    cli.env["PYTHONPATH"] = str(installed)
    places = range(MOST_IN_MEMORY + 100)
    cases = "\n".join(f"  - {{id: c{n}, ask: '?', criteria: {{contains: yes}}}}" for n in places)
    cli.write(
        "suite.yaml", f"name: many\nmeasures: [perfect_cases, perfect_sum]\ncases:\n{cases}\n"
    )
    cli.answers([{"case": f"c{n}", "output": "no" if n % 3 else "yes"} for n in places])
    made = cli.json("run", "suite.yaml", "--answers", "answers.jsonl")["measures"]
    hits = len(range(0, len(places), 3))
    assert [made[name]["value"] for name in ("perfect_cases", "perfect_sum")] == [hits, hits]
    assert made["perfect_cases"]["n"] == made["perfect_sum"]["n"] == len(places)


def test_without_the_package_the_name_is_unknown(cli: Any) -> None:
    cli.write("suite.yaml", SUITE.format(scorer="polite", params="{}"))
    cli.answers([{"case": "one", "output": "x"}])
    assert "polite" in cli("run", "suite.yaml", "--answers", "answers.jsonl", code=2).stderr
