"""Cases over all who took them, on a simulated store: wrong keys, twins, divided judges."""

import random
from collections.abc import Callable
from dataclasses import replace
from math import exp
from typing import Any

import pytest

from proctor.core.audit import JudgeAudit
from proctor.core.fingerprint import plain
from proctor.core.run import Run
from proctor.engine.items.analysis import Item, _explained, analyse, comparable
from proctor.engine.items.takers import chosen_runs
from proctor.errors import StoreError, UsageError
from proctor.store.store import Store


def simulate(
    store: Store,
    put_scored: Callable[..., Run],
    seed: int,
    abilities: list[float],
    *,
    cases: int = 300,
    wrong: int = 9,
    words: bool = True,
) -> set[str]:
    """Store a run for each ability; keys of some cases are what another answer says."""
    draw = random.Random(seed)
    difficulties = [draw.gauss(0, 1) for _ in range(cases)]
    bad = set(draw.sample(range(cases), wrong))
    for number, ability in enumerate(abilities):
        answers, points = [], []
        for place, difficulty in enumerate(difficulties):
            knows = draw.random() < 1 / (1 + exp(difficulty - ability))
            answer = 0 if knows else draw.randrange(1, 12)
            answers.append(answer)
            points.append([float(answer == (1 if place in bad else 0))])
        put_scored(
            store,
            f"m{number}",
            points,
            outputs=lambda place, _, said=answers, who=number: (
                f"It is {said[place]}." if words else f"{who} says {said[place]} of {place}"
            ),
            asks=lambda place: f"What comes of number {place} when it meets word{place} today?",
        )
    return {f"c{place}" for place in bad}


