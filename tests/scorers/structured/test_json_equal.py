"""JSON answers against wanted values: a table of both, how they are compared, and points."""

import json
from typing import Any

import pytest

from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.core.score import ScoreStatus
from proctor.core.suite import Case, Spec
from proctor.testing import try_scorer

A = {"a": 1, "b": [1, 2], "c": {"d": "x"}}
ROWS: list[tuple[Any, Any, dict[str, Any], float]] = [
    # Equality as JSON has it.
    ({"a": 1}, {"a": 1}, {}, 1),
    ({"a": 1}, {"a": 2}, {}, 0),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {}, 1),
    (A, A, {}, 1),
    (A, {**A, "c": {"d": "y"}}, {}, 0),
    ([1, 2], [1, 2], {}, 1),
    ([1, 2], [2, 1], {}, 0),
    ([1, 2], [1, 2, 3], {}, 0),
    ([1, 2], [1], {}, 0),
    ("x", "x", {}, 1),
    ("x", "X", {}, 0),
    (3, 3, {}, 1),
    (1, 1.0, {}, 1),
    (1, True, {}, 0),
    (True, True, {}, 1),
    (False, 0, {}, 0),
    ({"a": None}, {"a": None}, {}, 1),
    ({"a": None}, {}, {}, 0),
    ({"a": None}, {"a": 0}, {}, 0),
    ({"a": "1"}, {"a": 1}, {}, 0),
    ({}, {}, {}, 1),
    ([], [], {}, 1),
    ({}, [], {}, 0),
    ([], {}, {}, 0),
    ({"a": []}, {"a": {}}, {}, 0),
    ({"a": {}}, {"a": {"b": 1}}, {}, 0),
    ({"a": 1}, [1], {}, 0),
    ({"a": 1}, "a", {}, 0),
    ({"é": "ü"}, {"é": "ü"}, {}, 1),
    ({"a": 10**30}, {"a": 10**30}, {}, 1),
    # Where the JSON stands.
    ({"a": 1}, '{"a": 1}', {"whole": True}, 1),
    ({"a": 1}, ' {"a": 1}\n', {"whole": True}, 1),
    ({"a": 1}, '```json\n{"a": 1}\n```', {}, 1),
    ({"a": 1}, '```json\n{"a": 1}\n```', {"whole": True}, 0),
    ({"a": 1}, 'Here it is:\n```\n{"a": 1}\n```\nDone.', {}, 1),
    ({"a": 1}, '```json\n{"a": 2}\n```\nno:\n```json\n{"a": 1}\n```', {}, 1),
    ({"a": 1}, '```python\nx = {"b": 2}\n```\n{"a": 1}', {}, 1),
    ({"a": 1}, 'The answer is {"a": 1}.', {}, 1),
    ({"a": 1}, 'The answer is {"a": 1}.', {"whole": True}, 0),
    ([{"a": 1}], 'So: [{"a": 1}]', {}, 1),
    ({"a": 1}, "nothing", {}, 0),
    ({"a": 1}, "{'a': 1}", {}, 0),
    ({"a": 1}, '{"a": 1', {}, 0),
    ({"a": 1}, "", {}, 0),
    ({"a": 1}, '{"a": NaN}', {}, 0),
    ({"a": 1}, "[" * 100_000, {}, 0),
    # Numbers and letters.
    ({"a": 10}, {"a": 10.5}, {"tolerance": 0.1}, 1),
    ({"a": 10}, {"a": 12}, {"tolerance": 0.1}, 0),
    ({"a": 0}, {"a": 0.05}, {"tolerance": 0.1}, 1),
    ({"a": 10}, {"a": 10.5}, {"tolerance": 0}, 0),
    ({"a": "Paris"}, {"a": "paris"}, {"ignore_case": True}, 1),
    ({"a": "Paris"}, {"a": "paris"}, {"ignore_case": False}, 0),
    ({"A": 1}, {"a": 1}, {"ignore_case": True}, 0),
    # Order of lists.
    ([1, 2, 3], [3, 1, 2], {"ignore_order": True}, 1),
    ([1, 2, 3], [3, 1, 2], {"ignore_order": False}, 0),
    ([1, 1, 2], [1, 2, 2], {"ignore_order": True}, 0),
    ([{"a": 1}, {"a": 2}], [{"a": 2}, {"a": 1}], {"ignore_order": True}, 1),
    ([[1, 2], [3]], [[3], [2, 1]], {"ignore_order": True}, 1),
    ({"a": [1, 2]}, {"a": [2, 1]}, {"ignore_order": True}, 1),
    # Extra keys.
    ({"a": 1}, {"a": 1, "b": 2}, {}, 0),
    ({"a": 1}, {"a": 1, "b": 2}, {"extra_keys": True}, 1),
    ({"a": 1}, {"b": 2}, {"extra_keys": True}, 0),
    ([1], [1, 2], {"extra_keys": True}, 0),
    # Ignored keys and paths.
    ({"a": 1, "id": 7}, {"a": 1, "id": 8}, {"ignore": "id"}, 1),
    ({"a": 1}, {"a": 1, "id": 8}, {"ignore": "id"}, 1),
    ({"a": 1, "id": 7}, {"a": 1}, {"ignore": "id"}, 1),
    ({"a": {"id": 1, "b": 2}}, {"a": {"id": 9, "b": 2}}, {"ignore": ["id"]}, 1),
    ({"id": 1, "a": {"id": 1}}, {"id": 9, "a": {"id": 9}}, {"ignore": ["a.id"]}, 0),
    ({"id": 1, "a": {"id": 1}}, {"id": 1, "a": {"id": 9}}, {"ignore": ["a.id"]}, 1),
    ([{"at": 1, "n": 2}], [{"at": 9, "n": 2}], {"ignore": ["[*].at"]}, 1),
    ([{"at": 1}, {"at": 1}], [{"at": 1}, {"at": 9}], {"ignore": ["[0].at"]}, 0),
    # Paths.
    (A, {"a": 1}, {"paths": "a"}, 1),
    (A, {"a": 2}, {"paths": "a"}, 0),
    (A, {"c": {"d": "x", "e": 1}}, {"paths": "c.d"}, 1),
    (A, {"c": {"d": "x", "e": 1}}, {"paths": "c"}, 0),
    (A, {"b": [1, 2]}, {"paths": ["b[0]", "b[1]"]}, 1),
    (A, {"b": [1]}, {"paths": ["b[-1]"]}, 0),
    ({"xs": [{"n": 1}, {"n": 2}]}, {"xs": [{"n": 1, "z": 0}, {"n": 2}]}, {"paths": "xs[*].n"}, 1),
    ({"xs": [{"n": 1}]}, {"xs": [{"n": 1}, {"n": 2}]}, {"paths": "xs[*].n"}, 0),
    ({"xs": [{"n": 1}]}, {"xs": [{"n": 1}, {"n": 2}]},
     {"paths": "xs[*].n", "extra_keys": True}, 1),
    ({"x y": {"a.b": 1}}, {"x y": {"a.b": 1}, "z": 2}, {"paths": '["x y"]["a.b"]'}, 1),
    (A, {}, {"paths": "a"}, 0),
    # Partial credit.
    (A, A, {"partial": True}, 1),
    (A, {**A, "a": 9}, {"partial": True}, 3 / 4),
    (A, {"a": 1}, {"partial": True}, 1 / 4),
    (A, {}, {"partial": True}, 0),
    (A, "nothing", {"partial": True}, 0),
    (A, {**A, "z": 1}, {"partial": True}, 4 / 5),
    (A, {**A, "z": 1}, {"partial": True, "extra_keys": True}, 1),
    ([1, 2, 3, 4], [1, 2, 3], {"partial": True}, 3 / 4),
    ([1, 2], [1, 2, 3, 4], {"partial": True}, 2 / 4),
    ([1, 2, 3], [3, 2, 1], {"partial": True}, 1 / 3),
    ([1, 2, 3], [3, 2, 9], {"partial": True, "ignore_order": True}, 2 / 3),
    ([{"a": 1, "b": 1}, {"a": 2, "b": 2}], [{"a": 2, "b": 2}, {"a": 1, "b": 9}],
     {"partial": True, "ignore_order": True}, 3 / 4),
    ({"a": {"b": 1, "c": 2}}, {"a": 5}, {"partial": True}, 0),
    (A, {"a": 1, "b": [1, 9]}, {"partial": True, "paths": ["a", "b"]}, 2 / 3),
    ({"a": 1, "id": 2}, {"a": 2, "id": 9}, {"partial": True, "ignore": "id"}, 0),
]  # fmt: skip


