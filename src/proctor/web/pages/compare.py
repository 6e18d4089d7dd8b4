"""The comparison page: which run is better, what changed, and one case in all runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast

from pydantic import Field
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
from proctor.engine.compare.obstacles import Side
from proctor.engine.compare.results import KINDS, CasePair, Compared
from proctor.engine.compare.wording import Language
from proctor.errors import UsageError
from proctor.store.queries import START, PairCursor, PairQuery
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.addresses import one_of, whole_number
from proctor.web.api.endpoint import Endpoint, Operation, choice, several, text, whole
from proctor.web.api.response import Error, ErrorTold, Interval, Page, ResponseModel, Searched
from proctor.web.lookup import or_missing
from proctor.web.pages.compare_case import (
    DIFFERENT,
    MODE,
    RENDERED,
    ComparedCase,
    ComparedList,
    case_beside,
    page_parts,
    ways_to_read,
)
from proctor.web.pages.compare_numbers import (
    ComparedCost,
    ComparedMeasure,
    NamingTag,
    TagDifference,
    compared_costs,
    compared_measures,
    naming_tags,
    tag_differences,
)
from proctor.web.pages.compare_shares import ComparedShares, compared_shares, scatter_frame
from proctor.web.pages.compare_texts import ListedAnswer, ListedTexts, listed_texts
from proctor.web.pages.criterion_rates import ComparedCriterion, compared_criteria
from proctor.web.pages.distributions import Distribution, distribution_of, drawn_beside
from proctor.web.pages.ratings import ComparedRating, compared_ratings
from proctor.web.pages.related import pages_beside, suites_of
from proctor.web.pages.run_settings import SettingDifference, setting_differences
from proctor.web.pages.share_file import share_link
from proctor.web.searching import searched
from proctor.web.store_pool import opened, stamp, store_pool_of
from proctor.web.wording import LANGUAGES, language_of

MOST_SIDES = 4
ROWS = 50
"""How many cases one page lists."""
FEW_TAGS = 12
"""How many rows by tag are open; the others are folded."""
FEW_CHANGES = 6
"""How many of the largest changes in each direction stand below the numbers; lists have all."""
_PATH = "/compare"
LISTS = ("worse", "better", DIFFERENT, *KINDS[2:])


@dataclass(frozen=True, kw_only=True)
class ComparisonQuery:
    """Query of the comparison page: the runs, and which of their cases to list."""

    runs: tuple[str, ...]
    force: bool
    pairs: PairQuery
    margin: str = ""
    """A difference that does not matter, in points of 100, as it was written."""
    by: tuple[str, ...] = ()
    """The tags to break the differences down by; as many as there are where none is named."""
    kind: str = ""
    oldest_first: bool = False
    after: PairCursor = START
    """Where the page of the list begins."""

    @classmethod
    def of(cls, request: Request) -> "ComparisonQuery":
        """Parse the query of a request."""
        query = request.query_params
        runs = tuple(query.getlist("run"))
        if not 2 <= len(runs) <= MOST_SIDES:
            raise UsageError(f"expected 2 to {MOST_SIDES} runs to compare, not {len(runs)}")
        kind = one_of(request, "kind", ("", *LISTS))
        pairs = PairQuery(
            change=kind if kind in KINDS else None,
            search=query.get("q", "").strip(),
            where=query.get("where", "").strip(),
        )
        margin = query.get("margin", "").strip()
        return cls(
            runs=runs,
            force=query.get("force") == "1",
            pairs=pairs,
            margin=margin,
            by=tuple(query.getlist("by")),
            kind=kind,
            oldest_first=one_of(request, "order", ("", "oldest")) == "oldest",
            after=PairCursor(
                whole_number(request, "after", -1), whole_number(request, "same", 0) == 1
            ),
        )

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
        """Return the query parameters that all lists of cases share."""
        run_pairs = [("run", run) for run in self.runs]
        forced = [("force", "1")] if self.force else []
        margin = [("margin", self.margin)] if self.margin else []
        return [*run_pairs, *forced, *margin, *(("by", tag) for tag in self.by)]

    @property
    def parts(self) -> list[tuple[str, object]]:
        """Return the query parameters that select the listed cases."""
        pairs = self.pairs
        return [("kind", self.kind), ("q", pairs.search), ("where", pairs.where)]

    @property
    def page(self) -> list[tuple[str, object]]:
        """Return the query parameters of the page of the list."""
        return page_parts(self.after)

    def by_tag(self, tag: str) -> str:
        """Return the address of the comparison broken down by one tag."""
        return replace(self, by=(tag,)).address() + "#tags"

    def listed_where(self, where: str) -> str:
        """Return the address of the cases that meet a condition."""
        return self.address(("where", where))

    def address(self, *more: tuple[str, object]) -> str:
        """Return the address of the comparison with more query parameters."""
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
    stopped_early: bool
    rate: float | None
    interval: Interval | None
    started: float
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
    clusters: int | None
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
    question: str = ""
    answers: list[ListedAnswer] = Field(default_factory=list)
    link: str = ""


class PairOfRuns(ContrastNumbers):
    """A run compared with the first."""

    first: str
    second: str
    sentence: str
    sequential: dict[str, Any] | None
    left_out: dict[str, Any]
    groups: dict[str, dict[str, ContrastNumbers]]
    flips: dict[str, list[PairedCase]]
    link: str


class PairListing(ResponseModel):
    """The cases that match a filter, changed ones first."""

    cases: list[PairedCase]
    next: list[Any] | None


class ComparedPage(ResponseModel):
    """A comparison of runs, and the cases that match a filter."""

    runs: list[ComparedRun]
    pairs: list[PairOfRuns]
    warnings: list[str]
    tags: list[TagDifference]
    naming_tags: list[NamingTag] = Field(
        description="tags left out of `tags` unless `by` names them: most values have one case"
    )
    measures: list[ComparedMeasure]
    criteria: list[ComparedCriterion] = Field(
        description="rates of the criteria that several cases of a run have"
    )
    ratings: list[ComparedRating] = Field(description="means of scores that are only shown")
    distributions: list[Distribution] = Field(description="of the scored cases of each run")
    costs: list[ComparedCost]
    settings: list[SettingDifference]
    shares: ComparedShares | None
    listing: PairListing | None
    search: Searched | None
    asked: dict[str, Any]
    kinds: dict[str, str]
    overview: str
    swapped: str
    next: str | None


class RefusedRun(ResponseModel):
    """A run that cannot be compared."""

    id: str
    name: str


class ComparedRefused(Error):
    """Why runs cannot be compared, and the address that compares them anyway."""

    runs: list[RefusedRun]
    refused: list[str]
    forced: str


def show_compared(
    request: Request,
) -> Page[ComparedPage] | Page[ComparedCase] | Page[ComparedRefused]:
    """Return a comparison of 2 to 4 runs, or of one case in them."""
    query = ComparisonQuery.of(request)
    with opened(request) as store, or_missing():
        if "case" in request.query_params:
            rendered = one_of(request, MODE, ("", RENDERED)) == RENDERED
            case_list = ComparedList(
                _PATH, query.state, query.kind, query.pairs, rendered, query.page
            )
            beside = case_beside(store, query.runs, request.query_params["case"], case_list)
            return Page(
                template="compare_case", data=beside, only_page=ways_to_read(case_list, beside)
            )
        sides = sides_of(store, query.runs)
        if query.oldest_first:
            sides.sort(key=lambda side: side.run.started)
            query = replace(query, runs=tuple(side.run.id for side in sides))
        refused = _refused(request, store, sides)
        try:
            compared = _compared(request, store, sides, query.settings)
        except UsageError as error:
            # Nothing can force a comparison of runs that have no case in common.
            why = _refusal(query, sides, [*refused, str(error)], forced="")
            return Page(template="refused", data=why, status=400)
        if refused and not query.force:
            return Page(template="refused", data=_refusal(query, sides, refused), status=400)
        data = compared_object(compared, cast("Language", language_of(request)))
        for run, side in zip(data["runs"], sides, strict=True):
            run["started"] = side.run.started
        data |= _numbers(request, store, sides, query)
        shared = share_link(store, [side.run for side in sides])
        elsewhere = pages_beside(store, [side.run for side in sides], "compare")
        data["listing"] = data["search"] = None
        listed = [pair for pairs in compared.contrasts[0].examples.values() for pair in pairs]
        if any(part for _, part in query.parts):
            data["search"] = _searched(request, store, sides, query.pairs.search)
            more, data["listing"] = _listing(store, sides, query)
            listed += more
        places = {pair.id: pair.position for pair in listed}
        # Of the same suite the second run has them at the same positions.
        alike = [side.run for side in sides[:2] if side.run.suite_key == sides[0].run.suite_key]
        _beside(request, store, sides, data, {run.id: places for run in alike})
    names = {side.run.id: side.name for side in sides}
    only_page = {
        "names": names,
        "letters": "ABCD",
        "beside": elsewhere,
        "shared": shared,
        "suites": suites_of([side.run for side in sides]),
        "bars": drawn_beside([side.run.id for side in sides], data["distributions"]),
        "by_tag": query.by_tag,
        "few_tags": FEW_TAGS,
        "few_changes": FEW_CHANGES,
        "widest": _widest(data["tags"]),
        "scatter": scatter_frame(below=bool(data["shares"] and data["shares"].below)),
    }
    shown = ComparedPage(**_linked(data, query))
    return Page(template="compare", data=shown, only_page=only_page)


def _numbers(
    request: Request, store: Store, sides: Sequence[Side], query: ComparisonQuery
) -> dict[str, Any]:
    """Return what stands beside the verdict: tags, measures, criteria, costs, settings."""
    runs = [side.run for side in sides]
    return {
        "tags": [
            row.model_copy(update={"link": _listed_by(query, row)})
            for row in tag_differences(request, store, sides, query.by)
        ],
        "naming_tags": [one for one in naming_tags(store, sides) if one.tag not in query.by],
        "measures": compared_measures(store, sides),
        "criteria": compared_criteria(request, store, runs),
        "ratings": compared_ratings(request, store, runs),
        "distributions": [distribution_of(request, store, run) for run in runs],
        "costs": compared_costs(request, store, sides),
        "settings": setting_differences(runs),
        "shares": compared_shares(request, store, sides, query.listed_where),
    }


def _refused(request: Request, store: Store, sides: Sequence[Side]) -> list[str]:
    """Return why runs cannot be compared, from the cache if possible."""
    key = stamp([side.run for side in sides])
    if key is None:
        return obstacles_among(store, sides)[0]
    page_cache = store_pool_of(request).page_cache
    return page_cache.of(("refused", key), lambda: obstacles_among(store, sides)[0])


def _compared(
    request: Request, store: Store, sides: Sequence[Side], settings: CompareSettings
) -> Compared:
    """Compare runs, or return the cached comparison."""
    ids = [side.run.id for side in sides]

    def comparison() -> Compared:
        return compare(store, ids, settings)

    key = stamp([side.run for side in sides])
    if key is None:
        return comparison()
    page_cache = store_pool_of(request).page_cache
    return page_cache.of(("compared", key, settings.margin), comparison)


def _listed_by(query: ComparisonQuery, row: TagDifference) -> str:
    return query.address(("kind", DIFFERENT), ("where", row.where)) if row.where else ""


def _widest(tags: Sequence[TagDifference]) -> float:
    """Return the end of the scale that the bars of all differences share."""
    ends = [abs(end) for row in tags for end in (row.low, row.high) if end is not None]
    return max([0.05, *ends])


def _refusal(
    query: ComparisonQuery,
    sides: Sequence[Side],
    refused: Sequence[str],
    forced: str | None = None,
) -> ComparedRefused:
    message = f"these runs cannot be compared: {'; '.join(refused)}"
    return ComparedRefused(
        error=ErrorTold(status=400, message=message),
        runs=[RefusedRun(id=side.run.id, name=side.name) for side in sides],
        refused=list(refused),
        forced=addresses.with_query(_PATH, [*query.state, ("force", "1"), *query.parts])
        if forced is None
        else forced,
    )


def _listing(
    store: Store, sides: Sequence[Side], query: ComparisonQuery
) -> tuple[list[CasePair], dict[str, Any]]:
    """List a page of the first two runs' matching cases, changed ones first."""
    listed, following = listed_pairs(store, sides, query.pairs, ROWS, query.after)
    if query.kind == DIFFERENT:
        listed = [pair for pair in listed if pair.kind in ("better", "worse")]
        following = None if following is not None and following.same else following
    return listed, {"cases": pair_objects(listed), "next": following and list(following)}


