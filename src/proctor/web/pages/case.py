"""The page of one case: question, every attempt, each score with its reason, and the formula."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from proctor.contracts.report import RunView
from proctor.core.cause import cause_of
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.suite import Message
from proctor.engine.run.candidate_calls import candidate_calls
from proctor.engine.run.stored_view import placed_case, view_so_far
from proctor.engine.scan.findings import Marked, scan_marks
from proctor.reports.state_changes import state_object
from proctor.reports.structured import case_object
from proctor.reports.turns import agent_object, files_left
from proctor.store.rows import Label
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.api.endpoint import RUN, Endpoint, Operation, in_path, text, whole
from proctor.web.api.response import HtmlPage, Named, ResponseModel, Tag, ValueState
from proctor.web.highlight import MOST, compared, pieces
from proctor.web.lookup import or_missing, the_run
from proctor.web.pages.case_list import CaseList, counts_of
from proctor.web.pages.case_text import CaseFiles, first_line
from proctor.web.pages.case_view import Laid, asked_result, case_view
from proctor.web.pages.criterion_cells import failing
from proctor.web.pages.exchanges import add_exchanges
from proctor.web.pages.label import token_for
from proctor.web.pages.seen_labels import GivenLabel, add_labels, current, remembered_author
from proctor.web.pages.trace import chosen_step, next_error, trace_of
from proctor.web.pages.trace_tree import lanes, timed
from proctor.web.pages.verdicts import add_prompts, add_verdicts
from proctor.web.pictures import embedded
from proctor.web.reading import raw_wanted
from proctor.web.store_pool import opened

MOST_PROMPTED = 5
"""For how many attempts on one page the judge's prompts are written."""
MOST_FILES, LARGEST_SHOWN, LONGEST_FILE = 8, 500_000, 2000
"""Files of agents whose beginning is shown: how many, up to how many bytes, and how much of it."""
STEPS_TOGETHER, LONGEST_IN_ALL = 40, 4000
"""Steps of an agent that are read one below the other: how many, and how much of each text."""
NEAR = 1e-9
"""An attempt that lacks less of the full score has all of it."""
FILE_LANGUAGES = {
    ".py": "python", ".json": "json", ".js": "javascript", ".sql": "sql", ".sh": "bash",
    ".yaml": "yaml", ".yml": "yaml", ".html": "html", ".svg": "xml", ".xml": "xml",
}  # fmt: skip


class ShownCall(ResponseModel):
    """A call of a tool."""

    name: str
    arguments: Any
    id: str


class ShownMessage(ResponseModel):
    """One message."""

    role: str
    content: str
    thinking: str
    images: list[str]
    tool_calls: list[ShownCall]
    tool_call_id: str


class ShownScore(ResponseModel):
    """The score of one criterion on one attempt."""

    criterion: str
    points: float | None
    out_of: float | None
    status: str
    reason: str
    detail: Any


class TurnMark(ResponseModel):
    """The mark of one turn, where criteria apply to single turns."""

    turn: int
    score: float | None
    normalized: float | None
    status: str = Field(description="scored, unscored, not_reached or agent_failure")


class LeftFile(ResponseModel):
    """A file that an agent left."""

    name: str
    size: int | None = Field(description="in bytes; null where it was too large to be stored")


class StoredCall(ResponseModel):
    """A call of the candidate's model, as it is stored."""

    reply: int = Field(description="which reply of the attempt it gave, from 1")
    request: Any
    response: Any
    usable: bool
    seconds: float | None
    cost: float | None


class CaseAttempt(ResponseModel):
    """An attempt at a case."""

    index: int
    value: float | None
    status: ValueState
    scores: list[ShownScore]
    error: str | None = None
    cause: str | None = Field(None, description="whose fault it is that it did not end well")
    traceback: str | None = Field(None, description="where in its code the candidate failed")
    turns: list[TurnMark] | None = None
    output: str
    messages: list[ShownMessage]
    rounds: list[dict[str, Any]] | None = Field(None, description="what an agent did, as JSON")
    files: list[LeftFile] | None = None
    actions: list[dict[str, Any]] | None = Field(None, description="calls of tools with a state")
    state_changes: list[dict[str, Any]] | None = None
    scan_marks: list[dict[str, Any]] = Field(description="what scans marked, with the passage")
    model_calls: list[StoredCall] = Field(description="of models that a server answers for")
    simulator_flags: list[Any] | None = Field(None, description="faults of the simulated user")


class CasePage(ResponseModel):
    """A case with every attempt, as `proctor show --json` prints it."""

    run: Named
    messages: list[ShownMessage]
    references: list[str]
    context: list[str]
    id: str
    value: float | None
    full: float
    weight: float
    status: ValueState
    low: float
    high: float
    tags: dict[str, Tag]
    unscored_reasons: Any
    attempts: list[CaseAttempt]
    labels: list[GivenLabel] = Field(description="what people said of it, and their notes")