def scorer(**params: Any) -> Any:
    return registry.build("scorer", Spec(name="json_equal", params=params))


def answer(actual: Any) -> str:
    is_text = isinstance(actual, str) and actual not in ("x", "X")
    return actual if is_text else json.dumps(actual, ensure_ascii=False)


@pytest.mark.parametrize("by_reference", [False, True])
@pytest.mark.parametrize(("wanted", "actual", "how", "points"), ROWS)
def test_points(
    wanted: Any, actual: Any, how: dict[str, Any], points: float, by_reference: bool
) -> None:
    built = scorer(**how) if by_reference else scorer(value=wanted, **how)
    references = [json.dumps(wanted)] if by_reference else []
    assert list(built.problems()) == []
    score = try_scorer(built, ScoreContext.of(answer(actual), references=references))
    assert score.points == pytest.approx(points)
    assert score.out_of == 1.0
    assert score.reason


def test_the_table_is_long_enough() -> None:
    assert len(ROWS) >= 80


@pytest.mark.parametrize(
    ("actual", "how", "reason"),
    [
        ({"a": 1, "b": [1, 3], "c": {"d": "x"}}, {}, "b[1] is 3, not 2"),
        ({"a": 1, "b": [1], "c": {"d": "x"}}, {}, "b[1] is missing"),
        ({**A, "z": 1}, {}, "z is not wanted"),
        ({**A, "c": None}, {}, 'c is null, not {"d": "x"}'),
        ({}, {}, "a is missing; b is missing; c is missing"),
        ([], {}, 'the value is [], not {"a": 1, "b": [1, 2], "c": {"d": "x"}}'),
        ("{", {}, "the answer is not JSON: expecting property name enclosed in double quotes"
         " at line 1, column 2"),
    ],
)  # fmt: skip
def test_reasons(actual: Any, how: dict[str, Any], reason: str) -> None:
    assert try_scorer(scorer(value=A, **how), ScoreContext.of(answer(actual))).reason == reason


