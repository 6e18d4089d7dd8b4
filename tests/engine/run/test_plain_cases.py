"""Blocks of plain cases: their sums, rows and results are those of cases that are added singly."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.run import CASES_PER_BLOCK
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run.aggregate import RunSums
from proctor.engine.run.plain_cases import PlainBlock, PlainCase, PlainColumns, PlainShapes
from proctor.store.rows import LinkedCase, ResultRow

ONE = (Criterion(id="n", scorer=Spec(name="number")),)
SEVERAL = (
    Criterion(id="a", scorer=Spec(name="contains"), weight=0.3),
    Criterion(id="b", scorer=Spec(name="number"), metric="own"),
    Criterion(id="shown", scorer=Spec(name="rating"), weight=0.0),
    Criterion(id="penalty", scorer=Spec(name="contains"), weight=-0.7),
)
KINDS: dict[str, dict[str, Any]] = {
    "one criterion": {},
    "several": {"criteria": SEVERAL},
    "weighted": {"weight": 1.7, "full_score": 3.0},
    "limited": {"criteria": SEVERAL, "min_points": 0.0, "max_points": 1.0, "null_score": -1.0},
    "whole numbers": {"weight": 2, "full_score": 5, "out_of": 2},
}
"""Cases by what their shapes have in common."""
DETAILS = (None, {"span": [1, 2]}, {"reference": "equal"}, {"reference": "contained"})


def linked(count: int, kinds: Sequence[str], *, relations: bool, seed: int = 4) -> list[LinkedCase]:
    draw = random.Random(seed)
    cases = []
    for place in range(count):
        case = Case(
            id=f"c{place}",
            messages=(Message(role="user", content="?" * draw.randint(0, 3)),),
            criteria=ONE,
            tags={"lang": (draw.choice("ab"), "all")} if place % 3 else {},
        )
        case = replace(case, **KINDS[draw.choice(kinds)])
        scores = {
            one.id: Score(
                points=draw.choice([0.0, 1.0, draw.random()]),
                out_of=1.0,
                reason="because",
                detail=draw.choice(DETAILS if relations else DETAILS[:2]),
            )
            for one in case.criteria
        }
        attempt = replace(Attempt.of(case.id, "x" * draw.randint(0, 2)), seconds=place or None)
        cases.append(LinkedCase(place, case, [(attempt, scores)], [{}]))
    return cases


def summed(
    cases: Sequence[LinkedCase], patch: pytest.MonkeyPatch, *, singly: bool, size: int, **how: Any
) -> tuple[Any, list[ResultRow], list[Any]]:
    sums = RunSums(Suite(name="s", cases=(), **how), hold=True)
    with patch.context() as patched:
        if singly:
            patched.setattr(PlainShapes, "block", lambda *_: None)
        for start in range(0, len(cases), size):
            sums.add(cases[start : start + size])
    return sums.summary(), list(sums.rows()), list(sums.results())


def both(cases: Sequence[LinkedCase], patch: pytest.MonkeyPatch, size: int, **how: Any) -> None:
    """Compare the sums of blocks with those of single cases, to the last bit."""
    blocks, rows, results = summed(cases, patch, singly=False, size=size, **how)
    single, own_rows, own_results = summed(cases, patch, singly=True, size=size, **how)
    assert repr(blocks) == repr(single)
    assert repr(rows) == repr(own_rows)
    assert [row.sort_keys for row in rows] == [row.sort_keys for row in own_rows]
    assert results == own_results


@pytest.mark.parametrize("reduce", ["avg", "max", "median", "avg_max_2"])
@pytest.mark.parametrize("relations", [False, True])
@pytest.mark.parametrize("kinds", [[name] for name in KINDS] + [list(KINDS)], ids="+".join)
@pytest.mark.sampled(2, ci=1)
def test_plain_cases_are_summed_alike(
    monkeypatch: pytest.MonkeyPatch, kinds: list[str], relations: bool, reduce: str
) -> None:
    both(linked(90, kinds, relations=relations), monkeypatch, 40, reduce=reduce)


@pytest.mark.parametrize("size", [700, 4096])
def test_blocks_are_those_of_positions(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    cases = linked(CASES_PER_BLOCK + 300, list(KINDS), relations=True)
    both(cases, monkeypatch, size)


def unusual() -> Iterator[tuple[str, LinkedCase]]:
    """Yield cases that are not plain."""
    place, case, [(attempt, scores)], keys = linked(1, ["one criterion"], relations=False)[0]
    none = {"n": Score(points=None, out_of=1.0)}
    second = replace(attempt, index=1)
    usage = {"candidate": {"prompt_tokens": 3, "completion_tokens": 4}}
    judged = {"n": replace(scores["n"], detail={"usage": {"prompt_tokens": 5}})}
    yield "two attempts", LinkedCase(place, case, [(attempt, scores), (second, scores)], keys)
    yield "unanswered", LinkedCase(place, case, [(Attempt.of(case.id, None), {})], keys)
    yield "unscored", LinkedCase(place, case, [(attempt, {})], keys)
    yield "failed", LinkedCase(place, case, [(attempt, {"n": Score.failed("broke")})], keys)
    yield "without points", LinkedCase(place, case, [(attempt, none)], keys)
    yield "with usage", LinkedCase(place, case, [(replace(attempt, usage=usage), scores)], keys)
    yield "judged", LinkedCase(place, case, [(attempt, judged)], keys)
    cluster = replace(case, cluster="k")
    yield "in a cluster", LinkedCase(place, cluster, [(attempt, scores)], keys)
    shown = replace(case, criteria=(replace(ONE[0], weight=0.0),))
    yield "only shown", LinkedCase(place, shown, [(attempt, scores)], keys)


@pytest.mark.parametrize("name", [name for name, _ in unusual()])
@pytest.mark.parametrize("place", [0, 1, 7])
def test_one_case_that_is_not_plain_has_its_block_summed_singly(
    monkeypatch: pytest.MonkeyPatch, name: str, place: int
) -> None:
    odd = dict(unusual())[name]
    cases = linked(8, ["one criterion"], relations=False)
    cases[place] = odd._replace(position=place)
    shapes = RunSums(Suite(name="s", cases=()))._shapes
    assert shapes.block(cases) is None
    for size in (3, 8):
        both(cases, monkeypatch, size)


@pytest.mark.parametrize(
    ("kinds", "relations", "kind"),
    [
        (["one criterion"], False, PlainColumns),
        (["weighted"], False, PlainColumns),
        (["one criterion"], True, list),
        (["limited"], False, list),
        (["one criterion", "weighted"], False, list),
    ],
)
def test_cases_of_one_simple_shape_are_columns(
    kinds: list[str], relations: bool, kind: type
) -> None:
    shapes = RunSums(Suite(name="s", cases=()))._shapes
    block = shapes.block(linked(50, kinds, relations=relations))
    assert isinstance(block, PlainBlock)
    assert isinstance(block.summed, kind)
    if kind is list:
        assert all(isinstance(one, PlainCase) for one in block.summed)
