"""`--help`: how long it takes to come up, next to inspect, lm_eval and deepeval.

Each is the program that its package installs, in its own environment, run in turns so that a noisy
machine hurts all alike. The first runs, which write compiled files, do not count; what counts is
the median. A bare interpreter is shown too: nothing that is written in Python starts faster.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import peers
from measured import Row, less, offer_json, reporting


def commands() -> dict[str, list[str]]:
    """Return what is started, by name; peers that are not installed are left out."""
    beside = Path(sys.executable).with_name("proctor")
    ours = [str(beside)] if beside.exists() else [sys.executable, "-m", "proctor.cli.main"]
    found = {"proctor": [*ours, "--help"], "python": [sys.executable, "-c", "pass"]}
    for peer in peers.PEERS.values():
        if peer.installed():
            found[peer.program] = [str(peer.bin / peer.program), "--help"]
        else:
            print(f"{peer.program} is not installed (python benchmarks/peers.py {peer.name})")
    return found


def once(command: list[str]) -> tuple[float, float]:
    """Run a command, and return how long it took, and how much of that on a processor."""
    # No peer shall spend its time on telling its makers that it was started.
    quiet = {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1"}
    # Who installs a program has it compiled once, and not with every start.
    quiet["PYTHONDONTWRITEBYTECODE"] = ""
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **quiet},
    )
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return seconds, used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows:
        rows.extend(compare(options.rounds))


def compare(rounds: int) -> list[Row]:
    given = commands()
    for command in given.values():
        once(command)
        once(command)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in given}
    for _ in range(rounds):
        for name, command in given.items():
            taken[name].append(once(command))
    times = {name: 1000 * statistics.median(s for s, _ in each) for name, each in taken.items()}
    cpu = {name: 1000 * statistics.median(c for _, c in each) for name, each in taken.items()}
    print(f"--help, medians of {rounds} rounds")
    for name, took in times.items():
        print(f"{name:12}{took:8.0f} ms{cpu[name]:8.0f} ms CPU  {took / times['proctor']:6.1f}x")
    rows = []
    for name, took in times.items():
        if name != "proctor":
            peer = "python -c pass" if name == "python" else f"{name} --help"
            note = f"CPU: {cpu['proctor']:.0f} ms against {cpu[name]:.0f} ms"
            rows.append(less("start-up of `--help`", times["proctor"], took, "ms", peer, note))
    return rows


if __name__ == "__main__":
    main()
