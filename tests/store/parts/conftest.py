"""A store with a place for parts, on both databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.store.store import Store


@pytest.fixture
def store(address: str, tmp_path: Path) -> Iterator[Store]:
    parts = "" if "://" not in address else str(tmp_path / "parts")
    with Store.open(address, parts=parts) as opened:
        yield opened
