"""What makes several runs: candidates, models, prompts, run files; and calls at the same time."""

import asyncio
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import proctor
from level import LEVEL
from proctor.api.options import EvaluateOptions
from proctor.cli.run import run as run_command
from proctor.errors import UsageError
from proctor.testing import ScriptedModel
from waiting import PATIENCE, until

CASES = [{"id": "a", "ask": "a", "reference": "one"}, {"id": "b", "ask": "b", "reference": "two"}]
ELSEWHERE = {
    "spec", "by", "cases", "junit", "markdown", "link", "layout", "out", "json", "texts", "variant",
}  # fmt: skip
"""The cases themselves, what ``run.report()`` and ``run.save()`` are asked for, and a choice among
variants, which is a shorter mapping in Python."""


def upper(question: str) -> str:
    return "one"


def lower(question: str) -> str:
    return "two"


def right(question: str) -> str:
    return "one" if question == "a" else "two"


def test_every_option_of_the_command_has_its_name() -> None:
    shown = [one for one in run_command.params if not getattr(one, "hidden", False)]
    names = {one.opts[0].lstrip("-").replace("-", "_") for one in shown}
    assert names - ELSEWHERE <= set(EvaluateOptions.__annotations__)


def test_several_candidates_make_a_run_each() -> None:
    runs = proctor.evaluate(CASES, [upper, lower, right])
    assert runs.rates == {"cases-upper": 0.5, "cases-lower": 0.5, "cases-right": 1.0}
    assert (len(runs), runs.complete, runs.passed) == (3, True, True)
    assert (runs["right"].rate, runs["cases-upper"]["a"].value, len(runs[1:])) == (1.0, 1.0, 2)
    assert {row["run"] for row in runs.to_dicts()} == set(runs.rates)
    assert runs.to_arrow("cases").num_rows == 6
    assert "upper" in str(runs)
    assert "cases-right</td>" in runs._repr_html_()
    assert proctor.compare(runs).runs == tuple(runs.rates)
    with pytest.raises(KeyError, match="did you mean"):
        runs["cases-uper"]


def test_prompts_are_compared_over_all_models() -> None:
    models = [ScriptedModel({"brief": "yes", "asked": "no"}, name=name) for name in "ab"]
    cases = [
        {"id": f"q{n}", "vars": {"question": f"asked {n}"}, "reference": "yes"} for n in range(12)
    ]
    prompts = {"plain": "{{question}}", "strict": "Be brief. {{question}}"}
    runs = proctor.evaluate(cases, models, prompts=prompts)
    compared = proctor.compare(runs)
    (verdict,) = compared.prompt_verdicts
    assert (verdict.first, verdict.second, verdict.models) == ("plain", "strict", 2)
    assert verdict.sentence.startswith("Over 2 models together, prompt strict is better than")
    assert compared.to_json()["prompt_verdicts"][0]["counts"]["to_right"] == 24
    assert verdict.sentence in str(compared)
    assert verdict.sentence in str(runs)


def test_a_missed_gate_is_stored_with_the_run(tmp_path: Path) -> None:
    for gate, missed in (("rate >= 0.9", ["rate >= 0.9"]), ("rate >= 0.1", [])):
        run = proctor.evaluate(CASES, upper, gate=gate)
        assert proctor.Store().run(run.name).view.summary.gates_missed == missed


def test_one_run_may_be_asked_for_as_all() -> None:
    (run,) = proctor.evaluate_all(CASES, right)
    assert run.rate == 1.0


def test_models_agents_and_answers_have_the_names_of_the_command() -> None:
    runs = proctor.evaluate_all(CASES, model=[ScriptedModel(["one"]), ScriptedModel(["two"])])
    assert len(runs) == 2
    assert proctor.evaluate(CASES, agent=right).rate == 1.0
    assert proctor.evaluate(CASES, answers={"a": "one", "b": "two"}).rate == 1.0
    with pytest.raises(UsageError, match="the candidate and agent are mutually exclusive"):
        proctor.evaluate(CASES, right, agent=right)
    with pytest.raises(UsageError, match="is for one run"):
        proctor.evaluate(CASES, [upper, lower], name="mine")


def test_prompts_are_templates_files_or_names(own_folder: Path) -> None:
    def told(question: str) -> str:
        return "one" if question.startswith("loud") else "two"

    (own_folder / "quiet.txt").write_text("quiet: {{ ask }}")
    templates = {"loud": "loud: {{ ask }}", "quiet": "quiet: {{ ask }}"}
    runs = proctor.evaluate_all(CASES, told, prompt=templates)
    assert [run["a"].value for run in runs] == [1.0, 0.0]
    assert proctor.evaluate(CASES, told, prompt="quiet.txt")["a"].value == 0.0
    assert proctor.evaluate(CASES, told, prompt="loud\n{{ ask }}")["a"].value == 1.0


