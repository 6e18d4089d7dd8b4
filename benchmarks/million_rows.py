"""Many answers from Parquet through keywords and ROUGE: rows per second and memory, in one command.

A suite and its answers are written row by row (one case a row, keywords and references of its own
in each), then `proctor run` grades them in a process of its own into a new store. The other side is
a plain loop over the rouge-score package on a sample of the same rows, in one process.
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
from itertools import islice
from pathlib import Path

from measured import Row, alone, more, offer_json, reporting

SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "le", "mi", "no", "ru")
WORDS = [one + two for one in SYLLABLES for two in SYLLABLES]
SPAN = 5000
"""How many rows a file of Parquet keeps together."""
SAMPLE = 3000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=40, help="words of an answer, about")
    parser.add_argument("--form", choices=["parquet", "jsonl", "csv"], default="parquet")
    parser.add_argument("--folder", type=Path, help="where files and store go (default: temporary)")
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as found:
        found.extend(compare(options))


def compare(options: argparse.Namespace) -> list[Row]:
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        suite, answers = write(Path(folder), options)
        size = suite.stat().st_size + answers.stat().st_size
        seconds, largest, together = proctor_run(suite, answers, Path(folder))
        files = [*Path(folder).glob("store.db*"), *Path(folder).glob("store.db.parts/**/*")]
        store = sum(file.stat().st_size for file in files if file.is_file())
        plain = plain_rate(options.words)
    ours = options.rows / seconds
    print(f"rows:                           {options.rows:12,}  ({size / 2**20:,.0f} MiB on file)")
    print(f"proctor run, store and all:     {ours:12,.0f} rows/s  ({seconds:,.1f} s)")
    print(f"largest process:                {largest / 2**20:12,.0f} MiB")
    print(f"all processes together, at most:{together / 2**20:12,.0f} MiB")
    print(f"store and its parts:            {store / 2**20:12,.0f} MiB")
    print(f"on disk for each row:           {store / options.rows:12,.0f} bytes")
    print(f"plain loop over rouge-score:    {plain:12,.0f} rows/s  (sample of {SAMPLE:,})")
    print(f"ratio:                          {ours / plain:12.2f}x")
    what = f"{options.rows:,} answers from {options.form}"
    cores = (
        f"{len(os.sched_getaffinity(0))} cores and a store, theirs one process that keeps nothing"
    )
    note = f"largest process: {largest / 2**20:,.0f} MiB; on file: {size / 2**20:,.0f} MiB"
    return [
        more(
            f"{what}, keywords and ROUGE-L", ours, plain, "rows/s", "loop over rouge-score", cores
        ),
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


def proctor_run(suite: Path, answers: Path, folder: Path) -> tuple[float, int, int]:
    """Grade all rows; return seconds, the largest process and the largest sum, in bytes."""
    command = [sys.executable, "-m", "proctor.cli.main", "run", str(suite)]
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
    return time.perf_counter() - started, used.ru_maxrss * 1024, peak[0]


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


def plain_rate(words: int) -> float:
    """Look for the keywords and ask rouge-score, row after row, keeping nothing."""
    import json

    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    pairs = list(rows(SAMPLE, words))
    started = time.perf_counter()
    for case, answer in pairs:
        said = str(answer["output"])
        for keyword in json.loads(str(case["criteria"]))[0]["keywords"]:
            _ = keyword in said
        scorer.score(str(case["reference"]), said)
    return SAMPLE / (time.perf_counter() - started)


if __name__ == "__main__":
    main()
