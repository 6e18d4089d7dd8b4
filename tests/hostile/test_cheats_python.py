"""Answers that cheat: apart from the test none passes; in its process two kinds do, and no more.

Above the level `quick`, all of them are tried in interpreters of their own as well.
"""

import asyncio
import os

import pytest

from hostile.python_cheats import CHEATS, PASSES_IN_ONE_PROCESS, RIGHT, TESTS
from level import LEVEL
from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext
from proctor.core.score import Score
from proctor.io.concurrency import map_unordered
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.scorers.programs.unit_tests import UnitTest, UnitTests
from room import Cold

pytestmark = [pytest.mark.sandbox, pytest.mark.scaled]

ALL = LEVEL.ci
TRIED = tuple(CHEATS)[:: 1 if ALL else 3]
WAYS: dict[str, tuple[type[Sandbox], bool | None]] = {
    "warm, apart": (Bubblewrap, None),
    "warm, in one process": (Bubblewrap, False),
    "cold, apart": (Cold, None),
    "cold, in one process": (Cold, False),
}


async def score(sandbox: Sandbox, test: str, answer: str, isolate: bool | None) -> Score:
    ctx = ScoreContext.of(f"```python\n{answer}\n```")
    ctx = ScoreContext(case=ctx.case, attempt=ctx.attempt, sandbox=sandbox)
    tests = (UnitTest(content=TESTS[test], isolate=isolate, timeout=5),)
    return await UnitTests(tests=tests).score(ctx)


@pytest.fixture(scope="module", params=WAYS if ALL else list(WAYS)[:1])
def scores(request: pytest.FixtureRequest) -> tuple[str, dict[str, Score]]:
    """Score cheats in one way, and right answers after them."""
    kind, isolate = WAYS[request.param]

    async def run() -> dict[str, Score]:
        sandbox = kind()

        async def one(name: str) -> tuple[str, Score]:
            test, answer = CHEATS.get(name, (name, RIGHT))
            return name, await score(sandbox, test, answer, isolate)

        try:
            wanted = [*TRIED, *TESTS]
            limit = os.cpu_count() or 1
            return {name: made async for name, made in map_unordered(wanted, one, limit=limit)}
        finally:
            await sandbox.close()

    return request.param, asyncio.run(run())


@pytest.mark.parametrize("name", TRIED)
def test_a_cheat_gets_no_points(scores: tuple[str, dict[str, Score]], name: str) -> None:
    way, found = scores
    shared = way.endswith("one process")
    passes = shared and name in PASSES_IN_ONE_PROCESS
    assert (found[name].points, found[name].out_of) == (float(passes), 1.0), found[name]


@pytest.mark.parametrize("test", TESTS)
def test_a_right_answer_passes_after_all_cheats(
    scores: tuple[str, dict[str, Score]], test: str
) -> None:
    assert scores[1][test].points == 1.0, scores[1][test]


def test_enough_is_tried() -> None:
    assert len(CHEATS) >= 32
    assert CHEATS.keys() > PASSES_IN_ONE_PROCESS
