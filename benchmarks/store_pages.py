"""The pages of a store with many scored attempts: how long each takes, and how much memory.

The store is filled through the real schema with two runs of one suite, each with half of the
attempts, summed up by the engine's own code. `proctor view` serves it as a process of its own. Each
page is asked for in turns with all the others, by one client and by four at once; what counts is
the 95th percentile against half a second, and the server's largest resident memory.

With --parts, `proctor run` makes both runs of files, so that large ones have their home in parts:
then the first comparison is shown next to DuckDB's reading of all values of both, and the pages of
each size next to those of the first.
"""

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from measured import Row, alone, offer_json, reporting

from proctor.core.attempt import Attempt
from proctor.core.comparison import Comparison, Preference
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.run import Run, RunStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run.aggregate import RunTotals, case_result, fold_of
from proctor.store.rows import ResultRow, encode
from proctor.store.store import Store

NAMES = ("first", "second")
LANGS = ("python", "go", "rust", "c++", "javascript", "java", "kotlin", "bash", "sql", "r")
KEYWORDS = ("quorum", "zephyr", "fjord", "waltz", "jukebox")
RARE, COMMON = "zyzzyva", "because"
WANTED_SECONDS, WANTED_MEGABYTES = 0.5, 300
BATCH = 10_000
TICK = 0.002
"""Seconds of processor time below which a page cannot be told from none."""


def words(number: int) -> list[str]:
    """Return some words of a made-up language."""
    random_ = random.Random(number)
    letters = "aeiourtnlsdcmpbg"
    return ["".join(random_.choices(letters, k=random_.randint(3, 9))) for _ in range(3000)]


class Text:
    """Write answers of a few hundred characters; each has its own words."""

    def __init__(self) -> None:
        self.words = words(1)
        self.random = random.Random(2)

    def of(self, number: int) -> str:
        """Return the answer to a case; every second says a common word, every 20,000th a rare."""
        said = self.random.choices(self.words, k=40)
        if number % 2:
            said[7] = COMMON
        if number % 20_000 == 11:
            said[9] = RARE
        return " ".join(said)


def make_case(number: int) -> Case:
    return Case(
        id=f"case-{number:07}",
        messages=(Message(role="user", content=f"What is to be said of the number {number}?"),),
        criteria=(Criterion(id="fits", scorer=Spec(name="exact_match")),),
        tags={"lang": (LANGS[number % 10],), "kind": (("easy", "hard")[number % 3 == 0],)},
    )


def points_of(run: int, number: int) -> float:
    """Return what an answer got: in a way that looks random, and the second run does better."""
    mixed = (number * 2_654_435_761 + run * 40_503 * (number % 7)) % 1000
    if number % 5 == 0:
        return min(1.0, round((mixed + 100 * run) / 1000, 1))
    return float(mixed < 600 + 30 * run)


def fill(path: Path, attempts: int) -> str:
    """Fill a store, and return the key of its suite."""
    count = attempts // len(NAMES)
    with Store.open(str(path)) as store:
        store.suites.put(Suite(name="nothing", cases=()), "none", [])
        header = Suite(name="many", cases=())
        keys = [case_key(make_case(number)) for number in range(count)]
        key = suite_key(header, keys)
        base = sqlite3.connect(path)
        base.execute("PRAGMA synchronous=OFF")
        store.suites.put(header, key, [])
        base.execute("UPDATE suites SET cases = ? WHERE key = ?", (count, key))
        base.commit()
        for start in range(0, count, BATCH):
            some = [(n, make_case(n)) for n in range(start, min(count, start + BATCH))]
            with base:
                base.executemany(
                    "INSERT INTO cases VALUES (?,?)", ((keys[n], encode(case)) for n, case in some)
                )
                base.executemany(
                    "INSERT INTO suite_cases VALUES (?,?,?,?,'')",
                    ((key, n, keys[n], case.id) for n, case in some),
                )
        for place, name in enumerate(NAMES):
            _fill_run(base, store, (place, name), key, count)
        base.close()
    return key


