"""Sums of a run in blocks: the same numbers, wherever the blocks are summed."""

import json
import random
from collections.abc import Iterator

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.run import CASES_PER_BLOCK, CaseResult, Summary
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run.aggregate import BlockTotals, case_result, fold_of
from proctor.engine.run.totals import RunTotals
from proctor.stats.intervals import IntervalMethod


def many(count: int, seed: int = 5) -> Iterator[CaseResult]:
    """Yield cases of every sort: answered or not, failed, in clusters, of several attempts."""
    draw = random.Random(seed)
    how = fold_of(Suite(name="s", cases=(), reduce="avg"))
    for place in range(count):
        criteria = (
            Criterion(id="e", scorer=Spec(name="exact_match"), weight=draw.choice([1.0, 0.3])),
            Criterion(id="p", scorer=Spec(name="contains"), weight=-0.7),
        )
        case = Case(
            id=f"c{place}",
            messages=(Message(role="user", content="?"),),
            criteria=criteria[: draw.randint(1, 2)],
            tags={"lang": (draw.choice("abcd"),), "own": (str(place),)},
            weight=draw.choice([1.0, 1.7]),
            cluster=draw.choice(["", "", "x", "y"]) if place > count // 3 else "",
        )
        attempts = []
        for index in range(draw.randint(1, 3)):
            attempt = Attempt.of(case.id, draw.choice(["x", "x", "x", None]), index=index)
            scores = {}
            if attempt.status is AttemptStatus.ANSWERED:
                scores = {
                    c.id: Score.failed(f"broke at {place}", out_of=1.0)
                    if draw.random() < 0.05
                    else Score(points=draw.random(), out_of=1.0, detail={"reference": "contained"})
                    for c in case.criteria
                }
            attempts.append((attempt, scores))
        yield case_result(how, case, attempts)


def in_blocks(results: list[CaseResult], method: IntervalMethod) -> Summary:
    """Sum block by block, each of them by itself and through JSON."""
    whole = BlockTotals(interval=method)
    for start in range(0, len(results), CASES_PER_BLOCK):
        block = RunTotals(interval=method)
        for result in results[start : start + CASES_PER_BLOCK]:
            block.add(result)
        data = json.loads(json.dumps(block.to_json(), allow_nan=False))
        whole.add_block(RunTotals.from_json(data, shares_of_value=False, interval=method))
    return whole.summary()


@pytest.mark.parametrize("method", ["bounded", "t", "bootstrap"])
@pytest.mark.sampled(3, ci=1)
def test_blocks_that_were_summed_elsewhere_give_the_same_numbers(method: IntervalMethod) -> None:
    results = list(many(2300))
    totals = BlockTotals(interval=method)
    for position, result in enumerate(results):
        totals.add(position, result)
    assert totals.summary() == in_blocks(results, method)
    assert "own" not in totals.summary().groups


@pytest.mark.parametrize("count", [0, 1, CASES_PER_BLOCK])
@pytest.mark.slow
def test_a_single_block_has_the_numbers_of_a_plain_sum(count: int) -> None:
    results = list(many(count))
    plain = RunTotals()
    for result in results:
        plain.add(result)
    assert in_blocks(results, "bounded") == plain.summary()


@pytest.mark.slow
def test_blocks_come_near_one_plain_sum() -> None:
    results = list(many(2300))
    plain = RunTotals()
    for result in results:
        plain.add(result)
    blocks, whole = in_blocks(results, "bounded"), plain.summary()
    assert blocks.totals.rate == pytest.approx(whole.totals.rate, rel=1e-12)
    assert blocks.totals.interval == pytest.approx(whole.totals.interval, rel=1e-9)
    assert blocks.totals.spread == pytest.approx(whole.totals.spread, rel=1e-9)
    assert blocks.failures == whole.failures
    assert blocks.references == whole.references
    assert list(blocks.groups["lang"]) == list(whole.groups["lang"])
