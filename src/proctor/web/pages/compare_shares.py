"""Every case of two runs in one picture: a scatter of graded values, or who got what right."""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

from pydantic import Field
from starlette.requests import Request

from proctor.engine.compare.obstacles import Side
from proctor.store.rows import SHARES, ShareCell
from proctor.store.store import Store
from proctor.web.api.response import ResponseModel
from proctor.web.store_pool import stamp, store_pool_of

SIDE = 240
"""The length of the axes of a scatter."""
LEFT, TOP, RIGHT, FOOT = 62, 16, 26, 48
"""The room around them, for points on the edge and for words."""
LEAST, LARGEST = 3.0, 13.0
"""The radius of a point of one case, and of all cases in one point."""
LANE = 22
"""How wide the lanes are, outside both axes, of cases that came to less than nothing."""
NEAR = 1e-9
"""Shares that differ by less are the same."""


class SharedPoint(ResponseModel):
    """Cases whose shares of the full score lie together in both runs, as a point."""

    cases: int
    first: float = Field(description="the mean share of the full score in the first run")
    second: float
    where: str = Field(description="the filter that lists these cases")
    link: str
    x: float
    y: float
    radius: float
    verdict: str


class ComparedShares(ResponseModel):
    """The cases of two runs by their values in both."""

    all_or_nothing: bool = Field(description="whether every value is all of the score or nothing")
    below: bool = Field(description="whether a case came to less than nothing in one of them")
    cells: list[SharedPoint]


def compared_shares(
    request: Request, store: Store, sides: Sequence[Side], link: Callable[[str], str]
) -> ComparedShares | None:
    """Return the values of the first two runs; none where they share no case with a full score."""
    first, second = (side.run for side in sides[:2])
    key = stamp([first, second])

    def counted() -> list[ShareCell]:
        return store.pairs.shares(first, second)

    cells = counted() if key is None else _cached(request, key, counted)
    if not cells:
        return None
    most = max(cell.cases for cell in cells)
    shares = [share for cell in cells for share in (cell.first_share, cell.second_share)]
    return ComparedShares(
        all_or_nothing=all(min(abs(share), abs(share - 1.0)) <= NEAR for share in shares),
        below=any(not cell.first or not cell.second for cell in cells),
        cells=[_point(cell, link, most) for cell in cells],
    )


def scatter_frame(*, below: bool) -> dict[str, Any]:
    """Return where the axes of the scatter are, with a lane for what is below nothing."""
    shares = ((0.0, "0"), (0.5, "50%"), (1.0, "100%"))
    lane = LANE if below else 0
    ticks = [(_x(share), _y(share), name) for share, name in shares]
    return {
        "width": LEFT + lane + SIDE + RIGHT, "height": TOP + SIDE + lane + FOOT,
        "start": -lane, "left": LEFT, "right": LEFT + SIDE, "top": TOP, "foot": TOP + SIDE,
        "edge": LEFT - lane, "bottom": TOP + SIDE + lane,
        "ticks": [*([(LEFT - lane, TOP + SIDE + lane, "< 0")] if below else []), *ticks],
    }  # fmt: skip


def _x(share: float) -> float:
    return LEFT + SIDE * min(1.0, share) if share >= 0 else LEFT - LANE


def _y(share: float) -> float:
    return TOP + SIDE * (1 - min(1.0, share)) if share >= 0 else TOP + SIDE + LANE


def _cached(
    request: Request, key: object, counted: Callable[[], list[ShareCell]]
) -> list[ShareCell]:
    return store_pool_of(request).page_cache.of(("shares", key), counted)


def _point(cell: ShareCell, link: Callable[[str], str], most: int) -> SharedPoint:
    where = " and ".join((*_between("first", cell.first), *_between("second", cell.second)))
    moved = cell.second_share - cell.first_share
    return SharedPoint(
        cases=cell.cases,
        first=cell.first_share,
        second=cell.second_share,
        where=where,
        link=link(where),
        x=round(_x(cell.first_share), 1),
        y=round(_y(cell.second_share), 1),
        radius=round(LEAST + (LARGEST - LEAST) * sqrt((cell.cases - 1) / max(1, most)), 1),
        verdict="better" if moved > NEAR else "worse" if moved < -NEAR else "same",
    )


def _between(name: str, reached: int) -> list[str]:
    """Return the conditions that a value meets between two cuts."""
    cuts = SHARES[1:]
    low = [f"{name} >= 0", f"{name} > 0", *(f"{name} / full >= {cut:g}" for cut in cuts)]
    high = [f"{name} < 0", f"{name} <= 0", *(f"{name} / full < {cut:g}" for cut in cuts)]
    return [*(low[reached - 1 : reached] if reached else []), *high[reached : reached + 1]]
