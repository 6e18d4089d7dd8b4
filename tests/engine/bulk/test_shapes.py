"""The value of plain cases: what the one formula and the sums make of them, bit for bit."""

import random
from dataclasses import fields, replace
from typing import Any, get_type_hints

import pytest

from proctor.core.attempt import Attempt
from proctor.core.fingerprint import plain
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Json, Message, Spec, Suite
from proctor.engine.bulk.shapes import ShapePool
from proctor.engine.run.aggregate import case_result, fold_of
from proctor.engine.run.plain_cases import OF_SHAPE, CaseShape, PlainCase, PlainColumns
from proctor.engine.run.scorer_pool import Scorers
from proctor.engine.run.totals import RunTotals


def drawn_case(draw: random.Random) -> Case:
    criteria = tuple(
        Criterion(
            id=f"c{place}",
            scorer=Spec(name="contains", params={"texts": "x"}),
            weight=draw.choice([1.0, 0.3, 1.7, -0.6, 0.0]),
            metric=draw.choice(["", "m"]),
        )
        for place in range(draw.randint(1, 4))
    )
    return Case(
        id="c",
        messages=(Message(role="user", content="?"),),
        criteria=criteria,
        tags={"t": (draw.choice("ab"),)},
        weight=draw.choice([1.0, 0.7]),
        full_score=draw.choice([1.0, 3.3]),
        null_score=draw.choice([0.0, -0.5]),
        min_points=draw.choice([None, -0.1]),
        max_points=draw.choice([None, 0.9]),
        out_of=draw.choice([None, None, 2.1]),
    )


@pytest.mark.parametrize("shares_of_value", [False, True])
def test_plain_values_and_sums_are_those_of_single_cases(shares_of_value: bool) -> None:
    draw = random.Random(4)
    how = fold_of(Suite(name="s", cases=()))
    one_by_one = RunTotals(shares_of_value=shares_of_value)
    plain_cases = []
    for _ in range(600):
        case = drawn_case(draw)
        shape = CaseShape(case, shares_of_value)
        scores = {
            c.id: Score(points=draw.choice([0.0, -0.0, draw.random()]), out_of=draw.random() + 0.5)
            for c in case.criteria
        }
        result = case_result(how, case, [(Attempt.of("c", "x"), scores)])
        counted = [scores[case.criteria[place].id] for place, _, _ in shape.counted]
        pairs = [(one.points or 0.0, one.out_of or 0.0) for one in counted]
        value = shape.plain_value(pairs) if shape.is_plain else None
        if value is None:
            assert result.folded.value is None
            continue
        assert value.value == result.folded.value
        one_by_one.add(result)
        plain_cases.append(
            PlainCase(
                case.id,
                value.value,
                case.weight,
                case.full_score,
                value.scale,
                case.tags,
                value.metrics,
            )
        )
    at_once = RunTotals(shares_of_value=shares_of_value)
    at_once.add_plain(plain_cases)
    assert len(plain_cases) > 300
    assert at_once.to_json() == one_by_one.to_json()


def test_cases_of_one_shape_share_it_and_scorers_of_plain_texts_are_built_as_others() -> None:
    pool = ShapePool(Scorers(), False, fold_of(Suite(name="s", cases=())))
    draw = random.Random(1)
    case = drawn_case(draw)
    assert pool.shape(plain(case)) is pool.shape({**plain(case), "id": "other", "cluster": "k"})
    assert pool.shape(plain(case)) is not pool.shape({**plain(case), "weight": 9.0})
    quick = pool.scorer({"name": "keywords", "params": {"rules": ["a", "b"]}})
    built = Scorers().built(Spec(name="keywords", params={"rules": ["a", "b"]}))
    assert type(quick) is type(built)
    assert quick.full_marks == built.full_marks == 2.0


