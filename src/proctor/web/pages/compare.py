"""The page that puts runs side by side: the verdict, what changed, and one case in all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from starlette.requests import Request

from proctor.core.run import RunStatus
from proctor.core.suite import Json
from proctor.engine.compare.as_json import compared_object, pair_objects
from proctor.engine.compare.comparing import (
    CompareSettings,
    compare,
    listed_pairs,
    obstacles_among,
    sides_of,
)
from proctor.engine.compare.compatibility import Side
from proctor.engine.compare.results import KINDS, Compared
from proctor.engine.compare.wording import Language
from proctor.errors import UsageError
from proctor.store.pairs import Change, PairCursor, WantedPairs
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.api.endpoint import Endpoint, Operation, choice, several, text, whole
from proctor.web.api.response import Error, ErrorTold, Interval, Page, ResponseModel, Searched
from proctor.web.missing import or_missing
from proctor.web.page_cache import stamp
from proctor.web.pages.compare_case import ComparedCase, case_beside
from proctor.web.query_params import one_of, whole_number
from proctor.web.searching import searched
from proctor.web.store_pool import opened, shelf_of
from proctor.web.wording import LANGUAGES, language_of

MOST_SIDES = 4
ROWS = 50
"""How many cases one page lists."""
_PATH = "/compare"


@dataclass(frozen=True, kw_only=True)
class ComparisonQuery:
    """Hold which runs a page is about, and which of their cases it is to list."""

    runs: tuple[str, ...]
    force: bool
    pairs: WantedPairs
    margin: str = ""
    """A difference that does not matter, in points of 100, as it was written."""

    @classmethod
    def of(cls, request: Request) -> "ComparisonQuery":
        """Read what the address asks for."""
        query = request.query_params
        runs = tuple(query.getlist("run"))
        if not 2 <= len(runs) <= MOST_SIDES:
            raise UsageError(f"choose 2 to {MOST_SIDES} runs to compare, not {len(runs)}")
        pairs = WantedPairs(
            change=cast("Change", one_of(request, "kind", ("", *KINDS)) or None),
            search=query.get("q", "").strip(),
            where=query.get("where", "").strip(),
        )
        margin = query.get("margin", "").strip()
        return cls(runs=runs, force=query.get("force") == "1", pairs=pairs, margin=margin)

    @property
    def settings(self) -> CompareSettings:
        """Return how the runs are compared; what differs between them was looked at before."""
        if not self.margin:
            return CompareSettings(force=True)
        try:
            points = float(self.margin)
        except ValueError:
            raise UsageError(f"margin is a number of points, not {self.margin!r}") from None
        return CompareSettings(force=True, margin=points / 100)

    @property
    def state(self) -> list[tuple[str, str]]:
        """Return what stays the same from one list of cases to another."""
        made = [("run", run) for run in self.runs]
        forced = [("force", "1")] if self.force else []
        return [*made, *forced, *([("margin", self.margin)] if self.margin else [])]

    @property
    def parts(self) -> list[tuple[str, object]]:
        """Return which cases are listed, as parts of an address."""
        pairs = self.pairs
        return [("kind", pairs.change), ("q", pairs.search), ("where", pairs.where)]

    def address(self, *more: tuple[str, object]) -> str:
        """Return the address of the same runs."""
        return addresses.with_query(_PATH, [*self.state, *more])


class ComparedRun(ResponseModel):
    """A run that is compared."""

    id: str
    name: str
    suite: str
    candidate: str
    status: RunStatus
    signature: str
    imported: bool
    rate: float | None
    interval: Interval | None
    rank: tuple[int, int]
    """The best and the worst rank among these runs that it may have."""


class Difference(ResponseModel):
    """A difference of rates with its interval."""

    value: float | None
    low: float | None
    high: float | None


class ContrastNumbers(ResponseModel):
    """Which of two runs is better, over all cases or some of them."""

    verdict: str
    cases: int
    rates: tuple[float | None, float | None]
    difference: Difference
    level: float
    """The level of each interval: all rows hold together in 95 %."""
    margin: float | None
    p: float | None
    adjusted_p: float | None
    tested: int
    test: str | None
    effect: float | None
    cases_needed: int | None
    cases_needed_range: tuple[int | None, int | None] | None
    more_cases: int | None
    detectable: float | None
    bounds: Interval | None
    counts: dict[str, int | None]


class PairedCase(ResponseModel):
    """A case in the first two runs, and its values in all of them."""

    id: str
    kind: str
    first: float | None
    second: float | None
    full: float
    difference: float | None
    values: list[float | None] | None = None
    link: str = ""


class PairOfRuns(ContrastNumbers):
    """A run compared with the first."""

    first: str
    second: str
    sentence: str
    left_out: dict[str, Any]
    groups: dict[str, dict[str, ContrastNumbers]]
    flips: dict[str, list[PairedCase]]
    link: str


class PairListing(ResponseModel):
    """The cases that a filter asks for, those that changed first."""

    cases: list[PairedCase]
    next: list[Any] | None


class ComparedPage(ResponseModel):
    """Runs compared, and the cases that a filter asks for."""

    runs: list[ComparedRun]
    pairs: list[PairOfRuns]
    warnings: list[str]
    listing: PairListing | None
    search: Searched | None
    asked: dict[str, Any]
    kinds: dict[str, str]
    overview: str
    next: str | None


class RefusedRun(ResponseModel):
    """A run that cannot be compared."""

    id: str
    name: str


class ComparedRefused(Error):
    """Why runs cannot be compared, and where they are nevertheless."""

    runs: list[RefusedRun]
    refused: list[str]
    forced: str


def show_compared(
    request: Request,
) -> Page[ComparedPage] | Page[ComparedCase] | Page[ComparedRefused]:
    """Answer with 2 to 4 runs compared, or with one case of theirs."""
    asked = ComparisonQuery.of(request)
    with opened(request) as store, or_missing():
        if "case" in request.query_params:
            case_id, kind = request.query_params["case"], asked.pairs.change
            beside = case_beside(store, asked.runs, case_id, kind, _PATH)
            return Page(template="compare_case", data=beside)
        sides = sides_of(store, asked.runs)
        refused = _refused(request, store, sides)
        if refused and not asked.force:
            return Page(template="refused", data=_refusal(asked, sides, refused), status=400)
        data = compared_object(
            _compared(request, store, sides, asked.settings),
            cast("Language", language_of(request)),
        )
        data["listing"] = data["search"] = None
        if any(part for _, part in asked.parts):
            after = PairCursor(
                whole_number(request, "after", -1), whole_number(request, "same", 0) == 1
            )
            data["listing"] = _listing(store, sides, asked.pairs, after)
            data["search"] = _searched(request, store, sides, asked.pairs.search)
        _beside(store, sides, data)
    only_page = {"names": {side.run.id: side.name for side in sides}}
    shown = ComparedPage(**_linked(data, asked))
    return Page(template="compare", data=shown, only_page=only_page)


def _refused(request: Request, store: Store, sides: Sequence[Side]) -> list[str]:
    """Return why runs cannot be compared, looked up once."""
    key = stamp([side.run for side in sides])
    if key is None:
        return obstacles_among(store, sides)[0]
    kept = shelf_of(request).remembered
    return kept.of(("refused", key), lambda: obstacles_among(store, sides)[0])


def _compared(
    request: Request, store: Store, sides: Sequence[Side], settings: CompareSettings
) -> Compared:
    """Compare runs, or return what that came to the last time."""
    ids = [side.run.id for side in sides]

    def made() -> Compared:
        return compare(store, ids, settings)

    key = stamp([side.run for side in sides])
    if key is None:
        return made()
    return shelf_of(request).remembered.of(("compared", key, settings.margin), made)


def _refusal(
    asked: ComparisonQuery, sides: Sequence[Side], refused: Sequence[str]
) -> ComparedRefused:
    message = f"these runs cannot be compared: {'; '.join(refused)}"
    return ComparedRefused(
        error=ErrorTold(status=400, message=message),
        runs=[RefusedRun(id=side.run.id, name=side.name) for side in sides],
        refused=list(refused),
        forced=addresses.with_query(_PATH, [*asked.state, ("force", "1"), *asked.parts]),
    )


def _listing(
    store: Store, sides: Sequence[Side], wanted: WantedPairs, after: PairCursor
) -> dict[str, Any]:
    """Make a page of the first two runs' cases that are wanted, those that changed first."""
    found, following = listed_pairs(store, sides, wanted, ROWS, after)
    return {"cases": pair_objects(found), "next": following and list(following)}


