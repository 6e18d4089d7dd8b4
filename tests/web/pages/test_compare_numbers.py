"""Numbers beside a comparison: tags by damage, settings that differ."""

from typing import Any

from proctor.engine.compare.comparing import sides_of
from proctor.web.pages.compare_numbers import tag_differences, usual_seconds


def test_tags_are_told_apart_with_the_most_damage_first(asked: Any, page_pool: Any) -> None:
    request = asked("/compare")
    with page_pool.lend() as store:
        sides = sides_of(store, ["new", "old"])
        (row,) = tag_differences(request, store, sides)
        assert tag_differences(request, store, sides, ["unknown"]) == []
        seconds = usual_seconds(request, store, sides[0].run)
    assert (row.tag, row.value, row.cases, row.rates) == ("kind", "odd", 4, (0.75, 0.25))
    assert (row.difference, row.points) == (-0.5, -2.0)
    assert seconds is None
