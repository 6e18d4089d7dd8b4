"""The shapes of the twins about single cases and about several runs."""

from typing import Any

from pydantic import Field

from proctor.web.openapi_pages import (
    Error,
    Interval,
    Named,
    RunState,
    Searched,
    Shape,
    Tag,
    ValueState,
)


class Message(Shape):
    """Hold one message."""

    role: str
    content: str
    thinking: str
    images: list[str]


class Score(Shape):
    """Hold what one criterion said of one attempt."""

    criterion: str
    points: float | None
    out_of: float | None
    status: str
    reason: str
    detail: Any


class TurnMark(Shape):
    """Hold what one turn is worth, where criteria judge single turns."""

    turn: int
    score: float | None
    normalized: float | None
    status: str = Field(description="scored, unscored, not_reached or agent_failure")


class LeftFile(Shape):
    """Hold a file that an agent left."""

    name: str
    size: int | None = Field(description="in bytes; none where it was too large to be kept")


class CaseAttempt(Shape):
    """Hold an attempt at a case."""

    index: int
    value: float | None
    status: ValueState
    scores: list[Score]
    error: str | None = None
    traceback: str | None = Field(None, description="where in its code the candidate broke")
    turns: list[TurnMark] | None = None
    output: str
    messages: list[Message]
    rounds: list[dict[str, Any]] | None = Field(None, description="what an agent did, as JSON")
    files: list[LeftFile] | None = None


class CasePage(Shape):
    """Hold a case with every attempt, as `proctor show --json` prints it."""

    run: Named
    id: str
    messages: list[Message]
    references: list[str]
    context: list[str]
    value: float | None
    full: float
    weight: float
    status: ValueState
    low: float
    high: float
    tags: dict[str, Tag]
    unscored_reasons: Any
    attempts: list[CaseAttempt]


class Agreement(Shape):
    """Say how far the judge agrees with people."""

    kappa: float | None
    interval: Interval | None
    agreed: float | None
    n: int
    judge_right: float
    person_right: float
    score: dict[str, Any] = Field(description="the judge's score, corrected by the marks")


class OwnMark(Shape):
    """Hold the mark that a person gave."""

    points: float | None
    note: str


class LabelPage(Shape):
    """Hold an attempt to be marked; texts are cut into pieces as the page shows them."""

    run: Named
    case: dict[str, Any]
    attempt: dict[str, Any]
    criterion: str
    wanted: str
    judged: dict[str, Any] | None
    criteria: list[tuple[str, str]]
    attempts: list[tuple[int, str]]
    action: str
    whole: str
    before: str | None
    after: str | None
    agreement: Agreement
    labelled: int
    own: OwnMark | None
    author: str


class ComparedRun(Shape):
    """Describe a run that is compared."""

    id: str
    name: str
    suite: str
    candidate: str
    status: RunState
    signature: str
    imported: bool
    rate: float | None
    interval: Interval | None


class Difference(Shape):
    """Hold a difference of rates with its interval."""

    value: float | None
    low: float | None
    high: float | None


class Contrast(Shape):
    """Say which of two runs is better, over all cases or some of them."""

    verdict: str
    cases: int
    rates: tuple[float | None, float | None]
    difference: Difference
    p: float | None
    adjusted_p: float | None
    test: str | None
    effect: float | None
    cases_needed: int | None
    more_cases: int | None
    detectable: float | None
    counts: dict[str, int | None]


class PairOfRuns(Contrast):
    """Compare a run with the first."""

    first: str
    second: str
    sentence: str
    bounds: Interval | None
    left_out: dict[str, Any]
    groups: dict[str, dict[str, Contrast]]
    flips: dict[str, list[dict[str, Any]]]
    link: str


class ComparedPage(Shape):
    """Hold runs compared, and the cases that a filter asks for."""

    runs: list[ComparedRun]
    pairs: list[PairOfRuns]
    warnings: list[str]
    listing: dict[str, Any] | None
    search: Searched | None
    asked: dict[str, Any]
    kinds: dict[str, str]
    overview: str
    next: str | None


class ComparedRefused(Error):
    """Say why runs cannot be compared, and where they are nevertheless."""

    runs: list[Named]
    refused: list[str]
    forced: str


class ComparedAttempt(Shape):
    """Hold what one attempt of a run said to a case."""

    index: int
    value: float | None
    status: ValueState
    error: str
    output: str
    shown: list[dict[str, Any]]
    reasons: list[dict[str, Any]]


class ComparedSide(Shape):
    """Hold what one run said to a case."""

    run: Named
    link: str
    there: bool
    first: bool
    value: float | None
    status: ValueState | None
    full: float | None
    attempts: list[ComparedAttempt]
    more: int


class ComparedCase(Shape):
    """Hold one case in all runs that are compared."""

    case: dict[str, Any]
    references: list[str]
    sides: list[ComparedSide]
    before: str | None
    after: str | None
    overview: str


class BattlesPage(Shape):
    """Hold what judges preferred, each way of asking as `proctor battle --json` prints it."""

    runs: list[Named]
    battles: list[dict[str, Any]]
