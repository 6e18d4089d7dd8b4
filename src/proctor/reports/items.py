"""An item analysis as text, JSON and CSV."""

import csv
from collections.abc import Callable, Iterable, Sequence
from typing import IO, TYPE_CHECKING

from proctor.core.items import Item, ItemAnalysis
from proctor.core.suite import Json
from proctor.reports.reasons import one_line
from proctor.reports.tabular import csv_text, printed

if TYPE_CHECKING:
    from rich.console import RenderableType

HEADER = ("Case", "Rate", "Interval 95%", "Discrim.", "Interval 95%", "Takers", "Why", "Page")
CSV_HEADER = (
    *("case", "rate", "rate_low", "rate_high", "discrimination", "discrimination_low"),
    *("discrimination_high", "discrimination_shrunk", "wrong_key", "takers", "kinds", "reasons"),
    "page",
)
Link = Callable[[str, str], str]
"""Function from run and case to the address of the case's page."""


def items_table(
    analysis: ItemAnalysis, link: Link, *, width: int | None = None, color: bool = False
) -> str:
    """Return the list of cases to look at, most suspicious first."""
    rows = [_cells(item, link) for item in analysis.listed]
    counts = ", ".join(f"{number} {_WORDS[kind]}" for kind, number in analysis.counts.items())
    head = " · ".join(
        (
            one_line(analysis.suite),
            _count(analysis.cases, "case"),
            f"{_count(len(analysis.takers), 'candidate')} in {_count(len(analysis.runs), 'run')}",
        )
    )
    parts: list[RenderableType] = [head, ""]
    if rows:
        parts += [_table(rows), ""]
    parts.append(f"To look at: {counts}" if counts else "No case is suspicious.")
    parts += analysis.notes
    return printed(parts, width=width, color=color)


def items_object(analysis: ItemAnalysis, link: Link) -> dict[str, Json]:
    """Make the object that ``items --json`` prints."""
    return {
        "suite": analysis.suite,
        "cases": analysis.cases,
        "runs": [{"id": run.id, "name": run.name} for run in analysis.runs],
        "takers": [
            {"candidate": name, "rate": rate}
            for name, rate in zip(analysis.takers, analysis.rates, strict=True)
        ],
        "counts": dict(analysis.counts),
        "notes": list(analysis.notes),
        "items": [_object(item, link, analysis.takers) for item in analysis.listed],
    }


def write_items(items: Iterable[Item], file: IO[str], link: Link) -> int:
    """Write all cases as CSV, and return their number."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    count = 0
    for item in items:
        count += 1
        ends = item.discrimination_interval or (None, None)
        writer.writerow(
            [
                csv_text(item.case_id), item.rate, *(item.interval or (None, None)),
                item.discrimination, *ends, item.discrimination_shrunk, item.wrong_key,
                item.takers, " ".join(item.kinds), csv_text("; ".join(item.reasons)),
                link(item.run_id, item.case_id),
            ]
        )  # fmt: skip
    return count


_WORDS = {
    "wrong_key": "with a key that may be wrong",
    "negative": "that strong candidates do worse on",
    "judge": "on which the judge differs with itself",
    "nobody": "that nobody gets right",
    "duplicate": "nearly the same as another",
    "everybody": "that everybody gets right",
}


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _table(rows: Sequence[Sequence[str]]) -> "RenderableType":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in HEADER:
        texts = name in ("Case", "Why", "Page")
        table.add_column(
            name,
            overflow="fold",
            justify="left" if texts else "right",
            no_wrap=name != "Why",
            min_width=24 if name == "Why" else None,
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _cells(item: Item, link: Link) -> tuple[str, ...]:
    ends = item.discrimination_interval
    return (
        one_line(item.case_id),
        "–" if item.rate is None else f"{item.rate:.0%}",
        "–" if item.interval is None else f"{item.interval[0]:.0%}–{item.interval[1]:.0%}",
        "–" if item.discrimination is None else f"{item.discrimination:+.2f}",
        "–" if ends is None else f"{ends[0]:+.2f} to {ends[1]:+.2f}",
        str(item.takers),
        one_line("; ".join(item.reasons)),
        link(item.run_id, item.case_id),
    )


def _object(item: Item, link: Link, takers: Iterable[str]) -> dict[str, Json]:
    return {
        "case": item.case_id,
        "rate": item.rate,
        "interval": item.interval,
        "discrimination": {
            "value": item.discrimination,
            "interval": item.discrimination_interval,
            "shrunk": item.discrimination_shrunk,
        },
        "wrong_key": item.wrong_key,
        "takers": item.takers,
        "scores": dict(zip(takers, item.scores, strict=True)),
        "kinds": list(item.kinds),
        "reasons": list(item.reasons),
        "run": item.run_id,
        "page": link(item.run_id, item.case_id),
    }
