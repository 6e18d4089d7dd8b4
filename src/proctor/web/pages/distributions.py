"""How many cases of a run reached which share of the full score, for one run or several."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field
from starlette.requests import Request

from proctor.core.run import Run
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.api.response import ResponseModel
from proctor.web.pages.case_view import BINS, histogram_bins
from proctor.web.store_pool import stamp, store_pool_of

WIDTH, HEIGHT = 240, 40
"""The size of one run's bars, among those of several."""


class Distribution(ResponseModel):
    """The scored cases of a run by their share of the full score."""

    below: int = Field(description="cases below nothing, where penalties outweigh the points")
    bins: list[int] = Field(description="cases in equal bins from nothing to the full score")

    @property
    def counts(self) -> list[int]:
        """Return all counts, those below nothing first."""
        return [self.below, *self.bins]


def distribution_of(request: Request, store: Store, run: Run) -> Distribution:
    """Return the distribution of a run's values, from the cache if possible."""

    def compute() -> Distribution:
        below, *bins = store.listing.histogram(run.id, BINS)
        return Distribution(below=below, bins=bins)

    key = stamp([run])
    if key is None:
        return compute()
    return store_pool_of(request).page_cache.of(("histogram", key), compute)


def drawn_beside(
    ids: Sequence[str], distributions: Sequence[Distribution]
) -> list[dict[str, Any]] | None:
    """Lay out the bars of several runs on one scale; none where every value is all or nothing.

    Heights are shares of a run's own scored cases, so that runs of any size can be compared. Each
    bar leads to its cases.
    """
    partly = (count for one in distributions for count in (one.below, *one.bins[1:-1]))
    if not any(partly):
        return None
    below = any(one.below for one in distributions)
    columns = [one.counts if below else one.bins for one in distributions]
    wholes = [sum(column) or 1 for column in columns]
    highest = max(
        count / whole for column, whole in zip(columns, wholes, strict=True) for count in column
    )
    areas = histogram_bins(BINS, below=below)
    step = WIDTH / len(areas)
    return [
        {
            "bars": [
                {
                    "x": round(place * step + 0.5, 1),
                    "width": round(step - 1, 1),
                    "height": round(max(1.0, HEIGHT * count / whole / highest), 1),
                    "label": area.label,
                    "count": count,
                    "link": addresses.with_query(
                        addresses.run_link(run_id), [("where", area.where)]
                    )
                    + "#cases",
                }
                for place, (area, count) in enumerate(zip(areas, column, strict=True))
                if count
            ],
            "zero": round(step if below else 0.0, 1),
        }
        for run_id, column, whole in zip(ids, columns, wholes, strict=True)
    ]
