"""The OpenAPI document, derived from the route table and the response models of its handlers."""

from collections.abc import Iterable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from proctor.version import __version__
from proctor.web.api.endpoint import Endpoint, FormEndpoint, Operation
from proctor.web.api.response import Error, ResponseModel

_JSON = "application/json"


class OpenApiDocument(ResponseModel):
    """An OpenAPI document."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]
    components: dict[str, Any]
    security: list[dict[str, Any]]


def described(routes: Iterable[BaseRoute]) -> list[Endpoint | FormEndpoint]:
    """Return the routes that the document describes."""
    documented = (Endpoint, FormEndpoint)
    return [one for one in routes if isinstance(one, documented) and one.operation is not None]


def document(routes: Iterable[BaseRoute]) -> OpenApiDocument:
    """Build the OpenAPI document of a route table."""
    from pydantic.json_schema import models_json_schema

    endpoints = described(routes)
    models = {model for one in endpoints for model in _models_of(one)}
    _, schemas = models_json_schema(
        [(model, "serialization") for model in sorted(models, key=lambda model: model.__name__)],
        ref_template="#/components/schemas/{model}",
    )
    paths: dict[str, Any] = {}
    for one in endpoints:
        paths.setdefault(one.documented_path, {})[one.method] = _operation(one)
    return OpenApiDocument(
        openapi="3.1.0",
        info={
            "title": "Proctor",
            "version": __version__,
            "description": "The pages of `proctor view` as JSON, and the read endpoints of"
            " Arthur Bench. Later versions may add keys to an object; described keys stay.",
        },
        paths=paths,
        components={
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        security=[{}, {"token": []}],
    )


def show_document(request: Request) -> OpenApiDocument:
    """Return the OpenAPI document of this application."""
    state = request.app.state
    if not hasattr(state, "openapi"):
        state.openapi = document(request.app.routes)
    openapi: OpenApiDocument = state.openapi
    return openapi


def _models_of(endpoint: Endpoint | FormEndpoint) -> Sequence[type[ResponseModel]]:
    error = endpoint.operation.error if endpoint.operation else None
    return [*endpoint.models, *([error] if error else [])]


def _operation(endpoint: Endpoint | FormEndpoint) -> dict[str, Any]:
    operation = endpoint.operation
    assert operation is not None
    answers = [model for model in endpoint.models if not issubclass(model, Error)]
    if operation.form is not None:
        good: dict[str, Any] = {"303": {"description": "stored; redirects to the next case"}}
    else:
        content = _content(answers) or {operation.media: {"schema": {"type": "string"}}}
        good = {"200": {"description": operation.summary, "content": content}}
    wrong = {
        str(status): {
            "description": "an error",
            "content": _wrong(endpoint, status),
        }
        for status in operation.wrong
    }
    described_operation = {
        "summary": operation.summary,
        "parameters": list(operation.parameters),
        "responses": good | wrong,
    }
    if operation.form is not None:
        body = {operation.form_media: {"schema": operation.form}}
        described_operation["requestBody"] = {"required": True, "content": body}
    return described_operation


def _wrong(endpoint: Endpoint | FormEndpoint, status: int) -> dict[str, Any]:
    error = endpoint.operation.error if endpoint.operation else None
    if error is None:
        return {"text/html": {"schema": {"type": "string"}}}
    return _content([error, *(wrong_models(endpoint) if status == 400 else ())])


def wrong_models(endpoint: Endpoint | FormEndpoint) -> list[type[ResponseModel]]:
    """Return the response models of a handler that come with status 400."""
    also = endpoint.operation.also_wrong if endpoint.operation else ()
    return [model for model in endpoint.models if issubclass(model, Error) or model in also]


def _content(models: Sequence[type[ResponseModel]]) -> dict[str, Any]:
    refs = [{"$ref": f"#/components/schemas/{model.__name__}"} for model in models]
    return {_JSON: {"schema": refs[0] if len(refs) == 1 else {"anyOf": refs}}} if refs else {}


routes = [Endpoint("/openapi.json", show_document, Operation(summary="This document", wrong=()))]
