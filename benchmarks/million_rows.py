"""Many answers from Parquet through keywords and ROUGE: rows per second and memory, in one command.

A suite and its answers are written row by row (one case a row, keywords and references of its own
in each), then `proctor run` grades them in a process of its own into a new store. The other side is
a plain loop over the rouge-score package on a sample of the same rows, in one process, before and
after. On a machine that does other work as well, the ratio by processor time is the one to look at:
rows for each second of it, theirs on one core, ours on all of them.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median

from measured import Row, alone, more, offer_json, reporting

SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "le", "mi", "no", "ru")
WORDS = [one + two for one in SYLLABLES for two in SYLLABLES]
SPAN = 5000
"""How many rows a file of Parquet keeps together."""
SAMPLE = 3000
FIGURES = ("seconds", "processor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=40, help="words of an answer, about")
    parser.add_argument("--form", choices=["parquet", "jsonl", "csv"], default="parquet")
    parser.add_argument("--rounds", type=int, default=1, help="medians of so many runs")
    parser.add_argument("--folder", type=Path, help="where files and store go (default: temporary)")
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as found:
        found.extend(compare(options))


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What one run of the command took, in seconds and bytes."""

    seconds: float
    processor: float
    """Of all its processes together."""
    largest: int
    """The largest process."""
    together: int
    """All processes, at most."""
    disk: int = 0


def compare(options: argparse.Namespace) -> list[Row]:
    took: list[Took] = []
    plain = [plain_rates(options.words)]
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        suite, answers = write(Path(folder), options)
        size = suite.stat().st_size + answers.stat().st_size
        warm_up(Path(folder), options)
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory(dir=folder) as place:
                took.append(proctor_run(suite, answers, Path(place)))
            plain.append(plain_rates(options.words))
    cores = len(os.sched_getaffinity(0))
    seconds, processor = (median(getattr(one, name) for one in took) for name in FIGURES)
    largest, together, store = (
        max(getattr(one, name) for one in took) for name in ("largest", "together", "disk")
    )
    theirs, theirs_processor = (median(pair[place] for pair in plain) for place in (0, 1))
    ours, ours_processor = options.rows / seconds, cores * options.rows / processor
    by_processor = ours_processor / theirs_processor
    print(f"rows:                           {options.rows:12,}  ({size / 2**20:,.0f} MiB on file)")
    print(f"proctor run, store and all:     {ours:12,.0f} rows/s  ({seconds:,.1f} s)")
    print(f"processor time of it:           {processor:12,.1f} s  (of {cores} cores)")
    print(f"largest process:                {largest / 2**20:12,.0f} MiB")
    print(f"all processes together, at most:{together / 2**20:12,.0f} MiB")
    print(f"store and its parts:            {store / 2**20:12,.0f} MiB")
    print(f"on disk for each row:           {store / options.rows:12,.0f} bytes")
    print(f"plain loop over rouge-score:    {theirs:12,.0f} rows/s  (sample of {SAMPLE:,})")
    print(f"ratio:                          {ours / theirs:12.2f}x")
    print(f"ratio by processor time:        {by_processor:12.2f}x")
    what = f"{options.rows:,} answers from {options.form}"
    how = (
        f"{cores} cores and a store, theirs one process that keeps nothing; by processor time"
        f" {by_processor:.2f}×"
    )
    note = (
        f"largest process: {largest / 2**20:,.0f} MiB; on file: {size / 2**20:,.0f} MiB; in the"
        f" store: {store / options.rows:,.0f} bytes a row"
    )
    return [
        more(f"{what}, keywords and ROUGE-L", ours, theirs, "rows/s", "loop over rouge-score", how),
        alone(f"{what}, memory of all processes", together / 2**20, "MiB", note),
    ]


def rows(count: int, words: int) -> Iterator[tuple[dict[str, object], dict[str, object]]]:
    """Yield cases and the answers to them, the same ones each time."""
    draw = random.Random(7)
    for number in range(count):
        reference = draw.choices(WORDS, k=words)
        said = [draw.choice(WORDS) if draw.random() < 0.3 else word for word in reference]
        wanted = sorted(set(draw.sample(reference, 3)))
        keywords = ", ".join(f'"{word}"' for word in wanted)
        yield (
            {
                "id": f"case-{number:07}",
                "ask": f"Question {number}: {' '.join(draw.choices(WORDS, k=12))}?",
                "reference": " ".join(reference),
                "criteria": f'[{{"keywords": [{keywords}]}}, {{"rouge": "rougeL"}}]',
                "tags.part": f"part {number % 20}",
            },
            {"case": f"case-{number:07}", "output": " ".join(said)},
        )


