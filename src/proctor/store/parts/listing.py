"""Listing of the cases of a run in parts: filtered, sorted, a page at a time, by columns."""

from typing import TYPE_CHECKING, Any

from proctor.store.parts.columns import COLUMNS, ResultColumns
from proctor.store.parts.conditions import ColumnTerms
from proctor.store.queries import FAILED, KindCounts
from proctor.store.rows import ResultRow

if TYPE_CHECKING:
    import numpy as np

    from proctor.store.queries import Cursor, ListingQuery

    Array = np.ndarray[Any, np.dtype[Any]]


def page_of(
    results: ResultColumns, request: "ListingQuery", chosen: "Array | None", limit: int
) -> list[ResultRow]:
    """Return a page of rows, of all cases or of those that are chosen by a mask."""
    return results.rows(_places(results, request, chosen)[:limit].tolist())


def count(results: ResultColumns, request: "ListingQuery", chosen: "Array | None") -> int:
    """Count the cases of a list after its cursor."""
    return len(_places(results, request, chosen))


def kinds(results: ResultColumns) -> KindCounts:
    """Count the cases by status, and those below their full score."""
    import numpy as np

    codes = results.status.codes
    counts = np.bincount(codes[codes >= 0], minlength=len(results.status.names))
    by_status = dict(zip(results.status.names, counts.tolist(), strict=True))
    return KindCounts(
        {name: cases for name, cases in by_status.items() if cases}, int(_failed(results).sum())
    )


def _failed(results: ResultColumns) -> "Array":
    """Return which cases have a value below their full score."""
    import numpy as np

    with np.errstate(all="ignore"):
        return np.asarray(results.value < results.full, dtype=bool)


def _places(results: ResultColumns, request: "ListingQuery", chosen: "Array | None") -> "Array":
    """Return the positions of a list after its cursor, in order."""
    places = _in_order(results, request)
    if chosen is not None:
        places = places[chosen[places]]
    if request.after is not None:
        places = places[_begin(results, request, places, request.after) :]
    return places


def where(
    results: ResultColumns, request: "ListingQuery", terms: ColumnTerms, tags: list[str]
) -> "Array | None":
    """Return which cases pass the filters; None if there are none."""
    from proctor.store.conditions import Condition

    masks = []
    if request.where.strip():
        masks.append(Condition(request.where, terms, tags).truth())
    if request.status == FAILED:
        masks.append(_failed(results))
    elif request.status:
        masks.append(results.status.mask(lambda status: status == request.status))
    return terms.all_of(masks) if masks else None


def histogram(results: ResultColumns, bins: int) -> list[int]:
    """Count the cases by their share of the full score, in equal bins."""
    import numpy as np

    with np.errstate(all="ignore"):
        shares = np.where(results.full == 0, np.nan, results.value / results.full)
    shares = shares[~np.isnan(shares)]
    numbers = np.clip((shares * bins).astype(np.int64), 0, bins - 1)
    counts: list[int] = np.bincount(numbers, minlength=bins).tolist()
    return counts


def _in_order(results: ResultColumns, request: "ListingQuery") -> "Array":
    """Return all positions in the requested order."""
    if request.sort == "position":
        places = results.position
    else:
        key = results.key, "order", request.sort
        places = COLUMNS.get(key, lambda: _sorted(results, request.sort))
    return places[::-1] if request.descending else places


def _sorted(results: ResultColumns, sort: str) -> "Array":
    """Return the positions by value or id, equal ones by position; those without a value first."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if sort == "value":
        values = results.value
        order = np.argsort(np.where(np.isnan(values), -np.inf, values), kind="stable")
        return np.asarray(order, dtype=np.int32)
    ids = results.ids.array
    if len(ids) < 2 or pc.all(pc.less_equal(ids[:-1], ids[1:])).as_py():
        return results.position.astype(np.int32)
    # The position decides between equal ids, since sorting in Arrow need not be stable.
    keys = {"id": ids, "position": results.position}
    order = pc.sort_indices(pa.table(keys), [("id", "ascending"), ("position", "ascending")])
    return np.asarray(order.to_numpy(), dtype=np.int32)


def _begin(
    results: ResultColumns, request: "ListingQuery", places: "Array", after: "Cursor"
) -> int:
    """Return where the page begins among the places, after the case of a cursor."""
    import numpy as np

    at = np.flatnonzero(places == after.position)
    if len(at):
        return int(at[0]) + 1
    # The case of the cursor is not among them: what comes first of those beyond it.
    keys, edge = _keys(results, request.sort, places, after)
    further = keys < edge if request.descending else keys > edge
    level = places < after.position if request.descending else places > after.position
    beyond = np.flatnonzero(further | ((keys == edge) & level))
    return int(beyond[0]) if len(beyond) else len(places)


def _keys(
    results: ResultColumns, sort: str, places: "Array", after: "Cursor"
) -> "tuple[Array, Any]":
    """Return what the places are sorted by, and the same of a cursor."""
    import numpy as np

    if sort == "id":
        return np.array(results.ids_at(places.tolist()), dtype=object), str(after.key)
    if sort == "position":
        return np.zeros(len(places)), 0.0
    values = results.value[places]
    is_number = isinstance(after.key, float)
    return np.where(np.isnan(values), -np.inf, values), after.key if is_number else -np.inf
