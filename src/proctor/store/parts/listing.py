"""Listing of the cases of a run in parts: filtered, sorted, a page at a time, by columns."""

from typing import TYPE_CHECKING, Any

from proctor.store.criterion_shares import after_cursor, in_order
from proctor.store.parts.columns import ResultColumns
from proctor.store.parts.conditions import ColumnTerms
from proctor.store.parts.orders import PartOrders
from proctor.store.queries import FAILED, KindCounts
from proctor.store.rows import ResultRow

if TYPE_CHECKING:
    import numpy as np

    from proctor.store.queries import ListingQuery

    Array = np.ndarray[Any, np.dtype[Any]]


def page_of(
    orders: PartOrders, request: "ListingQuery", chosen: "Array | None", limit: int
) -> list[ResultRow]:
    """Return a page of rows, of all cases or of those that are chosen by a mask."""
    return orders.columns.rows(_places(orders, request, chosen)[:limit].tolist())


def count(orders: PartOrders, request: "ListingQuery", chosen: "Array | None") -> int:
    """Count the cases of a list after its cursor."""
    return len(_places(orders, request, chosen))


def next_failure(
    orders: PartOrders, request: "ListingQuery", chosen: "Array | None", most: int
) -> str | None:
    """Return the id of the first of so many cases of a list below its full score."""
    import numpy as np

    places, results = _places(orders, request, chosen)[:most], orders.columns
    with np.errstate(all="ignore"):
        failed = np.flatnonzero(results.value[places] < results.full[places])
    return results.rows([int(places[failed[0]])])[0].case_id if len(failed) else None


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


def _places(orders: PartOrders, request: "ListingQuery", chosen: "Array | None") -> "Array":
    """Return the positions of a list after its cursor, in order."""
    places = _in_order(orders, request)
    if chosen is not None:
        places = places[chosen[places]]
    if request.after is not None:
        begin = after_cursor(
            places,
            lambda: _in_order(orders, request),
            request.after.position,
            falls=request.falls,
        )
        places = places[begin:]
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
    """Count the cases by their share of the full score: below nothing, then in equal bins."""
    import numpy as np

    with np.errstate(all="ignore"):
        shares = np.where(results.full == 0, np.nan, results.value / results.full)
    shares = shares[~np.isnan(shares)]
    numbers = np.where(shares < 0, 0, np.clip((shares * bins).astype(np.int64), 0, bins - 1) + 1)
    counts: list[int] = np.bincount(numbers, minlength=bins + 1).tolist()
    return counts


def _in_order(orders: PartOrders, request: "ListingQuery") -> "Array":
    """Return all positions in the requested order."""
    import numpy as np

    if request.criterion:
        return in_order(orders.shares_of(request.criterion), request)
    if request.sort == "position":
        places = orders.columns.position
        return places[::-1] if request.falls else places
    places, present = orders.of(request.sort)
    if present == len(places) or request.falls == request.missing_first:
        return places[::-1] if request.falls else places
    first, last = places[:present], places[present:]
    if request.falls:
        first, last = first[::-1], last[::-1]
    parts = (last, first) if request.missing_first else (first, last)
    return np.concatenate(parts)
