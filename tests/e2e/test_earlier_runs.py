"""run --against, --junit and --markdown, and proctor baseline: what a build server needs."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

CASES = 24


def outputs(wrong: range) -> list[dict[str, Any]]:
    return [{"case": f"sum-{n:02}", "output": str(2 * n + (n in wrong))} for n in range(CASES)]


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory, make_cli: Callable[[Path], Any]) -> Path:
    """Give a folder with a suite of sums and a pinned run, exported beside it."""
    cli = make_cli(tmp_path_factory.mktemp("pinned"))
    suite = ["name: sums", "cases:"]
    for n in range(CASES):
        suite += [f"  - id: sum-{n:02}", f"    ask: {n} + {n}?",
                  f"    criteria: {{number: {2 * n}}}",
                  f"    tags: {{level: {'low' if n < 12 else 'high'}}}"]  # fmt: skip
    cli.write("suite.yaml", "\n".join(suite) + "\n")
    cli("run", "suite.yaml", "--answers", cli.answers(outputs(range(2))))
    said = cli("baseline", "@last").stdout
    assert said.startswith("sums: sums-answers (")
    assert said.endswith("), 91.67%\n")
    cli("export", "@last", "--out", "baseline.jsonl")
    return Path(cli.folder)


@pytest.fixture
def sums(pinned: Path, cli: Any) -> Any:
    shutil.copytree(pinned, cli.folder, dirs_exist_ok=True)
    return cli


RUN = ("run", "suite.yaml", "--answers", "answers.jsonl", "--against")


@pytest.mark.parametrize("reference", ["@baseline", "baseline.jsonl", "sums-answers"])
def test_a_worse_run_says_so_and_misses_its_gate(sums: Any, reference: str) -> None:
    before = {row["name"]: row["id"] for row in sums.json("list", "runs")["runs"]}
    sums.answers(outputs(range(14)))
    gates = ("--gate", "against.verdict != 'worse'", "--gate", "against.level.high.low >= -1")
    made = sums(*RUN, reference, *gates, "--junit", "out/j.xml", "--markdown", "out/s.md", code=1)
    earlier = "sums-answers" + "-imported" * reference.endswith(".jsonl")
    assert f" is worse than {earlier}: −50.0 points of 100" in made.stdout
    assert "  worse: sum-02  1 → 0 of 1\n" in made.stdout
    assert "  … and 2 more (`proctor compare` shows them)" in made.stdout
    assert "gate missed: against.verdict != 'worse'\n" in made.stderr
    runs = {row["name"]: row for row in sums.json("list", "runs")["runs"]}
    # The run before is still there, with its own numbers, though all but the answers is the same.
    assert runs[earlier]["rate"] == pytest.approx(22 / 24)
    assert before["sums-answers"] == runs["sums-answers"]["id"]
    root = ElementTree.parse(sums.folder / "out/j.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("26", "15")
    summary = (sums.folder / "out/s.md").read_text(encoding="utf-8")
    assert "| gate missed | 41.67% |" in summary
    assert "- gate **missed**: `against.verdict != 'worse'`" in summary
    assert "Worse: 12 cases" in summary
    assert "| `sum-02` | 1 | 0 | 1 | `number 0 of 1: " in summary


def test_json_has_the_comparison_and_a_second_call_makes_no_third_run(sums: Any) -> None:
    for _ in range(2):
        made = sums.json(*RUN, "@baseline", "--margin", "40")
        assert made["against"]["verdict"] == "equal"
        assert made["against"]["run"]["name"] == "sums-answers"
        assert made["against"]["counts"]["worse"] == 0
        assert made["run"]["id"] != made["against"]["run"]["id"]
    assert len(sums.json("list", "runs")["runs"]) == 2


def test_a_file_is_imported_once(sums: Any) -> None:
    for _ in range(2):
        assert sums.json(*RUN, "baseline.jsonl")["against"]["run"]["imported"] is True
    imported = [run for run in sums.json("list", "runs")["runs"] if run["imported"]]
    assert len(imported) == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--against", "absent"], "there is no run 'absent'"),
        (["--against", "absent.jsonl"], "absent.jsonl"),
        (["--against", "answers.jsonl"], "not a run that `proctor export` wrote"),
        (["--gate", "against.verdict != 'worse'"], "needs a run to compare with: --against"),
        (["--against", "@baseline", "--gate", "against.verdit == ''"], "did you mean 'verdict'"),
        (["--against", "@baseline", "--gate", "against.level.mid >= 0"], "unknown name 'mid'"),
        (["--link", "nowhere"], "expected TITLE=URL"),
        (["--link", "x=javascript:alert(1)"], "expected TITLE=URL"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_done(
    sums: Any, args: list[str], said: str
) -> None:
    made = sums("run", "suite.yaml", "--answers", "answers.jsonl", *args, code=2)
    assert said in made.stderr
    assert len(sums.json("list", "runs")["runs"]) == 1


def test_an_edited_case_is_not_compared_and_misses_such_gates_alone(sums: Any) -> None:
    suite = (sums.folder / "suite.yaml").read_text(encoding="utf-8")
    sums.write("suite.yaml", suite.replace("ask: 3 + 3?", "ask: three and three?"))
    made = sums(*RUN, "@baseline", "--gate", "rate >= 0.5", "--markdown", "s.md")
    assert (
        "Not compared with sums-answers: these runs cannot be compared: other question"
        in made.stdout
    )
    gated = sums(*RUN, "@baseline", "--gate", "against.verdict != 'worse'", code=1)
    assert "gate missed: against.verdict != 'worse' (these runs cannot be compared" in gated.stderr
    assert "Not compared" in (sums.folder / "s.md").read_text(encoding="utf-8")


def test_all_held_gates_are_listed(sums: Any) -> None:
    gates = ("rate >= 0.5", "errors == 0", "against.verdict != 'worse'", "against.to_wrong == 0")
    made = sums(*RUN, "@baseline", *(part for gate in gates for part in ("--gate", gate)))
    lines = [line for line in made.stderr.splitlines() if line.startswith("gate")]
    assert [line.partition(" (")[0] for line in lines] == [f"gate held: {gate}" for gate in gates]
    compared = sums("compare", "@baseline", "@last", "--gate", "verdict != 'worse'")
    assert "gate held: verdict != 'worse'\n" in compared.stderr


def test_a_run_that_missed_its_gates_is_no_baseline_unless_it_is_forced(sums: Any) -> None:
    sums.answers(outputs(range(14)))
    gates = ("--gate", "rate >= 0.9", "--gate", "errors == 0", "--gate", "against.to_wrong == 0")
    worse = sums(*RUN, "@baseline", *gates, code=1)
    assert "gate missed: rate >= 0.9" in worse.stderr
    before = sums.json("baseline")["baselines"][0]["run"]
    refused = sums("baseline", "@last", code=2).stderr
    assert "missed its gates: rate >= 0.9; against.to_wrong == 0 (fix: pin a run" in refused
    assert sums.json("baseline")["baselines"][0]["run"] == before
    forced = sums("baseline", "@last", "--force")
    assert "warning: the run" in forced.stderr
    assert "41.67%" in forced.stdout
    held = sums.json(*RUN, "@baseline", "--gate", "rate >= 0.4")
    assert "missed" not in sums("baseline", held["run"]["id"]).stderr


def test_baselines_are_listed_cleared_and_used_by_compare(sums: Any) -> None:
    sums.answers(outputs(range(14)))
    made = sums.json(*RUN, "@baseline")
    compared = sums("compare", "@baseline", made["run"]["id"]).stdout
    assert " is worse than sums-answers: " in compared
    sums("compare", "@baseline", "@baseline", code=2)
    (row,) = sums.json("baseline")["baselines"]
    assert (row["suite"], row["run"]["name"]) == ("sums", "sums-answers")
    said = sums("baseline", "--clear", "sum", code=2).stderr
    assert "did you mean 'sums'" in said
    sums("baseline", "--clear", "sums")
    assert sums("baseline").stdout == "no baselines; `proctor baseline RUN` pins one\n"
    made = sums(*RUN, "@baseline", "--gate", "against.verdict != 'worse'")
    assert "the suite 'sums' has no baseline yet: nothing is compared" in made.stderr
    assert "gate held: against.verdict != 'worse' (there is no baseline yet" in made.stderr


def test_a_baseline_is_pinned_for_the_suite_of_its_name(sums: Any) -> None:
    sums.answers(outputs(range(14)))
    second = sums.json(*RUN, "@baseline")["run"]
    pinned = sums.json("baseline", second["name"])["baselines"]
    assert json.dumps(pinned).count(second["id"]) == 1
    assert len(pinned) == 1
