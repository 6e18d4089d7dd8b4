"""The same job here and on Ray clusters of one and two workers: are all scores the same, how fast.

Needs the extra ``ray``. Every case has ROUGE and keywords, every 20th unit tests. The time is that
of grading alone; connecting and starting workers, a matter of seconds, is shown apart.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from measured import Row, alone, offer_json, reporting

from proctor.core.suite import Spec
from proctor.engine.run.evaluate import RunProgress, evaluate
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.io.concurrency import run_sync
from proctor.store.store import Store

WORDS = ["the", "sandbox", "runs", "a", "program", "and", "store", "keeps", "what", "it", "said"]


@dataclass(frozen=True)
class Timed:
    """Hold how a run went."""

    numbers: Any
    seconds: float
    """From the first score to the last."""
    before: float
    """Seconds until the first score."""


def write(folder: Path, cases: int) -> RunSettings:
    suite, answers = folder / "cases.jsonl", folder / "answers.jsonl"
    with suite.open("w") as asked, answers.open("w") as said:
        for n in range(cases):
            criteria: list[Any] = [{"rouge": {}}, {"keywords": ["add", f"word{n}"]}]
            if n % 20 == 0:
                test = {"lang": "python", "tests": [{"content": f"assert add({n}, 1) == {n + 1}"}]}
                criteria.append({"unit_tests": test})
            text = " ".join(WORDS[(n * k) % len(WORDS)] for k in range(60))
            row = {"id": f"c{n}", "ask": f"add {n}", "references": [text], "criteria": criteria}
            asked.write(json.dumps(row) + "\n")
            code = "def add(a, b):\n    return a + b" if n % 3 else "def add(a, b):\n    return a"
            output = f"{text[::-1]} word{n}\n```python\n{code}\n```"
            said.write(json.dumps({"case": f"c{n}", "output": output}) + "\n")
    return RunSettings(suite=SuiteSettings(path=suite), answers=answers)


@contextmanager
def cluster(nodes: int) -> Iterator[str]:
    """Give the address of a cluster on this machine whose nodes have one core each."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    room = {"num_cpus": 1, "object_store_memory": 100 * 1024 * 1024}
    made = Cluster(initialize_head=True, head_node_args=room)
    for _ in range(nodes - 1):
        made.add_node(**room)
    made.wait_for_nodes()
    try:
        yield made.address
    finally:
        ray.shutdown()
        made.shutdown()


def run(settings: RunSettings, store: Path) -> Timed:
    from proctor.reports.structured import to_object

    moments: list[float] = []

    def note(progress: RunProgress) -> None:
        if progress.phase == "grade" and progress.done:
            moments.append(time.monotonic())

    begun = time.monotonic()
    with Store.open(str(store)) as opened:
        made = to_object(run_sync(evaluate(settings, opened, note)).view, (), True)
    numbers = {part: untimed(made[part]) for part in ("totals", "measures", "cases")}
    return Timed(numbers, moments[-1] - moments[0], moments[0] - begun)


def untimed(value: Any) -> Any:
    """Leave out how long programs took."""
    if isinstance(value, dict):
        return {name: untimed(part) for name, part in value.items() if name != "seconds"}
    return [untimed(part) for part in value] if isinstance(value, list) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows, tempfile.TemporaryDirectory() as name:
        rows.extend(compare(Path(name), options.cases))


def compare(folder: Path, cases: int) -> list[Row]:
    settings = write(folder, cases)
    found: dict[str, Timed] = {}
    for workers in (1, 2):
        own = replace(settings, executor=Spec(name="local", params={"workers": workers}))
        found[f"here, {workers}"] = run(own, folder / f"local{workers}.db")
    for workers in (1, 2):
        with cluster(workers) as address:
            own = replace(settings, executor=Spec(name="ray", params={"address": address}))
            found[f"Ray, {workers}"] = run(own, folder / f"ray{workers}.db")
    rows = [row_of(name, timed, cases) for name, timed in found.items()]
    first = found["here, 1"].numbers
    others = {name: list(differing(first, timed.numbers)) for name, timed in found.items()}
    for name, pairs in others.items():
        for one, other in pairs[:3]:
            print(f"{name} worker(s): {len(pairs)} differ\n  {one}\n  {other}")
    if any(others.values()):
        sys.exit("the scores differ")
    print(f"{cases:,} cases; the scores are all the same")
    return rows


def row_of(name: str, timed: Timed, cases: int) -> Row:
    rate = cases / max(timed.seconds, 1e-3)
    note = f"{timed.seconds:.1f} s, after {timed.before:.1f} s to start"
    print(f"{name} worker(s): {rate:7,.0f} cases/s ({note})", flush=True)
    return alone(f"grading, {name} worker(s)", rate, "cases/s", note)


def differing(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Yield what is not the same in two runs: their totals, or cases."""
    for part in ("totals", "measures"):
        if one[part] != other[part]:
            yield one[part], other[part]
    pairs = zip(one["cases"], other["cases"], strict=True)
    yield from ((a, b) for a, b in pairs if a != b)


if __name__ == "__main__":
    main()
