"""How much of the tests is run: ``--level quick`` (`make test`), ``ci`` (`.ci/run`) or ``full``.

``quick`` leaves out tests marked ``slow``, and takes every n-th set of parameters of a test marked
``sampled(n)``. ``ci`` takes both, but for ``slow("full")``, and of several parameters (n of 3 or 4)
every second set, of many (5 or more) every third, or every m-th of ``sampled(n, ci=m)``.
``full`` takes everything. A test that does more at a higher level asks ``LEVEL`` for its size, and
is marked ``scaled``. The level is chosen before any test module is imported.
"""

from collections import Counter
from typing import TypeVar

import pytest

LEVELS = ("quick", "ci", "full")
Size = TypeVar("Size")


class Level:
    """The level that was chosen, and what chance begins with."""

    def __init__(self) -> None:
        self.name = "quick"
        self.seed = 0

    @property
    def ci(self) -> bool:
        """Tell whether there is the time of `.ci/run`, or more."""
        return self.name != "quick"

    @property
    def full(self) -> bool:
        """Tell whether there is time for everything."""
        return self.name == "full"

    def of(self, *, quick: Size, ci: Size, full: Size) -> Size:
        """Return the size for this level."""
        return {"quick": quick, "ci": ci, "full": full}[self.name]

    def takes(self, item: pytest.Item, seen: Counter[str]) -> bool:
        """Tell whether a test is run at this level; ``seen`` counts those of each name."""
        slow = item.get_closest_marker("slow")
        if slow is not None and not (self.full or (self.ci and "full" not in slow.args)):
            return False
        sampled = item.get_closest_marker("sampled")
        if sampled is None:
            return True
        name = item.nodeid.partition("[")[0]
        seen[name] += 1
        step = self.of(quick=sampled.args[0], ci=_ci_step(sampled), full=1)
        return (seen[name] - 1) % int(step) == 0


def _ci_step(sampled: pytest.Mark) -> int:
    """Return of how many sets of parameters `.ci/run` takes one."""
    usual = 3 if sampled.args[0] >= 5 else 2 if sampled.args[0] >= 3 else 1
    chosen: int = sampled.kwargs.get("ci", usual)
    return chosen


LEVEL = Level()
