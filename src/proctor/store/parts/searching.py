"""Search in the texts of runs in parts: some windows at a time, as long as a request may take.

A search is a scan for each kind of text: the ids and tags of a run, the questions of a suite, the
answers of a run. Two runs of a suite share the scan of its questions.
"""

import time
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from re import compile as compiled
from threading import Lock
from typing import TYPE_CHECKING, Any

from proctor.store.parts import layout
from proctor.store.parts.layout import ATTEMPTS, CASES
from proctor.store.parts.reader import RunInParts, SuiteInParts
from proctor.store.rows import BROKEN, Positions, decode, escape, unescape

if TYPE_CHECKING:
    import numpy as np

    from proctor.store.search_time import SearchTime

    Array = np.ndarray[Any, np.dtype[Any]]

WINDOW = 2_000
"""How many attempts are read at once, which is a row group of most parts."""
ID_WINDOW = 20_000
"""How many ids and tags, which are in memory, are searched at once."""
PATIENCE = 4
"""How many times longer than it works a step may take, for files or other processes, uncounted."""
MOST_SCANS = 48
"""Maximum number of scans that are remembered: of two runs and their suite, a dozen searches."""
_WRITTEN_OTHERWISE = compiled(r'["\\\x00-\x1f]+')
"""What looks different in JSON."""


class Texts(ABC):
    """Texts of one kind, each of the case at a position."""

    key: Hashable
    """What distinguishes them from all others in this process."""
    end: int
    """How many cases they are of."""

    @abstractmethod
    def window(self, first: int) -> range:
        """Return the positions that are searched at once, from a first one on."""

    @abstractmethod
    def matches(self, window: range, words: str) -> Iterable[int]:
        """Yield the positions in a window whose texts contain some words in small letters."""


@dataclass(eq=False)
class TextScan:
    """A search for some words in texts of one kind, as far as it got."""

    scanned: int = 0
    """How many cases were searched."""
    _matches: "list[Array]" = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def step(self, texts: Texts, words: str) -> None:
        """Search in the next window."""
        import numpy as np

        with self._lock:
            if self.scanned < texts.end:
                window = texts.window(self.scanned)
                places = np.fromiter(texts.matches(window, words), dtype=np.int32)
                if len(places):
                    self._matches.append(places)
                self.scanned = window.stop

    def mark(self, mask: "Array") -> None:
        """Mark the cases that match in a mask of all of them."""
        for places in tuple(self._matches):
            mask[places[places < len(mask)]] = True


class TextSearch:
    """A search for some words in a run, as far as it got.

    A case matches if its id, a tag, its question or an answer contains the words, in letters of
    either case.
    """

    def __init__(self, run: RunInParts, questions: Texts, words: str) -> None:
        self.cases = run.end
        """How many cases the run has."""
        self.words = words
        texts: Sequence[Texts] = (IdTexts(run), questions, AnswerTexts(run))
        self.scans = [(one, SCANS.get((one.key, words))) for one in texts]

    @property
    def scanned(self) -> int:
        """How many cases were searched for the words in all of their texts."""
        done = (self.cases if _is_whole(*pair) else pair[1].scanned for pair in self.scans)
        return min(self.cases, *done)

    @property
    def whole(self) -> bool:
        """Whether all cases were searched."""
        return self.scanned >= self.cases

    @property
    def positions(self) -> list[int]:
        """The cases that match, in order."""
        places: list[int] = self.mask(self.cases).nonzero()[0].tolist()
        return places

    def mask(self, size: int) -> "Array":
        """Return which of so many cases match."""
        import numpy as np

        mask = np.zeros(size, dtype=bool)
        for _, scan in self.scans:
            scan.mark(mask)
        return mask


def go_on(searches: Sequence[TextSearch], limit: "SearchTime") -> None:
    """Go on with searches in turns, the one that is furthest behind first, ids before texts."""
    while not limit.is_over:
        behind = [
            (not isinstance(texts, IdTexts), scan.scanned, number, texts, scan, search.words)
            for number, search in enumerate(searches)
            for texts, scan in search.scans
            if not _is_whole(texts, scan)
        ]
        if not behind:
            return
        *_, texts, scan, words = min(behind, key=lambda one: one[:3])
        start, worked = time.monotonic(), time.thread_time()
        scan.step(texts, words)
        waited = time.monotonic() - start
        limit.spend(max(time.thread_time() - worked, waited / PATIENCE))


