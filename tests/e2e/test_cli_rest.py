"""report, show, list, check, convert, export, import, delete, init, demo, doctor, infibench."""

import json
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.fresh

INFIBENCH_CASE = """\
id: one
prompt_path: prompt.txt
type: knowledge question-answering
lang: python
grading:
  keywords: [alpha, beta]
"""


@pytest.mark.slow
def test_report_in_every_format(small: Any, run_small: Callable[..., Any]) -> None:
    made = run_small("--cases")
    assert small.json("report", "@last", "--cases") == made
    assert (
        json.loads(small("report", "small-answers", "--format", "json").stdout)["totals"]
        == made["totals"]
    )
    assert "56.25" in small("report", made["run"]["id"]).stdout
    assert "|" in small("report", "@last", "--format", "md", "--by", "topic").stdout
    assert "geography" in small("report", "@last", "--format", "csv", "--by", "topic").stdout
    junit = small("report", "@last", "--format", "junit").stdout
    assert len(ElementTree.fromstring(junit).findall(".//testcase")) >= 4
    small("report", "@last", "--format", "md", "--out", "there/report.md")
    assert (small.folder / "there" / "report.md").read_text().strip()


@pytest.mark.slow
def test_references_to_runs(small: Any, run_small: Callable[..., Any]) -> None:
    run_small("--name", "first")
    run_small("--name", "second")
    assert small.json("report", "@last")["run"]["name"] == "second"
    assert small.json("report", "@last~1")["run"]["name"] == "first"
    assert "did you mean 'first'" in small("report", "frist", code=2).stderr
    small("report", "@last~2", code=2)
    assert [run["name"] for run in small.json("list", "runs")["runs"]] == ["second", "first"]
    assert small.json("list", "suites")["suites"][0]["cases"] == 4
    small.json("delete", "second")
    assert [run["name"] for run in small.json("list", "runs")["runs"]] == ["first"]
    assert small.json("report", "first")["totals"]["rate"] == 0.5625
    assert small("delete", "first", code=130, input="n\n").stdout
    small("delete", "first", "--yes")
    small("report", "first", code=2)


def test_show(small: Any, run_small: Callable[..., Any]) -> None:
    run_small()
    text = small("show", "@last", "words").stdout
    assert "1 of 2 keywords found" in text
    assert "= 1 / 2 * 1 = 0.5" in text
    made = small.json("show", "@last", "words", "--attempt", "1")
    assert [a["index"] for a in made["attempts"]] == [1]
    assert made["attempts"][0]["output"] == ""
    small("show", "@last", "wrods", code=2)
    small("show", "@last", "words", "--attempt", "9", code=2)


def test_an_answer_cannot_steer_the_terminal(small: Any, run_small: Callable[..., Any]) -> None:
    small.answers([{"case": "capital", "output": "Paris \x1b[2J\x07 \x9b2J"}])
    run_small()
    text = small("show", "@last", "capital").stdout
    assert not {"\x1b", "\x07", "\x9b"} & set(text)


def test_lists(small: Any) -> None:
    scorers = {row["name"]: row["does"] for row in small.json("list", "scorers")["scorers"]}
    assert scorers.keys() >= {"keywords", "blanks", "rouge", "contains", "exact_match"}
    assert all(scorers.values())
    for what in ("dialects", "measures", "reports"):
        assert small.json("list", what)[what]
    rows = small.json("list", "cases", "suite.yaml")["cases"]
    assert [row["id"] for row in rows] == ["capital", "sum", "words", "silent"]
    small("list", "cases", code=2)
    small("list", "nothing", code=2)


def test_check(small: Any) -> None:
    made = small.json("check", "suite.yaml")
    assert made["counts"]["error"] == 0
    small.write("bad.yaml", "cases:\n  - ask: Q\n    criteria: {matches: '('}\n    wieght: 1\n")
    done = small("check", "bad.yaml", code=2)
    assert "bad.yaml:4:5" in done.stderr
    assert small.json("check", "bad.yaml", code=2)["counts"]["error"] >= 1


