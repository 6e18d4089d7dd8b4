"""Text criteria: answers per second, next to the way the original does it, in one run.

Without arguments it makes a suite up, of the shape of InfiBench's: keywords, blanks and similarity
as 4 : 2 : 1, answers of about 950 characters. With `--suite SUITE --answers ANSWERS` it grades
those of a suite of yours, over and over, each a little different. The other side is a plain Python
alignment and the rouge-score package, on a sample of the same criteria and answers, in one process
that stores nothing.

Then short answers, 40 words with keywords and a reference of their own each, are scored in one
process without a store: a column at a time with every detail as JSON, row by row, and by a plain
loop over rouge-score that keeps nothing; in turns, and the median of each counts.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from measured import Row, more, offer_json, reporting
from million_rows import rows as many_rows

from proctor.contracts.columns import ScoreRows, run_scorer_column
from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer
from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Criterion
from proctor.engine.run import read_suite
from proctor.engine.run.evaluate import RunProgress, evaluate
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.io.concurrency import available_cores, run_sync
from proctor.io.json_bytes import dumps
from proctor.scorers.overlap.rouge import Rouge
from proctor.scorers.text.keywords import Keywords
from proctor.store.store import Store

TEXT = ("keywords", "blanks", "rouge", "contains", "exact_match", "matches", "number")
Way = Callable[[Sequence[Keywords], Sequence[ScoreContext]], None]
PLAIN = "plain Python alignment, rouge-score"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--compat", default="")
    parser.add_argument("--answers-wanted", type=int, default=6000)
    parser.add_argument("--sample", type=int, default=150, help="answers for the plain side")
    parser.add_argument("--short", type=int, default=5000, help="short answers")
    parser.add_argument("--rounds", type=int, default=5, help="how often these are scored")
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows:
        ours, grading, plain = compare(options)
        print(f"Proctor, store and all:      {ours:8,.0f} answers/s")
        print(f"  of which grading alone:    {grading:8,.0f} answers/s")
        print(f"plain Python, one process:   {plain:8,.0f} answers/s")
        print(f"ratio:                       {ours / plain:8.1f}x")
        note = f"{available_cores()} cores and a store; grading alone: {grading:,.0f}"
        rows.append(more("InfiBench's text criteria", ours, plain, "answers/s", PLAIN, note))
        rows.append(short_answers(options.short, options.rounds))


def compare(options: argparse.Namespace) -> tuple[float, float, float]:
    """Return answers a second: ours, ours while grading, and plainly."""
    with tempfile.TemporaryDirectory() as folder:
        suite, answers = options.suite, options.answers
        if suite is None:
            suite, answers = made_up(Path(folder))
        settings = SuiteSettings(path=suite, compat=options.compat)
        cases = [case for case in read_suite.read(settings).suite.cases if _is_text(case)]
        many = repeat(settings, cases, answers, Path(folder), options.answers_wanted)
        settings = SuiteSettings(
            path=suite, compat=options.compat, select=tuple(case.id for case in cases)
        )
        ours, grading = proctor_rate(settings, many, Path(folder))
        found = read_suite.answers(many, read_suite.read(settings).suite)
        return ours, grading, plain_rate(cases, found, options.sample)


def made_up(folder: Path) -> tuple[Path, Path]:
    """Write a suite and one answer to each of its cases."""
    draw = Random(3)
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(2000)]

    def text(count: int) -> str:
        said = draw.choices(words, k=count)
        return "".join(word + (".\n" if draw.random() < 0.1 else " ") for word in said)

    cases, answers = [], []
    for number in range(42):
        said = text(int(145 * min(2.0, draw.lognormvariate(0, 0.5))))
        criteria: dict[str, object]
        if number % 7 < 4:
            criteria = {"keywords": draw.sample(words, 2) + draw.sample(said.split(), 2)}
        elif number % 7 < 6:
            parts, filled = [text(25) for _ in range(4)], draw.sample(words, 3)
            code = "".join(part + word for part, word in zip(parts, [*filled, ""], strict=True))
            said = said[:250] + code
            template = "[blank]".join(parts)
            criteria = {"blanks": {"template": template, "targets": [*filled[:2], "other"]}}
        else:
            near = " ".join(w if draw.random() < 0.6 else draw.choice(words) for w in said.split())
            criteria = {"rouge": {"metric": "rougeLsum", "references": [near, text(10)]}}
        cases.append({"id": f"case-{number}", "ask": text(60), "criteria": criteria})
        answers.append({"case": f"case-{number}", "output": said})
    paths = folder / "suite.jsonl", folder / "answers.jsonl"
    for path, rows in zip(paths, (cases, answers), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return paths


def _is_text(case: Case) -> bool:
    return all(criterion.scorer.name in TEXT for criterion in case.criteria)


def repeat(
    settings: SuiteSettings, cases: list[Case], answers: Path, folder: Path, wanted: int
) -> Path:
    """Write the answers over and over, each a little different, so that none is stored already."""
    known = {case.id for case in cases}
    found = [
        a
        for a in read_suite.answers(answers, read_suite.read(settings).suite)
        if a.case_id in known
    ]
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

    def note(progress: RunProgress) -> None:
        marks.setdefault(progress.phase, []).append((time.perf_counter(), progress.done))

    started = time.perf_counter()
    with Store.open(str(folder / "bench.db")) as store:
        run = RunSettings(suite=settings, answers=answers)
        outcome = run_sync(evaluate(run, store, note))
    took = time.perf_counter() - started
    attempts = outcome.view.summary.totals.attempts
    grading = marks["grade"][-1][0] - marks["collect"][-1][0]
    return attempts / took, attempts / grading


def plain_rate(cases: list[Case], attempts: Iterable[Attempt], sample: int) -> float:
    """Judge a sample with a textbook alignment, rouge-score and substring tests, once warm."""
    by_id = {case.id: case for case in cases}
    chosen: list[tuple[Case, Attempt]] = []
    for attempt in attempts:
        if attempt.case_id in by_id:
            chosen.append((by_id[attempt.case_id], attempt))
        if len(chosen) == sample:
            break
    for case in cases:
        for criterion in case.criteria:
            judge_plainly(case, criterion, "a word")
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


def short_answers(count: int, rounds: int) -> Row:
    """Score keywords and ROUGE-L of short answers in three ways, one after the other."""
    pairs = list(many_rows(count, 40))
    keywords = [Keywords(_keywords(case)) for case, _ in pairs]
    contexts = [
        ScoreContext.of(str(answer["output"]), references=[str(case["reference"])])
        for case, answer in pairs
    ]
    ways: tuple[Way, ...] = by_column, by_row, plainly
    seconds: list[list[float]] = [[] for _ in ways]
    for _ in range(rounds):
        for way, spent in zip(ways, seconds, strict=True):
            started = time.process_time()
            way(keywords, contexts)
            spent.append(time.process_time() - started)
    column, row, loop = (count / median(spent) for spent in seconds)
    print(f"short answers, by column:    {column:8,.0f} answers/s of processor time")
    print(f"short answers, row by row:   {row:8,.0f} answers/s")
    print(f"loop over rouge-score:       {loop:8,.0f} answers/s")
    print(f"ratio of columns to loop:    {column / loop:8.1f}x")
    note = f"one process, no store, with details as JSON; row by row: {row:,.0f}"
    peer = "loop over rouge-score"
    return more("keywords and ROUGE-L by column", column, loop, "answers/CPU s", peer, note)


def by_column(keywords: Sequence[Keywords], contexts: Sequence[ScoreContext]) -> None:
    columns = ScoreRows.of(contexts)
    for scorers in (keywords, [Rouge()] * len(contexts)):
        run_scorer_column(scorers, columns).written_details()


def by_row(keywords: Sequence[Keywords], contexts: Sequence[ScoreContext]) -> None:
    rouge = Rouge()
    for scorer, ctx in zip(keywords, contexts, strict=True):
        dumps(run_scorer(scorer, ctx).detail)
        dumps(run_scorer(rouge, ctx).detail)


def plainly(keywords: Sequence[Keywords], contexts: Sequence[ScoreContext]) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    rouge = RougeScorer(["rougeL"], use_stemmer=False)
    for scorer, ctx in zip(keywords, contexts, strict=True):
        for word in scorer.rules:
            _ = str(word) in ctx.output
        rouge.score(ctx.references[0], ctx.output)


def _keywords(case: dict[str, object]) -> tuple[Any, ...]:
    return tuple(json.loads(str(case["criteria"]))[0]["keywords"])


def textbook_alignment(left: str, right: str) -> int:
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left, 1):
        for j, b in enumerate(right, 1):
            same = table[i - 1][j - 1] + 1
            table[i][j] = same if a == b else max(table[i - 1][j], table[i][j - 1])
    return table[-1][-1]


if __name__ == "__main__":
    main()
