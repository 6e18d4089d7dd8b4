"""BERTScore and UniEval here and on a Ray cluster: how far values are apart, and how fast each is.

Needs the extras ``ray`` and ``semantic``; without them it says so and measures nothing. The models
have weights drawn at random. A cluster has a worker for each GPU, and on a machine without one a
worker for each node, so that there it only shows that the numbers are the same.
"""

import argparse
import json
import os
import tempfile
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import bert_score_pairs
import unieval_inputs
from measured import Row, alone, offer_json, reporting

from proctor.core.suite import Spec
from proctor.engine.run.evaluate import evaluate
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.io.concurrency import run_sync
from proctor.scorers.embedding import checkpoints
from proctor.store.store import Store

Values = dict[tuple[str, str], float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, help="20,000 on a GPU, else 40")
    parser.add_argument("--precision", default="auto", help="of both models, as of the scorers")
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows:
        rows.extend(compare(options))


def compare(options: argparse.Namespace) -> list[Row]:
    wanted = ("ray", "torch", "transformers")
    if absent := [name for name in wanted if find_spec(name) is None]:
        print(f"models on Ray were not measured: no {' and no '.join(absent)} here")
        return []
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    on_gpu = checkpoints.device_of("auto").startswith("cuda")
    cases = options.cases or (20_000 if on_gpu else 40)
    with tempfile.TemporaryDirectory() as name:
        settings = write(Path(name), cases, on_gpu, options.precision)
        here, seconds_here = run(settings, Path(name, "here.db"))
        there, seconds_there = run(
            replace(settings, executor=Spec(name="ray")), Path(name, "ray.db")
        )
    assert here.keys() == there.keys()
    where = "on a GPU" if on_gpu else "on the CPU"
    print(f"{len(here):,} values of {cases:,} cases {where}, precision {options.precision}")
    apart = 0.0
    for scorer in sorted({name for _, name in here}):
        most = max(abs(here[key] - there[key]) for key in here if key[1] == scorer)
        print(f"{scorer}: at most {most:.2e} apart")
        apart = max(apart, most)
    rows = []
    for what, seconds in (("here", seconds_here), ("Ray", seconds_there)):
        print(f"{what:5} {cases / seconds:10,.1f} cases/s  ({seconds:.1f} s, start and store too)")
        note = f"{where}; values at most {apart:.1e} apart"
        rows.append(alone(f"BERTScore and UniEval, {what}", cases / seconds, "cases/s", note))
    return rows


def write(folder: Path, cases: int, on_gpu: bool, precision: str) -> RunSettings:
    """Write the models, a suite and its answers."""
    pairs = bert_score_pairs.made_up(cases, 75)
    for name in ("bert", "t5"):
        (folder / name).mkdir()
    shape = "roberta-large" if on_gpu else "tiny"
    model, layer = bert_score_pairs.build(folder / "bert", shape, pairs)
    unieval_inputs.build(folder / "t5", "t5-large" if on_gpu else "t5-small")
    asked = {"dimensions": "summarization-relevance", "models": {"summarization": f"{folder}/t5"}}
    criteria: list[Any] = [
        {"bert_score": {"model": model, "layer": layer, "precision": precision}},
        {"unieval": {**asked, "precision": precision}},
    ]
    suite, answers = folder / "cases.jsonl", folder / "answers.jsonl"
    with suite.open("w") as one, answers.open("w") as other:
        for number, (said, right) in enumerate(pairs):
            row = {"id": f"c{number}", "ask": right, "references": [right], "criteria": criteria}
            one.write(json.dumps(row) + "\n")
            other.write(json.dumps({"case": f"c{number}", "output": said}) + "\n")
    return RunSettings(suite=SuiteSettings(path=suite), answers=answers)


def run(settings: RunSettings, place: Path) -> tuple[Values, float]:
    """Examine with a store of its own; return what each case and criterion came to, and seconds."""
    begun = time.perf_counter()
    found: Values = {}
    with Store.open(str(place)) as store:
        made = run_sync(evaluate(settings, store)).view
        seconds = time.perf_counter() - begun
        for result in made.results():
            for name, score in result.attempts[0].scores.items():
                assert score.points is not None, score.reason
                found[result.case.id, name] = score.points
    return found, seconds


if __name__ == "__main__":
    main()