def _searched(request: Request, store: Store, sides: Sequence[Side], words: str) -> Searched | None:
    """Return how far the texts of the listed cases were searched."""
    first, second = (side.run for side in sides[:2])
    # Cases of different suites are those of the first one.
    runs = [first, second] if first.suite_key == second.suite_key else [first]
    return searched(request, store, runs, words)


def _beside(
    request: Request,
    store: Store,
    sides: Sequence[Side],
    data: dict[str, Any],
    positions: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
) -> None:
    """Add the values in all runs, the third and fourth too, to each listed case.

    ``positions`` has the positions of these cases by id, in those runs of which they are positions.
    """
    flips: dict[str, list[dict[str, Json]]] = data["pairs"][0]["flips"]
    rows = [row for rows in flips.values() for row in rows]
    if data["listing"]:
        rows = [*rows, *data["listing"]["cases"]]
    ids = [row["id"] for row in rows]
    more = [store.results.values_of(side.run.id, ids) for side in sides[2:]] if ids else []
    if not addresses.wants_json(request):
        # A page shows the cases of one list; the JSON has those of each kind.
        largest = [row for kind in LISTS[:2] for row in flips.get(kind, [])[:FEW_CHANGES]]
        ids = [row["id"] for row in (data["listing"]["cases"] if data["listing"] else largest)]
    runs = [side.run for side in sides]

    def compute() -> dict[str, ListedTexts]:
        return listed_texts(store, [run.id for run in runs], ids, positions)

    key = stamp(runs)
    page_cache = store_pool_of(request).page_cache
    texts = compute() if key is None else page_cache.of(("texts", key, tuple(ids)), compute)
    for row in rows:
        beside = texts.get(row["id"])
        row["question"] = "" if beside is None else beside.question
        row["answers"] = [] if beside is None else beside.answers
        others = [values_by_id.get(row["id"], (None, 0.0))[0] for values_by_id in more]
        row["values"] = [row["first"], row["second"], *others]


