"""Which tests a level takes, and what becomes of a test whose need is not met."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import needs
from level import LEVELS, Level

HERE = Path(__file__).parent
MARKED = ("slow", "sampled", "scaled", "browser")


def taken(level: str, mark: Any, count: int = 12) -> int:
    """Return how many of a test's sets of parameters a level takes."""
    chosen, seen = Level(), Counter[str]()
    chosen.name = level

    def item(number: int) -> Any:
        marker = {mark.name: mark}.get
        return SimpleNamespace(get_closest_marker=marker, nodeid=f"test_it[{number}]")

    return sum(chosen.takes(item(number), seen) for number in range(count))


@pytest.mark.parametrize(
    ("mark", "counts"),
    [
        (pytest.mark.sandbox, (12, 12, 12)),
        (pytest.mark.slow, (0, 12, 12)),
        (pytest.mark.slow("full"), (0, 0, 12)),
        (pytest.mark.sampled(2), (6, 12, 12)),
        (pytest.mark.sampled(4), (3, 6, 12)),
        (pytest.mark.sampled(6, ci=2), (2, 6, 12)),
    ],
    ids=["plain", "slow", "slow-full", "sampled-2", "sampled-4", "sampled-ci"],
)
def test_what_a_level_takes(mark: Any, counts: tuple[int, ...]) -> None:
    assert tuple(taken(level, mark.mark) for level in LEVELS) == counts


def test_a_need_that_is_not_met_skips_or_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "REQUIRED", set[str]())
    with pytest.raises(pytest.skip.Exception, match="needs torch: not installed"):
        needs.unmet("torch", "not installed")
    with pytest.raises(pytest.skip.Exception, match="needs ray"):
        needs.imported("no_such_package", "ray")
    monkeypatch.setattr(needs, "REQUIRED", {"torch", "ray"})
    with pytest.raises(pytest.fail.Exception, match="torch is required: not installed"):
        needs.unmet("torch", "not installed")
    with pytest.raises(ImportError):
        needs.imported("no_such_package", "ray")


def test_every_need_has_a_marker(pytestconfig: pytest.Config) -> None:
    named = {line.partition(":")[0].partition("(")[0] for line in pytestconfig.getini("markers")}
    assert needs.NEEDS.keys() <= named


def test_what_grows_with_the_level_is_marked_for_ci() -> None:
    """``.ci/run`` takes tests by markers: a size without one would never grow."""
    found = [
        path for path in HERE.rglob("test_*.py") if "from level import LEVEL\n" in path.read_text()
    ]
    assert found
    unmarked = [p.name for p in found if not any(f"mark.{m}" in p.read_text() for m in MARKED)]
    assert unmarked == []
