"""Text criteria: answers per second, next to the way the original does it, in one run.

Without arguments it grades the answers that come with the starter suite, many times over; with
`--suite SUITE --answers ANSWERS` those of a suite of yours. The other side is a plain Python
alignment and the rouge-score package, on a sample of the same criteria and answers.
"""

import argparse
import json
import tempfile
import time
from importlib.resources import files
from pathlib import Path

from proctor.bounded import run_sync
from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Criterion
from proctor.engine import load
from proctor.engine.evaluate import Progress, evaluate
from proctor.engine.settings import RunSettings, SuiteSettings
from proctor.store.store import Store

TEXT = ("keywords", "blanks", "rouge", "contains", "exact_match", "matches", "number")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--compat", default="")
    parser.add_argument("--answers-wanted", type=int, default=6000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        suite, answers = options.suite, options.answers
        if suite is None:
            suite = Path(str(files("proctor.starter"))) / "suite.yaml"
            answers = suite.with_name("answers-careful.jsonl")
        settings = SuiteSettings(path=suite, compat=options.compat)
        cases = [case for case in load.read(settings).suite.cases if _is_text(case)]
        many = repeat(settings, cases, answers, Path(folder), options.answers_wanted)
        settings = SuiteSettings(
            path=suite, compat=options.compat, select=tuple(case.id for case in cases)
        )
        ours, phases = proctor_rate(settings, many, Path(folder))
        plain = plain_rate(cases, load.answers(many, load.read(settings).suite))
    print(f"Proctor, store and all:      {ours:8,.0f} answers/s")
    print(f"  of which grading alone:    {phases:8,.0f} answers/s")
    print(f"plain Python, one process:   {plain:8,.0f} answers/s")
    print(f"ratio:                       {ours / plain:8.1f}x")


def _is_text(case: Case) -> bool:
    return all(criterion.scorer.name in TEXT for criterion in case.criteria)


def repeat(
    settings: SuiteSettings, cases: list[Case], answers: Path, folder: Path, wanted: int
) -> Path:
    """Write the answers over and over, each a little different, so that none is stored already."""
    known = {case.id for case in cases}
    found = [a for a in load.answers(answers, load.read(settings).suite) if a.case_id in known]
    path = folder / "many.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(wanted):
            attempt = found[number % len(found)]
            text = attempt.output + " " * (number // len(found))
            row = {"case": attempt.case_id, "output": text}
            file.write(json.dumps(row) + "\n")
    return path


def proctor_rate(settings: SuiteSettings, answers: Path, folder: Path) -> tuple[float, float]:
    """Grade everything through the engine into a new store."""
    marks: dict[str, list[tuple[float, int]]] = {}

    def note(progress: Progress) -> None:
        marks.setdefault(progress.phase, []).append((time.perf_counter(), progress.done))

    started = time.perf_counter()
    with Store.open(str(folder / "bench.db")) as store:
        run = RunSettings(suite=settings, answers=answers)
        outcome = run_sync(evaluate(run, store, note))
    took = time.perf_counter() - started
    attempts = outcome.view.summary.totals.attempts
    grading = marks["grade"][-1][0] - marks["collect"][-1][0]
    return attempts / took, attempts / grading


def plain_rate(cases: list[Case], attempts: "object", sample: int = 150) -> float:
    """Judge a sample with a textbook alignment, rouge-score and substring tests."""
    by_id = {case.id: case for case in cases}
    chosen: list[tuple[Case, Attempt]] = []
    for attempt in attempts:  # type: ignore[attr-defined]
        if attempt.case_id in by_id:
            chosen.append((by_id[attempt.case_id], attempt))
        if len(chosen) == sample:
            break
    started = time.perf_counter()
    for case, attempt in chosen:
        for criterion in case.criteria:
            judge_plainly(case, criterion, attempt.output)
    return len(chosen) / (time.perf_counter() - started)


def judge_plainly(case: Case, criterion: Criterion, text: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    params = criterion.scorer.params
    if criterion.scorer.name == "blanks":
        textbook_alignment(params["template"], text)
    elif criterion.scorer.name == "rouge":
        scorer = RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"])
        for reference in params.get("references") or case.references:
            scorer.score(reference, text)
    else:
        for word in str(params).split():
            word in text  # noqa: B015


def textbook_alignment(left: str, right: str) -> int:
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left, 1):
        for j, b in enumerate(right, 1):
            same = table[i - 1][j - 1] + 1
            table[i][j] = same if a == b else max(table[i - 1][j], table[i][j - 1])
    return table[-1][-1]


if __name__ == "__main__":
    main()
