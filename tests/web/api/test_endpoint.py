"""Entries of the route table: how a path and its parameters are described."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from proctor.web.api.endpoint import (
    LARGEST_INT,
    Endpoint,
    FormEndpoint,
    Operation,
    choice,
    in_path,
    response_models,
    several,
    text,
    whole,
)
from proctor.web.api.response import ErrorTold, HtmlPage, Page


def shown(request: Request) -> Page[ErrorTold] | HtmlPage:
    raise NotImplementedError


def picture(request: Request) -> Response:
    return Response("x")


async def form(request: Request) -> Response:
    return Response("x")


def test_a_page_is_described_as_the_json_that_it_also_is() -> None:
    operation = Operation(summary="A case")
    page = Endpoint("/cases/{case:path}", shown, operation, twin="/cases/{case}.json")
    assert (page.documented_path, page.method, page.name) == ("/cases/{case}.json", "get", "shown")
    assert page.models == (ErrorTold,)
    assert Endpoint("/cases/{case:path}", shown).documented_path == "/cases/{case}"
    assert Endpoint("/cases/{case:path}", shown).operation is None
    assert page.methods == {"GET", "HEAD"}


def test_a_picture_and_a_form_have_no_model() -> None:
    assert response_models(picture) == ()
    posted = FormEndpoint("/label", form, Operation(summary="A label", form={}))
    assert (posted.method, posted.methods, posted.models) == ("post", {"POST"}, ())


def test_parameters_say_where_they_are_and_what_they_may_be() -> None:
    def schema(parameter: dict[str, Any]) -> Any:
        return parameter["schema"]

    assert text("q", "words", required=True)["required"] is True
    assert text("q", "words")["in"] == "query"
    place = in_path("run", "a run", minLength=8)
    assert (place["in"], place["required"], schema(place)["minLength"]) == ("path", True, 8)
    assert schema(whole("n", "how many", 1)) == {
        "type": "integer",
        "minimum": 1,
        "maximum": LARGEST_INT,
    }
    assert schema(choice("order", "which way", ("up", "down")))["enum"] == ["up", "down"]
    assert schema(several("run", "runs", {"type": "string"})) == {
        "type": "array",
        "items": {"type": "string"},
    }