def _searched(request: Request, store: Store, sides: Sequence[Side], words: str) -> Searched | None:
    """Say how far the texts of the first two runs were searched, by the one that lacks more."""
    found = [searched(request, store, side.run, words) for side in sides[:2]]
    return next((one for one in found if one is not None and one.why), found[0])


def _beside(store: Store, sides: Sequence[Side], data: dict[str, Any]) -> None:
    """Add to each listed case what it came to in all runs, the third and fourth too."""
    rows: list[dict[str, Json]] = [
        row for rows in data["pairs"][0]["flips"].values() for row in rows
    ]
    if data["listing"]:
        rows = [*rows, *data["listing"]["cases"]]
    ids = [row["id"] for row in rows]
    more = [store.results.values_of(side.run.id, ids) for side in sides[2:]] if ids else []
    for row in rows:
        others = [known.get(row["id"], (None, 0.0))[0] for known in more]
        row["values"] = [row["first"], row["second"], *others]


def _linked(data: dict[str, Any], asked: ComparisonQuery) -> dict[str, Any]:
    """Add the addresses that the page leads to."""
    pairs, listing = asked.pairs, data["listing"]
    going_on = listing["next"] if listing else None
    for row in listing["cases"] if listing else ():
        row["link"] = asked.address(("kind", pairs.change), ("case", row["id"]))
    for name, rows in data["pairs"][0]["flips"].items():
        for row in rows:
            row["link"] = asked.address(("kind", name), ("case", row["id"]))
    ids = [run["id"] for run in data["runs"]]
    for pair in data["pairs"]:
        two = (pair["first"], pair["second"])
        order = [*two, *(one for one in ids if one not in two)]
        kept = [part for part in asked.state if part[0] != "run"]
        pair["link"] = addresses.with_query(_PATH, [*(("run", one) for one in order), *kept])
    searched_for = [("q", pairs.search), ("where", pairs.where)]
    return {
        **data,
        "asked": {
            "state": asked.state,
            "margin": asked.margin,
            **{name: part or "" for name, part in asked.parts},
        },
        "kinds": {name: asked.address(("kind", name), *searched_for) for name in KINDS},
        "overview": asked.address(),
        "next": None
        if going_on is None
        else asked.address(
            *asked.parts, ("after", going_on[0]), ("same", "1" if going_on[1] else "")
        ),
    }


_RUNS = several("run", "the runs, 2 to 4 of them", {"type": "string"}, required=True)

routes = [
    Endpoint(_PATH, show_compared),
    Endpoint(
        f"{_PATH}.json",
        show_compared,
        Operation(
            summary="Runs compared, or with `case` one case in all of them",
            parameters=[
                _RUNS,
                text("case", "one case"),
                text("kind", "only cases that changed so"),
                text("q", "a text that the case contains"),
                text("where", "an expression over both values and tags"),
                whole("after", "after which position", -1),
                choice("same", "1 goes on among cases that did not change", ("0", "1")),
                text("margin", "a difference that does not matter, in points of 100"),
                choice("force", "1 compares what differs in signature", ("0", "1")),
                choice("lang", "the language of `sentence`", list(LANGUAGES)),
            ],
        ),
    ),
]