def test_wrong_keys_come_first_in_a_small_store(
    store: Store, put_scored: Callable[..., Run]
) -> None:
    bad = simulate(store, put_scored, 3, [0.5, 1.0, 1.5, 2.0], cases=40, wrong=2)
    found = analyse(store, chosen_runs(store, ["quiz"]))
    assert bad <= {item.case_id for item in found.listed[:5]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("abilities", "words"),
    [
        ([-0.5, 0.0, 0.5, 1.0, 1.5, 2.0], True),
        ([0.9, 1.0, 1.1, 1.2, 1.3, 1.4], True),
        ([1.5, 1.8, 2.1, 2.4, 2.7, 3.0], False),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_wrong_keys_come_first(
    store: Store,
    put_scored: Callable[..., Run],
    abilities: list[float],
    words: bool,
    seed: int,
) -> None:
    bad = simulate(store, put_scored, seed, abilities, words=words)
    found = analyse(store, chosen_runs(store, ["quiz"]))
    first = {item.case_id for item in found.listed[:15]}
    assert len(first & bad) >= 7
    assert found.cases == 300
    assert len(found.takers) == 6
    top = found.listed[0]
    assert "wrong_key" in top.kinds
    assert "the key may be wrong" in top.reasons[0]
    assert top.interval is not None
    assert 0 <= top.interval[0] <= (top.rate or 0) <= top.interval[1] <= 1
    assert sum(1 for _ in found.every()) == 300


def test_whose_key_is_likelier_wrong_comes_first_whatever_is_said_of_it() -> None:
    common: Any = {"run_id": "r", "takers": 6, "interval": None, "wrong_key": 0.02}
    failed = Item(
        case_id="a", rate=0.0, discrimination=None, discrimination_interval=None,
        discrimination_shrunk=None, scores=(0.0,) * 6, **common,
    )  # fmt: skip
    turned = Item(
        case_id="b", rate=0.5, discrimination=-0.4, discrimination_interval=None,
        discrimination_shrunk=0.1, scores=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0), **common,
    )  # fmt: skip
    likely, unlikely = _explained(failed, -3.7, (), {}), _explained(turned, -4.7, (), {})
    assert (likely.kinds, unlikely.kinds) == (("nobody",), ("negative",))
    assert likely.suspicion > unlikely.suspicion > _explained(failed, -6.0, (), {}).suspicion


@pytest.mark.slow
def test_all_kinds_are_told(store: Store, put_scored: Callable[..., Run]) -> None:
    def asks(place: int) -> str:
        if place in (3, 4):
            return "How many legs has a spider that lost two of them in a fight with a wasp?"
        return f"Question {place} about thing{place} and matter{place}, in full?"

    def detail(place: int, index: int) -> Any:
        panel = [{"points": 1.0}, {"points": 0.0 if place == 5 else 1.0}]
        return {"raw": ["a reply"], "panel": panel}

    for number in range(5):
        points = [[float(place % 5 <= number or place == 1)] for place in range(30)]
        points[0], points[2] = [0.0], [float(number < 2)]
        run = put_scored(store, f"m{number}", points, asks=asks, detail=detail)
        store.runs.save(_with_judges(run))
    audit = JudgeAudit(judge="x", flipped={"c6": 0.67, "c7": 0.1})
    store.audits.save("m1", "x", 1.0, plain(audit))
    found = analyse(store, chosen_runs(store, ["quiz"]))
    kinds = {item.case_id: set(item.kinds) for item in found.listed}
    assert "everybody" in kinds["c1"]
    assert "nobody" in kinds["c0"]
    assert "negative" in kinds["c2"]
    assert "duplicate" in kinds["c3"]
    assert "duplicate" in kinds["c4"]
    assert "judge" in kinds["c5"]
    assert "judge" in kinds["c6"]
    assert "judge" not in kinds.get("c7", ())
    assert found.counts["duplicate"] == 2


@pytest.mark.parametrize(("takers", "unsure"), [(4, "2 of 2 correlations"), (40, "")])
def test_few_candidates_show_the_wrong_way_round_by_chance(
    store: Store, put_scored: Callable[..., Run], takers: int, unsure: str
) -> None:
    for number in range(takers):
        strength = number / (takers - 1)
        points = [[float(place / 20 <= strength)] for place in range(21)]
        points[3] = points[4] = [float(strength < 0.4)]
        put_scored(store, f"m{number}", points)
    found = analyse(store, chosen_runs(store, ["quiz"]))
    assert found.counts["negative"] == 2
    assert any(note.startswith(unsure) for note in found.notes) if unsure else not found.notes


def _with_judges(run: Run) -> Run:
    return replace(run, settings={"judges": [{"model": "a"}, {"model": "b"}]})


def test_which_runs_are_meant(store: Store, put_scored: Callable[..., Run]) -> None:
    put_scored(store, "a", [[1.0], [0.0]])
    put_scored(store, "b", [[1.0], [1.0]])
    put_scored(store, "c", [[1.0]], suite="other")
    assert {run.id for run in chosen_runs(store, ["quiz"])} == {"a", "b"}
    assert [run.id for run in chosen_runs(store, ["a"])] == ["a"]
    with pytest.raises(StoreError, match="nor is there a suite"):
        chosen_runs(store, ["none"])
    with pytest.raises(UsageError, match="2 suites"):
        chosen_runs(store, ["a", "c"])
    few = analyse(store, chosen_runs(store, ["a", "b"]))
    assert any("at least 3 are needed" in note for note in few.notes)
    assert all("wrong_key" not in item.kinds for item in few.listed)


def test_an_edited_case_is_another_case(store: Store, put_scored: Callable[..., Run]) -> None:
    put_scored(store, "a", [[1.0], [0.0]])
    put_scored(store, "b", [[1.0], [1.0]], asks=lambda place: "edited" if place else "question 0?")
    found = analyse(store, chosen_runs(store, ["a", "b"]))
    takers = {item.case_id: item.takers for item in found.every()}
    assert takers == {"c0": 2, "c1": 1}


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (" The answer is **B**. ", "the answer is **b"),
        ("B.", "b"),
        ("Let me think.\nSo it is:\n 42!", "42"),
        ("", None),
        ("x" * 500, None),
    ],
)
def test_answers_that_can_be_compared(output: str, words: str | None) -> None:
    assert comparable(output) == words
