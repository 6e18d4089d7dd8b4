"""Search in the texts of a run in parts: read part by part, for some time, and then further."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from proctor.store.parts import layout
from proctor.store.parts.layout import ATTEMPTS, CASES
from proctor.store.parts.reader import RunInParts, SuiteInParts
from proctor.store.rows import BROKEN, Positions, decode, escape

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

SECONDS = 0.25
"""How long one request goes on with a search."""
WINDOW = 4_000
"""How many cases are read at once."""
MOST_SEARCHES = 16
"""Maximum number of searches that are remembered."""


@dataclass(eq=False)
class TextSearch:
    """A search for some words, as far as it got.

    A case matches if its id, a tag, its question or an answer contains the words, in letters of
    either case.
    """

    run: RunInParts
    suite: SuiteInParts | None
    """The suite, if its cases are files as well."""
    question: Callable[[range], Iterator[tuple[int, str]]]
    """Returns the questions at some positions, for a suite in rows."""
    words: str
    scanned: int = 0
    """How many cases were searched."""
    positions: list[int] = field(default_factory=list)
    """The cases that match, in order."""
    _lock: Lock = field(default_factory=Lock)

    @property
    def whole(self) -> bool:
        """Whether all cases were searched."""
        return self.scanned >= self.run.end

    def go_on(self, seconds: float = SECONDS) -> "TextSearch":
        """Search further, for some seconds at most, but at least one window."""
        until = time.monotonic() + seconds
        with self._lock:
            while not self.whole:
                end = min(self.run.end, self.scanned + WINDOW)
                self.positions += self._matches(range(self.scanned, end))
                self.scanned = end
                if time.monotonic() > until:
                    break
        return self

    def mask(self, size: int) -> "Array":
        """Return which of so many cases match."""
        import numpy as np

        mask = np.zeros(size, dtype=bool)
        mask[self.positions] = True
        return mask

    def _matches(self, window: range) -> list[int]:
        matches = {
            *self._in_columns(window),
            *self._in_answers(window),
            *self._in_questions(window),
        }
        return sorted(matches)

    def _in_columns(self, window: range) -> Iterator[int]:
        """Yield the positions of matching ids and tags."""
        columns = self.run.columns
        for place, case_id in zip(window, columns.ids_at(window), strict=True):
            if self.words in case_id.lower():
                yield place
        codes, names = columns.tags
        matching = {code for code, text in enumerate(names) if self._in_tags(text)}
        if matching:
            for place, code in zip(window, codes[window.start : window.stop], strict=True):
                if int(code) in matching:
                    yield place

    def _in_tags(self, text: str) -> bool:
        try:
            tags = decode(text)
            pairs = [f"{tag}: {value}" for tag, values in tags.items() for value in values]
        except BROKEN:
            return False
        return self.words in "\n".join(pairs).lower()

    def _in_answers(self, window: range) -> Iterator[int]:
        positions = Positions(window.start, window.stop - 1)
        columns = ("position", "number", "status", "output", "attempt")
        for table in self.run.tables(ATTEMPTS, columns, positions):
            yield from self._selected(table, "output", lambda _: True)
            yield from self._selected(table, "attempt", self._is_said)

    def _in_questions(self, window: range) -> Iterator[int]:
        if self.suite is None:
            for place, text in self.question(window):
                if self.words in text.lower():
                    yield place
            return
        positions = Positions(window.start, window.stop - 1)
        for table in self.suite.tables(CASES, ("position", "document"), positions):
            yield from self._selected(table, "document", self._is_said)

    def _selected(self, table: Any, name: str, test: Callable[[str], bool]) -> Iterator[int]:
        """Yield the positions where a column contains the words, and what contains it passes."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = table[name].cast(pa.large_string())
        pattern: str | None = escape(self.words)
        if name not in layout.escaped_columns(table.schema) and pattern != self.words:
            pattern = None  # what such a column does not have
        if name != "output" and self._is_written_otherwise:
            is_hit = pc.is_valid(column)
        elif pattern is None:
            return
        else:
            is_hit = pc.match_substring(pc.utf8_lower(column), pattern)
            if name != "output":
                # A leading space marks JSON in which all but ASCII is escaped.
                is_hit = pc.or_(is_hit, pc.starts_with(column, " "))
            is_hit = pc.fill_null(is_hit, False)
        chosen = table.filter(is_hit)
        places, texts = chosen["position"].to_pylist(), chosen[name].to_pylist()
        for place, text in zip(places, texts, strict=True):
            if test(text):
                yield place

    @property
    def _is_written_otherwise(self) -> bool:
        """Whether the words look different in JSON."""
        return any(letter in '"\\' or letter < " " for letter in self.words)

    def _is_said(self, document: str) -> bool:
        """Tell whether the messages of a document contain the words, and not its other fields."""
        try:
            fields = decode(layout.decodable(document))
            contents = [str(message.get("content", "")) for message in fields.get("messages", ())]
        except BROKEN:
            return False
        return self.words in "\n".join(contents).lower()


class _Searches:
    """The last searches of this process, so that the next request goes on where one ended."""

    def __init__(self) -> None:
        self._searches: OrderedDict[Any, TextSearch] = OrderedDict()
        self._lock = Lock()

    def get(self, search: TextSearch) -> TextSearch:
        """Return the search that was begun for the same run and words, or this new one."""
        key = search.run.columns.key, search.words
        with self._lock:
            search = self._searches.setdefault(key, search)
            self._searches.move_to_end(key)
            while len(self._searches) > MOST_SEARCHES:
                self._searches.popitem(last=False)
        return search


SEARCHES = _Searches()
