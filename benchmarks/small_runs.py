"""A thousand answers on file: the whole command, next to `proctor --help` and the scoring alone.

The command and `--help` are started in turns, so that a noisy machine hurts both alike. The loop
that only scores the answers is timed here, in this process, and taken off the command's time. What
counts are medians of processor time, of all processes together.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from measured import Row, less, offer_json, reporting
from startup import once

from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer
from proctor.core.attempt import Attempt
from proctor.core.suite import Spec
from proctor.engine.run.read_suite import find_dialect
from proctor.registry import build

SCORERS = ("number", "contains")


def write(folder: Path, scorer: str, answers: int) -> tuple[Path, Path]:
    """Write a suite whose cases have one criterion, and answers to them."""
    suite, file = folder / f"{scorer}.jsonl", folder / f"{scorer}-answers.jsonl"
    with suite.open("w") as cases, file.open("w") as given:
        for n in range(answers):
            value: object = n if scorer == "number" else str(n)
            case = {"id": f"c{n}", "ask": f"What is {n} plus none?", "criteria": {scorer: value}}
            cases.write(json.dumps(case) + "\n")
            given.write(json.dumps({"case": f"c{n}", "output": f"The answer is {n}."}) + "\n")
    return suite, file


def scoring_alone(suite: Path, answers: Path) -> float:
    """Return how many seconds the scorers take over all answers, and nothing else."""
    cases = find_dialect(suite).read(suite).suite.cases
    outputs = [json.loads(line)["output"] for line in answers.read_text().splitlines()]
    scorers = [
        build("scorer", Spec(name=one.scorer.name, params=one.scorer.params))
        for case in cases
        for one in case.criteria
    ]
    contexts = [
        ScoreContext(case=case, attempt=Attempt.of(case.id, output))
        for case, output in zip(cases, outputs, strict=True)
    ]
    started = time.process_time()
    for scorer, context in zip(scorers, contexts, strict=True):
        assert run_scorer(scorer, context).points == 1.0
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows:
        for scorer in SCORERS:
            rows.append(compare(scorer, options.answers, options.rounds))


def compare(scorer: str, answers: int, rounds: int) -> Row:
    """Measure one scorer."""
    program = [str(Path(sys.executable).with_name("proctor"))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite, file = write(folder, scorer, answers)
        alone = scoring_alone(suite, file)
        taken: list[tuple[float, float]] = []
        for number in range(rounds + 1):
            store = str(folder / f"{number}.db")
            command = [*program, "run", str(suite), "--answers", str(file), "--store", store]
            taken.append((once(command)[1], once([*program, "--help"])[1]))
    # The first round writes compiled files.
    whole, start = (statistics.median(pair[side] for pair in taken[1:]) for side in range(2))
    above = max(whole - alone, 0.0)
    print(f"{answers:,} answers scored by {scorer}: {whole:.2f} s of CPU, medians of {rounds}")
    print(f"scoring alone {alone:.3f} s, --help {start:.3f} s: {above / start:.1f} times --help")
    what = f"{answers:,} answers on file by `{scorer}`, without the scoring itself"
    note = f"{above / start:.1f} times `--help`; scoring alone: {1000 * alone:.0f} ms"
    return less(what, 1000 * above, 1000 * start, "ms of CPU", "proctor --help", note)


if __name__ == "__main__":
    main()
