"""The one summary over all tasks: a line each, also of tasks that another tool has run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from proctor.io.text_files import read_bytes

FINAL = "final_result.txt"
RESULTS = "results.txt"
UNKNOWN = "Accuracy: unknown"
# A number as Python prints it, with or without a percent sign.
_NUMBER = r"(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?%?)"
_NAMES = (
    r"Pass@1",
    r"Pass@(?!1\b)\d+",
    r"Avg@\d+",
    r"Average accuracy",
    r"Avg Accuracy",
    r"Final accuracy",
    r"AskBench Final Accuracy",
    r"Vague Ask Rate",
    r"Composite score",
    r"HealthBench Score",
    r"Accuracy",
)
_ANYWHERE = frozenset({"AskBench Final Accuracy", "Vague Ask Rate", "HealthBench Score"})
_STAMP = re.compile(
    r"(\d{8})[-_T]?(\d{6})|(\d{4})-(\d\d)-(\d\d)[-_T ](\d\d)[-:_]?(\d\d)[-:_]?(\d\d)"
)
_TOTAL = re.compile(r"^Total time:\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Results that another tool left of one task."""

    task: str
    metrics: tuple[str, ...] = ()
    seconds: str = ""
    file: Path | None = None
    note: str = ""

    @property
    def line(self) -> str:
        """Return the task's line in the summary."""
        return final_line(self.task, self.metrics, self.seconds or "unknown")


def final_line(task: str, metrics: Sequence[str], duration: str | timedelta) -> str:
    """Write one task's line of the summary."""
    shown = " | ".join(metrics) or UNKNOWN
    return f"{task:<30} | {shown:<30} | Total time: {duration}"


def append_line(folder: Path, line: str) -> Path:
    """Add a line to the summary of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FINAL
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    return path


def metrics_in(text: str, *, marked: bool = True) -> tuple[str, ...]:
    """Find the known numbers in a results file, the first of each kind, in a fixed order.

    The original does not find a number on a line that begins with a mark such as ``- ``; those of
    some kinds it finds anywhere on a line.
    """
    metrics = []
    for name in _NAMES:
        head = r"^[ \t]*(?:[-*][ \t]+)?" if marked else r"^[ \t]*"
        if not marked and name in _ANYWHERE:
            head = r"\b"
        pattern = rf"{head}({name})[ \t]*(?:\([^)\n]*\))?[ \t]*[:=][ \t]*{_NUMBER}[ \t]*(?:\(|$|\|)"
        if (hit := re.search(pattern, text, re.MULTILINE | re.IGNORECASE)) is not None:
            metrics.append(f"{hit[1]}: {hit[2]}")
    return tuple(metrics)


def gather(folder: Path, tasks: Sequence[str]) -> list[Gathered]:
    """Find for every task the newest results that another tool left below a folder."""
    return [_gather(folder / task, task) for task in tasks]


def _gather(folder: Path, task: str) -> Gathered:
    file = _newest(folder)
    if file is None:
        where = f"no results.txt in a folder of a time stamp below {folder}"
        return Gathered(task=task, note=where)
    text = read_bytes(file).decode("utf-8", "replace")
    metrics = metrics_in(text)
    total = _TOTAL.search(text)
    return Gathered(
        task=task,
        metrics=metrics,
        seconds=total[1] if total is not None else "",
        file=file,
        note="" if metrics else f"no number that is known in {file}",
    )


def _newest(folder: Path) -> Path | None:
    """Return the results of the latest folder of a time stamp; without any, those right there."""
    stamped = []
    for entry in folder.iterdir() if folder.is_dir() else ():
        stamp = _STAMP.search(entry.name)
        if stamp is not None and entry.is_dir():
            digits = re.sub(r"\D", "", stamp[0])
            stamped += [(digits, entry.name, file) for file in _results_in(entry)]
    if stamped:
        return max(stamped)[2]
    own = folder / RESULTS
    return own if own.is_file() else None


def _results_in(folder: Path) -> list[Path]:
    """Return the results file of a folder, or the first one deeper in it."""
    own = folder / RESULTS
    return [own] if own.is_file() else sorted(folder.rglob(RESULTS))[:1]