def show_case(request: Request) -> CasePage | HtmlPage:
    """Return one case of a run."""
    by_path = "case" in request.path_params
    case_id = addresses.named(request, "case") if by_path else request.query_params.get("id", "")
    with opened(request) as store, or_missing():
        view = view_so_far(store, the_run(store, request).id)
        place, result = placed_case(store, view, case_id)
        left = [file.key for item in result.attempts for file in files_left(item.attempt)]
        sizes = store.files.sizes(key for key in left if key)
        marks = scan_marks(store, view.run.id, result.case.id)
        labels = current(store.labels.of_case(view.run.id, result.case.id))
        if addresses.wants_json(request):
            return _object(store, view, result, sizes, marks, labels)
        case_list = CaseList.of(request, view.run).over(store)
        unfinished = view.run.status.is_unfinished
        around = case_list.around(store, place)
        counts = counts_of(request, store, case_list)
        beginnings = _beginnings(store, left, sizes)
        most = None if request.query_params.get("full") == "1" else MOST
        data = _data(view, result, case_list, most=most)
        for attempt in data["case"]["attempts"]:
            _link_files(view.run.id, result.case.id, attempt, sizes, beginnings)
            marked = marks.get(attempt["index"], ())
            attempt["notes"]["scans"] = [f"{kind}: “{mark.passage}”" for kind, mark in marked]
        add_labels(result, data["case"]["attempts"], labels)
        chosen = _shown_attempt(request, case_list, result, data["case"], most=most)
        add_prompts(view, result, chosen["shown"][:MOST_PROMPTED], most=most)
        put_result = asked_result(view.run, result)
        longest = LONGEST_IN_ALL if _reads_on(request) else most
        add_exchanges(store, view.run, put_result, chosen["shown"], most=longest)
    return HtmlPage(
        template="case",
        data=data
        | {
            "before": around.before,
            "after": around.after,
            "failures": around.failures,
            "first_line": first_line(put_result.case.messages),
            "label_form": {
                "action": case_list.label_action,
                "csrf": token_for(view.run.id),
                "author": remembered_author(request),
            },
            "files_of": CaseFiles.of(view.run.id, result.case.id),
            "back": around.back,
            "listed": {
                "number": None if unfinished else around.number,
                "count": counts.listed,
            },
            "unfinished": unfinished,
            "raw": raw_wanted(request),
            "words": [case_list.query.search] if case_list.query.search else [],
        }
        | chosen,
    )


def _shown_attempt(
    request: Request,
    case_list: CaseList,
    result: CaseResult,
    case: dict[str, Any],
    *,
    most: int | None,
) -> dict[str, Any]:
    """Choose the attempts, the step of an agent and the second attempt that the page shows."""
    attempts = case["attempts"]
    attempt_choice = request.query_params.get("attempt")
    whole = attempt_choice in ("all", "failed")
    failed = [one for one in attempts if one["value"] is None or one["value"] < case["full"] - NEAR]
    wanted = -1 if whole else addresses.whole_number(request, "attempt", -1)
    against = addresses.whole_number(request, "against", -1)
    indexes = [attempt["index"] for attempt in attempts]
    chosen = wanted if wanted in indexes else _worst(result)
    address = case_list.case(result.case.id)

    def link(*pairs: tuple[str, object]) -> str:
        query = addresses.with_query("", pairs)
        return address + (query.replace("?", "&", 1) if "?" in address else query)

    reads_on = _reads_on(request)
    for attempt, item in zip(attempts, result.attempts, strict=True):
        steps = trace_of(item.attempt, most=LONGEST_IN_ALL if reads_on else most)
        step = chosen_step(steps, addresses.whole_number(request, "step", 0)) if steps else 0
        pairs = [("attempt", attempt["index"])] if len(attempts) > 1 else []
        error = next_error(steps, step)
        attempt["trace"] = {
            "steps": steps,
            "chosen": step,
            "rounds": _by_round(steps),
            "length": sum(one["width"] for one in steps if one["lane"] == 0),
            "lanes": lanes(steps) if steps else 1,
            "seconds": timed(steps),
            "links": {
                one["number"]: link(*pairs, ("step", one["number"])) + "#trace" for one in steps
            },
            "error": link(*pairs, *([("steps", "all")] if reads_on else []), ("step", error))
            + (f"#step-{error}" if reads_on else "#trace")
            if error
            else "",
            "all": _reading(steps, step, lambda *more, pairs=pairs: link(*pairs, *more), reads_on),
        }
    kept = ("attempt", "step", "steps", "full")
    same = [(name, request.query_params.get(name, "")) for name in kept]
    place = indexes.index(chosen) if chosen in indexes else 0
    few = len(attempts) == 1 or whole
    compared_with = None
    if against in indexes and against != chosen:
        outputs = (result.attempts[indexes.index(one)].attempt.output for one in (against, chosen))
        compared_with = {"index": against, "texts": compared(*outputs)}
    return {
        "shown": failed
        if attempt_choice == "failed" and failed
        else attempts
        if few
        else attempts[place : place + 1],
        "failed_only": attempt_choice == "failed",
        "failed_count": len(failed),
        "failed_link": link(("attempt", "failed"))
        if len(attempts) > 2 and 0 < len(failed) < len(attempts)
        else "",
        "chosen": None if few else chosen,
        "against": compared_with,
        "strip": [
            {"attempt": one, "href": link(("attempt", one["index"])),
             "diff": link(("attempt", chosen), ("against", one["index"]))}
            for one in attempts
        ],
        "earlier": link(("attempt", indexes[place - 1])) if place > 0 and not few else "",
        "later": link(("attempt", indexes[place + 1]))
        if not few and place + 1 < len(attempts)
        else "",
        "all_link": link(("attempt", "all")),
        "rendered_link": link(*same, ("text", "rendered")),
        "raw_link": link(*same, ("text", "raw")),
    }  # fmt: skip


