"""Answers that are not in the order of their cases: written once more, part by part."""

import json
import os
from typing import Any

from proctor.engine.bulk.check import file_rows
from proctor.engine.bulk.tasks import SortedAnswers, SortTask
from proctor.io import json_bytes


def sort_answers(task: SortTask) -> SortedAnswers:
    """Write the answers of a share again, those to the cases of one part together.

    ``task.parts`` says of each row which part it belongs to; -1 for a row that belongs to none.
    """
    by_part: dict[int, list[bytes]] = {}
    for row, part in zip(file_rows(task.source, task.share), task.parts, strict=True):
        if part >= 0:
            by_part.setdefault(part, []).append(_line(row.data))
    places = []
    with open(task.target, "wb") as file:
        line = 1
        for part in sorted(by_part):
            places.append((part, file.tell(), line, len(by_part[part])))
            line += len(by_part[part])
            file.writelines(by_part[part])
    return SortedAnswers(path=os.path.abspath(task.target), places=tuple(places))


def _line(data: Any) -> bytes:
    """Write a row as JSON that is read as the same values: NaN is no null."""
    if all(type(value) is str for value in data.values()):
        return json_bytes.dumps(data) + b"\n"
    return json.dumps(data, separators=(",", ":")).encode("ascii") + b"\n"
