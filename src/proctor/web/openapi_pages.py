"""The shapes of the lists' twins, as the OpenAPI document describes them: home, suite, run."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Interval = tuple[float, float]
Tag = str | list[str]
RunState = Literal["running", "interrupted", "refused", "complete", "incomplete", "broken"]
ValueState = Literal["scored", "unanswered", "unscored", "error", "shown", "broken"]


class Shape(BaseModel):
    """Be the base of all shapes."""

    model_config = ConfigDict(extra="allow")


class ErrorTold(Shape):
    """Say what is wrong."""

    status: int
    message: str


class Error(Shape):
    """Hold what is wrong, whatever the page."""

    error: ErrorTold


class ListedTotals(Shape):
    """Hold the numbers of a run in a list; none where it has none yet."""

    rate: float | None
    interval: Interval | None
    bounds: Interval | None
    score: float | None
    full: float | None
    cases: int | None
    attempts: int | None
    unanswered: int
    unscored: int
    errors: int


class Progress(Shape):
    """Say how far a run has come."""

    id: str
    status: RunState
    done: int = Field(description="attempts that are stored")
    total: int


class ListedRun(Shape):
    """Describe a run in a list."""

    id: str
    name: str
    suite: str
    suite_key: str
    candidate: str
    status: RunState
    imported: bool = Field(description="whether all of it is quoted from a file")
    started: float = Field(description="seconds since 1970, UTC")
    finished: float | None
    totals: ListedTotals


class HomeRun(ListedRun):
    """Describe a run on the first page."""

    dialect: str
    scorers: list[str]
    progress: Progress | None = None


class ListedSuite(Shape):
    """Describe a suite in a list."""

    key: str
    name: str
    version: str
    dialect: str
    cases: int
    imported: bool = Field(description="whether it came with an imported run")
    created: float


class FoundCase(Shape):
    """Name a case that a search found."""

    run: str
    name: str
    id: str


class FoundCases(Shape):
    """Hold the cases whose texts contain the words searched for."""

    found: list[FoundCase]
    waiting: int = Field(description="runs whose texts are not indexed yet")


class HomeFilters(Shape):
    """Repeat what was asked for."""

    q: str
    dialect: str
    scorer: str
    candidate: str
    status: str


class Home(Shape):
    """Hold suites, the latest runs, and what was asked for."""

    suites: list[ListedSuite]
    runs: list[HomeRun]
    cases: FoundCases | None
    filters: HomeFilters


class Named(Shape):
    """Name a run."""

    id: str
    name: str
    imported: bool = Field(description="whether all of it is quoted from a file")


class SuiteAbout(ListedSuite):
    """Describe a suite."""

    language: str
    description: str


class SuiteCase(Shape):
    """Describe a case of a suite, its question cut to a line."""

    id: str
    prompt: str
    tags: dict[str, Tag]
    scorers: list[str]


class TrendPoint(Shape):
    """Hold the rate of one run over time."""

    run: str
    name: str
    candidate: str
    started: float
    imported: bool
    rate: float
    interval: Interval | None


class Cell(Shape):
    """Hold a number of a run in a table with a column a run."""

    value: float | None = None
    rate: float | None = None
    interval: Interval | None
    cases: int | None


class SuitePage(Shape):
    """Hold a suite with its runs and a page of its cases."""

    suite: SuiteAbout
    runs: list[ListedRun]
    trend: list[TrendPoint]
    columns: list[Named]
    measures: dict[str, list[Cell | None]]
    groups: dict[str, dict[str, list[Cell | None]]]
    cases: list[SuiteCase]
    next: int | None = Field(description="what `after` must be for the next page")
    first: bool


class Group(Shape):
    """Hold sums over some of the cases."""

    score: float
    full: float
    rate: float | None
    spread: float
    score_spread: float
    interval: Interval | None
    cases: int


class Totals(Group):
    """Hold the sums over all cases, with all that did not enter them."""

    bounds: Interval | None
    cases_unscored: int
    attempts: int
    unanswered: int
    unscored: int
    errors: int


class Measured(Shape):
    """Hold a measure."""

    value: float | None
    interval: Interval | None
    n: int
    detail: Any = None
    note: str = ""


class RunAbout(ListedRun):
    """Describe a run."""

    signature: str
    regraded: str | None = Field(
        description="the id of the run of an earlier edition of the suite, where it came after it"
    )


class ListedCase(Shape):
    """Hold what a case came to."""

    id: str
    position: int
    status: ValueState
    value: float | None
    full: float
    low: float
    high: float
    spread: float
    tags: dict[str, Tag]


class RunAsked(Shape):
    """Repeat what was asked for."""

    where: str
    q: str
    status: str
    sort: Literal["position", "value", "id"]
    order: Literal["up", "down"]
    after: str


class Searched(Shape):
    """Say what a search looked through."""

    texts: bool
    why: Literal["", "short", "filling", "missing"]
    whole: bool
    indexed: int
    cases: int


class RunPage(Shape):
    """Hold a run's numbers, as `proctor report --format json` writes them, and a page of cases."""

    run: RunAbout
    totals: Totals | None
    measures: dict[str, Measured]
    groups: dict[str, dict[str, Group]]
    usage: dict[str, Any]
    references: dict[str, Any] = Field(
        description="how many cases were compared with references, and how many are unmatched"
    )
    failures: dict[str, list[dict[str, Any]]] = Field(
        description="the most frequent reasons of errors, unscored and unanswered attempts"
    )
    shortfall: str = Field(description="what the run lacks and why; empty where nothing is amiss")
    progress: Progress | None
    problem: str = Field(description="what is wrong with the filter; the status is 400 then")
    search: Searched | None
    tags: list[str]
    cases: list[ListedCase]
    asked: RunAsked
    next: str | None = Field(description="the address of the next page")
