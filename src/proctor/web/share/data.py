"""Data of the shared page: rows to list and filter, and the cases' details, in blocks."""

import hashlib
import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from proctor.contracts.report import RunView
from proctor.core.run import CaseResult
from proctor.core.suite import Json
from proctor.reports.structured import clean
from proctor.web.highlight import visible
from proctor.web.pages.case_list import listed_result
from proctor.web.pages.case_view import Laid, asked_result, case_view
from proctor.web.pages.trace import trace_of
from proctor.web.pages.verdicts import add_prompts, add_verdicts
from proctor.web.share.trees import with_tree

MOST_TEXT = 2_000_000
"""How many characters of one text the page contains."""
MOST_PROMPTED = 5
"""For how many attempts at a case the judge's prompts are written."""
MOST_DETAIL = 4_000
"""How many characters of a score's detail the page contains."""
START = 160
"""How many characters of question and answer a row of the table has."""
BLOCK = 50
"""How many cases one block contains, which the page parses together."""
_NOTHING: tuple[Json, ...] = (None, "", [], {})
_QUESTION_KEYS = ("messages", "references", "context", "hidden", "dialogue")


@dataclass
class Blocks:
    """Numbered JSON texts, emitted as blocks of the page."""

    name: str
    count: int = 0
    _open: list[str] = field(default_factory=list)

    def add(self, text: str) -> Iterator[str]:
        """Add one JSON text, yielding the block that it completes."""
        self._open.append(text)
        self.count += 1
        if len(self._open) == BLOCK:
            yield self._close()

    def rest(self) -> Iterator[str]:
        """Yield the last block, which is not full."""
        if self._open:
            yield self._close()

    def _close(self) -> str:
        number = (self.count - 1) // BLOCK
        block = data_block(f"{self.name}-{number}", f"[{','.join(self._open)}]")
        self._open.clear()
        return block


@dataclass
class Questions:
    """The questions of all runs, each stored once."""

    blocks: Blocks = field(default_factory=lambda: Blocks("asked"))
    _number_by_digest: dict[bytes, int] = field(default_factory=dict)

    def add(self, text: str) -> tuple[int, list[str]]:
        """Return the number of a question, and the block that it completes."""
        key = hashlib.blake2b(text.encode(), digest_size=16).digest()
        if (number := self._number_by_digest.get(key)) is not None:
            return number, []
        self._number_by_digest[key] = number = self.blocks.count
        return number, list(self.blocks.add(text))


def case_parts(view: RunView, position: int, result: CaseResult) -> tuple[Json, Laid, Laid]:
    """Return a case as a table row, its question, and its attempts."""
    laid = case_view(asked_result(view.run, result), most=MOST_TEXT)
    add_verdicts(view.run, result, laid["attempts"])
    add_prompts(view, result, laid["attempts"][:MOST_PROMPTED], most=MOST_TEXT)
    for attempt, item in zip(laid["attempts"], result.attempts, strict=True):
        for score in attempt["scores"]:
            score["detail"] = _cut(score["detail"], MOST_DETAIL)
        attempt["steps"] = [_step(step) for step in trace_of(item.attempt, most=MOST_TEXT)]
        _add_trees(attempt["turns"])
        del attempt["rounds"]
        attempt["files"] = [file["name"] for file in attempt["files"]]
    _add_trees(laid["messages"])
    for name in ("references", "context"):
        laid[name] = [with_tree(text) for text in laid[name]]
    question = {name: laid[name] for name in _QUESTION_KEYS}
    came = {"attempts": laid["attempts"], "buckets": laid["buckets"]}
    listed = listed_result(view.run, position, result)
    row = [
        listed.id,
        listed.status,
        listed.value,
        listed.full,
        listed.low,
        listed.high,
        listed.tags,
        _start(listed.question),
        _start(listed.answer),
        _start(listed.reason),
        listed.tokens,
        listed.seconds,
        listed.attempts,
    ]
    return row, question, came


def _add_trees(messages: Iterable[Laid]) -> None:
    for message in messages:
        message["text"] = with_tree(message["text"])
        for call in message["calls"]:
            call["arguments"] = with_tree(call["arguments"])


def _step(step: Laid) -> Laid:
    """Return a step of an agent with its texts rendered."""
    output = step["output"] if step["kind"] == "code" else with_tree(step["output"])
    return {
        **step,
        "input": with_tree(step["input"], step["language"]),
        "output": output,
        "more": [*step["exchange"], *step["more"]],
        "exchange": [],
        # All steps are in one list: those within one are its numbers.
        "within": [inner["number"] for inner in step["within"]],
    }


def written(value: Json) -> str:
    """Write a value as JSON, with hidden characters made visible."""
    return json.dumps(
        _small(clean(value, visible)), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )


def data_block(name: str, text: str) -> str:
    """Return a script element with compressed JSON, which no browser runs."""
    packed = b64encode(zlib.compress(text.encode("utf-8", "replace"), 6)).decode()
    return f'<script type="application/octet-stream" id="{name}">{packed}</script>\n'


def _cut(pieces: Iterable[Laid], most: int) -> list[Laid]:
    """Cut a text in pieces to its beginning."""
    shown_pieces: list[Laid] = []
    left, lost = most, 0
    for piece in pieces:
        text = piece["text"]
        lost += len(text[max(left, 0) :]) + piece["more"]
        if left > 0 and text:
            shown_pieces.append({**piece, "text": text[:left], "more": 0})
        left -= len(text)
    return [*shown_pieces, {"text": "", "hit": False, "more": lost}] if lost else shown_pieces


def _start(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: 2 * START].split())
    return line if len(line) <= START and len(text) <= 2 * START else line[:START] + "…"


def _small(value: Any) -> Any:
    """Drop empty fields of objects, and write plain text pieces as strings."""
    if isinstance(value, dict):
        if value.keys() == {"text", "hit", "more"} and not value["hit"] and not value["more"]:
            return value["text"]
        return {key: _small(part) for key, part in value.items() if part not in _NOTHING}
    return [_small(part) for part in value] if isinstance(value, list) else value
