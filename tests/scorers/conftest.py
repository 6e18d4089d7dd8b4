"""Sandboxes that tests of scorers share are closed at the end of each file."""

from collections.abc import Iterator

import pytest

from room import ROOM


@pytest.fixture(autouse=True, scope="module")
def _closed() -> Iterator[None]:
    yield
    ROOM.close()