def _reads_on(request: Request) -> bool:
    """Tell whether the steps of the one attempt on a page are read one below the other."""
    query = request.query_params
    return query.get("steps") == "all" and query.get("attempt") not in ("all", "failed")


def _reading(
    steps: Sequence[Laid], chosen: int, link: Callable[..., str], reads_on: bool
) -> dict[str, Any]:
    """Return some steps one below the other, those of a page around the chosen one, and the way on.

    ``shown`` is empty where one step at a time is read.
    """

    def page(number: int) -> str:
        return link(("steps", "all"), ("step", number)) + f"#step-{number}"

    first = (chosen - 1) // STEPS_TOGETHER * STEPS_TOGETHER
    end = first + STEPS_TOGETHER
    return {
        "link": page(chosen),
        "shown": list(steps[first:end]) if reads_on else [],
        "links": {
            one["number"]: f"#step-{one['number']}"
            if first < one["number"] <= end
            else page(one["number"])
            for one in steps
        }
        if reads_on
        else {},
        "before": page(first - STEPS_TOGETHER + 1) if first else "",
        "after": page(end + 1) if end < len(steps) else "",
        "one": link(("step", chosen)) + "#trace",
    }


def _by_round(steps: Sequence[Laid]) -> list[dict[str, Any]]:
    """Return the steps that lie within no other, by round."""
    top = [step for step in steps if step["depth"] == 0]
    return [
        {"number": number, "steps": list(group)}
        for number, group in groupby(top, key=lambda step: step["round"])
    ]


def _worst(result: CaseResult) -> int:
    """Return the index of the attempt that is worth least, the first of several."""

    def worth(item: AttemptResult) -> float:
        return float("-inf") if item.value.value is None else item.value.value

    return min(result.attempts, key=worth).attempt.index if result.attempts else 0


def send_file(request: Request) -> Response:
    """Return a file that a candidate left, as a download that browsers do not display."""
    query = request.query_params
    with opened(request) as store, or_missing():
        view = view_so_far(store, the_run(store, request).id)
        _, result = placed_case(store, view, query.get("case", ""))
        key = next(
            (
                file.key
                for item in result.attempts
                if str(item.attempt.index) == query.get("attempt", "0")
                for file in files_left(item.attempt)
                if file.key and file.name == query.get("name", "")
            ),
            None,
        )
        if key is None:
            raise HTTPException(404, f"this attempt has no file {query.get('name', '')!r}")
        content = store.files.get(key)
    name = PurePosixPath(query["name"]).name
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(content, media_type="text/plain; charset=utf-8", headers=headers)


def _link_files(
    run_id: str,
    case_id: str,
    attempt: dict[str, Any],
    sizes: Mapping[str, int],
    beginnings: Mapping[str, tuple[str, str]],
) -> None:
    """Add sizes, download addresses, pictures and beginnings to the files that an attempt left."""
    for file in attempt["files"]:
        key = file.pop("key")
        if key in sizes:
            file["size"] = sizes[key]
            pairs = [("case", case_id), ("attempt", attempt["index"]), ("name", file["name"])]
            file["href"] = addresses.with_query(f"{addresses.run_link(run_id)}/file.txt", pairs)
        beginning, picture = beginnings.get(key, ("", ""))
        file |= {"beginning": [], "language": "", "picture": picture}
        if beginning:
            file["beginning"] = pieces(beginning)
            file["language"] = FILE_LANGUAGES.get(PurePosixPath(file["name"]).suffix, "")


