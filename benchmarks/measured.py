"""What a benchmark found, as rows: printed as JSON for `all.py`, and as one table in Markdown.

A ratio above 1 says that Proctor did better, whether more or less of the unit is better.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass

# An installed program finds its modules compiled. Where Python may not keep them, each process of
# a large run compiles all that it loads: a second, together.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@dataclass(frozen=True, kw_only=True)
class Row:
    """Hold one figure of ours, and beside it the same of a peer, measured in the same run."""

    what: str
    ours: float
    unit: str
    peer: str = ""
    theirs: float | None = None
    ratio: float | None = None
    note: str = ""


def more(what: str, ours: float, theirs: float, unit: str, peer: str, note: str = "") -> Row:
    """Return a row of which more is better, such as calls a second."""
    return Row(
        what=what, ours=ours, theirs=theirs, unit=unit, peer=peer, ratio=ours / theirs, note=note
    )


def less(what: str, ours: float, theirs: float, unit: str, peer: str, note: str = "") -> Row:
    """Return a row of which less is better, such as seconds."""
    return Row(
        what=what, ours=ours, theirs=theirs, unit=unit, peer=peer, ratio=theirs / ours, note=note
    )


def alone(what: str, ours: float, unit: str, note: str = "") -> Row:
    """Return a row that no peer stands beside."""
    return Row(what=what, ours=ours, unit=unit, note=note)


def offer_json(parser: argparse.ArgumentParser) -> None:
    """Add the option that `reporting` is told of."""
    parser.add_argument("--json", action="store_true", help="rows on stdout, all else on stderr")


@contextmanager
def reporting(as_json: bool) -> Iterator[list[Row]]:
    """Give a list for rows; with JSON, print it at the end, and all else to stderr."""
    rows: list[Row] = []
    if not as_json:
        yield rows
        return
    with redirect_stdout(sys.stderr):
        yield rows
    print(json.dumps([asdict(row) for row in rows], indent=1))


def read(text: str) -> list[Row]:
    """Read rows that a benchmark printed."""
    return [Row(**row) for row in json.loads(text)]


def markdown(rows: Sequence[Row]) -> str:
    """Return rows as a table."""
    lines = ["| What | Unit | Proctor | Peer | Its figure | Ratio | Note |"]
    lines.append("| --- | --- | ---: | --- | ---: | ---: | --- |")
    for row in rows:
        theirs = "–" if row.theirs is None else figure(row.theirs)
        ratio = "–" if row.ratio is None else f"{figure(row.ratio)}×"
        cells = (row.what, row.unit, figure(row.ours), row.peer or "–", theirs, ratio, row.note)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def figure(value: float) -> str:
    """Write a number with three digits that count, or all before the point."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{2 if abs(value) < 10 else 1}f}" if abs(value) >= 0.1 else f"{value:.2g}"
