"""Numbers beside a comparison: tags by damage, settings that differ."""

from dataclasses import replace
from typing import Any

from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.engine.compare.comparing import sides_of
from proctor.web.pages.compare_numbers import setting_differences, tag_differences, usual_seconds


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


def test_only_settings_that_differ_are_listed_and_no_outcomes() -> None:
    first = Run(
        id="a", name="a", suite="quiz", suite_key="k", candidate=Spec(name="model"),
        settings={"attempts": 1, "sampling": {"temperature": 0.0, "seed": 1}},
        signature="judge:x|attempts:1|n:3|unanswered:1|unscored:0",
    )  # fmt: skip
    second = replace(
        first,
        settings={"sampling": {"temperature": 0.7, "seed": 1}},
        signature="judge:y|n:4|unanswered:0|unscored:2",
    )
    assert {one.name: one.values for one in setting_differences([first, second])} == {
        "attempts": ["1", None],
        "sampling.temperature": ["0.0", "0.7"],
        "signature.judge": ["x", "y"],
    }
