"""A suite's method as Arthur Bench describes it: its name, kind, configuration, categories."""

from typing import Any

import pytest

from proctor.core.suite import Case, Criterion, Spec
from proctor.origins.arthur.described import described


def case(criterion_id: str, scorer: str, **params: Any) -> Case:
    criterion = Criterion(id=criterion_id, scorer=Spec(name=scorer, params=params))
    return Case(id="c", messages=(), criteria=(criterion,))


@pytest.mark.parametrize(
    ("ignore_case", "compat", "sensitive"),
    [(False, "", True), (True, "", False), (False, "original", False), (True, "original", True)],
)
def test_the_flag_of_the_original_means_the_opposite(
    ignore_case: bool, compat: str, sensitive: bool
) -> None:
    told = described(case("exact_match", "exact_match", ignore_case=ignore_case), compat)
    assert (told.name, told.custom, told.config) == (
        "exact_match",
        False,
        {"case_sensitive": sensitive},
    )


def test_what_can_be_configured_has_the_names_of_the_original() -> None:
    told = described(case("hedging_language", "hedging_language", sentence="s", other=1), "")
    assert told.config == {"hedging_language": "s"}
    assert told.object()["type"] == "built_in"


def test_somebody_s_own_code_is_custom() -> None:
    own = case(
        "mine", "custom", name="Mine", config={"a": 1}, categories=["x", {"name": "y", "description": "d"}]
    )  # fmt: skip
    told = described(own, "")
    assert told.object() == {
        "name": "Mine",
        "type": "custom",
        "config": {"a": 1},
        "output_type": "categorical",
        "categories": [{"name": "x", "description": None}, {"name": "y", "description": "d"}],
    }
    other = described(case("other", "contains", texts="x"), "")
    assert (other.name, other.custom, other.config) == ("other", True, {"texts": "x"})
    assert other.object()["output_type"] == "continuous"


def test_a_case_without_criteria_has_no_method() -> None:
    assert described(Case(id="c", messages=(), criteria=()), "").name == ""
