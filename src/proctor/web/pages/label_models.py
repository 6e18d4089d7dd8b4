"""Response models of the labelling page."""

from dataclasses import asdict
from typing import Any

from pydantic import Field

from proctor.engine.labels.agreement import LabelAgreement
from proctor.web.api.response import Interval, Named, ResponseModel
from proctor.web.pages.case_models import LaidAttempt, LaidQuestion, LaidScore


class Agreement(ResponseModel):
    """How far the judge agrees with people."""

    kappa: float | None = Field(description="attempts at one case count as one")
    interval: Interval | None
    agreed: float | None
    n: int
    cases: int = Field(description="how many cases they are on")
    judge_right: float
    person_right: float
    confusion: list[tuple[float, float, int]] = Field(
        description="what the judge gave, what people gave, and how often"
    )
    score: dict[str, Any] = Field(description="the judge's score, corrected by the marks")

    @classmethod
    def of(cls, label_agreement: LabelAgreement) -> "Agreement":
        """Make the numbers of the page."""
        return cls(
            kappa=label_agreement.kappa.value,
            interval=label_agreement.kappa.interval,
            agreed=label_agreement.kappa.agreed,
            n=label_agreement.kappa.n,
            cases=label_agreement.kappa.clusters,
            judge_right=label_agreement.judge_right,
            person_right=label_agreement.person_right,
            confusion=list(label_agreement.confusion),
            score=asdict(label_agreement.score),
        )


class OwnMark(ResponseModel):
    """The mark that a person gave."""

    points: float | None
    note: str
    author: str
    seen: bool = Field(description="whether the judge's verdict had been seen")


class LastMark(ResponseModel):
    """The mark given before, and what the judge had said."""

    case: str
    own: float | None
    judge: float | None
    reason: str
    link: str


class PeopleAgreement(ResponseModel):
    """How far two people agree on what both labelled."""

    people: tuple[str, str]
    kappa: float | None
    interval: Interval | None
    agreed: int
    n: int


class PersonAgreement(ResponseModel):
    """How far a person and the judge agree."""

    person: str
    kappa: float | None
    interval: Interval | None
    agreed: int
    n: int

    @classmethod
    def of(cls, person: str, agreement: LabelAgreement) -> "PersonAgreement":
        """Make the row of a person."""
        return cls(
            person=person,
            kappa=agreement.kappa.value,
            interval=agreement.kappa.interval,
            agreed=agreement.kappa.agreed,
            n=agreement.kappa.n,
        )


class LabelProgress(ResponseModel):
    """How many labels there are, how many are aimed at, and the interval that they buy."""

    done: int
    goal: int
    half_width: float | None = Field(description="of the corrected score, in points of 100")


class LabelPage(ResponseModel):
    """An attempt to label; texts are cut into pieces for the page."""

    run: Named
    case: LaidQuestion
    attempt: LaidAttempt
    criterion: str
    wanted: str
    judged: LaidScore | None
    criteria: list[tuple[str, str]]
    attempts: list[tuple[int, str]]
    action: str
    whole: str
    before: str | None
    after: str | None
    marks: list[tuple[str, float]] = Field(description="what may be given, each with its points")
    rates: bool
    agreement: Agreement
    labelled: int
    left_out: int = Field(description="labels given when the verdict had been seen, not counted")
    own: OwnMark | None
    author: str
    authors: dict[str, int] = Field(description="how many labels each person gave")
    people: list[PeopleAgreement]
    with_judge: list[PersonAgreement] = Field(
        description="how far each of several people agrees with the judge"
    )
    others: list[OwnMark] = Field(description="what other people said of this attempt")
    queue: str
    queues: list[tuple[str, str]]
    waiting: int | None = Field(description="cases in the queue; None for the random one")
    progress: LabelProgress
    last: LastMark | None
    following: str = Field(description="where skipping leads")
