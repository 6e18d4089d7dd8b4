"""Tables of ColossalAI's result folders: a CSV for each model, and one over all that lie there."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from proctor.core.suite import Json
from proctor.errors import SuiteError
from proctor.io.text_files import read_json, read_text

RESULTS, ANALYSES, STATISTICS = "evaluation_results", "evaluation_analyses", "evaluation_statistics"
_TABLE, _STATISTICS = "_results.csv", "_evaluation_statistics.json"

Cells = Mapping[str, Mapping[str, float]]
"""The number of each category, by metric."""
Row = tuple[str, str, str, float]
"""Model, category, metric and number."""


def write_table(path: Path, cells: Cells, categories: Sequence[str]) -> Path:
    """Write metrics as rows and categories as columns; what was not asked for stays blank."""
    rows: list[Sequence[Json]] = [("", *map(plain_cell, categories))]
    for metric, values in cells.items():
        rows.append((plain_cell(metric), *(values.get(name, "") for name in categories)))
    return write_rows(path, rows)


def write_analysis(folder: Path, name: str) -> tuple[Path, list[Row]]:
    """Write one list of the numbers of all models whose tables lie in a results folder."""
    rows = list(_numbers(folder / RESULTS))
    listed = [(place, *map(plain_cell, row[:3]), row[3]) for place, row in enumerate(rows)]
    header = ("", "model", "category", "metric", "score")
    return write_rows(folder / ANALYSES / name, [header, *listed]), rows


def write_rating_analysis(folder: Path, name: str) -> tuple[Path, list[Row]]:
    """Write one list of the statistics of all models whose ratings lie in a results folder."""
    rows: list[Row] = []
    listed: list[Sequence[Json]] = []
    for path in sorted((folder / STATISTICS).glob(f"*{_STATISTICS}")):
        model = path.name.removesuffix(_STATISTICS)
        for category, metrics in read_mapping(path).items():
            for metric, statistics in metrics.items():
                mean = statistics.get("avg_score")
                cells = (model, category, metric, "" if mean is None else mean)
                shown = (str(statistics.get("best_3", {})), str(statistics.get("worst_3", {})))
                listed.append((len(listed), *map(plain_cell, cells[:3]), cells[3], *shown))
                if mean is not None:
                    rows.append((model, category, metric, float(mean)))
    header = ("", "model", "category", "metric", "avg_score", "best_3", "worst_3")
    return write_rows(folder / ANALYSES / name, [header, *listed]), rows


def write_rows(path: Path, rows: Sequence[Sequence[Json]]) -> Path:
    """Write a CSV file."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return write_text(path, file.getvalue())


def write_json(path: Path, value: Json) -> Path:
    """Write JSON as the original does: four blanks, and letters of all scripts as they are."""
    return write_text(path, json.dumps(value, ensure_ascii=False, indent=4))


def write_text(path: Path, text: str) -> Path:
    """Write a file in one go, so that nobody finds half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    partial.write_bytes(text.encode("utf-8", "backslashreplace"))
    partial.replace(path)
    return path


def read_mapping(path: Path) -> dict[str, Json]:
    """Read a JSON file that an earlier run left; what is none of ours holds nothing."""
    try:
        content = read_json(path).data
    except SuiteError:
        return {}
    if not isinstance(content, dict):
        return {}
    return {
        name: {metric: row for metric, row in rows.items() if isinstance(row, dict)}
        for name, rows in content.items()
        if isinstance(rows, dict)
    }


def file_name(name: str) -> str:
    """Return a name that is one plain part of a path."""
    shown = name.encode("utf-8", "replace").decode()
    return re.sub(r'[\x00-\x1f/\\:*?"<>|]+', "_", shown).strip(". ") or "unnamed"


def plain_cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    text = text.encode("utf-8", "replace").decode().replace("\0", "")
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _numbers(folder: Path) -> Iterator[Row]:
    for path in sorted(folder.glob(f"*{_TABLE}")):
        model = path.name.removesuffix(_TABLE)
        try:
            rows = list(csv.reader(io.StringIO(read_text(path), newline="")))
        except (SuiteError, csv.Error):
            continue
        if not rows:
            continue
        for place, category in enumerate(rows[0][1:], 1):
            for row in rows[1:]:
                if len(row) > place and row[place]:
                    try:
                        yield model, category, row[0], float(row[place])
                    except ValueError:
                        continue
