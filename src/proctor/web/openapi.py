"""The OpenAPI document: every twin of a page, and every endpoint, with what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proctor.version import __version__
from proctor.web import api_v3, run
from proctor.web import openapi_bench as b
from proctor.web import openapi_cases as c
from proctor.web import openapi_pages as p
from proctor.web.rendering import json_answer

Parameter = dict[str, Any]
_JSON = "application/json"
_SVG = "image/svg+xml"
_MOST_INT = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Describe what can be asked of one address."""

    summary: str
    answers: Sequence[type[p.Shape]] = ()
    """What it answers with, one of these; nothing stands for a picture, or what media says."""
    media: str = _SVG
    parameters: Sequence[Parameter] = ()
    wrong: Sequence[int] = (400, 404)
    error: type[p.Shape] | None = p.Error
    """What says so; nothing stands for a page."""
    refused: Sequence[type[p.Shape]] = ()
    """What else says so where the status is 400."""
    form: Mapping[str, Any] | None = None


def _text(name: str, about: str, **more: Any) -> Parameter:
    made = {"name": name, "in": "query", "description": about, "schema": {"type": "string"}}
    return {**made, **more}


def _path(name: str, about: str, **schema: Any) -> Parameter:
    shape = {"type": "string", "minLength": 1, **schema}
    return {"name": name, "in": "path", "required": True, "description": about, "schema": shape}


def _whole(name: str, about: str, low: int, high: int) -> Parameter:
    return _text(name, about, schema={"type": "integer", "minimum": low, "maximum": high})


def _one_of(name: str, about: str, words: Sequence[str]) -> Parameter:
    return _text(name, about, schema={"type": "string", "enum": list(words)})


def _several(name: str, about: str, schema: Mapping[str, Any], **more: Any) -> Parameter:
    return _text(name, about, schema={"type": "array", "items": schema}, **more)


_RUN = _path("run", "a run's id, name, or @last")
_SUITE = _path("suite", "a suite's key, or its beginning", minLength=8)
_AUTHOR = _text("author", "who gives the marks")
_MARKED = (_text("case", "the case to mark"), _text("criterion", "the criterion to mark it by"))
_RUNS = _several("run", "the runs, 2 to 4 of them", {"type": "string"}, required=True)
_FIGHTERS = _several("run", "the runs, at least 2", {"type": "string"}, required=True)
_ATTEMPT = _whole("attempt", "which attempt", 0, _MOST_INT)
_UUID = {"type": "string", "format": "uuid"}
_TEST_SUITE = _path("suite", "a suite's id", format="uuid")
_TEST_RUN = _path("run", "a run's id", format="uuid")
_PAGES = (
    _whole("page", "which page, from 1", 1, _MOST_INT),
    _whole("page_size", "how many on a page", 1, api_v3.MOST),
)


def _turned(names: Sequence[str]) -> Parameter:
    both = [f"{sign}{name}" for name in names if name for sign in ("", "-")]
    return _one_of("sort", "the order; after a minus, turned around", both)


_MARK_FORM = {
    "type": "object",
    "required": ["csrf", "mark", "case"],
    "properties": {
        "csrf": {"type": "string", "description": "what the page's form holds"},
        "mark": {"type": "string", "enum": ["0", "1"]},
        **{name: {"type": "string"} for name in ("case", "attempt", "criterion", "note", "author")},
    },
}