@pytest.mark.slow
def test_a_deep_check_attacks_the_criteria(cli: Any) -> None:
    cli.write(
        "suite.yaml",
        "cases:\n"
        "  - {id: echo, ask: Say hello, criteria: hello}\n"
        "  - {id: dead, ask: Q, criteria: {keywords: [{text: a, cond: 'False'}, b]}}\n"
        "  - {id: slow, ask: Q, criteria: {matches: '(a+)+$'}}\n"
        "  - {id: short, ask: Q, references: R, criteria: [{exact_match: true}, {contains: S}]}\n",
    )
    made = cli.json("check", "suite.yaml", "--deep")
    said = "\n".join(problem["message"] for problem in made["problems"])
    assert "case 'echo'" in said
    assert "the question itself gets 1 of 1" in said
    assert "no answer that was tried matches the keyword 'a'" in said
    assert "case 'slow'" in said
    assert "and was stopped" in said


def test_export_and_import_keep_every_number(small: Any, run_small: Callable[..., Any]) -> None:
    import pyarrow.parquet

    made = run_small("--cases")
    assert small.json("export", "@last", "--out", "run.jsonl")["rows"] == 4
    small("import", "run.jsonl", "--store", "other.db")
    again = small.json("report", "@last", "--cases", "--store", "other.db")
    told, quoted = made.pop("run"), again.pop("run")
    assert again == made
    assert quoted.pop("id").startswith("imported-")
    assert quoted == {
        **{name: told[name] for name in ("name", "suite", "candidate", "status")},
        "signature": told["signature"] + "|imported:yes",
        "imported": True,
        "regraded": None,
        "stopped_early": None,
    }
    small("export", "@last", "--out", "run.parquet")
    table = pyarrow.parquet.read_table(small.folder / "run.parquet").to_pylist()
    assert len(table) == 7
    assert {row["case"] for row in table} == {"capital", "sum", "words", "silent"}
    assert [row["points"] for row in table if row["case"] == "words"] == [1.0, 0.0]
    small("export", "@last", "--out", "run.txt", code=2)
    small.write("no-run.jsonl", '{"case": 1}\n')
    small("import", "no-run.jsonl", code=2)
    lines = (small.folder / "run.jsonl").read_text().splitlines()
    small.write("damaged.jsonl", "\n".join([lines[0], '{"case": {}}']))
    said = small("import", "damaged.jsonl", code=2).stderr
    assert "damaged.jsonl:2:1: error: the key 'id' is missing (at case)" in said


@pytest.mark.slow
def test_a_run_with_a_scorer_nobody_has_can_be_imported(small: Any) -> None:
    small.write("own.py", "from dataclasses import dataclass\nfrom proctor import Scorer\n\n"
                "@dataclass(frozen=True)\nclass Yes(Scorer):\n    def score(self, ctx):\n"
                "        return True\n")  # fmt: skip
    small.write("own.yaml", "cases:\n  - {id: a, ask: Q, criteria: {'own:Yes': {}}}\n")
    small.answers([{"case": "a", "output": "x"}])
    small.env["PYTHONPATH"] = str(small.folder)
    args = ["run", "own.yaml", "--answers", "answers.jsonl", "--name", "own"]
    small(*args, code=2)
    made = small.json(*args, "--allow-import")
    assert made["totals"]["rate"] == 1.0
    small("export", "own", "--out", "run.jsonl")
    del small.env["PYTHONPATH"]
    small("import", "run.jsonl", "--store", "other.db")
    assert small.json("report", "own", "--store", "other.db")["totals"] == made["totals"]


def test_convert(small: Any, run_small: Callable[..., Any]) -> None:
    expected = run_small()["totals"]
    made = small.json("convert", "suite.yaml", "--to", "native", "--out", "native")
    assert made["cases"] == 4
    assert small.json("run", made["wrote"], "--answers", "answers.jsonl")["totals"] == expected