def _beginnings(
    store: Store, keys: Sequence[str], sizes: Mapping[str, int]
) -> dict[str, tuple[str, str]]:
    """Return small files as texts and pictures; what is neither is only linked."""
    small = [key for key in dict.fromkeys(keys) if 0 < sizes.get(key, 0) <= LARGEST_SHOWN]
    shown: dict[str, tuple[str, str]] = {}
    for key in small[:MOST_FILES]:
        content, text = store.files.get(key), ""
        with suppress(UnicodeDecodeError):
            text = content.decode("utf-8")
            text = text if len(text) <= LONGEST_FILE else text[:LONGEST_FILE] + "…"
        shown[key] = text, embedded(content)
    return shown


def _data(
    view: RunView, result: CaseResult, case_list: CaseList, *, most: int | None
) -> dict[str, Any]:
    run = view.run
    shown = asked_result(view.run, result)
    case = case_view(shown, most=most)
    add_verdicts(run, result, case["attempts"])
    for attempt, item in zip(case["attempts"], result.attempts, strict=True):
        attempt["cause"] = cause_of(item.attempt, item.scores.values()) or ""
        for score in attempt["scores"]:
            if score["verdict"]["kind"] in ("bad", "warn") and not run.status.is_unfinished:
                where = ("where", failing(score["id"]))
                score["verdict"]["alike"] = case_list.link(where, ("status", ""), ("q", ""))
    whole = case_list.case(result.case.id)
    return {
        "run": {
            "id": run.id,
            "name": run.name,
            "suite": run.suite,
            "candidate": view.candidate,
            "imported": run.imported,
            "status": run.status.value,
        },
        "list": case_list,
        "history": addresses.with_query(
            f"{addresses.suite_link(run.suite_key)}/history", [("case", result.case.id)]
        ),
        "label": addresses.with_query(
            f"{addresses.run_link(run.id)}/label", [("case", result.case.id)]
        ),
        "whole": whole + ("&" if "?" in whole else "?") + "full=1",
        "case": case,
    }


def _object(
    store: Store,
    view: RunView,
    result: CaseResult,
    sizes: Mapping[str, int],
    marks: "Marked",
    labels: Sequence[Label],
) -> CasePage:
    """Build the JSON: the output of ``proctor show --json``, plus all messages and calls."""
    shown_case = case_object(result)
    put_case = asked_result(view.run, result).case
    shown_case["attempts"] = [
        {
            **shown,
            "output": item.attempt.output,
            "messages": _messages(item.attempt.messages),
            **agent_object(item.attempt, sizes),
            **state_object(item.attempt.notes),
            "scan_marks": [
                {"kind": kind, "passage": mark.passage, "reason": mark.reason}
                for kind, mark in marks.get(item.attempt.index, ())
            ],
            "model_calls": [
                StoredCall(
                    reply=call.reply,
                    request=call.request,
                    response=call.response,
                    usable=call.status == "ok",
                    seconds=call.seconds,
                    cost=call.cost,
                )
                for call in candidate_calls(store, view.run, put_case, item.attempt)
            ],
        }
        for shown, item in zip(shown_case["attempts"], result.attempts, strict=True)
    ]
    return CasePage(
        run=Named.of(view.run),
        messages=_messages(put_case.messages),
        references=list(result.case.references),
        context=list(result.case.context),
        labels=[GivenLabel.of(one) for one in labels],
        **shown_case,
    )


def _messages(messages: Sequence[Message]) -> list[ShownMessage]:
    return [
        ShownMessage(
            role=one.role,
            content=one.content,
            thinking=one.thinking,
            images=list(one.images),
            tool_calls=[
                ShownCall(name=call.name, arguments=call.arguments, id=call.id)
                for call in one.tool_calls
            ],
            tool_call_id=one.tool_call_id,
        )
        for one in messages
    ]


_CASE = text("id", "the case's id", required=True)

routes = [
    Endpoint(
        "/runs/{run}/cases/{case:path}",
        show_case,
        Operation(summary="One case of a run", parameters=[RUN, in_path("case", "the case's id")]),
        twin="/runs/{run}/cases/{case}.json",
    ),
    Endpoint("/runs/{run}/case", show_case),
    Endpoint(
        "/runs/{run}/case.json",
        show_case,
        Operation(summary="One case of a run, whatever its id", parameters=[RUN, _CASE]),
    ),
    Endpoint(
        "/runs/{run}/file.txt",
        send_file,
        Operation(
            summary="A file that an agent left in its working folder, as a download",
            media="text/plain",
            parameters=[
                RUN,
                text("case", "the case's id", required=True),
                whole("attempt", "which attempt", 0),
                text("name", "the file's name", required=True),
            ],
            wrong=(404,),
            error=None,
        ),
    ),
]
