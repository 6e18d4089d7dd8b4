"""Orders of the cases of a run in parts, each computed from columns when it is first wanted."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proctor.core.attempt import AttemptStatus, candidate_usage, token_count
from proctor.core.score import ScoreStatus
from proctor.store.parts import layout
from proctor.store.parts.column_cache import COLUMNS
from proctor.store.parts.columns import Codes, Order
from proctor.store.parts.layout import ATTEMPTS, CASES
from proctor.store.parts.reader import RunInParts, SuiteInParts
from proctor.store.rows import (
    BROKEN,
    Positions,
    decode_object,
    reason_text,
    tag_text,
    tags_of,
    unescape,
)

if TYPE_CHECKING:
    import numpy as np

    from proctor.store.queries import Sort

    Array = np.ndarray[Any, np.dtype[Any]]

_NEAR = 1e-9
_ANSWERED = AttemptStatus.ANSWERED.value


class PartOrders:
    """The cases of a run in parts in any order."""

    def __init__(
        self,
        home: RunInParts,
        suite: Callable[[], SuiteInParts | None],
        shares_of: "Callable[[str], Array]",
    ) -> None:
        self.columns = home.columns
        self.shares_of = shares_of
        """What returns the column of what a criterion gave each case."""
        self._home = home
        self._suite = suite

    def of(self, sort: "Sort") -> Order:
        """Return the positions in an order but the suite's, ascending, equal ones by position."""
        order: Order = COLUMNS.get((self.columns.key, "order", sort), lambda: self._sorted(sort))
        return order

    def _sorted(self, sort: "Sort") -> Order:
        import numpy as np

        if sort == "id":
            return Order(self._by_id(), len(self.columns))
        if sort == "value":
            # Cases without a value are lowest.
            values = self.columns.value
            keys = np.where(np.isnan(values), -np.inf, values)
        else:
            keys = self._keys(sort)
        places = np.argsort(keys, kind="stable").astype(np.int32)
        return Order(places, len(keys) - int(np.isnan(keys).sum()))

    def _by_id(self) -> "Array":
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        ids, position = self.columns.ids.array, self.columns.position
        if len(ids) < 2 or pc.all(pc.less_equal(ids[:-1], ids[1:])).as_py():
            return position.astype(np.int32)
        # The position decides between equal ids, since sorting in Arrow need not be stable.
        table = pa.table({"id": ids, "position": position})
        order = pc.sort_indices(table, [("id", "ascending"), ("position", "ascending")])
        return np.asarray(order.to_numpy(), dtype=np.int32)

    def _keys(self, sort: "Sort") -> "Array":
        """Return what cases are sorted by as numbers; NaN, which is last, where there is none."""
        match sort:
            case "state":
                return _of_codes(self.columns.status, self.columns.status.names)
            case "tags":
                tags = self.columns.tags
                return _of_codes(tags, [tag_text(tags_of(text)) for text in tags.names])
            case "attempts":
                return self._attempts()
            case "question":
                return self._question_lengths()
            case "answer":
                return self._answer_lengths()
            case "reason":
                return _ranks(self._reasons())
            case _:
                return self._used(sort)

    def _tables(self, *names: str) -> Iterator[Any]:
        return self._home.tables(ATTEMPTS, names, self._everything())

    def _everything(self) -> Positions:
        return Positions(0, len(self.columns) - 1)

    def _attempts(self) -> "Array":
        import numpy as np

        counts = np.zeros(len(self.columns))
        for table in self._tables("position"):
            np.add.at(counts, table["position"].to_numpy(), 1.0)
        return np.where(counts == 0, np.nan, counts)

    def _used(self, name: str) -> "Array":
        """Return tokens, seconds or cost of all attempts of each case."""
        import numpy as np

        sums = np.full(len(self.columns), np.nan)
        for table in self._tables("position", "attempt"):
            for place, content in _documents(table, "attempt"):
                if (number := _used_in(content, name)) is not None:
                    sums[place] = number + (0.0 if np.isnan(sums[place]) else sums[place])
        return sums

    def _answer_lengths(self) -> "Array":
        import numpy as np
        import pyarrow.compute as pc

        lengths = np.zeros(len(self.columns))
        for table in self._tables("position", "output", "attempt"):
            places = table["position"].to_numpy()
            if "output" in layout.escaped_columns(table.schema):
                texts = table["output"].to_pylist()
                own: Any = np.array([0 if text is None else len(unescape(text)) for text in texts])
            else:
                own = pc.utf8_length(table["output"]).fill_null(0).to_numpy()
            np.maximum.at(lengths, places, own)
            if table["output"].null_count:
                others = table.filter(pc.is_null(table["output"]))
                for place, content in _documents(others, "attempt"):
                    length = _last_length(content, "assistant")
                    lengths[place] = max(lengths[place], length)
        return np.where(lengths == 0, np.nan, lengths)

    def _question_lengths(self) -> "Array":
        import numpy as np

        lengths = np.zeros(len(self.columns))
        suite = self._suite()
        if suite is not None:
            for table in suite.tables(CASES, ("position", "document"), self._everything()):
                for place, content in _documents(table, "document"):
                    lengths[place] = _last_length(content, "user")
        return np.where(lengths == 0, np.nan, lengths)

    def _reasons(self) -> list[str | None]:
        import numpy as np

        texts: list[str | None] = [None] * len(self.columns)
        with np.errstate(all="ignore"):
            full = self.columns.value >= self.columns.full - _NEAR
        for table in self._tables("position", "status", "attempt", "scores"):
            rows = {**_without_answer(table), **_lacking(table)}
            places = table["position"].to_pylist()
            for row in sorted(rows):
                place = places[row]
                if texts[place] is None and not full[place]:
                    texts[place] = rows[row]
        return texts