def _is_whole(texts: Texts, scan: TextScan) -> bool:
    return scan.scanned >= texts.end


class IdTexts(Texts):
    """Ids and tags of the cases of a run, which are columns in memory."""

    def __init__(self, run: RunInParts) -> None:
        self._columns = run.columns
        self.key = "ids", run.columns.key
        self.end = run.end
        self._tag_matches: dict[int, bool] = {}

    def window(self, first: int) -> range:
        return range(first, min(self.end, first + ID_WINDOW))

    def matches(self, window: range, words: str) -> Iterator[int]:
        import numpy as np

        ids = self._columns.ids.array.slice(window.start, len(window))
        rows = None if self._columns.ids.escaped else _rows_of_ascii(ids, words)
        if rows is None:
            texts = enumerate(self._columns.ids_at(window))
            rows = [row for row, text in texts if words in text.lower()]
        yield from (window.start + row for row in rows)
        codes, names = self._columns.tags
        own = codes[window.start : window.stop]
        for code in np.unique(own).tolist():
            if code >= 0 and self._is_in_tags(code, names[code], words):
                yield from (np.flatnonzero(own == code) + window.start).tolist()

    def _is_in_tags(self, code: int, text: str, words: str) -> bool:
        if code not in self._tag_matches:
            try:
                tags = decode(text)
                pairs = [f"{tag}: {value}" for tag, values in tags.items() for value in values]
            except BROKEN:
                pairs = []
            self._tag_matches[code] = words in "\n".join(pairs).lower()
        return self._tag_matches[code]


