"""What a process holds of columns: so many bytes, without what was not used longest."""

import numpy as np

from proctor.store.parts.column_cache import ColumnCache


def test_the_cache_forgets_what_was_not_used_longest() -> None:
    cache, loaded = ColumnCache(20), list[str]()

    def load(name: str, size: int = 8) -> object:
        def make() -> object:
            loaded.append(name)
            return np.zeros(size, dtype=np.uint8)

        return cache.get(name, make)

    for name in ("a", "b", "a", "c", "a", "b"):
        load(name)
    assert loaded == ["a", "b", "c", "b"]
    load("too large", 21)
    load("a")
    assert loaded[-1] == "too large"
    cache.clear()
    load("a")
    assert loaded[-1] == "a"