def write(folder: Path, options: argparse.Namespace) -> tuple[Path, Path]:
    """Write suite and answers, a few thousand rows at a time."""
    paths = folder / f"suite.{options.form}", folder / f"answers.{options.form}"
    stream = rows(options.rows, options.words)
    writers = [_writer(path) for path in paths]
    for writer in writers:
        next(writer)
    while batch := list(islice(stream, SPAN)):
        for place, writer in enumerate(writers):
            writer.send([pair[place] for pair in batch])
    for writer in writers:
        writer.close()
    return paths


def _writer(path: Path) -> Iterator[None]:
    import csv
    import json

    import pyarrow
    import pyarrow.parquet

    if path.suffix == ".parquet":
        batch = yield
        table = pyarrow.Table.from_pylist(batch)
        with pyarrow.parquet.ParquetWriter(path, table.schema) as file:
            while True:
                file.write_table(pyarrow.Table.from_pylist(batch, schema=table.schema))
                batch = yield
    with path.open("w", encoding="utf-8", newline="") as text:
        batch = yield
        table = csv.DictWriter(text, list(batch[0]))
        if path.suffix == ".csv":
            table.writeheader()
        while True:
            if path.suffix == ".csv":
                table.writerows(batch)
            else:
                text.writelines(json.dumps(_json_row(row)) + "\n" for row in batch)
            batch = yield


def _json_row(row: dict[str, object]) -> dict[str, object]:
    import json

    made = dict(row)
    if "criteria" in made:
        made["criteria"] = json.loads(str(made["criteria"]))
        made["references"] = [made.pop("reference")]
        made["tags"] = {"part": made.pop("tags.part")}
    return made


def warm_up(folder: Path, options: argparse.Namespace) -> None:
    """Grade a few rows once, so that all modules are compiled."""
    place = folder / "few"
    place.mkdir()
    few = argparse.Namespace(**{**vars(options), "rows": 100})
    proctor_run(*write(place, few), place, "--bulk")


def proctor_run(suite: Path, answers: Path, folder: Path, *more: str) -> Took:
    """Grade all rows into a new store in a folder."""
    command = [sys.executable, "-m", "proctor.cli.main", "run", str(suite), *more]
    command += ["--answers", str(answers), "--store", str(folder / "store.db"), "--json"]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = [0]
    watching = threading.Thread(target=_watch, args=(process.pid, peak))
    watching.start()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    watching.join()
    if process.returncode:
        raise SystemExit(f"proctor run ended with {process.returncode}")
    seconds = time.perf_counter() - started
    files = [*folder.glob("store.db*"), *folder.glob("store.db.parts/**/*")]
    return Took(
        seconds=seconds,
        processor=used.ru_utime + used.ru_stime,
        largest=used.ru_maxrss * 1024,
        together=peak[0],
        disk=sum(file.stat().st_size for file in files if file.is_file()),
    )


def _watch(root: int, peak: list[int]) -> None:
    """Note how much memory a process and its children have together, twice a second."""
    page = os.sysconf("SC_PAGE_SIZE")
    while Path(f"/proc/{root}/statm").exists():
        total, waiting = 0, [root]
        while waiting:
            pid = waiting.pop()
            try:
                total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page
                for task in Path(f"/proc/{pid}/task").iterdir():
                    waiting += map(int, (task / "children").read_text().split())
            except OSError:
                continue
        peak[0] = max(peak[0], total)
        time.sleep(0.5)


def plain_rates(words: int) -> tuple[float, float]:
    """Look for the keywords and ask rouge-score, row after row, keeping nothing.

    Returned are rows for each second, and for each second of processor time.
    """
    import json

    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    pairs = list(rows(SAMPLE, words))
    started, processor = time.perf_counter(), time.process_time()
    for case, answer in pairs:
        said = str(answer["output"])
        for keyword in json.loads(str(case["criteria"]))[0]["keywords"]:
            _ = keyword in said
        scorer.score(str(case["reference"]), said)
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    return SAMPLE / seconds, SAMPLE / processor


if __name__ == "__main__":
    main()