def test_init_gives_a_suite_that_runs(cli: Any) -> None:
    cli("init", "mine")
    assert cli.json("check", "mine/suite.yaml", "--deep")["counts"]["error"] == 0
    made = cli.json("run", "mine/suite.yaml", "--answers", "mine/answers.jsonl")
    assert made["totals"]["cases"] == 3
    assert "--force" in cli("init", "mine", code=2).stderr
    assert len(cli.json("init", "mine", "--force")["wrote"]) == 3
    assert cli.json("check", "mine/run.yaml")["cases"] == 3


def test_demo(cli: Any) -> None:
    runs = cli.json("demo", "--recorded")["runs"]
    careful, hasty = (run["totals"] for run in runs)
    assert careful["rate"] > hasty["rate"]
    printed = cli("demo", "--recorded").stdout
    assert "see why a case got its score" in printed
    assert "proctor view " in printed
    assert "keywords" in cli("show", "demo-hasty", "en-python-aliasing").stdout


@pytest.mark.slow
def test_doctor(cli: Any) -> None:
    checks = {row["what"]: row["ok"] for row in cli.json("doctor")["checks"]}
    assert checks["grading processes"]


def test_doctor_knows_every_extra_and_what_it_brings() -> None:
    from proctor.cli.doctor import EXTRAS

    root = Path(__file__).resolve().parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    (everything,) = extras["all"]
    brought = {
        name: {re.split(r"[\[<>=]", package)[0] for package in extras[name]}
        for name in everything.removeprefix("proctor[").removesuffix("]").split(",")
    }
    assert {name: set(packages) for name, (_, packages) in EXTRAS.items()} == brought


def test_doctor_names_what_an_extra_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    from proctor.cli import doctor

    def version(name: str) -> str:
        if name in ("jieba", "rjieba", "torch"):
            raise PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(doctor, "version", version)
    rows = {row["what"]: row for row in doctor._packages()}
    assert {what for what, row in rows.items() if not row["ok"]} == {
        "encoders and UniEval", "Chinese words", "readability and specificity"
    }  # fmt: skip
    assert rows["Chinese words"] == {
        "what": "Chinese words",
        "ok": False,
        "found": "jieba and rjieba are not installed",
        "fix": "pip install 'proctor[chinese]'",
        "optional": True,
    }
    assert rows["encoders and UniEval"]["found"] == "torch is not installed"
    assert not rows["fast YAML"]["optional"]