def _linked(data: dict[str, Any], query: ComparisonQuery) -> dict[str, Any]:
    """Add links to other pages."""
    pairs, listing = query.pairs, data["listing"]
    going_on = listing["next"] if listing else None
    for row in listing["cases"] if listing else ():
        row["link"] = query.address(*query.parts, *query.page, ("case", row["id"]))
    for name, rows in data["pairs"][0]["flips"].items():
        for row in rows:
            row["link"] = query.address(("kind", name), ("case", row["id"]))
    ids = [run["id"] for run in data["runs"]]
    for pair in data["pairs"]:
        two = (pair["first"], pair["second"])
        order = [*two, *(one for one in ids if one not in two)]
        shared = [part for part in query.state if part[0] != "run"]
        pair["link"] = addresses.with_query(_PATH, [*(("run", one) for one in order), *shared])
    filters = [("q", pairs.search), ("where", pairs.where)]
    return {
        **data,
        "asked": {
            "state": query.state,
            "margin": query.margin,
            "by": list(query.by),
            **{name: part or "" for name, part in query.parts},
        },
        "kinds": {name: query.address(("kind", name), *filters) for name in LISTS},
        "overview": query.address(),
        "swapped": _swapped(query),
        "next": None
        if going_on is None
        else query.address(*query.parts, *page_parts(PairCursor(*going_on))),
    }


