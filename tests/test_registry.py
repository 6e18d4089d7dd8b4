"""Plugins by name: found, checked, described."""

import math
import sys
from collections.abc import Iterator
from pathlib import Path
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


PLUGINS = """\
from dataclasses import dataclass
from proctor import Measure, Scorer, SummedMeasure

class Duck:
    def score(self, ctx):
        return True

@dataclass(frozen=True)
class Half(Scorer):
    "A scorer that does not score."

class Plain(Scorer):
    def __init__(self, word):
        self.word = word

    def score(self, ctx):
        return True

@dataclass(frozen=True)
class Odd(Scorer):
    word: "NoSuchType" = None

    def score(self, ctx):
        return True

class Group:
    @dataclass(frozen=True)
    class Inner(Scorer):
        "Pass always."
        def score(self, ctx):
            return True

@dataclass(frozen=True)
class Numberless(Measure):
    def sums(self):
        return None

@dataclass(frozen=True)
class Sumless(SummedMeasure):
    "A measure of nothing."

function = len
"""
ENTRIES = """\
[proctor.scorers]
duck = odd_plugins:Duck
half = odd_plugins:Half
plain = odd_plugins:Plain
odd = odd_plugins:Odd
inner = odd_plugins:Group.Inner [extra]
lost = odd_plugins:Lost
function = odd_plugins:function
broken = broken_plugin:Anything
absent = no_such_plugin_module:Anything
[proctor.measures]
mixed = odd_plugins:Half
numberless = odd_plugins:Numberless
sumless = odd_plugins:Sumless
"""


@pytest.fixture
def odd_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "odd_plugins.py").write_text(PLUGINS)
    (tmp_path / "broken_plugin.py").write_text("1 / 0\n")
    home = tmp_path / "odd_plugins-1.0.dist-info"
    home.mkdir()
    (home / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-plugins\nVersion: 1.0\n")
    (home / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    registry._installed.cache_clear()
    yield
    registry._installed.cache_clear()
    registry._load.cache_clear()
    for name in ("odd_plugins", "broken_plugin"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("odd_plugins")
@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("scorer", "duck", "is not a subclass of Scorer .fix: derive Duck from proctor.contracts"),
        ("scorer", "half", "does not define score"),
        ("scorer", "plain", "Plain is no dataclass"),
        ("scorer", "odd", "its parameters cannot be read"),
        ("scorer", "lost", "the module 'odd_plugins' has no 'Lost'"),
        ("scorer", "function", "is not a class"),
        ("scorer", "broken", "cannot be imported: ZeroDivisionError"),
        ("scorer", "absent", "cannot be imported: No module named"),
        ("measure", "mixed", "is not a subclass of Measure"),
        ("measure", "numberless", "does not define measure"),
        ("measure", "sumless", "does not define sums"),
    ],
)
def test_an_installed_plugin_that_breaks_its_contract_is_refused(
    kind: str, name: str, words: str
) -> None:
    with pytest.raises(PluginError, match=words) as raised:
        registry.build(kind, Spec(name=name))
    assert f"{kind} '{name}'" in str(raised.value)
    listed = dict(registry.describe(kind))
    assert listed["contains" if kind == "scorer" else "accuracy"]
    if name not in ("plain", "odd"):
        assert "(entry point '" in str(raised.value)
        assert "of odd-plugins)" in str(raised.value)
        assert listed[name].startswith("Cannot be used: ")


@pytest.mark.usefixtures("odd_plugins")
def test_an_entry_point_may_name_a_class_inside_another() -> None:
    assert type(registry.build("scorer", Spec(name="inner"))).__name__ == "Inner"
    with pytest.raises(PluginError, match=r"unknown parameter 'word' .it has none"):
        registry.build("scorer", Spec(name="inner", params={"word": "a"}))


def test_every_plugin_of_ours_is_what_its_contract_says() -> None:
    assert registry.CONTRACTS.keys() == registry.BUILT_IN.keys()
    for kind, rows in registry.BUILT_IN.items():
        contract = registry._load(kind, registry.CONTRACTS[kind])
        for name in rows:
            assert issubclass(registry.find(kind, name), contract), (kind, name)


def test_an_instant_scorer_is_built_once_for_the_same_parameters() -> None:
    def built(name: str, **params: Any) -> Any:
        return registry.build("scorer", Spec(name=name, params=params))

    assert built("contains", texts=["a"]) is built("contains", texts=["a"])
    assert built("contains", texts=["a"]) is not built("contains", texts=["b"])
    assert built("keywords", rules=["a"]) is not built("keywords", rules=["a"]), (
        "what may look at its surroundings is built anew"
    )


def test_parameters_that_json_does_not_tell_apart_are_built_anew() -> None:
    assert registry._written({"a": 1}) != registry._written({"a": 1.0}) != b""
    assert registry._written({"a": None}) == registry._written({"a": math.nan}) == b""
    assert registry._written({"a": object()}) == b""