@pytest.mark.sandbox
def test_doctor_says_what_the_sandbox_lacks(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from proctor.cli import doctor

    async def nothing(_: object) -> list[Any]:
        return []

    monkeypatch.setattr("proctor.engine.check.sandbox_selftest.probe", nothing)
    monkeypatch.setattr("proctor.sandboxes.bubblewrap.lacking", lambda: "no groups here")
    (row,) = doctor._sandbox("bubblewrap")
    assert (row["ok"], row["optional"]) == (False, True)
    assert row["found"].startswith("no groups here: memory and processes are counted 50 times")


@pytest.mark.slow
def test_the_origins_own_command(cli: Any) -> None:
    cli.write("suite_x.yaml", "cases:\n  - {path: case.yaml, weight: 1.0}\n")
    cli.write("case.yaml", INFIBENCH_CASE)
    cli.write("prompt.txt", "Say alpha and beta.")
    (cli.folder / "responses").mkdir()
    (cli.folder / "responses" / "case_0.txt").write_text("alpha")
    (cli.folder / "responses" / "params.yaml").write_text(
        "answer_paths:\n  case.yaml: [case_0.txt]\n"
    )
    made = cli.json("infibench", "suite_x.yaml", "responses")
    assert made["totals"]["rate"] == 0.5
    cli("infibench", "suite_x.yaml", "responses", "--result_detail_path", "r.yaml",
        "--result_summary_path", "r.txt")  # fmt: skip
    assert "now_score: 0.5" in (cli.folder / "r.yaml").read_text()
    assert (cli.folder / "r.txt").read_text().startswith("Total score: 0.5 ± 0.0 / 1.0\n")
    cli("infibench", "suite_x.yaml", "nowhere", code=2)


@pytest.mark.parametrize("command", ["run", "plan", "check", "report", "show", "list", "convert",
                                     "export", "import", "delete", "init", "demo", "doctor",
                                     "infibench"])  # fmt: skip
def test_every_command_has_help_with_an_example(cli: Any, command: str) -> None:
    text = cli(command, "--help").stdout
    assert "Example:" in text
    assert "--json" in text


def test_help_and_version(cli: Any) -> None:
    assert "infibench" in cli("--help").stdout
    assert cli("--version").stdout.startswith("proctor")
    assert "Did you mean 'report'" in cli("reprot", code=2).stderr


@pytest.mark.slow
def test_a_table_in_a_pipe_is_never_cut_and_columns_limits_it(cli: Any) -> None:
    name = "a-case-with-a-rather-long-name-" + "x" * 60
    cli.write(
        "suite.yaml", f"name: long\ncases:\n  - {{id: {name}, ask: Q, criteria: {'y' * 150}}}\n"
    )
    cli.answers([{"case": name, "output": "no"}])
    cli.env.pop("COLUMNS", None)
    printed = cli.start("run", "suite.yaml", "--answers", "answers.jsonl", "--cases").stdout
    assert name in printed
    assert "does not contain" in printed
    assert "…" not in printed.split("Case ")[1].split("Signature")[0].replace("y…", "")
    cli.env["COLUMNS"] = "80"
    narrow = cli.start("report", "@last", "--cases").stdout
    assert (
        max(len(line) for line in narrow.split("Case ")[1].split("Signature")[0].splitlines()) <= 80
    )
    assert name not in narrow


def test_plan_names_each_candidate(small: Any) -> None:
    url = "http://127.0.0.1:9/v1"
    models = ("--model", f"openai:one@{url}", "--model", f"openai:two@{url}")
    printed = small("plan", "suite.yaml", *models).stdout
    assert [line for line in printed.splitlines() if line.startswith("candidate")] == [
        f"candidate openai:one@{url}",
        f"candidate openai:two@{url}",
    ]
    assert printed.splitlines()[-1] == "together  2 runs, 8 calls, $0"
    priced = small("plan", "suite.yaml", *models, "--price", "one=1/1", "--attempts", "2").stdout
    assert priced.splitlines()[-1].startswith("together  2 runs, 16 calls, $0.0")
    plans = small.json("plan", "suite.yaml", *models)["plans"]
    assert [plan["candidate"] for plan in plans] == [f"openai:one@{url}", f"openai:two@{url}"]


def test_equal_problems_are_told_once_with_their_places(cli: Any) -> None:
    rows = "".join(f'{{"ask": "Q{n}", "references": "R", "answr": 1}}\n' for n in range(40))
    cli.write("suite.jsonl", rows)
    told = cli("check", "suite.jsonl", code=2).stderr
    assert told.count("unknown key 'answr'") == 1
    assert "and 39 more like it: suite.jsonl:2" in told
    assert len(cli.json("check", "suite.jsonl", code=2)["problems"]) == 40
    told = cli("run", "suite.jsonl", "--answers", "none.jsonl", code=2).stderr
    assert told.count("unknown key 'answr'") == 1


@pytest.mark.slow
def test_a_deep_check_tells_equal_notes_once(cli: Any) -> None:
    cases = "".join(f"  - {{id: c{n}, ask: Say blue{n}., criteria: blue{n}}}\n" for n in range(20))
    cli.write("suite.yaml", f"name: blue\ncases:\n{cases}")
    notes = cli.json("check", "suite.yaml", "--deep")["problems"]
    told = cli("check", "suite.yaml", "--deep").stderr
    assert len(notes) >= 20
    assert told.count("more like it") >= 1
    assert len(told.splitlines()) < len(notes)
    assert "case 'c0', criterion 'contains'" in told
