"""Run Inspect, lm-evaluation-harness and promptfoo, import what they wrote, and compare totals.

    python tests/golden/imports/run_programs.py FOLDER --inspect PYTHON --lm-eval PYTHON --promptfoo PROGRAM

PYTHON is that of an environment of its own with the program (``pip install inspect-ai openai``,
``pip install 'lm-eval[api]'``), PROGRAM the command that npm installed. A server of the test kit
stands for the model. FOLDER is made, and keeps what was written; what is left out is not tried. It
is no part of the tests, which read the small files beside this one. Exit status 1: totals differ.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from proctor.testing import Answer, FakeServer, Fault, Rule

CASES = 40
Row = tuple[str, str, float, float]
"""What is compared: program and task, number, its total, ours."""


def reply(messages: list[Any], body: Any) -> Answer:
    """Add two numbers, wrongly or in too many words for some."""
    words = str(messages[-1]["content"])
    first, second = (int(number) for number in re.findall(r"\d+", words)[-2:])
    brief = "brief" in words.lower() or "large" in str(body.get("model"))
    total = first + second + (1 if first % 5 == 0 else 0)
    text = str(total) if brief or first % 3 else f"The sum of them is {total}."
    return Answer(text, tokens=(20, 5))


def questions() -> list[dict[str, Any]]:
    return [
        {"question": f"What is {n} + {n * 7 % 23}?", "answer": str(n + n * 7 % 23)}
        for n in range(1, CASES + 1)
    ]


def run(
    *command: str | Path, folder: Path, env: dict[str, str], codes: tuple[int, ...] = (0,)
) -> None:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in codes:
        sys.exit(
            f"{command}: exit status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )


def imported(folder: Path, path: Path) -> list[dict[str, Any]]:
    """Import a file into a store of its own, and return the object of each run."""
    store = ("--store", f"{path.name}.db")
    proctor = Path(sys.executable).with_name("proctor")

    def read(*arguments: str) -> Any:
        done = subprocess.run(
            [proctor, *arguments, "--json", *store],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode not in (0, 3):  # 3: a case ended in an error
            sys.exit(f"proctor {arguments}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    read("import", str(path))
    runs = [read("report", run["id"], "--cases") for run in read("list", "runs")["runs"]]
    if len(runs) > 1:
        told = read("compare", *(run["run"]["id"] for run in runs[:2]))
        print(f"  compared: {told['pairs'][0]['sentence']}")
    return runs


INSPECT_TASK = """
import json
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import accuracy, includes, match, mean, scorer, std, stderr, Score
from inspect_ai.solver import generate


@scorer(metrics=[mean(), std()])
def words():
    async def score(state, target):
        return Score(value=len(state.output.completion.split()))

    return score


@task
def sums():
    rows = json.load(open("questions.json"))
    samples = [Sample(id=f"s{n}", input=r["question"], target=r["answer"]) for n, r in enumerate(rows)]
    return Task(dataset=samples, solver=generate(), scorer=[match(), includes(), words()], epochs=2)
"""


def try_inspect(python: Path, folder: Path, url: str) -> Iterator[Row]:
    (folder / "task.py").write_text(INSPECT_TASK, encoding="utf-8")
    for form in ("eval", "json"):
        logs = folder / f"logs-{form}"
        run(
            python.with_name("inspect"), "eval", "task.py", "--model", "openai/small",
            "--model-base-url", troubled(url), "--no-fail-on-error", "-M", "responses_api=false", "--log-dir", logs,
            "--log-format", form, "--display", "none",
            folder=folder, env={"OPENAI_API_KEY": "none", "INSPECT_LOG_LEVEL": "error"},
        )  # fmt: skip
        (log,) = logs.glob(f"*.{form}")
        dumped = subprocess.run(
            [python.with_name("inspect"), "log", "dump", "--header-only", log],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        (ours,) = imported(folder, log)
        for score in json.loads(dumped.stdout)["results"]["scores"]:
            wanted = {"match": "accuracy", "includes": "accuracy", "words": "mean"}[score["name"]]
            theirs = score["metrics"][wanted]["value"]
            yield (
                f"Inspect .{form}",
                score["name"],
                theirs,
                ours["measures"][score["name"]]["value"],
            )


LM_EVAL_TASK = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: {test: questions.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "Question: {{question}}"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\n\\n"], max_gen_toks: 20}
filter_list:
  - {name: strict, filter: [{function: regex, regex_pattern: '^(-?[0-9]+)$'}, {function: take_first}]}
  - {name: last, filter: [{function: regex, regex_pattern: '(-?[0-9]+)', group_select: -1}, {function: take_first}]}
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true}
"""
LM_EVAL_CHOICES = """
task: choices
dataset_path: json
dataset_kwargs: {data_files: {test: questions.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{question}}"
doc_to_choice: ["{{answer}}", "0", "1"]
doc_to_target: 0
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
  - {metric: acc_norm, aggregation: mean, higher_is_better: true}
"""


