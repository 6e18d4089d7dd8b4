"""Whether answers are JSON and follow schemas; what a schema may not do."""

from typing import Any

import pytest

from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.score import ScoreStatus
from proctor.core.suite import Case, Spec
from proctor.testing import try_scorer


def scorer(name: str, **params: Any) -> Any:
    return registry.build("scorer", Spec(name=name, params=params))


@pytest.mark.parametrize(
    ("output", "how", "points"),
    [
        ('{"a": 1}', {}, 1),
        ("[1]", {}, 1),
        ("3", {}, 1),
        ('"x"', {}, 1),
        ("null", {}, 1),
        (" {} \n", {}, 1),
        ("", {}, 0),
        ("x", {}, 0),
        ("{'a': 1}", {}, 0),
        ('{"a": 1,}', {}, 0),
        ("NaN", {}, 0),
        ("1e999", {}, 0),
        ('```json\n{}\n```', {}, 0),
        ('```json\n{}\n```', {"whole": False}, 1),
        ('So: {"a": 1}.', {"whole": False}, 1),
        ('So: {"a": 1}.', {"whole": True}, 0),
        ("So: nothing.", {"whole": False}, 0),
        ("{}", {"kind": "object"}, 1),
        ("[]", {"kind": "object"}, 0),
        ("[]", {"kind": "array"}, 1),
        ("true", {"kind": "boolean"}, 1),
        ("1", {"kind": "boolean"}, 0),
        ("1.5", {"kind": "number"}, 1),
        ("true", {"kind": "number"}, 0),
        ('"x"', {"kind": "string"}, 1),
        ("null", {"kind": "null"}, 1),
        ("[" * 5000 + "]" * 5000, {}, 0),
    ],
)  # fmt: skip
def test_is_json(output: str, how: dict[str, Any], points: float) -> None:
    assert try_scorer(scorer("is_json", **how), ScoreContext.of(output)).points == points


NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
FORMATS = [
    ("date-time", "2024-02-29T10:00:00Z", "2024-02-30T10:00:00Z"),
    ("date-time", "2024-02-29T10:00:00.5+01:00", "2024-02-29T10:00:00"),
    ("date", "2024-02-29", "2023-02-29"),
    ("date", "2024-01-01", "20240101"),
    ("time", "10:00:00Z", "10:00"),
    ("email", "a@b.c", "a"),
    ("ipv4", "127.0.0.1", "127.0.0.256"),
    ("ipv6", "::1", "::g"),
    ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
    ("uri", "https://example.org/a", "no uri"),
    ("hostname", "example.org", "-x.org"),
    ("duration", "P3DT4H", "P"),
    ("json-pointer", "/a/~1b", "a"),
    ("regex", "a+", "("),
]


@pytest.mark.parametrize(
    ("schema", "output", "points"),
    [
        (NAME, '{"name": "x"}', 1),
        (NAME, '{"name": 3}', 0),
        (NAME, "{}", 0),
        (NAME, 'Here: {"name": "x"}', 1),
        (NAME, "x", 0),
        ({**NAME, "additionalProperties": False}, '{"name": "x", "y": 1}', 0),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 2}, "[1, 2]", 1),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 2}, "[1, 2, 3]", 0),
        ({"enum": ["a", "b"]}, '"a"', 1),
        ({"type": "number", "exclusiveMinimum": 0}, "0", 0),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "null", 1),
        ({"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}, "[1]", 1),
        ({"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}, '["1"]', 0),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, '{"type": 5}', 0),
        ({"type": "string", "pattern": "^a+$"}, '"aaa"', 1),
        ({"type": "string", "pattern": "^a+$"}, '"b"', 0),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]},
         "[1]", 0),
        *[({"format": name}, f'"{good}"', 1) for name, good, _ in FORMATS],
        *[({"format": name}, f'"{bad}"', 0) for name, _, bad in FORMATS],
        *[({"format": name}, "3", 1) for name, _, _ in FORMATS],
    ],
)  # fmt: skip
def test_json_schema(schema: dict[str, Any], output: str, points: float) -> None:
    built = scorer("json_schema", schema=schema)
    assert list(built.problems()) == []
    assert try_scorer(built, ScoreContext.of(output)).points == points


@pytest.mark.parametrize(("whole", "points"), [(False, 1), (True, 0)])
def test_the_whole_answer_may_have_to_be_it(whole: bool, points: float) -> None:
    built = scorer("json_schema", schema=NAME, whole=whole)
    assert try_scorer(built, ScoreContext.of('```\n{"name": "x"}\n```')).points == points


def test_the_response_format_is_the_schema_where_none_is_given() -> None:
    case = Case(id="c", messages=(), criteria=(), response_format=NAME)
    ctx = ScoreContext(case=case, attempt=Attempt.of("c", '{"name": 3}'))
    score = try_scorer(scorer("json_schema"), ctx)
    assert (score.points, score.reason) == (0.0, "name: 3 is not of type 'string'")
    assert score.detail == {"errors": [{"at": "name", "why": "3 is not of type 'string'"}]}
    assert list(scorer("json_schema").doubts(case)) == []
    bare = Case(id="c", messages=(), criteria=())
    assert list(scorer("json_schema").doubts(bare)) != []
    unscored = ScoreContext(case=bare, attempt=Attempt.of("c", "{}"))
    assert try_scorer(scorer("json_schema"), unscored).status is ScoreStatus.FAILED


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "objct"}, "is not valid at type"),
        ({"$ref": "https://example.org/x.json"}, "nothing is fetched"),
        ({"items": {"$ref": "other.json#/x"}}, "nothing is fetched"),
        ({"$dynamicRef": "file:///etc/passwd"}, "nothing is fetched"),
        ({"pattern": "("}, "does not compile"),
        ({"patternProperties": {"(": {}}}, "does not compile"),
        ({"minimum": "3"}, "is not valid at minimum"),
    ],
)
def test_a_schema_that_cannot_be_used_is_a_problem(schema: dict[str, Any], words: str) -> None:
    (problem,) = scorer("json_schema", schema=schema).problems()
    assert words in problem


def test_a_reference_to_nowhere_is_said() -> None:
    built = scorer("json_schema", schema={"$ref": "#/$defs/none"})
    assert "which it does not have" in try_scorer(built, ScoreContext.of("{}")).reason


@pytest.mark.parametrize(
    ("schema", "instant"),
    [
        (NAME, True),
        ({"properties": {"a": {"pattern": "(a+)+$"}}}, False),
        ({"patternProperties": {"(a+)+$": {}}}, False),
        ({"$defs": {"x": {"$ref": "#/$defs/x"}}, "$ref": "#/$defs/x"}, False),
        (None, False),
    ],
)
def test_what_may_run_away_is_followed_in_a_process(schema: Any, instant: bool) -> None:
    assert scorer("json_schema", schema=schema).is_instant is instant
