"""Criteria as people write them: short and long, with ids, weights and texts as spelt."""

from pathlib import Path
from typing import Any

import pytest

from proctor.formats.carried_modules import SuiteModules
from proctor.formats.native.criteria import free_id, read_criteria, read_plugin
from proctor.formats.native.spot import Spot
from proctor.io.findings import Findings
from proctor.io.yaml_files import read_yaml


def spot_of(tmp_path: Path, text: str) -> Spot:
    path = tmp_path / "suite.yaml"
    path.write_text(f"criteria: {text}\n", encoding="utf-8")
    document = read_yaml(path)
    modules = SuiteModules(root=tmp_path, home=tmp_path)
    return Spot(Findings(), modules, document, ("criteria",), document.data["criteria"])


def read(tmp_path: Path, text: str) -> tuple[list[Any], list[str], list[str]]:
    spot = spot_of(tmp_path, text)
    rows = [one.criterion for one in read_criteria(spot)]
    found = spot.findings
    return rows, [one.message for one in found.errors], [one.message for one in found.warnings]


@pytest.mark.parametrize(
    ("text", "name", "params"),
    [
        ("Paris", "contains", {"texts": "Paris"}),
        ("1.10", "contains", {"texts": "1.10"}),
        ("yes", "contains", {"texts": "yes"}),
        ("{contains: 007}", "contains", {"texts": "007"}),
        ("{contains: references}", "contains", {"any": "references"}),
        ("{exact_match: true}", "exact_match", {}),
        ("{keywords: red}", "keywords", {"rules": ["red"]}),
        ("{keywords: [red, 1.0]}", "keywords", {"rules": ["red", "1.0"]}),
        ("{scorer: exact_match, with: {strip: false}}", "exact_match", {"strip": False}),
        ("{scorer: exact_match}", "exact_match", {}),
        ("{'mine.scorers:Own': {a: 1.10}}", "mine.scorers:Own", {"a": 1.1}),
    ],
)
def test_a_criterion_may_be_written_in_several_ways(
    tmp_path: Path, text: str, name: str, params: dict[str, Any]
) -> None:
    (criterion,), errors, _ = read(tmp_path, text)
    assert errors == []
    assert (criterion.scorer.name, dict(criterion.scorer.params)) == (name, params)


def test_ids_that_are_written_win_over_those_that_are_made(tmp_path: Path) -> None:
    text = "[a, b, {contains: c, id: contains, weight: -0.5, metric: m, turn: 2}]"
    (first, second, third), errors, _ = read(tmp_path, text)
    assert errors == []
    assert [one.id for one in (first, second, third)] == ["contains-2", "contains-3", "contains"]
    assert (third.weight, third.metric, third.turn) == (-0.5, "m", 1)
    assert (first.weight, first.turn) == (1.0, None)
    assert free_id("x", {"x", "x-2"}) == "x-3"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{contians: x}", "there is no scorer 'contians'"),
        ("{contains: x, wieght: 2}", "unknown key 'wieght'"),
        ("{contains: x, exact_match: true}", "a criterion has one scorer, not 2"),
        ("{weight: 2}", "the criterion names no scorer"),
        ("[[x]]", "a criterion is a text or a mapping, not a list"),
        ("{scorer: nothing}", "there is no scorer 'nothing'"),
        ("{scorer: [x]}", "expected the name of a scorer, not a list"),
        ("{scorer: contains, with: x}", "expected a mapping of parameters"),
        ("{contains: x, weight: heavy}", "expected a number"),
        ("{contains: x, turn: 0}", "expected 1 or more"),
        ("{keywords: [a, {text: '(', regex: true}]}", "keyword 2"),
        ("[{contains: x, id: a}, {contains: y, id: a}]", "two criteria with the id 'a'"),
        ("{'mine:Own': x}", "are written as a mapping"),
    ],
)
def test_what_is_wrong_is_said_once(tmp_path: Path, text: str, words: str) -> None:
    _, errors, _ = read(tmp_path, text)
    assert len(errors) == 1, errors
    assert words in errors[0]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("not", "write 'contains: {none: TEXT}'"),
        ("not-contains", "write 'contains: {none: TEXT}'"),
        ("excludes", "write 'contains: {none: TEXT}'"),
        ("notted", "did you mean 'noted'?"),
    ],
)
def test_what_must_not_occur_is_a_parameter(tmp_path: Path, name: str, hint: str) -> None:
    spot = spot_of(tmp_path, f"{{{name}: x}}")
    assert not list(read_criteria(spot))
    (error,) = spot.findings.errors
    assert hint in (error.hint or "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exact_match", "contain the text 'exact_match'"),
        ("{contains: x, weight: 0}", "every criterion has weight 0"),
        ("{contains: x, weight: -1}", "nothing to win"),
    ],
)
def test_what_is_probably_not_meant_is_a_warning(tmp_path: Path, text: str, words: str) -> None:
    rows, errors, (warning,) = read(tmp_path, text)
    assert (len(rows), errors) == (1, [])
    assert words in warning