def test_all_numbers_of_a_case_tell_shapes_apart_and_nothing_else_does() -> None:
    hints = get_type_hints(Case)
    numbers = {name for name, kind in hints.items() if kind in (float, float | None)}
    assert numbers == OF_SHAPE
    assert {one.name for one in fields(Criterion)} == {"id", "scorer", "weight", "metric", "turn"}
    pool = ShapePool(Scorers(), False, fold_of(Suite(name="s", cases=())))
    case = drawn_case(random.Random(1))
    others = [replace(case, vars={"x": [1]}), replace(case, hidden={"a": {}}, context=("b",))]
    assert [pool.shape(plain(one)) for one in others] == [pool.shape(plain(case))] * 2


def test_parameters_that_python_takes_for_equal_make_scorers_of_their_own() -> None:
    pool = ShapePool(Scorers(), False, fold_of(Suite(name="s", cases=())))
    values: list[Json] = [1, 1, True, True, 1.0, 0, False, 0.0, -0.0, {"a": [1]}, {"a": [True]}]
    specs = [{"name": "json_equal", "params": {"value": value}} for value in values]
    built = [repr(scorer.value) for scorer in pool.scorers_of(specs)]  # type: ignore[attr-defined]
    assert built == [repr(value) for value in values]


@pytest.mark.parametrize("shares_of_value", [False, True])
@pytest.mark.parametrize("interval", ["bounded", "bootstrap"])
def test_values_and_sums_of_columns_are_those_of_single_answers(
    shares_of_value: bool, interval: Any
) -> None:
    draw = random.Random(8)
    spec = Spec(name="exact_match")
    case = Case(
        id="c",
        messages=(),
        criteria=tuple(
            Criterion(id=f"k{place}", scorer=spec, weight=weight, metric=f"m{place}")
            for place, weight in enumerate((1.0, 0.0, 0.3))
        ),
        weight=0.7,
        full_score=3.0,
    )
    shape = CaseShape(case, shares_of_value)
    rows = [
        [(draw.choice([0.0, -0.0, 1.0, draw.random()]), draw.random() + 0.1) for _ in range(2)]
        for _ in range(1_000)
    ]
    tags = [{"part": [f"p{draw.randrange(5)}"], "id": [str(number)]} for number in range(1_000)]
    one_by_one = RunTotals(shares_of_value=shares_of_value, interval=interval)
    values = [value for row in rows if (value := shape.plain_value(row)) is not None]
    one_by_one.add_plain(
        [
            PlainCase("c", value.value, 0.7, 3.0, value.scale, own, value.metrics)
            for value, own in zip(values, tags, strict=True)
        ]
    )
    made = shape.plain_columns(
        [tuple(zip(*pairs, strict=True)) for pairs in zip(*rows, strict=True)]
    )
    assert made is not None
    assert [one.hex() for one in made.values] == [one.value.hex() for one in values]
    at_once = RunTotals(shares_of_value=shares_of_value, interval=interval)
    at_once.add_columns(PlainColumns(made.values, 0.7, 3.0, tags, made.metrics))
    assert at_once.to_json() == one_by_one.to_json()
    assert list(at_once.summary().groups) == list(one_by_one.summary().groups)


@pytest.mark.parametrize(
    ("limits", "marks"),
    [({}, (0.0, 0.0)), ({}, (1.0, 0.0)), ({"max_points": 0.5}, (1.0, 1.0))],
    ids=["no marks", "no marks of one criterion", "limited points"],
)
def test_answers_that_have_to_be_looked_at_by_themselves_are_no_columns(
    limits: dict[str, float], marks: tuple[float, float]
) -> None:
    spec = Spec(name="exact_match")
    criteria = tuple(Criterion(id=name, scorer=spec, metric=name) for name in "ab")
    case = Case(id="c", messages=(), criteria=criteria, **limits)
    columns = [([0.5, 0.0], [1.0, mark]) for mark in marks]
    assert CaseShape(case, False).plain_columns(columns) is None