def try_lm_eval(python: Path, folder: Path, url: str) -> Iterator[Row]:
    (folder / "sums.yaml").write_text(LM_EVAL_TASK, encoding="utf-8")
    (folder / "choices.yaml").write_text(LM_EVAL_CHOICES, encoding="utf-8")
    rows = "".join(json.dumps(row) + "\n" for row in questions())
    (folder / "questions.jsonl").write_text(rows, encoding="utf-8")
    asked = f"model=small,base_url={url}/chat/completions,num_concurrent=4,tokenizer_backend=None"
    for task, model in (("sums", ("local-chat-completions", asked)), ("choices", ("dummy", ""))):
        out = folder / f"lm-eval-{task}"
        run(
            python.with_name("lm_eval"), "--model", model[0],
            *(("--model_args", model[1], "--apply_chat_template") if model[1] else ()),
            "--tasks", task, "--include_path", folder, "--output_path", out, "--log_samples",
            folder=folder,
            env={"OPENAI_API_KEY": "none", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
                 "HF_HOME": str(folder / "hf")},
        )  # fmt: skip
        (results,) = out.rglob("results_*.json")
        theirs = json.loads(results.read_text(encoding="utf-8"))["results"][task]
        (ours,) = imported(folder, results.parent)
        for name, value in theirs.items():
            metric, _, chosen = name.partition(",")
            if not isinstance(value, float) or "stderr" in metric:
                continue
            measures = ours["measures"]
            mine = measures[metric if chosen == "none" else name]["value"]
            yield f"lm-eval {task}", name, value, mine


def try_promptfoo(program: Path, folder: Path, url: str) -> Iterator[Row]:
    config = {
        "prompts": ["{{question}}", "Be brief. {{question}}"],
        "providers": [
            {"id": f"openai:chat:{name}", "config": {"apiBaseUrl": troubled(url), "apiKey": "none"}}
            for name in ("small", "large")
        ],
        "tests": [
            {
                "vars": {"question": row["question"]},
                "assert": [
                    {"type": "contains", "value": row["answer"]},
                    {"type": "equals", "value": row["answer"], "weight": 2},
                    {"type": "regex", "value": "^[0-9]+$"},
                ],
                "threshold": 0.5,
            }
            for row in questions()
        ],
    }
    (folder / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
    written = folder / "promptfoo-results.json"
    run(
        program, "eval", "--config", "promptfooconfig.json", "--output", written, "--no-cache",
        "--no-progress-bar", "--no-share",
        folder=folder, codes=(0, 100),
        env={"PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo"), "PROMPTFOO_DISABLE_TELEMETRY": "1",
             "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1"},
    )  # fmt: skip
    whole = json.loads(written.read_text(encoding="utf-8"))["results"]
    ours = {run["run"]["name"]: run for run in imported(folder, written)}
    for one in whole["prompts"]:
        run_of = ours[f"{one['provider']} · {one['label']}"]
        metrics, totals, many = one["metrics"], run_of["totals"], run_of["measures"]
        scored = totals["attempts"] - totals["errors"]
        label = f"promptfoo {one['provider']} · {one['label']}"
        yield label, "passed", metrics["testPassCount"], many["pass"]["value"] * scored
        yield label, "failed", metrics["testFailCount"], (1 - many["pass"]["value"]) * scored
        yield label, "errors", metrics["testErrorCount"], totals["errors"]
        yield label, "score", metrics["score"], many["score"]["value"] * scored


@contextmanager
def server() -> Iterator[str]:
    """Serve the model; below ``troubled`` one question is always an error."""
    refused = Fault("error", status=400, message="I do not answer this.")
    rule = Rule(role="troubled", matching=r"What is 13 \+", fault=refused)
    with FakeServer(reply, rules=(rule,)) as one:
        yield one.url


def troubled(url: str) -> str:
    return url.replace("/v1", "/troubled/v1")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    programs = {"inspect": try_inspect, "lm-eval": try_lm_eval, "promptfoo": try_promptfoo}
    for name in programs:
        parser.add_argument(f"--{name}", type=Path)
    options = parser.parse_args()
    folder: Path = options.folder.absolute()
    folder.mkdir(parents=True)
    (folder / "questions.json").write_text(json.dumps(questions()), encoding="utf-8")
    differing = 0
    with server() as url:
        for name, attempt in programs.items():
            if (program := getattr(options, name.replace("-", "_"))) is None:
                continue
            for where, number, theirs, ours in attempt(program.absolute(), folder, url):
                alike = math.isclose(theirs, ours, rel_tol=1e-9, abs_tol=1e-9)
                differing += not alike
                print(
                    f"{where}: {number} {theirs:.6g}, imported {ours:.6g}{'' if alike else ' DIFFERS'}"
                )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
