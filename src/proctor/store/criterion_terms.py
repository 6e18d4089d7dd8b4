"""Conditions on what single criteria gave the cases of a run, beside those on their results."""

import ast
import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ARRAY,
    BindParameter,
    ColumnElement,
    Float,
    Integer,
    any_,
    func,
    literal,
    select,
)

from proctor.errors import UsageError
from proctor.store.criterion_shares import FAILED_BY, NamedCriteria
from proctor.store.parts.conditions import COMPARE, COMPUTE, ColumnTerms, holds
from proctor.store.schema import run_results
from proctor.store.sql_terms import SqlTerms

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]


class _KnownNames(Collection[str]):
    """Names of columns, and those of criteria, which are looked up for the others alone."""

    def __init__(self, own: Collection[str], criteria: NamedCriteria) -> None:
        self._own = own
        self._criteria = criteria

    def __contains__(self, name: object) -> bool:
        if name in self._own:
            return True
        return isinstance(name, str) and self._criteria.find(name) is not None

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._criteria.names()

    def __len__(self) -> int:
        return sum(1 for _ in self)


class CriterionSqlTerms(SqlTerms):
    """Conditions on the results of a run in rows, and on what criteria gave its cases.

    What a criterion gave is an array in memory; where a condition on it holds is a list of
    places for the database.
    """

    def __init__(self, criteria: NamedCriteria, *, is_sqlite: bool) -> None:
        super().__init__(criteria.run_id)
        self._criteria = criteria
        self._is_sqlite = is_sqlite

    @property
    def names(self) -> Collection[str]:
        return _KnownNames(super().names, self._criteria)

    def column(self, name: str) -> Any:
        if name in super().names:
            return super().column(name)
        criterion = self._criteria.find(name)
        assert criterion is not None
        return self._criteria.column(criterion)

    def is_number(self, term: Any) -> bool:
        return not isinstance(term, ColumnElement) or super().is_number(term)

    def computed(self, operation: type[ast.operator], left: Any, right: Any) -> Any:
        sides = [_plain(side) for side in (left, right)]
        if all(isinstance(side, ColumnElement) for side in sides):
            return super().computed(operation, left, right)
        result = COMPUTE[operation](*self._arrays(sides))
        return literal(float(result), Float) if result.ndim == 0 else result

    def compared(self, comparison: type[ast.cmpop], one: Any, other: Any) -> ColumnElement[bool]:
        if isinstance(one, ColumnElement) and isinstance(other, ColumnElement):
            return super().compared(comparison, one, other)
        return self._at(COMPARE[comparison](*self._arrays([_plain(one), _plain(other)])))

    def is_known(self, term: Any) -> ColumnElement[bool]:
        import numpy as np

        return super().is_known(term) if isinstance(term, ColumnElement) else self._at(
            ~np.isnan(term)
        )  # fmt: skip

    def tagged(
        self, tag: str, comparison: type[ast.cmpop] | None = None, text: str = ""
    ) -> ColumnElement[bool]:
        if tag != FAILED_BY or tag in self._criteria.tags:
            return super().tagged(tag, comparison, text)
        mask = self._criteria.lacking(name_test(comparison, text, fold_case=self._is_sqlite))
        return self.always(False) if mask is None else self._at(mask)

    def _arrays(self, sides: list[Any]) -> list["Array"]:
        import numpy as np

        if any(isinstance(side, ColumnElement) for side in sides):
            raise UsageError("a criterion can be compared with a number or another criterion")
        return [np.asarray(side, dtype=float) for side in sides]

    def _at(self, mask: "Array") -> ColumnElement[bool]:
        """Return the condition that a case is at one of some places, of which there may be many."""
        places = mask.nonzero()[0].tolist()
        if self._is_sqlite:
            rows = func.json_each(json.dumps(places)).table_valued("value")
            return run_results.c.position.in_(select(rows.c.value))
        return run_results.c.position == any_(literal(places, ARRAY(Integer)))


@dataclass(frozen=True, kw_only=True)
class CriterionColumnTerms(ColumnTerms):
    """Conditions on the results of a run in parts, and on what criteria gave its cases."""

    criteria: NamedCriteria

    @classmethod
    def over(cls, terms: ColumnTerms, criteria: NamedCriteria) -> "CriterionColumnTerms":
        """Return the terms of a run with those of its criteria."""
        return cls(terms.columns, terms.size, terms.tag, terms.fold_case, criteria=criteria)

    @property
    def names(self) -> Collection[str]:
        return _KnownNames(self.columns.keys(), self.criteria)

    def column(self, name: str) -> Any:
        if name in self.columns:
            return self.columns[name]()
        criterion = self.criteria.find(name)
        assert criterion is not None
        return self.criteria.column(criterion)

    def tagged(
        self, tag: str, comparison: type[ast.cmpop] | None = None, text: str = ""
    ) -> "Array":
        if tag != FAILED_BY or tag in self.criteria.tags:
            return super().tagged(tag, comparison, text)
        mask = self.criteria.lacking(name_test(comparison, text, fold_case=self.fold_case))
        return self.always(False) if mask is None else mask


def name_test(
    comparison: type[ast.cmpop] | None, text: str, *, fold_case: bool
) -> Callable[[str], bool]:
    """Return the test of a criterion's name; any name passes without a comparison."""
    if comparison is None:
        return lambda _: True
    if comparison is ast.In:
        return holds(text, fold_case=fold_case)
    return lambda name: bool(COMPARE[comparison](name, text))


def _plain(term: Any) -> Any:
    """Return the number of a constant; any other term as it is."""
    return term.value if isinstance(term, BindParameter) else term