def _swapped(query: ComparisonQuery) -> str:
    """Return the address of the comparison the other way round."""
    first, second, *others = query.runs
    turned = replace(query, runs=(second, first, *others))
    kind = {"better": "worse", "worse": "better"}.get(query.kind, query.kind)
    pairs = query.pairs
    return turned.address(("kind", kind), ("q", pairs.search), ("where", pairs.where))


_RUNS = several("run", "the runs, 2 to 4 of them", {"type": "string"}, required=True)

routes = [
    Endpoint(_PATH, show_compared),
    Endpoint(
        f"{_PATH}.json",
        show_compared,
        Operation(
            summary="A comparison of runs, or with `case` of one case in all of them",
            parameters=[
                _RUNS,
                text("case", "one case"),
                text("kind", "only cases with this change; `different` are those with any"),
                several("by", "a tag to break the differences down by", {"type": "string"}),
                choice("order", "`oldest` makes the oldest run the first", ("", "oldest")),
                text("q", "a text that the case contains"),
                text("where", "an expression over both values and tags"),
                whole("after", "after which position", -1),
                choice("same", "1 continues with the cases that did not change", ("0", "1")),
                text("margin", "a difference that does not matter, in points of 100"),
                choice("force", "1 compares runs whose signatures differ", ("0", "1")),
                choice(MODE, "with `case`, on the page: answers as they read", ("", RENDERED)),
                choice("lang", "the language of `sentence`", list(LANGUAGES)),
            ],
        ),
    ),
]