def test_full_marks_are_known_where_the_scorer_fixes_them(tmp_path: Path) -> None:
    spot = spot_of(tmp_path, "[{keywords: [a, {text: b, weight: 2}]}, {'mine:Own': {}}]")
    assert [one.full_marks for one in read_criteria(spot)] == [3.0, None]


@pytest.mark.parametrize(
    ("text", "name", "params"),
    [("accuracy", "accuracy", {}), ("{pass_rate: 0.7}", "pass_rate", {"threshold": 0.7}),
     ("{pass_rate: {threshold: 0.7}}", "pass_rate", {"threshold": 0.7}),
     ("{'mine:Own': {a: 1}}", "mine:Own", {"a": 1})],
)  # fmt: skip
def test_a_plugin_is_a_name_or_a_name_with_parameters(
    tmp_path: Path, text: str, name: str, params: dict[str, Any]
) -> None:
    spec = read_plugin("measure", spot_of(tmp_path, text))
    assert spec is not None
    assert (spec.name, dict(spec.params)) == (name, params)


@pytest.mark.parametrize(
    "text", ["acuracy", "{pass_rate: 7}", "{a: 1, b: 2}", "3", "{'mine:Own': x}"]
)
def test_a_plugin_that_is_none_is_noted(tmp_path: Path, text: str) -> None:
    spot = spot_of(tmp_path, text)
    assert read_plugin("measure", spot) is None
    assert len(spot.findings.errors) == 1


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        (
            "{tool_calls: {name: look}}",
            "name",
            "wanted calls are a list: write 'tool_calls: [{name: look}]'",
        ),
        (
            "{tool_calls: {arguments: {city: Paris}, name: look}}",
            "arguments",
            "wanted calls are a list: write 'tool_calls: [{arguments: {city: Paris}, name: look}]'",
        ),
        (
            "{tool_calls: {name: look, in_order: true}}",
            "name",
            "wanted calls are a list: write 'tool_calls: {calls: [{name: look}], in_order: true}'",
        ),
        (
            "{json_schema: {type: object, required: [a]}}",
            "type",
            "the schema stands under 'schema': write"
            " 'json_schema: {schema: {type: object, required: [a]}}'",
        ),
        (
            "{json_schema: {$ref: '#/$defs/a', whole: true}}",
            "$ref",
            "the schema stands under 'schema': write"
            """ 'json_schema: {schema: {"$ref": "#/$defs/a"}, whole: true}'""",
        ),
        ("{json_schema: {shema: {}}}", "shema", "did you mean 'schema'?"),
        ("{tool_calls: {cals: [look]}}", "cals", "did you mean 'calls'?"),
    ],
)
def test_what_was_probably_meant_is_written_out(
    tmp_path: Path, text: str, key: str, hint: str
) -> None:
    spot = spot_of(tmp_path, text)
    assert read_criteria(spot) == ()
    problem = spot.findings.errors[0]
    assert problem.message.endswith(f"has no parameter {key!r}")
    assert (problem.line, problem.hint) == (1, hint)
    if "write" in hint:
        assert len(spot.findings.errors) == 1, "one mistake is told once"
        written = hint.partition("write '")[2].removesuffix("'")
        again, errors, _ = read(tmp_path, f"{{{written}}}")
        assert (len(again), errors) == (1, []), "the fix is right as it stands"
