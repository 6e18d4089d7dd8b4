"""Scores of stored replies alone: whole or none, and counted only where they served."""

import asyncio
from collections.abc import Callable

import pytest

from proctor.core.score import Score
from proctor.engine.models.call_scope import NotStored, StoredOnly, scored_from_store, stored_only
from proctor.io import concurrency

POINT = Score(points=1.0, out_of=1.0)


def scored(score: Callable[[StoredOnly], Score]) -> tuple[Score | None, list[str]]:
    counted: list[str] = []

    async def work() -> Score:
        looking = StoredOnly.current()
        assert looking is not None
        looking.used.append(lambda: counted.append("call"))
        await asyncio.sleep(0)
        return score(looking)

    return asyncio.run(scored_from_store(work)), counted


def lacking(looking: StoredOnly) -> Score:
    assert isinstance(looking.refuse(), NotStored)
    return POINT


def test_a_score_counts_its_calls_when_all_replies_were_there() -> None:
    assert scored(lambda _: POINT) == (POINT, ["call"])


@pytest.mark.parametrize("score", [lacking, lambda _: Score.failed("unreadable")])
def test_what_cannot_be_made_of_the_store_is_none_and_counts_nothing(
    score: Callable[[StoredOnly], Score],
) -> None:
    assert scored(score) == (None, [])


def test_asking_is_allowed_again_afterwards_even_after_an_error() -> None:
    with pytest.raises(ValueError, match="broken"), stored_only():
        raise ValueError("broken")
    assert StoredOnly.current() is None


def test_only_the_task_that_looks_is_kept_from_asking() -> None:
    seen: dict[str, bool] = {}

    async def work(who: str) -> None:
        async def score() -> Score:
            await asyncio.sleep(0)
            seen[who] = StoredOnly.current() is not None
            return POINT

        await (scored_from_store(score) if who == "looks" else score())

    async def both() -> None:
        async for _ in concurrency.map_unordered(["looks", "asks"], work, limit=2):
            pass

    asyncio.run(both())
    assert seen == {"looks": True, "asks": False}


def test_a_reply_that_is_not_stored_may_be_there_next_time() -> None:
    assert NotStored().passing
