"""Answers in other languages that cheat: few still pass, and those are known.

`make test` tries some of the languages, `.ci/run` all of them.
"""

import re
from pathlib import Path

import pytest

from hostile.language_cheats import CHEATS
from proctor.contracts.scorer import ScoreContext
from proctor.core.score import ScoreStatus
from proctor.origins.infibench.scorers import InfiBenchUnitTests
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.scorers.programs.languages import named
from proctor.scorers.programs.toolchains import toolchain
from proctor.scorers.programs.unit_tests import UnitTest, UnitTests
from room import ROOM
from scorers.programs.test_languages import BEFORE, SAMPLES

QUICK = ("perl", "bash", "sql", "javascript")
OTHERS = (pytest.mark.languages, pytest.mark.slow)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "safety.md"


@pytest.fixture(scope="module", autouse=True)
def _closed() -> object:
    yield
    ROOM.close()


@pytest.mark.sandbox
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if cheat.lang in QUICK else OTHERS)
        for name, cheat in CHEATS.items()
    ],
)
@pytest.mark.sampled(7)
def test_a_cheat_gets_no_points(name: str) -> None:
    cheat = CHEATS[name]
    language = named(cheat.lang)
    assert language is not None
    if lacks := toolchain(language).missing:
        pytest.skip(f"{', '.join(lacks)} not installed")
    sample = SAMPLES[cheat.lang]
    test = UnitTest(
        content=cheat.test or sample.test, before=BEFORE.get(cheat.lang, ""), timeout=20
    )
    ctx = ScoreContext.of(f"```{sample.tag or cheat.lang}\n{cheat.code}\n```")
    ctx = ScoreContext(case=ctx.case, attempt=ctx.attempt, sandbox=ROOM.sandbox(Bubblewrap))
    made = ROOM.run(UnitTests(tests=(test,), lang=cheat.lang).score(ctx))
    assert made.status is ScoreStatus.SCORED, made.reason
    assert made.points == float(cheat.passes), made


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("compat", ["", "original"])
def test_a_test_that_never_calls_assert_can_be_passed(compat: str) -> None:
    if named("c++") and toolchain(named("c++")).missing:
        pytest.skip("no C++ here")
    test = UnitTest(content="#include <cassert>\nint main() { return twice(2) - 4; }", timeout=20)
    ctx = ScoreContext.of("```cpp\nint twice(int x) { return 2 * x; }\n```")
    ctx = ScoreContext(case=ctx.case, attempt=ctx.attempt, sandbox=ROOM.sandbox(Bubblewrap))
    made = ROOM.run(
        (InfiBenchUnitTests if compat else UnitTests)(tests=(test,), lang="c++").score(ctx)
    )
    assert made.points == 1.0, made


def test_few_pass_and_the_page_names_them() -> None:
    assert len(CHEATS) >= 31
    passing = {name for name, cheat in CHEATS.items() if cheat.passes}
    assert len(passing) <= 4
    page = re.sub(r"\s+", " ", PAGE.read_text(encoding="utf-8"))
    assert [name for name in passing if name.partition(": ")[2] not in page] == []