class AnswerTexts(Texts):
    """Answers of a run, of all attempts."""

    def __init__(self, run: RunInParts) -> None:
        self._run = run
        self.key = "answers", run.columns.key
        self.end = run.end

    def window(self, first: int) -> range:
        part = next(part for part in self._run.parts if first < part.end)
        cases = max(1, WINDOW * part.cases // max(part.attempts, 1))
        return range(first, min(part.end, first + cases))

    def matches(self, window: range, words: str) -> Iterator[int]:
        columns = ("position", "output", "attempt")
        for table in self._run.tables(ATTEMPTS, columns, _positions(window)):
            yield from _matching(table, "output", words)
            yield from _matching(table, "attempt", words)


class QuestionTexts(Texts):
    """Questions of a suite whose cases are files."""

    def __init__(self, suite: SuiteInParts) -> None:
        self._suite = suite
        self.key = "questions", tuple(part.place for part in suite.parts)
        self.end = suite.end

    def window(self, first: int) -> range:
        part = next(part for part in self._suite.parts if first < part.end)
        return range(first, min(part.end, first + WINDOW))

    def matches(self, window: range, words: str) -> Iterator[int]:
        for table in self._suite.tables(CASES, ("position", "document"), _positions(window)):
            yield from _matching(table, "document", words)


class StoredQuestions(Texts):
    """Questions of a suite whose cases are rows of the database."""

    def __init__(
        self, suite_key: str, end: int, read: Callable[[range], Iterator[tuple[int, str]]]
    ) -> None:
        self._read = read
        self.key = "stored questions", suite_key, end
        self.end = end

    def window(self, first: int) -> range:
        return range(first, min(self.end, first + WINDOW))

    def matches(self, window: range, words: str) -> Iterator[int]:
        for place, text in self._read(window):
            if words in text.lower():
                yield place


def _positions(window: range) -> Positions:
    return Positions(window.start, window.stop - 1)


def _matching(table: Any, name: str, words: str) -> Iterator[int]:
    """Yield the positions where a column contains the words: a text, or messages in JSON."""
    import numpy as np
    import pyarrow.compute as pc

    column = table[name]
    if column.null_count == len(column):
        return
    is_json = name != "output"
    # The longest piece of the words that JSON does not write in another way.
    piece = max(_WRITTEN_OTHERWISE.split(words), key=len) if is_json else words
    pattern = escape(piece)
    is_escaped = name in layout.escaped_columns(table.schema)
    rows = np.empty(0, dtype=np.int64)
    if is_escaped or pattern == piece:
        # Other columns do not have what is escaped.
        rows = np.array(_rows_with(column, pattern), dtype=np.int64)
    if is_json:
        # A leading space marks JSON in which all but ASCII is escaped.
        odd = pc.fill_null(pc.starts_with(column, " "), False).to_numpy()
        rows = np.union1d(rows, np.flatnonzero(odd))
    places = table["position"].take(rows).to_pylist()
    if not is_json and not is_escaped:
        yield from places
        return
    for place, text in zip(places, column.take(rows).to_pylist(), strict=True):
        plain_text = unescape(text) if is_escaped else text
        if _is_said(plain_text, words) if is_json else words in plain_text.lower():
            yield place


def _is_said(document: str, words: str) -> bool:
    """Tell whether the messages of a document contain the words, and not its other fields."""
    try:
        try:
            fields = decode(document)
        except BROKEN:
            fields = decode(layout.decodable(document))
        contents = [str(message.get("content", "")) for message in fields.get("messages", ())]
    except BROKEN:
        return False
    return words in "\n".join(contents).lower()


def _rows_with(column: Any, words: str) -> list[int]:
    """Return the rows of a column of texts that contain the words, in letters of either case."""
    import pyarrow.compute as pc

    rows, first = list[int](), 0
    for chunk in filter(len, column.chunks):
        matching = _rows_of_ascii(chunk, words)
        if matching is None:
            lowered = pc.utf8_lower(chunk)
            matching = _rows_in(_content(lowered), lowered, words)
        rows += [first + row for row in matching]
        first += len(chunk)
    return rows


def _rows_of_ascii(texts: Any, words: str) -> list[int] | None:
    """Return the rows of an array that contain the words; None where one is not of ASCII."""
    import pyarrow.compute as pc

    # It leaves all other letters as they are.
    lowered = pc.ascii_lower(texts)
    content = _content(lowered)
    return _rows_in(content, lowered, words) if content.isascii() else None


def _rows_in(content: bytes, texts: Any, words: str) -> list[int]:
    """Return the rows of an array, all of whose texts are one content, that contain the words.

    All texts are searched as one, which takes a fifth of the time of one after the other.
    """
    pattern = words.encode("utf-8", "surrogatepass")
    at = content.find(pattern)
    if at < 0:
        return []
    if not pattern:
        return [row for row in range(len(texts)) if texts[row].is_valid]
    places = _offsets(texts)
    offsets = (places - places[0]).tolist()
    rows: list[int] = []
    while at >= 0:
        row = bisect_right(offsets, at) - 1
        if at + len(pattern) <= offsets[row + 1]:
            if not texts.null_count or texts[row].is_valid:
                rows.append(row)
            at = offsets[row + 1]
        else:
            at += 1  # from the end of one text into the next
        at = content.find(pattern, at)
    return rows


def _content(texts: Any) -> bytes:
    """Return the texts of an array, one after the other."""
    content, offsets = texts.buffers()[2], _offsets(texts)
    return b"" if content is None else bytes(memoryview(content)[offsets[0] : offsets[-1]])


def _offsets(texts: Any) -> "Array":
    """Return where each text of an array begins in its buffer; at last, where it ends."""
    import numpy as np
    import pyarrow as pa

    kind = "int64" if pa.types.is_large_string(texts.type) else "int32"
    places = np.frombuffer(texts.buffers()[1], dtype=kind)
    own: Array = places[texts.offset : texts.offset + len(texts) + 1]
    return own


class _Scans:
    """The last scans of this process, so that the next request goes on where one ended."""

    def __init__(self) -> None:
        self._scans: OrderedDict[Hashable, TextScan] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> TextScan:
        """Return the scan that was begun for the same texts and words, or a new one."""
        with self._lock:
            scan = self._scans.setdefault(key, TextScan())
            self._scans.move_to_end(key)
            while len(self._scans) > MOST_SCANS:
                self._scans.popitem(last=False)
        return scan


SCANS = _Scans()
