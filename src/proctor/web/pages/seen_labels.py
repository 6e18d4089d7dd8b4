"""Labels on the page of a case, where the verdict is seen: each is marked so, and kept apart."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import Response

from proctor.core.run import CaseResult, Run
from proctor.engine.labels.criterion_scale import scale_of
from proctor.engine.labels.label_files import LONGEST_AUTHOR
from proctor.store.rows import Label
from proctor.web.api.response import ResponseModel
from proctor.web.pages.case_list import CaseList
from proctor.web.pages.case_view import Laid

COOKIE = "proctor_author"
"""The name that was written last, to be offered again."""
GRID = "/grid?"
"""How the only address begins, besides that of a case, to which a label leads back."""
MONTH = 30 * 24 * 3600


class GivenLabel(ResponseModel):
    """A label, or a note, that a person gave."""

    criterion: str
    attempt: int
    points: float | None
    note: str
    author: str
    created: float
    seen: bool

    @classmethod
    def of(cls, label: Label) -> "GivenLabel":
        """Return a stored label."""
        return cls(
            criterion=label.criterion,
            attempt=label.index,
            points=label.points,
            note=label.note,
            author=label.author,
            created=label.created,
            seen=label.seen,
        )


def current(labels: Sequence[Label]) -> list[Label]:
    """Return the last label of each person for each criterion of an attempt, with all notes."""
    last: dict[tuple[object, ...], Label] = {}
    for label in labels:
        kind = label.id if label.points is None else "points"
        last[label.index, label.criterion, label.author, label.seen, kind] = label
    return list(last.values())


def add_labels(result: CaseResult, attempts: Sequence[Laid], labels: Sequence[Label]) -> None:
    """Add to each score what people said of it, and the marks that they may give."""
    places = {criterion.id: place for place, criterion in enumerate(result.case.criteria)}
    for attempt, item in zip(attempts, result.attempts, strict=True):
        for score in attempt["scores"]:
            name = score["id"]
            scale = scale_of(result.case.criteria[places[name]], item.scores.get(name))
            score["attempt"] = attempt["index"]
            score["anchor"] = anchor(attempt["index"], places[name])
            score["marks"] = scale.marks()
            score["rates"] = scale.rates
            score["labels"] = [
                GivenLabel.of(one).to_json()
                for one in labels
                if one.index == attempt["index"] and one.criterion == name
            ]


def anchor(index: int, place: int) -> str:
    """Return the id of the verdict on a criterion of an attempt."""
    return f"verdict-{index}-{place}"


def way_back(request: Request, run: Run, result: CaseResult, index: int, criterion: str) -> str:
    """Return the address of the verdict that a label was given beside, in the same list."""
    address = CaseList.of(request, run).case(result.case.id)
    names = [one.id for one in result.case.criteria]
    sign = "&" if "?" in address else "?"
    return f"{address}{sign}attempt={index}#{anchor(index, names.index(criterion))}"


def way_back_to_grid(form: Mapping[str, str]) -> str:
    """Return the grid from which a label came; empty for any other page."""
    back = form.get("back", "")
    return back if back.startswith(GRID) else ""


def remembered_author(request: Request) -> str:
    """Return the name that was written last in this browser."""
    return unquote(request.cookies.get(COOKIE, ""))[:LONGEST_AUTHOR]


def remember_author(response: Response, form: Mapping[str, str]) -> None:
    """Keep a name in the browser that wrote it."""
    name = quote(form.get("author", "").strip()[:LONGEST_AUTHOR], safe="", errors="replace")
    response.set_cookie(COOKIE, name, max_age=MONTH, samesite="strict", httponly=True)