def test_a_run_file_has_everything(own_folder: Path) -> None:
    (own_folder / "quiz.yaml").write_text(
        "name: quiz\ncases:\n  - {id: a, ask: a, reference: one}\n  - {id: b, ask: b, reference: two}\n"
    )
    (own_folder / "answers.jsonl").write_text(
        '{"case": "a", "output": "one"}\n{"case": "b", "output": "c"}\n'
    )
    (own_folder / "exam.yaml").write_text(
        "suite: quiz.yaml\nanswers: answers.jsonl\ngates: [rate >= 0.9]\n"
        "reports: [{format: csv, path: out.csv}]\n"
    )
    run = proctor.evaluate("exam.yaml")
    assert (run.rate, run.passed, (own_folder / "out.csv").is_file()) == (0.5, False, True)
    assert proctor.evaluate("exam.yaml", right, gate="rate >= 0.5").passed


def test_models_of_a_run_file_keep_their_settings(own_folder: Path) -> None:
    from proctor.api.run_file import with_run_file

    path = own_folder / "exam.yaml"
    path.write_text(
        'suite: quiz.yaml\nmodels: ["openai:one", {model: "openai:two", temperature: 0.5}]\n'
        'judge: {model: "openai:three", seed: 7}\nsampling: {top_p: 0.9}\n'
        "prices: prices.json\nheader: {X-Team: blue}\n"
    )
    (own_folder / "prices.json").write_text("{}")
    suite, candidate, options, _ = with_run_file(path, None, {"attempts": 3})
    one, two = options["model"]  # type: ignore[misc]
    assert (suite.name, candidate, options["attempts"]) == ("quiz.yaml", None, 3)
    assert (two.spec, two.sampling.temperature, two.sampling.top_p) == ("openai:two", 0.5, 0.9)
    assert (one if isinstance(one, str) else one.spec) == "openai:one"
    assert options["judge"][0].sampling.seed == 7  # type: ignore[index,union-attr]
    assert options["header"] == {"X-Team": "blue"}


def case(number: int) -> dict[str, Any]:
    return {"id": f"c{number}", "ask": str(number), "reference": str(number)}


async def double_even(question: str) -> str:
    await asyncio.sleep(0.001)
    return question if int(question) % 2 == 0 else "odd"


def test_many_calls_in_threads_have_the_right_numbers_and_one_store() -> None:
    def one(number: int) -> float | None:
        cases = [case(number), case(number + 1), case(2 * number)]
        run = proctor.evaluate(cases[:2] if number == 1 else cases, double_even, suite=f"s{number}")
        return run.rate

    with ThreadPoolExecutor(10) as pool:
        rates = list(pool.map(one, range(2, 12)))
    assert rates == pytest.approx([2 / 3] * 10)
    assert len(proctor.Store().runs()) == 10


@pytest.mark.slow
@pytest.mark.scaled
@pytest.mark.parametrize("way", ["threads", "loop"])
def test_many_calls_at_once(way: str) -> None:
    count = LEVEL.of(quick=20, ci=20, full=50)
    suites = [[case(number), case(number + 1)] for number in range(count)]
    names = [f"suite-{number}" for number in range(count)]
    if way == "threads":
        with ThreadPoolExecutor(count) as pool:
            runs = list(
                pool.map(lambda s, n: proctor.evaluate(s, double_even, suite=n), suites, names)
            )
    else:

        async def all_of_them() -> list[proctor.RunResult]:
            works = [
                asyncio.ensure_future(proctor.aevaluate(s, double_even, suite=n))
                for s, n in zip(suites, names, strict=True)
            ]
            return [await work for work in works]

        runs = asyncio.run(all_of_them())
    assert [run.rate for run in runs] == [0.5] * count
    assert [run.suite for run in runs] == names
    assert all(run[f"c{n}"].value == (n % 2 == 0) for n, run in enumerate(runs))
    stored = proctor.Store().runs()
    assert (len(stored), {one["status"] for one in stored}) == (count, {"complete"})


SCRIPT = """\
import time
from pathlib import Path
import proctor

def answer(question):
    with open("asked", "a") as file:
        file.write(question + "\\n")
    if not Path("go-on").exists() and int(question) >= 5:
        time.sleep(60)
    return question

cases = [{"ask": str(n), "reference": str(n)} for n in range(10)]
run = proctor.evaluate(cases, answer, concurrency=1)
print(run.rate, run.status)
"""


@pytest.mark.slow
def test_an_interrupted_process_keeps_what_was_done(own_folder: Path) -> None:
    (own_folder / "script.py").write_text(SCRIPT)
    asked = own_folder / "asked"
    command = [sys.executable, "script.py"]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: asked.exists() and "5" in asked.read_text())
    first.send_signal(signal.SIGINT)
    _, errors = first.communicate(timeout=PATIENCE)
    assert (first.returncode, "KeyboardInterrupt" in errors) == (-signal.SIGINT, True)
    assert errors.rstrip().endswith("what was done is stored: the same call goes on from there")
    (own_folder / "go-on").touch()
    second = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert second.stdout.split() == ["1.0", "complete"]
    said = asked.read_text().split()
    assert [said.count(str(number)) for number in range(5)] == [1] * 5
    assert sorted(set(said)) == [str(number) for number in range(10)]


def test_runs_of_the_same_name_have_a_rate_each() -> None:
    runs = proctor.evaluate([("a", "b")], [lambda question: "b", lambda question: "c"])
    assert list(runs.rates.values()) == [1.0, 0.0]
