"""The OpenAPI document of the server of scores."""

from collections.abc import Iterable
from typing import Any

from proctor.core.suite import Json
from proctor.version import __version__

NDJSON = "application/x-ndjson"


def openapi(most_outputs: int) -> dict[str, Json]:
    """Return the document of a server that takes so many outputs in a request."""
    output = {
        "type": "object",
        "required": ["case", "output"],
        "additionalProperties": False,
        "properties": {
            "case": {"type": "string", "description": "the id of a case of the suite"},
            "output": {
                "type": ["string", "null"],
                "description": "what the candidate answered; null where it gave no answer",
            },
        },
    }
    score = {
        "type": "object",
        "required": ["status", "points", "out_of", "reason"],
        "properties": {
            "status": {"enum": ["scored", "failed", "not_applicable"]},
            "points": {"type": ["number", "null"]},
            "out_of": {"type": ["number", "null"]},
            "reason": {"type": "string"},
            "detail": {"description": "what the scorer found, in a shape of its own"},
        },
    }
    result = {
        "type": "object",
        "required": ["index", "case", "value", "status", "why", "scores", "seconds"],
        "properties": {
            "index": {"type": "integer", "description": "the place in the request, from 0"},
            "case": {"type": "string"},
            "value": {
                "type": ["number", "null"],
                "description": "what the output is worth; null where it could not be scored",
            },
            "status": {"enum": ["scored", "unanswered", "unscored", "shown"]},
            "why": {"type": "string", "description": "why there is no value, or no full marks"},
            "scores": {"type": "object", "additionalProperties": _ref("Score")},
            "seconds": {"type": "number", "description": "how long scoring took"},
        },
    }
    error = {
        "type": "object",
        "properties": {
            "error": {
                "type": "object",
                "properties": {"status": {"type": "integer"}, "message": {"type": "string"}},
            }
        },
    }
    many = {
        "type": "object",
        "required": ["outputs"],
        "properties": {
            "outputs": {"type": "array", "maxItems": most_outputs, "items": _ref("Output")}
        },
    }
    refused = {
        400: "not JSON, or not of this shape",
        401: "no token, or a wrong one",
        403: "sent by a page in a browser",
        404: "the suite has no such case",
        413: "too long, or too many outputs",
        415: "not application/json",
        421: "another Host header than the server's own",
        429: "too many outputs wait; Retry-After says when to try again",
        503: "the server is stopping",
    }
    error_content = {"application/json": {"schema": _ref("Error")}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Proctor: scoring of outputs", "version": __version__},
        "paths": {
            "/score": {
                "post": {
                    "summary": "Score one output, or many",
                    "requestBody": {
                        "required": True,
                        "content": {
                            "application/json": {
                                "schema": {"oneOf": [_ref("Output"), _ref("Outputs")]}
                            }
                        },
                    },
                    "responses": {
                        "200": {
                            "description": "one result; of many, one a line, as they come",
                            "content": {
                                "application/json": {"schema": _ref("Result")},
                                NDJSON: {"schema": _ref("Result")},
                            },
                        },
                        **_refusals(refused.items(), error_content),
                    },
                }
            },
            "/healthz": {
                "get": {
                    "summary": "Whether the server works; with the token, also its counts",
                    "security": [],
                    "responses": {"200": {"description": "it does"}},
                }
            },
        },
        "components": {
            "schemas": {
                "Output": output,
                "Outputs": many,
                "Score": score,
                "Result": result,
                "Error": error,
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _refusals(rows: Iterable[tuple[int, str]], content: Any) -> dict[str, Json]:
    return {str(status): {"description": text, "content": content} for status, text in rows}
