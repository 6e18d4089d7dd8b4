"""Every benchmark, one after the other, and at the end one table of ratios in Markdown.

The peers are installed first, each into an environment of its own (see `peers.py`); one that cannot
be installed is said to be missing, and the others go on. Both sides of a ratio are always measured
in the same run on the same machine. `BENCH_LARGE=1` or `--large` adds a million rows; `--quick`
tries that everything runs, with sizes so small that the figures mean nothing. `--write` puts the
table into docs/benchmarks.md, between its marks.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import peers
from measured import Row, markdown, read

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- make bench: begin -->", "<!-- make bench: end -->"
LIBRARIES = (
    "rouge-score",
    "rouge-chinese",
    "nltk",
    "scikit-learn",
    "jieba",
    "aiohttp",
    "bert-score",
)
LONGEST = 3600
"""Seconds after which a benchmark is given up."""


@dataclass(frozen=True)
class Part:
    """Name a script, and what it is told in each of the three sizes."""

    script: str
    usual: str = ""
    quick: str = ""
    large: str = ""
    """Nothing, where the large run has nothing to add."""
    needs: tuple[str, ...] = ()
    """Modules that only some environments have."""


PARTS = (
    Part("startup", "", "--rounds 1"),
    Part("small_runs", "", "--rounds 1 --answers 20"),
    Part("text_criteria", "", "--answers-wanted 100 --sample 7 --short 50 --rounds 1"),
    Part("text_metrics", "", "--pairs 20 --words 20 --large 20"),
    Part("sandboxed_tests", "", "--rounds 1 --programs 8"),
    Part("grader", "", "--rounds 1 --programs 8 --in-flight 8 --singles 16 --texts 200"),
    Part("program_suites", "", "--computing 4 --waiting 1 --limit 1"),
    Part("model_throughput", "", "--cases 40 --inspect-cases 20 --rounds 1"),
    Part("million_rows", "--rows 10000", "--rows 200"),
    Part("million_rows", "--rows 100000", "--rows 400", "--rows 1000000"),
    Part("live_viewers", "--cases 600", "--cases 300 --rounds 1"),
    Part("store_pages", "10000 100000 --rounds 10", "200 --rounds 2", "1000000 --rounds 10"),
    Part("bulk_driver", "", "--parts 2"),
    Part(
        "core_scaling",
        "--rows 200000 --programs 300 --steps 1400000",
        "--rows 400 --programs 4 --steps 14000",
        "--rows 2000000 --programs 1000",
    ),
    Part("ray_scaling", "--cases 4000", "--cases 60", "--cases 20000", needs=("ray",)),
    Part("ray_models", "", "--cases 4", needs=("ray", "torch", "transformers")),
    Part("bert_score_pairs", "", "--pairs 8 --shape tiny", needs=("torch", "bert_score")),
    Part("unieval_inputs", "", "--questions 8 --plain 8", needs=("torch", "transformers")),
)


@dataclass
class Found:
    """Gather what was measured, and what could not be."""

    rows: list[Row] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def measure(self, script: str, arguments: str) -> None:
        """Run one script; what it says besides its rows is shown at once."""
        print(f"\n== {script} {arguments}".rstrip(), flush=True)
        command = [sys.executable, str(HERE / f"{script}.py"), *arguments.split(), "--json"]
        try:
            ran = subprocess.run(command, stdout=subprocess.PIPE, timeout=LONGEST, check=False)
            self.rows += read(ran.stdout.decode())
        except (ValueError, subprocess.TimeoutExpired) as error:
            self.failed.append(script)
            print(f"{script} did not end with rows: {type(error).__name__}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="SCRIPT", choices=[p.script for p in PARTS])
    parser.add_argument("--no-install", action="store_true", help="use the peers that are there")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument("--large", action="store_true", help="a million rows too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there as well")
    parser.add_argument("--write", type=Path, nargs="?", const=PAGE, metavar="PAGE")
    options = parser.parse_args()
    if options.quick and options.write:
        parser.error("figures of --quick mean nothing, and are not for a page")
    options.large = options.large or os.environ.get("BENCH_LARGE", "") not in ("", "0")
    started, found = time.monotonic(), Found()
    found.missing = absent_peers(install=not options.no_install)
    for part in PARTS:
        if options.only and part.script not in options.only:
            continue
        if absent := [name for name in part.needs if find_spec(name) is None]:
            found.missing.append(f"{part.script} was not run: no {' and no '.join(absent)} here")
            continue
        found.measure(part.script, part.quick if options.quick else part.usual)
        if options.large and part.large and not options.quick:
            found.measure(part.script, part.large)
    text = told(found, time.monotonic() - started)
    print(f"\n{text}")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in found.rows], indent=1))
    if options.write:
        write(options.write, text)
    return 1 if found.failed else 0


def absent_peers(*, install: bool) -> list[str]:
    """Install peers, and return a sentence for each that is not there."""
    absent = []
    for peer in peers.PEERS.values():
        if peer.installed():
            continue
        trouble = "not asked for"
        if install:
            print(f"installing {peer.name} into {peer.folder.parent.name} …", flush=True)
            trouble = peer.install()
        if trouble:
            absent.append(f"{peer.name} was not compared with: not installed ({trouble})")
            print(absent[-1], flush=True)
    return absent


def told(found: Found, seconds: float) -> str:
    """Return the table, with the machine and the versions before it."""
    lines = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d}: {machine()}; {seconds / 60:.0f} minutes in all."
        " A ratio above 1 says that Proctor did better.",
        f"Versions: {', '.join(versions())}.",
        *(f"{sentence}." for sentence in found.missing),
        *(f"{script} failed, and its figures are missing." for script in found.failed),
    ]
    return "\n\n".join([*lines, markdown(found.rows)])


def machine() -> str:
    """Describe where this runs."""
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    ]
    kind = f" of {models[0]}" if models else ""
    load = os.getloadavg()[2]
    return (
        f"{cores} cores{kind}, {memory:.0f} GiB of memory, Python {platform.python_version()},"
        f" {load:.1f} processes on average wanting a core"
    )


def versions() -> list[str]:
    """Return Proctor and what it is compared with, each with its version."""
    found = []
    for name in ("proctor", *LIBRARIES):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    there = [peer for peer in peers.PEERS.values() if peer.installed()]
    return found + [wanted.replace("==", " ") for peer in there for wanted in peer.wanted]


def write(page: Path, text: str) -> None:
    """Put the table between the marks of a page, or at its end where it has none."""
    old = page.read_text(encoding="utf-8") if page.exists() else "# Benchmarks\n"
    if BEGIN not in old:
        old = f"{old.rstrip()}\n\n## The whole table\n\n{BEGIN}\n{END}\n"
    before, _, rest = old.partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
