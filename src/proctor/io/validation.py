"""Data from outside against a pydantic model: every error as a problem with its place."""

import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError

from proctor.errors import Problem, SuiteError
from proctor.io.described import describe
from proctor.io.text_files import Document, Loc
from proctor.suggestions import suggest

MOST = 1000
MOST_CUTS = 8
"""How often a document is checked again without what was wrong in it."""

Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """Base of what is read from files: unknown keys are errors, nothing changes later."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=False)


def validate(model: type[Model], document: Document, data: Any = None, at: Loc = ()) -> Model:
    """Check a document, or the part of it at a location, and raise every problem at once."""
    value = document.data if data is None else data
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise SuiteError(problems_of(error, model, document, value, at)) from None


def validate_rest(model: type[Model], document: Document) -> tuple[Model | None, list[Problem]]:
    """Check a document, and return it without what is wrong, with every problem.

    What is left can be checked further, so that mistakes of all kinds are found at once. None is
    left where something that is needed is wrong or missing.
    """
    value = document.data
    problems: list[Problem] = []
    for _ in range(MOST_CUTS):
        try:
            return model.model_validate(value), problems
        except ValidationError as error:
            problems = problems or problems_of(error, model, document, value)
            value = without_errors(value, error)
        if value is None:
            break
    return None, problems


def without_errors(value: Any, error: ValidationError) -> Any:
    """Return data without the parts that pydantic finds wrong; none where nothing can be cut."""
    locs = [_real_loc(value, item["loc"]) for item in error.errors(include_url=False)]
    return _without(value, locs) if all(locs) else None


def _without(value: Any, locs: Iterable[Loc]) -> Any:
    """Leave out the parts at some places; of a list, all from there on, so that places stay."""
    copy = deepcopy(value)
    for *path, last in locs:
        part = copy
        try:
            for step in path:
                part = part[step]
            if isinstance(part, list) and isinstance(last, int):
                del part[last:]
            else:
                del part[last]
        except (KeyError, IndexError):
            continue
    return copy


def problems_of(
    error: ValidationError, model: type[BaseModel], document: Document, value: Any, at: Loc = ()
) -> list[Problem]:
    """Turn pydantic's errors into problems, each where the value stands."""
    problems = []
    for item in error.errors(include_url=False)[:MOST]:
        loc = _real_loc(value, item["loc"])
        keys = _keys_at(model, item["loc"][:-1]) if item["type"] in _UNKNOWN_KEY else ()
        hint = suggest(str(item["loc"][-1]), keys) if keys else ""
        if item["type"] in _NUMBER and isinstance(item.get("input"), str):
            hint = comma_hint(item["input"])
        message = _message(item, _TEMPLATES, describe)
        problems.append(document.problem((*at, *loc), message, hint=hint))
    return problems


_NUMBER = ("float_parsing", "float_type", "int_parsing", "int_type")
_COMMA = re.compile(r"\s*([+-]?)(\d+|\d{1,3}(?:[.\s']\d{3})+),(\d+)\s*")


def number_with_comma(text: str) -> float | None:
    """Read a number with a decimal comma; none where there is none, or where it may be another.

    ``1,500`` may be one and a half, or fifteen hundred.
    """
    match = _COMMA.fullmatch(text)
    if match is None:
        return None
    sign, whole, decimals = match.groups()
    if len(decimals) == 3 and whole.isdigit() and not whole.startswith("0"):
        return None
    digits = "".join(filter(str.isdigit, whole))
    return float(f"{sign}{digits}.{decimals}")


def comma_hint(text: str) -> str:
    """Say how a number is written that has a comma; empty where that is not what is wrong."""
    match = _COMMA.fullmatch(text)
    if match is None:
        return ""
    sign, whole, decimals = match.groups()
    if (value := number_with_comma(text)) is not None:
        return f"write {value!r}: numbers have a decimal point"
    return f"write {sign}{whole}.{decimals} or {sign}{whole}{decimals}: numbers have a point"


_UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
_TEMPLATES: Mapping[str, str] = {
    "missing": "the key {key!r} is missing",
    "extra_forbidden": "unknown key {key!r}",
    "unexpected_keyword_argument": "unknown key {key!r}",
    "string_type": "expected a string, not {got}",
    "bool_parsing": "expected true or false, not {got}",
    "bool_type": "expected true or false, not {got}",
    "float_parsing": "expected a number, not {got}",
    "float_type": "expected a number, not {got}",
    "int_parsing": "expected a whole number, not {got}",
    "int_type": "expected a whole number, not {got}",
    "int_from_float": "expected a whole number, not {got}",
    "list_type": "expected a list, not {got}",
    "tuple_type": "expected a list, not {got}",
    "dict_type": "expected a mapping, not {got}",
    "model_type": "expected a mapping, not {got}",
    "model_attributes_type": "expected a mapping, not {got}",
    "dataclass_type": "expected a mapping, not {got}",
    "finite_number": "expected a finite number, not {got}",
    "greater_than": "expected more than {gt:g}, not {got}",
    "greater_than_equal": "expected {ge:g} or more, not {got}",
    "less_than": "expected less than {lt:g}, not {got}",
    "less_than_equal": "expected {le:g} or less, not {got}",
    "literal_error": "expected one of {expected}, not {got}",
}


def _message(item: Any, templates: Mapping[str, str], describe_value: Callable[[Any], str]) -> str:
    template = templates.get(item["type"])
    if template is None:
        message = str(item["msg"]).removeprefix("Value error, ")
        return message[:1].lower() + message[1:]
    key = item["loc"][-1] if item["loc"] else ""
    parts = {**item.get("ctx", {}), "key": key, "got": describe_value(item.get("input"))}
    return template.format(**parts)


def _real_loc(value: Any, loc: Iterable[Any]) -> Loc:
    """Leave out the parts of pydantic's location that are not in the data (union branches)."""
    real: list[str | int] = []
    for part in loc:
        inside = isinstance(value, dict) and part in value
        if inside or (isinstance(value, list) and isinstance(part, int) and part < len(value)):
            real.append(part)
            value = value[part]
    return tuple(real)


def _keys_at(model: Any, loc: Iterable[Any]) -> set[str]:
    """Return the keys a nested model or dataclass knows, walking to it by field names."""
    for part in loc:
        annotation = _fields_of(model).get(part)
        if annotation is not None:
            model = _model_in(annotation) or model
    return set(_fields_of(model))


def _fields_of(model: Any) -> Mapping[Any, Any]:
    if isinstance(model, type) and issubclass(model, BaseModel):
        return {f.alias or name: f.annotation for name, f in model.model_fields.items()}
    if not is_dataclass(model):
        return {}
    hints = get_type_hints(model)
    return {f.name: hints[f.name] for f in fields(model)}


def _model_in(annotation: Any) -> Any:
    """Find the model class inside list[Model], Model | None, Annotated[Model, …] and the like."""
    if isinstance(annotation, type) and (
        issubclass(annotation, BaseModel) or is_dataclass(annotation)
    ):
        return annotation
    return next((model for arg in get_args(annotation) if (model := _model_in(arg))), None)


def words_of(
    error: ValidationError,
    *,
    templates: Mapping[str, str] = _TEMPLATES,
    describe: Callable[[Any], str] = describe,
) -> list[str]:
    """Return pydantic's errors in our words, each after the name of its field."""
    lines = []
    for item in error.errors(include_url=False):
        message = _message(item, templates, describe)
        field = ".".join(str(part) for part in item["loc"])
        lines.append(f"{field}: {message}" if field else message)
    return lines
