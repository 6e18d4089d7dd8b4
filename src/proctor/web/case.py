"""The page of one case: what was asked, every attempt, each score and why, and how they add up."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proctor.core.run import CaseResult
from proctor.core.suite import Json
from proctor.engine.evaluate import placed_case, view_of
from proctor.reports.rounds import agent_object, files_left
from proctor.reports.structured import case_object, clean
from proctor.reports.view import RunView
from proctor.web import addresses
from proctor.web.case_view import case_view
from proctor.web.finding import the_run
from proctor.web.missing import or_missing
from proctor.web.opened import opened
from proctor.web.pieces import MOST
from proctor.web.rendering import page


def show_case(request: Request) -> Response:
    """Answer with one case of a run."""
    by_path = "case" in request.path_params
    wanted = addresses.named(request, "case") if by_path else request.query_params.get("id", "")
    with opened(request) as store, or_missing():
        view = view_of(store, the_run(store, request).id)
        place, found = placed_case(store, view, wanted)
        around = store.neighbours(view.run.id, place)
        left = [file.key for item in found.attempts for file in files_left(item.attempt)]
        sizes = store.file_sizes(key for key in left if key)
    if addresses.wants_json(request):
        return page(request, "case", _object(view, found, sizes))
    full = request.query_params.get("full") == "1"
    data = _data(view, found, around, most=None if full else MOST)
    for attempt in data["case"]["attempts"]:
        _link_files(view.run.id, found.case.id, attempt, sizes)
    return page(request, "case", data)


def send_file(request: Request) -> Response:
    """Answer with a file that a candidate left, to be saved and never to be shown."""
    asked = request.query_params
    with opened(request) as store, or_missing():
        view = view_of(store, the_run(store, request).id)
        _, found = placed_case(store, view, asked.get("case", ""))
        key = next(
            (
                file.key
                for item in found.attempts
                if str(item.attempt.index) == asked.get("attempt", "0")
                for file in files_left(item.attempt)
                if file.key and file.name == asked.get("name", "")
            ),
            None,
        )
        if key is None:
            raise HTTPException(404, f"there is no file {asked.get('name', '')!r} here")
        content = store.file(key)
    name = PurePosixPath(asked["name"]).name
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(content, media_type="text/plain; charset=utf-8", headers=headers)


def _link_files(
    run_id: str, case_id: str, attempt: dict[str, Any], sizes: Mapping[str, int]
) -> None:
    """Say how large the files are that an attempt left, and where they are to be had."""
    for file in attempt["files"]:
        key = file.pop("key")
        if key in sizes:
            file["size"] = sizes[key]
            pairs = [("case", case_id), ("attempt", attempt["index"]), ("name", file["name"])]
            file["href"] = addresses.with_query(f"{addresses.run_link(run_id)}/file.txt", pairs)


def _data(
    view: RunView, found: CaseResult, around: tuple[str | None, str | None], *, most: int | None
) -> dict[str, Any]:
    run = view.run
    before, after = (
        None if case_id is None else addresses.case_link(run.id, case_id) for case_id in around
    )
    return {
        "run": {
            "id": run.id,
            "name": run.name,
            "suite": run.suite,
            "candidate": view.candidate,
            "imported": run.imported,
        },
        "before": before,
        "after": after,
        "whole": addresses.with_query(addresses.case_link(run.id, found.case.id), [("full", 1)]),
        "case": case_view(found, most=most),
    }


def _object(view: RunView, found: CaseResult, sizes: Mapping[str, int]) -> dict[str, Json]:
    """Make the twin: what ``proctor show --json`` prints, with all that was said."""
    made = case_object(found)
    made["attempts"] = [
        {
            **shown,
            "output": item.attempt.output,
            "messages": _messages(item.attempt.messages),
            **agent_object(item.attempt, sizes),
        }
        for shown, item in zip(made["attempts"], found.attempts, strict=True)
    ]
    object_: dict[str, Json] = clean(
        {
            "run": {"id": view.run.id, "name": view.run.name, "imported": view.run.imported},
            "messages": _messages(found.case.messages),
            "references": list(found.case.references),
            "context": list(found.case.context),
            **made,
        }
    )
    return object_


def _messages(messages: Any) -> list[Json]:
    return [
        {"role": one.role, "content": one.content, "thinking": one.thinking, "images": one.images}
        for one in messages
    ]


routes = [
    Route("/runs/{run}/cases/{case:path}", show_case),
    Route("/runs/{run}/case", show_case),
    Route("/runs/{run}/case.json", show_case),
    Route("/runs/{run}/file.txt", send_file),
]