def _fill_run(
    base: sqlite3.Connection, store: Store, which: tuple[int, str], key: str, count: int
) -> None:
    place, name = which
    text, header = Text(), Suite(name="many", cases=())
    candidate = Spec(name="recorded", params={"name": name})
    settings = {"attempts": 1}
    store.runs.save(
        Run(
            id=name, name=name, suite="many", suite_key=key, candidate=candidate,
            settings=settings, status=RunStatus.COMPLETE, started=time.time() + place,
            finished=time.time() + place, signature=f"suite:{key[:8]}|scorers:exact_match-1",
        )
    )  # fmt: skip
    summer = RunTotals(interval="t")

    def rows() -> Iterator[ResultRow]:
        attempts: list[tuple[str, str, str]] = []
        for number in range(count):
            case = make_case(number)
            attempt = Attempt.of(case.id, text.of(number))
            score = Score(points=points_of(place, number), out_of=1.0, reason="because it is so")
            attempts.append((f"{name}{number:07}", encode(attempt), encode(score)))
            result = case_result(fold_of(header), case, [(attempt, {"fits": score})])
            summer.add(result)
            folded = result.folded
            yield ResultRow(
                position=number, case_id=case.id, status=folded.status, value=folded.value,
                full=1.0, weight=1.0, low=folded.low, high=folded.high, spread=0.0, tags=case.tags,
            )  # fmt: skip
            if len(attempts) == BATCH or number == count - 1:
                waiting.append(attempts)
                attempts = []

    waiting: list[list[tuple[str, str, str]]] = []
    store.results.put(name, rows())
    store.summaries.save(name, summer.summary().to_json())
    for chunk in waiting:
        numbers = [(int(at[len(name) :]), at) for at, _, _ in chunk]
        with base:
            base.executemany(
                "INSERT INTO attempts VALUES (?,'answered',?)", ((at, doc) for at, doc, _ in chunk)
            )
            base.executemany(
                "INSERT INTO scores VALUES (?,'exact_match','scored',?)",
                ((at, doc) for at, _, doc in chunk),
            )
            base.executemany(
                "INSERT INTO run_attempts VALUES (?,?,0,?)", ((name, n, at) for n, at in numbers)
            )
            base.executemany(
                "INSERT INTO run_scores VALUES (?,?,0,'fits',?)",
                ((name, n, at) for n, at in numbers),
            )


