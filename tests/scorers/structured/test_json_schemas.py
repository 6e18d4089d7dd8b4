"""Schemas of suites that are large, deep or lead in circles."""

import re
from typing import Any

import pytest

from proctor.scorers.structured.json_schemas import (
    MOST_ERRORS,
    can_run_away,
    schema_errors,
    schema_problems,
)


def test_only_the_first_errors_are_told() -> None:
    errors = schema_errors({"items": {"type": "string"}}, list(range(100)))
    assert len(errors) == MOST_ERRORS
    assert ("[0]", "0 is not of type 'string'") in errors


def test_parameters_keep_lists_as_tuples() -> None:
    schema = {"required": ("a",), "properties": {"a": {"enum": ("x", "y")}}}
    assert list(schema_problems(schema)) == []
    assert schema_errors(schema, {"a": "x"}) == []
    assert schema_errors(schema, {}) == [("", "'a' is a required property")]


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"file": "schema.json"}, "no keyword of JSON Schema, only 'file' .*response_format"),
        ({"requird": ["city"]}, "'requird' is no keyword .*did you mean 'required'"),
        ({"type": "object", "propertys": {}}, "did you mean 'properties'"),
    ],
)
def test_a_schema_that_demands_nothing_by_mistake(schema: dict[str, Any], problem: str) -> None:
    (told,) = schema_problems(schema)
    assert re.search(problem, told)


@pytest.mark.parametrize(
    "schema", [{}, {"title": "T", "x-order": 1}, {"type": "object", "example": 1, "ui:widget": "w"}]
)
def test_keywords_of_others_are_let_be(schema: dict[str, Any]) -> None:
    assert list(schema_problems(schema)) == []


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "object"}, False),
        ({"properties": {"pattern": {"type": "string"}}}, True),  # too careful, and no harm done
        ({"items": [{"allOf": [{"pattern": "x"}]}]}, True),
    ],
)
def test_what_may_run_away(schema: dict[str, Any], expected: bool) -> None:
    assert can_run_away(schema) is expected
