"""Plugins by name: found, checked, described."""

from typing import Any

import pytest

from proctor import registry
from proctor.core.suite import Spec
from proctor.errors import PluginError


@pytest.mark.parametrize(
    ("kind", "name"), [(k, n) for k, rows in registry.BUILT_IN.items() for n in rows]
)
def test_every_name_of_the_table_is_there(kind: str, name: str) -> None:
    found = registry.find(kind, name)
    assert isinstance(found, type)
    assert (found.__doc__ or "").strip()
    assert name in registry.names(kind)
    assert dict(registry.describe(kind))[name]


@pytest.mark.parametrize(
    ("kind", "name", "params", "words"),
    [
        ("scorer", "contians", {}, "did you mean 'contains'"),
        ("scorer", "zzzzzz", {}, "known are"),
        ("scorer", "matches", {}, "pattern"),
        ("scorer", "contains", {"text": "a"}, "did you mean 'texts'"),
        ("scorer", "contains", {"texts": 5}, "texts"),
        ("scorer", "contains", {"texts": ["a"], "all": "maybe"}, "true or false"),
        ("scorer", "number", {"value": "many"}, "expected a number"),
        ("scorer", "keywords", {"rules": [{"txt": "a"}]}, "unknown key 'txt'"),
        ("scorer", "rouge", {"metric": "rouge3"}, "metric"),
        ("measure", "pass_rate", {"threshold": 3}, "between 0 and 1"),
        ("scorer", "os:system", {}, "--allow-import"),
    ],
)
def test_what_is_wrong_is_said(kind: str, name: str, params: dict[str, Any], words: str) -> None:
    with pytest.raises(PluginError, match=words):
        registry.build(kind, Spec(name=name, params=params))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_such_module:X", "cannot be imported"),
        ("json:NoSuch", "has no 'NoSuch'"),
        ("json:dumps", "is not a class"),
    ],
)
def test_imports_that_go_wrong(name: str, words: str) -> None:
    with pytest.raises(PluginError, match=words):
        registry.build("scorer", Spec(name=name), allow_import=True)


def test_a_class_of_ones_own() -> None:
    name = "proctor.scorers.text.comparisons:Contains"
    made = registry.build("scorer", Spec(name=name, params={"texts": "a"}), allow_import=True)
    assert made.texts == ("a",)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("contains", "a", {"texts": "a"}),
        ("contains", ["a", "b"], {"texts": ["a", "b"]}),
        ("number", 42, {"value": 42}),
        ("number", {"value": 1, "tolerance": 2}, {"value": 1, "tolerance": 2}),
        ("exact_match", True, {}),
        ("exact_match", None, {}),
        ("rouge", "rouge1", {"metric": "rouge1"}),
    ],
)
def test_parameters_as_people_write_them(name: str, value: Any, expected: dict[str, Any]) -> None:
    assert registry.params_from("scorer", name, value) == expected


def test_a_plugin_without_parameters_takes_none() -> None:
    with pytest.raises(PluginError, match="takes no parameter"):
        registry.params_from("measure", "unq_events", 3)


def test_parameters_are_described() -> None:
    rows = {row.name: row for row in registry.parameters("scorer", "contains")}
    assert not rows["texts"].required
    assert registry.parameters("scorer", "matches")[0].required
    assert (rows["all"].default, rows["all"].required) == (True, False)
    assert registry.main_parameter("scorer", "keywords") == "rules"
