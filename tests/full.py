"""How much of the tests is run: PROCTOR_FULL=1, as .ci/run sets it, means all of it.

Without it, tests marked ``long`` are left out, and of the parameters of a test marked ``sampled(n)``
every n-th is taken.
"""

import os
from collections import Counter

import pytest

FULL = bool(os.environ.get("PROCTOR_FULL"))


def is_taken(item: pytest.Item, seen: Counter[str]) -> bool:
    """Tell whether a test is one of those that are quick; ``seen`` counts those of each name."""
    if item.get_closest_marker("long") is not None:
        return False
    sampled = item.get_closest_marker("sampled")
    if sampled is None:
        return True
    name = item.nodeid.partition("[")[0]
    seen[name] += 1
    return (seen[name] - 1) % int(sampled.args[0]) == 0
