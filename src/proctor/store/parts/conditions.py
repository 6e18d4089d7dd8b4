"""Conditions on the results of a run in parts: arrays of numpy, one entry a case."""

import ast
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proctor.store.conditions import FIELDS, Terms
from proctor.store.parts.columns import Codes, IdColumn, ResultColumns, TagColumn
from proctor.store.rows import unescape

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARROW: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
}


def _shares(left: Any, right: Any) -> Any:
    """Divide; NaN where the divisor is zero."""
    import numpy as np

    with np.errstate(all="ignore"):
        return np.where(np.asarray(right) == 0, np.nan, np.true_divide(left, right))


COMPUTE: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _shares,
}
Text = str | Codes | IdColumn
ColumnTerm = "float | Array | Text"
"""A number or a text: a constant, or one for each case."""


@dataclass(frozen=True)
class ColumnTerms(Terms[Any, Any]):
    """Conditions on columns of cases, such as the results of a run."""

    columns: Mapping[str, Callable[[], Any]]
    """What returns a column, by its name."""
    size: int
    tag: Callable[[str], TagColumn]
    fold_case: bool = True
    """Whether texts contain others in letters of either case, as in SQLite."""

    @classmethod
    def of_run(cls, results: ResultColumns, *, fold_case: bool) -> "ColumnTerms":
        """Return the terms on the results of a run."""

        def column(name: str) -> Callable[[], Any]:
            return lambda: results.number(name)

        columns: dict[str, Callable[[], Any]] = {
            "id": lambda: results.ids,
            "rate": lambda: _shares(results.value, results.full),
            "status": lambda: results.status,
            **{name: column(name) for name in FIELDS[3:]},
        }
        return cls(columns, len(results), results.tag, fold_case)

    @property
    def names(self) -> Collection[str]:
        return self.columns.keys()

    def column(self, name: str) -> Any:
        return self.columns[name]()

    def constant(self, value: str | float) -> Any:
        return value

    def is_number(self, term: Any) -> bool:
        return not isinstance(term, Text)

    def computed(self, operation: type[ast.operator], left: Any, right: Any) -> Any:
        import numpy as np

        with np.errstate(all="ignore"):
            return COMPUTE[operation](left, right)

    def compared(self, comparison: type[ast.cmpop], one: Any, other: Any) -> "Array":
        import numpy as np

        if self.is_number(one):
            # A comparison with NaN, which is what a case lacks, is false.
            return self._full(np.asarray(COMPARE[comparison](np.asarray(one), other)))
        if isinstance(one, str) and isinstance(other, str):
            return self.always(bool(COMPARE[comparison](_bytes(one), _bytes(other))))
        ids = one if isinstance(one, IdColumn) else other if isinstance(other, IdColumn) else None
        if (
            ids is not None
            and (compared_ids := _arrow_compared(ids, comparison, one, other)) is not None
        ):
            return compared_ids
        if isinstance(other, str):
            return self._tested(one, lambda text: COMPARE[comparison](_bytes(text), _bytes(other)))
        if isinstance(one, str):
            return self._tested(other, lambda text: COMPARE[comparison](_bytes(one), _bytes(text)))
        pairs = zip(self._texts(one), self._texts(other), strict=True)
        return np.array(
            [
                None not in (first, second) and COMPARE[comparison](_bytes(first), _bytes(second))
                for first, second in pairs
            ],
            dtype=bool,
        )

    def is_known(self, term: Any) -> "Array":
        import numpy as np

        if isinstance(term, Codes):
            return term.codes >= 0
        if isinstance(term, str | IdColumn):
            return self.always(True)
        return self._full(~np.isnan(np.asarray(term, dtype=float)))

    def contains(self, term: Any, text: str) -> "Array":
        if isinstance(term, IdColumn) and not term.escaped and _is_unicode(text):
            import pyarrow.compute as pc

            ids = pc.ascii_lower(term.array) if self.fold_case else term.array
            words = _bytes(text).lower().decode() if self.fold_case else text
            return _mask(pc.match_substring(ids, words))
        return self._tested(term, self._holds(text))

    def tagged(
        self, tag: str, comparison: type[ast.cmpop] | None = None, text: str = ""
    ) -> "Array":
        if comparison is None:
            return self.tag(tag).mask(lambda _: True)
        if comparison is ast.In:
            return self.tag(tag).mask(self._holds(text))
        return self.tag(tag).mask(lambda value: COMPARE[comparison](_bytes(value), _bytes(text)))

    def always(self, truth: bool) -> "Array":
        import numpy as np

        return np.full(self.size, truth)

    def all_of(self, parts: Sequence["Array"]) -> "Array":
        import numpy as np

        truth: Array = np.logical_and.reduce(parts)
        return truth

    def any_of(self, parts: Sequence["Array"]) -> "Array":
        import numpy as np

        truth: Array = np.logical_or.reduce(parts)
        return truth

    def negated(self, part: "Array") -> "Array":
        return ~part

    def _full(self, truth: "Array") -> "Array":
        import numpy as np

        return np.broadcast_to(truth, (self.size,))

    def _holds(self, text: str) -> Callable[[str], bool]:
        return holds(text, fold_case=self.fold_case)

    def _tested(self, term: Any, test: Callable[[str], bool]) -> "Array":
        import numpy as np

        if isinstance(term, str):
            return self.always(test(term))
        if isinstance(term, Codes):
            return term.mask(test)
        return np.fromiter(map(test, self._texts(term)), dtype=bool, count=self.size)

    def _texts(self, term: Codes | IdColumn) -> Sequence[Any]:
        if isinstance(term, Codes):
            return [term.of(place) for place in range(self.size)]
        texts: list[str] = term.array.to_pylist()
        return [unescape(text) for text in texts] if term.escaped else texts


def holds(words: str, *, fold_case: bool) -> Callable[[str], bool]:
    """Return the test whether a text contains some words.

    Letters of either case are alike if ``fold_case``, but only those of ASCII.
    """
    if not fold_case:
        return lambda text: words in text
    pattern = _bytes(words).lower()
    return lambda text: pattern in _bytes(text).lower()


def _arrow_compared(
    ids: IdColumn, comparison: type[ast.cmpop], one: Any, other: Any
) -> "Array | None":
    """Compare ids with a text, all of them at once; None where Arrow cannot."""
    text = one if ids is other else other
    if not isinstance(text, str) or ids.escaped or not _is_unicode(text):
        return None
    import pyarrow as pa
    import pyarrow.compute as pc

    scalar = pa.scalar(text, ids.array.type)
    sides = (ids.array, scalar) if ids is one else (scalar, ids.array)
    return _mask(pc.call_function(_ARROW[comparison], list(sides)))


def _mask(truth: Any) -> "Array":
    mask: Array = truth.to_numpy(zero_copy_only=False)
    return mask


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bytes(text: str) -> bytes:
    """Return a text as databases compare it."""
    return text.encode("utf-8", "surrogatepass")
