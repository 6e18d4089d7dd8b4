"""Obstacles to a comparison: what moves numbers refuses it, and what else differs is told."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from proctor.core.run import Run, RunStatus, Signature, Totals
from proctor.core.suite import Case, Message, Spec, Suite
from proctor.engine.compare import obstacles as module
from proctor.engine.compare.obstacles import Side, obstacles, unlike_judges, unlike_simulators

TOTALS = Totals(
    score=1.0, full=2.0, rate=0.5, spread=0.0, interval=None, cases=2, attempts=2,
    unanswered=0, unscored=0, errors=0, cases_unscored=0, bounds=None,
)  # fmt: skip
RUN = Run(
    id="i",
    name="n",
    suite="quiz",
    suite_key="k",
    candidate=Spec(name="m"),
    status=RunStatus.COMPLETE,
    signature=Signature.of({"scorers": {"exact_match": "1"}, "version": "1"}),
)
SIDE = Side(run=RUN, name="one", candidate="m", suite=Suite(name="quiz", cases=()), totals=TOTALS)
CASE = Case(id="c", messages=(Message(role="user", content="q"),), criteria=())


def found(
    other: Side, *changed: tuple[Case, Case], first: Side = SIDE
) -> tuple[list[str], list[str]]:
    pairs = SimpleNamespace(iter_changed_cases=lambda *_: iter(changed))
    store: Any = SimpleNamespace(pairs=pairs)
    return obstacles(store, first, replace(other, name="two"))


def run(**changes: Any) -> Side:
    return replace(SIDE, run=replace(RUN, **changes))


def signed(**parts: Any) -> Side:
    return run(signature=Signature.of({**RUN.signed.parts, **parts}))


def test_runs_that_differ_in_the_candidate_alone_can_be_compared() -> None:
    assert found(run(candidate=Spec(name="other"))) == ([], [])


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (replace(SIDE, suite=replace(SIDE.suite, compat="original")), "mode differs"),
        (replace(SIDE, suite=replace(SIDE.suite, reduce="max")), "way to fold attempts differs"),
        (signed(scorers={"exact_match": "2"}), "the scorer 'exact_match' differs: version 1 and 2"),
        (run(settings={"simulator": {"model": "m"}}), "the simulator differs: none and m"),
        (signed(prompts="abc"), "the judge's prompt differs"),
    ],
)
def test_what_moves_numbers_refuses_a_comparison(other: Side, words: str) -> None:
    refused, _ = found(other)
    assert len(refused) == 1
    assert words in refused[0]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (run(suite="exam"), "the suites have two names: 'quiz' and 'exam'"),
        (signed(version="2"), "two versions of Proctor: 1 and 2"),
        (signed(refused="m seed"), "servers refused other settings: nothing, and m seed"),
        (run(status=RunStatus.INCOMPLETE), "the run 'two' is incomplete"),
        (run(imported=True), "the run 'two' was imported"),
        (replace(SIDE, totals=replace(TOTALS, attempts=4)), "attempts a case: 1 of 'one' and 2"),
        (signed(scorers={"exact_match": "?"}), ""),
    ],
)
def test_what_else_differs_is_told(other: Side, words: str) -> None:
    refused, noted = found(other)
    assert refused == []
    assert [words in line for line in noted] == ([True] if words else [])


def test_the_best_of_more_attempts_is_another_number() -> None:
    first = replace(SIDE, suite=replace(SIDE.suite, reduce="max"))
    refused, noted = found(replace(first, totals=replace(TOTALS, attempts=4)), first=first)
    assert refused == ["the max of 1 attempts a case is not that of 2"]
    assert noted == []


def test_changed_cases_refuse_and_changed_tags_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = replace(CASE, messages=(Message(role="user", content="other"),))
    tagged = replace(CASE, tags={"lang": ("go",)}, source="x.yaml:3")
    refused, noted = found(SIDE, (CASE, asked), (CASE, tagged))
    assert refused == ["other question, criteria or weight under the same id in 1 case"]
    assert noted == ["other tags in 1 case; those of 'one' are used"]
    clustered = replace(tagged, cluster="go")
    assert found(SIDE, (CASE, clustered), (CASE, tagged))[1] == [
        "other tags in 1 case; those of 'one' are used",
        "other clusters in 1 case; those of 'one' are used",
    ]
    monkeypatch.setattr(module, "MOST_CHANGED", 2)
    assert "2 or more cases" in found(SIDE, *[(CASE, asked)] * 5)[0][0]


@pytest.mark.parametrize(
    ("one", "two", "words"),
    [
        ({}, {}, ""),
        ({"judges": [{"model": "j@http://a"}]}, {"judges": [{"model": "j@http://b"}]}, ""),
        ({"judges": [{"model": "j"}]}, {"judges": [{"model": "k"}]}, "the judge differs: j and k"),
        ({"judges": [{"model": "j"}]}, {"judges": [{"model": "j", "system": "s"}]},
         "the judge differs: j and other settings j"),
        ({"judges": [{"model": "j"}]}, {}, "the judge differs: j and none"),
        ({"repeats": 3}, {}, "the judge's 'repeats' differs: 3 and None"),
        ({"tie": "half"}, {"tie": "unscored"}, "the judge's 'tie' differs: half and unscored"),
    ],
)  # fmt: skip
def test_judges_are_alike_wherever_they_are_served(
    one: dict[str, Any], two: dict[str, Any], words: str
) -> None:
    assert unlike_judges(one, two) == words


def test_simulators_are_alike_wherever_they_are_served() -> None:
    here, there = ({"simulator": {"model": f"u@http://{host}"}} for host in "ab")
    assert unlike_simulators(here, there) == ""
    assert unlike_simulators(here, {}) == "the simulator differs: u and none"