def test_the_best_reference_counts() -> None:
    ctx = ScoreContext.of('{"a": 2}', references=['{"a": 1}', '{"a": 2}'])
    assert try_scorer(scorer(), ctx).points == 1.0
    null = ScoreContext.of("null", references=["null"])
    assert try_scorer(scorer(), null).points == 1.0


@pytest.mark.parametrize("references", [[], ["no JSON"]])
def test_without_anything_to_compare_with_it_is_unscored(references: list[str]) -> None:
    score = try_scorer(scorer(), ScoreContext.of("{}", references=references))
    assert score.status is ScoreStatus.FAILED


def test_paths_that_lead_nowhere_are_unscored() -> None:
    score = try_scorer(scorer(value=A, paths="zz"), ScoreContext.of("{}"))
    assert score.status is ScoreStatus.FAILED
    assert list(scorer().doubts(Case(id="c", messages=(), criteria=()))) != []


@pytest.mark.parametrize("path", ["a..b", "a[", "", "a[x]", '["a]'])
def test_a_path_that_cannot_be_read_is_a_problem(path: str) -> None:
    assert list(scorer(value=A, paths=[path]).problems())
    assert list(scorer(value=A, ignore=path if path else [""]).problems())


@pytest.mark.parametrize(("ignore_order", "long"), [(False, False), (True, True)])
def test_long_lists_without_order_are_scored_in_a_process(ignore_order: bool, long: bool) -> None:
    built = scorer(value=A, ignore_order=ignore_order)
    assert built.is_instant
    assert built.takes_long("x" * 5000, ()) is long
    assert built.takes_long("x" * 500_000, ())
