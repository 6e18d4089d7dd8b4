"""JSON Schemas of suites: checked when a suite is read, and followed or not by a value.

Nothing is fetched: a reference leads to another part of the same schema, or to one of the drafts
themselves. Regular expressions in a schema may run away, so such schemas are followed in a process.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import date, datetime, time
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from proctor.core.suite import Json
from proctor.core.tool_calls import is_list
from proctor.io import json_bytes
from proctor.suggestions import closest, did_you_mean

MOST_ERRORS = 20
_RUNAWAY = frozenset({"pattern", "patternProperties", "$ref", "$dynamicRef", "$recursiveRef"})
"""What may take long on little: patterns, and parts that lead to each other."""
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ANNOTATIONS = frozenset(
    {
        "$schema",
        "$id",
        "$anchor",
        "$dynamicAnchor",
        "$recursiveAnchor",
        "$vocabulary",
        "$comment",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "example",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "nullable",
        "discriminator",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "then",
        "else",
        "id",
        "name",
        "strict",
    }
)
"""Keywords that the validator has no function for."""
_MISSPELT = 0.8
"""How like a keyword a key is that was probably meant as one."""
_PLAIN_WORD = re.compile(
    r"(?!(?:true|false|null|yes|no|on|off|y|n)\Z)[A-Za-z_][\w ./-]*", re.IGNORECASE
)
"""What needs no quotes in YAML."""
_HOST = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")
_OFFSET = re.compile(r"[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)\Z")
_DURATION = re.compile(
    r"P(?:\d+W|(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)"
)


def schema_problems(schema: Mapping[str, Json]) -> Iterator[str]:
    """Yield what is wrong with a schema."""
    from jsonschema.exceptions import SchemaError

    for reference in _outer_references(schema):
        yield (
            f"the schema refers to {reference!r}, and nothing is fetched"
            " (fix: put it under $defs, and refer to it as '#/$defs/NAME')"
        )
        return
    for pattern in _patterns(schema):
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            yield f"the schema's regular expression {pattern!r} does not compile: {error}"
            return
    kind = _validator_class(schema)
    try:
        kind.check_schema(_plain(schema))
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path))
        yield f"the schema is not valid{f' at {where}' if where else ''}: {error.message[:300]}"
    except RecursionError:
        yield "the schema is nested too deep"
    else:
        yield from _unknown_keywords(schema, {*kind.VALIDATORS, *_ANNOTATIONS})


def is_schema_like(params: Mapping[str, Json]) -> bool:
    """Tell whether keys look like those of a schema: all of them are keywords."""
    kind = _validator_class({})
    return bool(params) and params.keys() <= {*kind.VALIDATORS, *_ANNOTATIONS}


def flow_text(value: Json, most: int = 120) -> str:
    """Write a value as people write it on one line of YAML; what is long is cut."""
    text = _flow(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _flow(value: Json) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(part)}" for key, part in value.items()) + "}"
    if is_list(value):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str) and _PLAIN_WORD.fullmatch(value):
        return value
    return json_bytes.dumps(value).decode()


def _unknown_keywords(schema: Mapping[str, Json], keywords: Collection[str]) -> Iterator[str]:
    """Yield what is no keyword of a schema and decides what it demands: it would demand nothing."""
    unknown = [str(key) for key in schema if key not in keywords]
    for key in unknown:
        if near := closest(key, keywords, cutoff=_MISSPELT):
            yield f"{key!r} is no keyword of JSON Schema; {did_you_mean(near)}"
            return
    if unknown and len(unknown) == len(schema):
        yield (
            f"the schema has no keyword of JSON Schema, only {unknown[0]!r} (fix: write the schema"
            " here; one in a file is named by the case, as response_format: {file: schema.json})"
        )


def can_run_away(schema: Mapping[str, Json]) -> bool:
    """Tell whether following a schema may take long on a short value."""
    return any(key in _RUNAWAY for part in _mappings(schema) for key in part)


def schema_errors(schema: Mapping[str, Json], value: Json) -> list[tuple[str, str]]:
    """Return where and why a value does not follow a schema, the first few of all reasons."""
    from jsonschema.exceptions import relevance
    from referencing.exceptions import Unresolvable

    validator = _validator(json_bytes.dumps_small(_plain(schema)))
    try:
        errors = sorted(validator.iter_errors(value), key=relevance, reverse=True)
    except Unresolvable as error:
        return [("", f"the schema refers to {error.ref!r}, which it does not have")]
    shown = [(_path(error.absolute_path), error.message[:300]) for error in errors]
    return sorted(shown)[:MOST_ERRORS]


def _path(parts: Any) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text


@lru_cache(maxsize=512)
def _validator(text: bytes) -> Any:
    schema = json_bytes.loads(text)
    from referencing import Registry

    kind = _validator_class(schema)
    return kind(schema, registry=Registry(), format_checker=_formats())


def _validator_class(schema: Mapping[str, Json]) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    named = schema.get("$schema")
    return validator_for({"$schema": named} if isinstance(named, str) else {}, Draft202012Validator)


@lru_cache(maxsize=1)
def _formats() -> Any:
    """Return what checks formats: also those for which the library would need more packages."""
    from jsonschema import FormatChecker

    checker = FormatChecker()
    for name, check in _FORMATS.items():
        checker.checks(name, raises=ValueError)(check)
    return checker


def _is_date_time(value: object) -> bool:
    if not isinstance(value, str):
        return True
    datetime.fromisoformat(value.replace("z", "Z"))
    return _OFFSET.search(value) is not None


def _is_time(value: object) -> bool:
    if not isinstance(value, str):
        return True
    time.fromisoformat(value)
    return _OFFSET.search(f"T{value}") is not None


def _is_date(value: object) -> bool:
    if not isinstance(value, str):
        return True
    return len(value) == 10 and date.fromisoformat(value) is not None


def _is_uri(value: object) -> bool:
    if not isinstance(value, str):
        return True
    parts = urlsplit(value)
    return bool(parts.scheme and (parts.netloc or parts.path)) and not re.search(r"[\s<>\"]", value)


def _is_host(value: object) -> bool:
    if not isinstance(value, str):
        return True
    labels = value.removesuffix(".").split(".")
    return len(value) <= 253 and all(_HOST.fullmatch(label) for label in labels)


def _is_duration(value: object) -> bool:
    return not isinstance(value, str) or _DURATION.fullmatch(value) is not None


def _is_pointer(value: object) -> bool:
    if not isinstance(value, str):
        return True
    return (not value or value.startswith("/")) and not re.search(r"~(?![01])", value)


_FORMATS = {
    "date-time": _is_date_time, "time": _is_time, "date": _is_date, "uri": _is_uri,
    "hostname": _is_host, "duration": _is_duration, "json-pointer": _is_pointer,
}  # fmt: skip


def _mappings(value: Json) -> Iterator[Mapping[str, Json]]:
    """Yield a mapping and all mappings inside of it, without recursion."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            yield part
            waiting += part.values()
        elif is_list(part):
            waiting += part


def _outer_references(schema: Mapping[str, Json]) -> Iterator[str]:
    own = {part["$id"] for part in _mappings(schema) if isinstance(part.get("$id"), str)}
    for part in _mappings(schema):
        for key in _REFERENCES:
            reference = part.get(key)
            if isinstance(reference, str) and not reference.startswith("#"):
                target = reference.partition("#")[0]
                if target not in own and not target.startswith("https://json-schema.org/draft/"):
                    yield reference


def _patterns(schema: Mapping[str, Json]) -> Iterator[str]:
    for part in _mappings(schema):
        if isinstance(part.get("pattern"), str):
            yield part["pattern"]
        if isinstance(part.get("patternProperties"), Mapping):
            yield from map(str, part["patternProperties"])


def _plain(value: Json) -> Json:
    """Return parameters as JSON: lists in place of tuples."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if is_list(value) else value