def _lacking(table: Any) -> dict[int, str]:
    """Return the first criterion that lacks points, and why, of each attempt that has one."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table["scores"].combine_chunks()
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    escaped = layout.escaped_columns(table.schema)
    texts: dict[int, str] = {}
    first = 0
    for chunk in chunks:
        flat = chunk.flatten()
        attempts = np.repeat(
            np.arange(len(chunk)) + first, chunk.value_lengths().fill_null(0).to_numpy()
        )
        first += len(chunk)
        points, marks = (
            flat.field(name).to_numpy(zero_copy_only=False) for name in ("points", "out_of")
        )
        failed = pc.equal(flat.field("status"), ScoreStatus.FAILED.value).fill_null(False)
        with np.errstate(all="ignore"):
            lacks = (points < marks - _NEAR) | failed.to_numpy(zero_copy_only=False)
        chosen = np.flatnonzero(lacks)
        rows, at = np.unique(attempts[chosen], return_index=True)
        taken = pa.array(chosen[at])
        names, reasons = (
            _unescaped(flat.field(name).take(taken).to_pylist(), f"scores.{name}" in escaped)
            for name in ("criterion", "reason")
        )
        for row, name, reason in zip(rows.tolist(), names, reasons, strict=True):
            texts[row] = reason_text(name or "", reason or "")
    return texts


def _without_answer(table: Any) -> dict[int, str]:
    """Return why attempts have no answer, by row."""
    import numpy as np
    import pyarrow.compute as pc

    other = pc.not_equal(table["status"], _ANSWERED).fill_null(False)
    rows = np.flatnonzero(other.to_numpy())
    if not len(rows):
        return {}
    chosen = table.take(rows)
    documents = _unescaped(
        chosen["attempt"].to_pylist(), "attempt" in layout.escaped_columns(table.schema)
    )
    statuses = chosen["status"].to_pylist()
    texts = {}
    for row, status, document in zip(rows.tolist(), statuses, documents, strict=True):
        error = _content(document).get("error") if document else None
        texts[row] = reason_text("", error if isinstance(error, str) and error else status)
    return texts


def _unescaped(texts: Sequence[str | None], escaped: bool) -> Sequence[str | None]:
    return [text and unescape(text) for text in texts] if escaped else texts


def _documents(table: Any, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield position and content of the documents of a column; what has none is left out."""
    column = table[name]
    if column.null_count == len(column):
        return
    texts = _unescaped(column.to_pylist(), name in layout.escaped_columns(table.schema))
    for place, text in zip(table["position"].to_pylist(), texts, strict=True):
        if text is not None:
            yield place, _content(text)


def _content(document: str) -> Mapping[str, Any]:
    try:
        return decode_object(layout.decodable(document.removeprefix(" ")))
    except BROKEN:
        return {}


def _used_in(content: Mapping[str, Any], name: str) -> float | None:
    """Return tokens, seconds or cost of one attempt."""
    if name == "seconds":
        number = content.get(name)
    else:
        usage = content.get("usage")
        used = candidate_usage(usage) if isinstance(usage, Mapping) else {}
        number = token_count(used) if name == "tokens" else used.get(name)
    return float(number) if isinstance(number, int | float) else None


def seconds_of(table: Any) -> Iterator[float]:
    """Yield how long attempts took, of a table of them, where somebody measured it."""
    for _, content in _documents(table, "attempt"):
        if (seconds := _used_in(content, "seconds")) is not None:
            yield seconds


def _last_length(content: Mapping[str, Any], role: str) -> int:
    """Return how long the last message of a role is."""
    messages = content.get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, Mapping) and message.get("role") == role:
            return len(str(message.get("content") or ""))
    return 0


def _ranks(texts: Iterable[str | None]) -> "Array":
    """Return numbers in the order of texts; NaN where there is none."""
    import numpy as np

    own = list(texts)
    ranks = {text: float(rank) for rank, text in enumerate(sorted({*own} - {None}, key=str))}
    return np.array([np.nan if text is None else ranks[text] for text in own], dtype=float)


def _of_codes(column: Codes, texts: Sequence[str | None]) -> "Array":
    """Return the ranks of a column of few texts, each of which may stand for another one."""
    import numpy as np

    ranks = np.append(_ranks(texts), np.nan)
    return np.asarray(ranks[column.codes], dtype=float)