OPERATIONS: Mapping[tuple[str, str], Operation] = {
    ("get", "/home.json"): Operation(
        summary="Suites and the latest runs",
        answers=(p.Home,),
        parameters=[
            _text("q", "a text that a name contains, or a case's question or answers"),
            *(_text(name, f"only this {name}") for name in ("dialect", "scorer", "candidate")),
            _text("status", "only runs in this state"),
        ],
        wrong=(),
    ),
    ("get", "/suites/{suite}.json"): Operation(
        summary="A suite, its runs, and a page of its cases",
        answers=(p.SuitePage,),
        parameters=[_SUITE, _whole("after", "after which position", -1, _MOST_INT)],
    ),
    ("get", "/runs/{run}.json"): Operation(
        summary="A run's numbers, and a page of its cases",
        answers=(p.RunPage,),
        parameters=[
            _RUN,
            _text("where", "an expression over the case and its tags"),
            _text("q", "a text that the case contains"),
            _one_of("status", "only cases in this state", run.STATUSES),
            _one_of("sort", "the order", run.SORTS),
            _one_of("order", "up or down", ("up", "down")),
            _whole("size", "how many cases", 1, run.MOST),
            _text("after", "what `next` says"),
        ],
        refused=(p.RunPage,),
    ),
    ("get", "/runs/{run}/progress.json"): Operation(
        summary="How far a run has come",
        answers=(p.Progress,),
        parameters=[_RUN],
        wrong=(404,),
    ),
    ("get", "/runs/{run}/histogram.svg"): Operation(
        summary="The distribution of a run's values, as a picture",
        parameters=[_RUN],
        wrong=(404,),
        error=None,
    ),
    ("get", "/runs/{run}/cases/{case}.json"): Operation(
        summary="One case of a run",
        answers=(c.CasePage,),
        parameters=[_RUN, _path("case", "the case's id")],
    ),
    ("get", "/runs/{run}/case.json"): Operation(
        summary="One case of a run, whatever its id",
        answers=(c.CasePage,),
        parameters=[_RUN, _text("id", "the case's id", required=True)],
    ),
    ("get", "/runs/{run}/file.txt"): Operation(
        summary="A file that an agent left in its working folder, to be saved",
        media="text/plain",
        parameters=[
            _RUN,
            _text("case", "the case's id", required=True),
            _ATTEMPT,
            _text("name", "the file's name", required=True),
        ],
        wrong=(404,),
        error=None,
    ),
    ("get", "/runs/{run}/label.json"): Operation(
        summary="An attempt to be marked, and how far the judge agrees",
        answers=(c.LabelPage,),
        parameters=[_RUN, *_MARKED, _ATTEMPT, _AUTHOR],
    ),
    ("post", "/runs/{run}/label"): Operation(
        summary="Give a mark; only the page's own form may",
        parameters=[_RUN],
        wrong=(400, 403, 404, 413),
        error=None,
        form=_MARK_FORM,
    ),
    ("get", "/compare.json"): Operation(
        summary="Runs compared, or with `case` one case in all of them",
        answers=(c.ComparedPage, c.ComparedCase),
        parameters=[
            _RUNS,
            _text("case", "one case"),
            _text("kind", "only cases that changed so"),
            _text("q", "a text that the case contains"),
            _text("where", "an expression over both values and tags"),
            _whole("after", "after which position", -1, _MOST_INT),
            _one_of("same", "1 goes on among cases that did not change", ("0", "1")),
            _one_of("force", "1 compares what differs in signature", ("0", "1")),
        ],
        refused=(c.ComparedRefused,),
    ),
    ("get", "/battles.json"): Operation(
        summary="What judges preferred among runs",
        answers=(c.BattlesPage,),
        parameters=[_FIGHTERS],
    ),
    ("get", "/openapi.json"): Operation(summary="This document", answers=(p.Shape,), wrong=()),
    ("get", api_v3.ROOT): Operation(
        summary="Suites of Arthur Bench",
        answers=(b.BenchSuites,),
        parameters=[
            *_PAGES,
            _turned(api_v3.SUITE_SORTS),
            _several("scoring_method", "only these methods", {"type": "string"}),
            _text("name", "only this name"),
        ],
        wrong=(422,),
        error=b.BenchError,
    ),
    ("get", f"{api_v3.ROOT}/{{suite}}"): Operation(
        summary="A suite and a page of its cases",
        answers=(b.BenchSuiteCases,),
        parameters=[_TEST_SUITE, *_PAGES],
        wrong=(404, 422),
        error=b.BenchError,
    ),
    ("get", f"{api_v3.ROOT}/{{suite}}/runs"): Operation(
        summary="The runs of a suite",
        answers=(b.BenchRuns,),
        parameters=[_TEST_SUITE, *_PAGES, _turned(api_v3.RUN_SORTS)],
        wrong=(404, 422),
        error=b.BenchError,
    ),
    ("get", f"{api_v3.ROOT}/{{suite}}/runs/summary"): Operation(
        summary="Averages and distributions of a suite's runs, all where no page is named",
        answers=(b.BenchSummaries,),
        parameters=[
            _TEST_SUITE,
            _PAGES[0],
            _whole("page_size", "how many on a page", 1, api_v3.MOST_SUMMARIES),
            _several("run_ids", "only these runs", _UUID),
        ],
        wrong=(404, 422),
        error=b.BenchError,
    ),
    ("get", f"{api_v3.ROOT}/{{suite}}/runs/{{run}}"): Operation(
        summary="A run and a page of its outputs",
        answers=(b.BenchRunOutputs,),
        parameters=[_TEST_SUITE, _TEST_RUN, *_PAGES, _turned(api_v3.RESULT_SORTS)],
        wrong=(404, 422),
        error=b.BenchError,
    ),
}


@cache
def document() -> dict[str, Any]:
    """Make the document."""
    from pydantic.json_schema import models_json_schema

    shapes = {
        one
        for made in OPERATIONS.values()
        for one in (*made.answers, *made.refused, made.error)
        if one
    }
    ordered = sorted(shapes, key=lambda shape: shape.__name__)
    _, defined = models_json_schema(
        [(shape, "serialization") for shape in ordered],
        ref_template="#/components/schemas/{model}",
    )
    paths: dict[str, Any] = {}
    for (method, path), made in OPERATIONS.items():
        paths.setdefault(path, {})[method] = _operation(made)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Proctor",
            "version": __version__,
            "description": "The pages of `proctor view` as JSON, and the read endpoints of"
            " Arthur Bench. More keys may be added to an object; those described stay.",
        },
        "paths": paths,
        "components": {
            "schemas": defined["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def show_document(request: Request) -> Response:
    """Answer with the document."""
    return json_answer(document())


def _operation(made: Operation) -> dict[str, Any]:
    if made.form is not None:
        good: dict[str, Any] = {"303": {"description": "stored; the next case follows"}}
    else:
        good = {"200": {"description": made.summary, "content": _content(made.answers, made.media)}}
    wrong = {
        str(status): {"description": "what is wrong", "content": _wrong(made, status)}
        for status in made.wrong
    }
    operation = {
        "summary": made.summary,
        "parameters": list(made.parameters),
        "responses": good | wrong,
    }
    if made.form is not None:
        body = {"application/x-www-form-urlencoded": {"schema": made.form}}
        operation["requestBody"] = {"required": True, "content": body}
    return operation


def _wrong(made: Operation, status: int) -> dict[str, Any]:
    if made.error is None:
        return {"text/html": {"schema": {"type": "string"}}}
    return _content([made.error, *(made.refused if status == 400 else ())])


def _content(shapes: Sequence[type[p.Shape]], media: str = _SVG) -> dict[str, Any]:
    refs = [{"$ref": f"#/components/schemas/{shape.__name__}"} for shape in shapes]
    if not refs:
        return {media: {"schema": {"type": "string"}}}
    return {_JSON: {"schema": refs[0] if len(refs) == 1 else {"anyOf": refs}}}


routes = [Route("/openapi.json", show_document)]