def fill_in_parts(path: Path, attempts: int) -> None:
    """Make both runs by the command, of a suite and answers in Parquet."""
    import pyarrow
    import pyarrow.parquet

    count = attempts // len(NAMES)

    def write(file: Path, row: Callable[[int], dict[str, str]]) -> None:
        writer = None
        for start in range(0, count, BATCH):
            table = pyarrow.Table.from_pylist(
                [row(number) for number in range(start, min(count, start + BATCH))]
            )
            if writer is None:
                writer = pyarrow.parquet.ParquetWriter(file, table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()

    def case(number: int) -> dict[str, str]:
        return {
            "id": f"case-{number:07}",
            "ask": f"What is to be said of the number {number}?",
            "criteria": json.dumps([{"keywords": list(KEYWORDS)}]),
            "tags.lang": LANGS[number % 10],
            "tags.kind": ("easy", "hard")[number % 3 == 0],
        }

    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        suite = Path(folder) / "many.parquet"
        write(suite, case)
        for place, name in enumerate(NAMES):
            text = Text()

            def answer(number: int, place: int = place, text: Text = text) -> dict[str, str]:
                said = KEYWORDS[: round(len(KEYWORDS) * points_of(place, number))]
                return {"case": f"case-{number:07}", "output": " ".join([text.of(number), *said])}

            answers = Path(folder) / f"{name}.parquet"
            write(answers, answer)
            command = [sys.executable, "-m", "proctor.cli.main", "run", str(suite), "--name", name]
            command += ["--answers", str(answers), "--store", str(path), "--json"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def duckdb_seconds(path: Path) -> float:
    """Return how long DuckDB takes to read all values of both runs, at its best of three."""
    import duckdb

    files = [str(file) for file in Path(f"{path}.parts").glob("*/results-*.parquet")]
    if not files:
        return 0.0
    took = []
    for _ in range(3):
        start = time.perf_counter()
        with duckdb.connect() as base:
            base.execute("SET threads = 1")
            base.execute("SELECT case_id, value FROM read_parquet(?)", [files]).fetchnumpy()
        took.append(time.perf_counter() - start)
    return min(took)


def battle(store: Store, count: int) -> None:
    """Store a battle of the two runs over some of their cases."""
    names = [store.runs.get(name).id for name in NAMES]
    store.comparisons.put(
        (
            f"{number}-{order}",
            "content",
            Comparison(
                case_id=f"case-{number:07}",
                first=names[order],
                second=names[1 - order],
                judge="strict",
                asked="alike",
                outcome=Preference.FIRST if (number + order) % 3 else Preference.SECOND,
                reason="clearer",
            ),
        )
        for number in range(min(count, 2000))
        for order in (0, 1)
    )


@dataclass
class Pages:
    """Hold the pages that are asked for, by what they show."""

    key: str
    last: str
    random: random.Random
    runs: tuple[str, ...] = NAMES

    def all(self) -> dict[str, Callable[[], str]]:
        """Return what makes the next address of each kind."""
        both, first = [("run", name) for name in self.runs], f"/runs/{self.runs[0]}"
        return {
            "home": lambda: "/",
            "home, search": lambda: f"/?{urlencode({'q': RARE})}",
            "home, search for an id": lambda: f"/?{urlencode({'q': self.case()})}",
            "suite": lambda: f"/suites/{self.key}",
            "distribution": lambda: f"{first}/histogram.svg",
            "run": lambda: first,
            "run, far down": lambda: self.run(after=f"[null,{self.number()}]"),
            "run, sorted by value": lambda: self.run(sort="value", order="down"),
            "run, sorted by id": lambda: self.run(sort="id", order="down"),
            "run, status": lambda: self.run(status="error"),
            "filter, many fit": lambda: self.run(where="rate < 0.5 and lang == 'rust'"),
            "filter, few fit": lambda: self.run(where=f"id == '{self.case()}'"),
            "filter, none fits": lambda: self.run(where="value > 0.85 and value < 0.9"),
            "filter, sorted": lambda: self.run(where="lang == 'go'", sort="value", order="down"),
            "search, an id": lambda: self.run(q=self.case()),
            "search, a common word": lambda: self.run(q=COMMON),
            "search, a rare word": lambda: self.run(q=RARE),
            "search, nothing": lambda: self.run(q="no such words"),
            "search, sorted": lambda: self.run(q=RARE, sort="value"),
            "case": lambda: f"{first}/cases/{self.case()}",
            "label": lambda: f"{first}/label?case={self.case()}",
            "compare": self.compare,
            "compare, worse": lambda: self.compare(kind="worse"),
            "compare, filter": lambda: self.compare(where="difference < 0 and lang == 'sql'"),
            "compare, search": lambda: self.compare(q=self.case()),
            "compare, a case": lambda: self.compare(case=self.case()),
            "battles": lambda: f"/battles?{urlencode(both)}",
            "grid": lambda: f"/grid?{urlencode(both)}",
            "grid, differ": lambda: f"/grid?{urlencode([*both, ('kind', 'differ')])}",
            "grid, search": lambda: f"/grid?{urlencode([*both, ('q', self.case())])}",
            "grid, far down": lambda: f"/grid?{urlencode([*both, ('after', self.number())])}",
            "history of a case": lambda: f"/suites/{self.key}/history?case={self.case()}",
            "items": lambda: f"/suites/{self.key}/items",
            "audit": lambda: f"{first}/audit",
        }

    def number(self) -> int:
        return self.random.randrange(int(self.last[5:]) + 1)

    def case(self) -> str:
        return f"case-{self.number():07}"

    def run(self, **query: str) -> str:
        return f"/runs/{self.runs[0]}?{urlencode(query)}"

    def compare(self, **query: str) -> str:
        return f"/compare?{urlencode([*(('run', name) for name in self.runs), *query.items()])}"


@contextmanager
def served(path: Path) -> Iterator[tuple[str, int]]:
    """Serve a store as `proctor view` does, and return address and process."""
    program = "import sys; from proctor.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "view", "--port", "0", "--store", str(path)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip().rstrip("/"), server.pid
    finally:
        server.terminate()
        server.wait()


def resident(pid: int) -> float:
    """Return the most memory a process has had, in megabytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def cpu(pid: int) -> float:
    """Return how many seconds of processor time a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def worked(base: str, pages: Callable[[], Pages], pid: int, times: int = 5) -> dict[str, float]:
    """Return the processor time of each page: what it would take on a machine that is idle."""
    found = {}
    for name, make in pages().all().items():
        before = cpu(pid)
        for _ in range(times):
            asked(base + make())
        found[name] = (cpu(pid) - before) / times
    return found


def asked(address: str) -> float:
    """Return how long a page takes."""
    start = time.perf_counter()
    with urllib.request.urlopen(address) as answer:
        answer.read()
    return time.perf_counter() - start


def measure(
    base: str, pages: Callable[[], Pages], rounds: int, clients: int
) -> dict[str, list[float]]:
    """Ask for every page so many times, by some clients at once, and return the times."""
    found: dict[str, list[float]] = {}
    lock = threading.Lock()

    def client() -> None:
        own = pages().all()
        for _ in range(rounds):
            for name, make in random.sample(sorted(own.items()), len(own)):
                took = asked(base + make())
                with lock:
                    found.setdefault(name, []).append(took)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def high(times: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(times, n=20, method="inclusive")[-1]


def told(name: str, alone: Sequence[float], four: Sequence[float], work: float) -> str:
    shown = [1000 * value for value in (statistics.median(alone), high(alone),
                                        statistics.median(four), high(four))]  # fmt: skip
    ratio = high(four) / WANTED_SECONDS
    times = "".join(f"{value:9.1f}" for value in (*shown, 1000 * work))
    return f"{name:24}{times}{ratio:9.2f}"


def wait_for_index(base: str, run: str, limit: float = 3600) -> float:
    """Let the server index the texts of the first run, and return how long that took."""
    start = first = time.perf_counter()
    while time.perf_counter() - start < limit:
        headers = {} if start == first else {"proctor-going-on": "1"}
        address = f"{base}/runs/{run}.json?q={RARE}"
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            state = json.load(answer).get("search")
        if start == first:
            print(f"the first search says of itself: {state}")
            first = 0.0
        if state is None or state["whole"]:
            break
        # A page of a run in parts goes on with its search so soon; an index is filled elsewhere.
        time.sleep(0.03 if state["why"] == "scanning" else 1)
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attempts", nargs="*", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--keep", type=Path, help="a folder for the stores, to use them again")
    parser.add_argument("--parts", action="store_true", help="let `proctor run` make the runs")
    offer_json(parser)
    options = parser.parse_args()
    missed = 0
    smallest: dict[str, float] = {}
    works: dict[str, float] = {}
    with reporting(options.json) as rows, tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        for attempts in options.attempts:
            path = folder / f"pages-{attempts}.db"
            filling = fill_in_parts if options.parts else fill
            times = one_size(path, attempts, options.rounds, rows, filling)
            missed += times.missed
            smallest, works = smallest or times.high, works or times.work
            if smallest is not times.high:
                worst = max(smallest, key=lambda name: times.high[name] / smallest[name])
                ratio = times.high[worst] / smallest[worst]
                print(f"at most {ratio:.1f} times the p95 of the smallest store: {worst}")
                print("times the smallest store          p95      CPU")
                for name in sorted(smallest):
                    by_cpu = times.work[name] / max(works[name], TICK)
                    print(f"  {name:24}{times.high[name] / smallest[name]:9.2f}{by_cpu:9.2f}")
    return 1 if missed else 0


@dataclass
class Times:
    """What the pages of one store took."""

    missed: int
    """How many were too slow."""
    high: dict[str, float]
    """Seconds at the 95th percentile, with one client."""
    work: dict[str, float]
    """Seconds of processor time."""


def one_size(
    path: Path, attempts: int, rounds: int, rows: list[Row], filling: Callable[[Path, int], object]
) -> Times:
    """Measure the pages of a store of one size."""
    start = time.perf_counter()
    if not path.exists():
        filling(path, attempts)
        with Store.open(str(path)) as store:
            battle(store, attempts // len(NAMES))
    with Store.open(str(path)) as store:
        key = store.runs.get(NAMES[0]).suite_key
        runs = tuple(store.runs.get(name).id for name in NAMES)
    size = os.path.getsize(path) / 1e6
    took, load = time.perf_counter() - start, os.getloadavg()[0]
    print(f"\n{attempts:,} scored attempts, {size:,.0f} MB ({took:.0f} s to fill)")
    print(f"{os.cpu_count()} cores, with {load:.1f} processes wanting them", flush=True)

    def pages() -> Pages:
        last = f"case-{attempts // len(NAMES) - 1:07}"
        return Pages(key, last, random.Random(7), runs)

    with served(path) as (base, pid):
        cold = {name: asked(base + make()) for name, make in pages().all().items()}
        indexed = wait_for_index(base, runs[0])
        print(f"texts indexed in {indexed:.0f} s")
        alone_times = measure(base, pages, rounds, 1)
        four = measure(base, pages, max(1, rounds // 2), 4)
        work = worked(base, pages, pid)
        memory = resident(pid)
    print(
        "milliseconds                alone      p95     four      p95      CPU  four's p95 by 500"
    )
    for name in sorted(alone_times):
        print(told(name, alone_times[name], four[name], work[name]))
    slow = [name for name in alone_times if high(alone_times[name]) > WANTED_SECONDS]
    slow += [f"{name} (4)" for name in four if high(four[name]) > WANTED_SECONDS]
    worst = sorted(cold.items(), key=lambda item: -item[1])[:5]
    print("the first time: " + ", ".join(f"{name} {1000 * took:.0f}" for name, took in worst))
    if reading := duckdb_seconds(path):
        ratio = cold["compare"] / reading
        print(
            f"first comparison: {cold['compare']:.2f} s, {ratio:.1f} times reading both by DuckDB"
        )
    print(f"memory of the server: {memory:.0f} MB (wanted: under {WANTED_MEGABYTES})")
    print(f"too slow: {', '.join(slow) or 'none'}")
    what = f"store of {attempts:,} scored attempts"
    for clients, times in (("one client", alone_times), ("four clients", four)):
        name, slowest = max(((page, high(each)) for page, each in times.items()), key=_second)
        usual = 1000 * statistics.median(took for each in times.values() for took in each)
        note = f"p95 of {name!r}; a page usually: {usual:.0f} ms; wanted: under 500"
        rows.append(alone(f"{what}, slowest page, {clients}", 1000 * slowest, "ms", note))
    note = f"store of {size:,.0f} MB, filled in {took:.0f} s, texts indexed in {indexed:.0f} s"
    note += f"; wanted: under {WANTED_MEGABYTES}"
    rows.append(alone(f"{what}, memory of the server", memory, "MB", note))
    found = {name: high(times) for name, times in alone_times.items()}
    return Times(len(slow) + (memory > WANTED_MEGABYTES), found, work)


def _second(pair: tuple[str, float]) -> float:
    return pair[1]


if __name__ == "__main__":
    raise SystemExit(main())
