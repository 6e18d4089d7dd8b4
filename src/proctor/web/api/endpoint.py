"""Entries of the route table: a path, its handler, and its description in the OpenAPI document."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proctor.web.api.response import Error, HtmlPage, Page, ResponseModel
from proctor.web.rendering import answer_with

Parameter = dict[str, Any]
Handler = Callable[[Request], Page[ResponseModel] | HtmlPage | ResponseModel | Response]
SVG = "image/svg+xml"
LARGEST_INT = (1 << 31) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Description of an endpoint in the OpenAPI document, besides its handler's response models."""

    summary: str
    parameters: Sequence[Parameter] = ()
    wrong: Sequence[int] = (400, 404)
    """Every error status that it may return."""
    error: type[ResponseModel] | None = Error
    """The model of an error response; None for an HTML page."""
    also_wrong: Sequence[type[ResponseModel]] = ()
    """Response models that also come with status 400."""
    media: str = SVG
    """The media type of a response that has no response model."""
    form: Mapping[str, Any] | None = None
    form_media: str = "application/x-www-form-urlencoded"


class Endpoint(Route):
    """A route that the OpenAPI document describes, as ``path`` or as the JSON of that page."""

    def __init__(
        self,
        path: str,
        handler: Handler,
        operation: Operation | None = None,
        *,
        twin: str | None = None,
    ) -> None:
        """Serve a handler; a page whose JSON has its own route needs no operation here."""

        def endpoint(request: Request) -> Response:
            return answer_with(request, handler(request))

        super().__init__(path, endpoint, methods=["GET"], name=handler.__name__)
        self.method = "get"
        self.operation = operation
        self.documented_path = (twin or path).replace(":path}", "}")
        self.models = response_models(handler)


class FormEndpoint(Route):
    """A route that receives a form of a page."""

    def __init__(
        self, path: str, handler: Callable[[Request], Awaitable[Response]], operation: Operation
    ) -> None:
        """Serve a form handler."""
        super().__init__(path, handler, methods=["POST"])
        self.method = "post"
        self.operation: Operation | None = operation
        self.documented_path = path
        self.models: tuple[type[ResponseModel], ...] = ()


def response_models(handler: Callable[..., Any]) -> tuple[type[ResponseModel], ...]:
    """Return the response models in a handler's return annotation."""
    return tuple(_models_in(get_type_hints(handler)["return"]))


def _models_in(annotation: Any) -> Iterator[type[ResponseModel]]:
    if get_origin(annotation) in (Page, Union, UnionType):
        for part in get_args(annotation):
            yield from _models_in(part)
    elif isinstance(annotation, type) and issubclass(annotation, ResponseModel):
        yield annotation


def text(name: str, about: str, **more: Any) -> Parameter:
    """Describe a query parameter."""
    parameter = {"name": name, "in": "query", "description": about, "schema": {"type": "string"}}
    return {**parameter, **more}


def in_path(name: str, about: str, **schema: Any) -> Parameter:
    """Describe a path parameter."""
    shape = {"type": "string", "minLength": 1, **schema}
    return {"name": name, "in": "path", "required": True, "description": about, "schema": shape}


def whole(name: str, about: str, low: int, high: int = LARGEST_INT) -> Parameter:
    """Describe an integer query parameter."""
    return text(name, about, schema={"type": "integer", "minimum": low, "maximum": high})


def choice(name: str, about: str, words: Sequence[str]) -> Parameter:
    """Describe a parameter with a fixed set of values."""
    return text(name, about, schema={"type": "string", "enum": list(words)})


def several(name: str, about: str, schema: Mapping[str, Any], **more: Any) -> Parameter:
    """Describe a parameter that may be repeated."""
    return text(name, about, schema={"type": "array", "items": schema}, **more)


RUN = in_path("run", "a run's id, name, or @last")
SUITE = in_path("suite", "a suite's key, or its beginning", minLength=8)
