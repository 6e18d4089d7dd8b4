"""Checks the function that the task asks for."""

import sys

sys.path.insert(0, "/app")

from shapes import area


def test_area():
    assert area(2, 3) == 6
