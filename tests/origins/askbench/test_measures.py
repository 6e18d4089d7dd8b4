"""Measures of the original: what nothing is worth, and rubric items without a ruling."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import value_of
from proctor.core.fold import fold, parse_fold
from proctor.core.run import AttemptResult, CaseResult
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Spec
from proctor.origins.askbench import measures


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AskBenchAccuracy", 0.0),
        ("AskBenchPassAt1", 0.0),
        ("AskBenchAskScore", 0.5),
        ("AskBenchAskRate", 0.0),
        ("AskBenchUnqRate", 0.0),
        ("AskBenchVagueAskRate", 0.0),
        ("AskBenchClearDirectRate", 0.0),
        ("AskBenchHealthBench", 0.0),
    ],
)
def test_nothing_at_all_has_a_number(name: str, value: float) -> None:
    assert getattr(measures, name)().measure([]).value == value


def conversation(*scores: Any, weights: tuple[float, ...]) -> CaseResult:
    criteria = tuple(
        Criterion(id=str(place), scorer=Spec(name="rubric"), weight=weight)
        for place, weight in enumerate(weights)
    )
    case = Case(id="c", messages=(), criteria=criteria)
    named = {str(place): score for place, score in enumerate(scores) if score is not None}
    item = AttemptResult(attempt=Attempt.of("c", "x"), scores=named, value=value_of(case, named))
    return CaseResult(case=case, attempts=(item,), folded=fold(parse_fold("avg"), [item.value]))


MET, UNMET, LOST = Score(points=1.0, out_of=1.0), Score(points=0.0, out_of=1.0), Score.failed("x")
INVALID = Score(points=1.0, out_of=1.0, detail={"valid": False})


@pytest.mark.parametrize(
    ("scores", "weights", "value"),
    [
        ((MET, UNMET), (3.0, 1.0), 0.75),
        ((MET, MET), (1.0, -2.0), 0.0),
        ((MET, LOST), (1.0, 1.0), 0.5),
        ((MET, INVALID), (1.0, 1.0), 0.5),
        ((UNMET, None), (1.0, 1.0), 0.0),
        ((MET,), (-2.0,), 0.0),
    ],
)
def test_an_item_without_a_readable_ruling_is_not_met(
    scores: tuple[Any, ...], weights: tuple[float, ...], value: float
) -> None:
    measured = measures.AskBenchHealthBench().measure([conversation(*scores, weights=weights)])
    assert (measured.value, measured.n) == (value, 1)


def test_a_conversation_without_any_ruling_or_answer_does_not_count() -> None:
    lost = conversation(LOST, weights=(1.0,))
    good = conversation(MET, weights=(1.0,))
    (item,) = good.attempts
    silent = replace(item, attempt=replace(item.attempt, status=AttemptStatus.UNANSWERED))
    measured = measures.AskBenchHealthBench().measure([lost, replace(good, attempts=(silent,))])
    assert (measured.value, measured.n) == (0.0, 0)
