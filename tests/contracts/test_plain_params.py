"""Plain parameters: what is made of them without pydantic is what pydantic makes, or nothing."""

import math
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from proctor import registry
from proctor.contracts.plain_params import Before, plainly_built


def listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


@dataclass(frozen=True)
class Plugin:
    """A plugin with parameters of all plain types."""

    fixed: ClassVar[int] = 3
    number: float = 1.0
    whole: int = 1
    flag: bool = False
    text: str = ""
    maybe: float | None = None
    either: int | str = 1
    choice: Literal["a", "b"] | bool = "a"
    texts: Annotated[tuple[str, ...], Before(listed)] = ()
    numbers: tuple[float, ...] = ()
    other: dict[str, int] = field(default_factory=dict)


VALUES = [
    0, 1, -7, 2**53, 2**53 + 1, 10**400, 0.5, -0.0, math.inf, math.nan, True, False, None, "", "a",
    "1", "x", [], ["a"], ["a", 1], [1, 2.5], ("a",), {}, {"a": 1}, b"x",
]  # fmt: skip


@pytest.mark.parametrize("name", [one.name for one in fields(Plugin)])
@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:20])
def test_a_parameter_is_what_pydantic_makes_of_it_or_left_to_it(name: str, value: Any) -> None:
    built = plainly_built(Plugin, {name: value})
    try:
        expected = TypeAdapter(Plugin).validate_python({name: value})
    except ValidationError:
        assert built is None
        return
    if built is not None:
        found, wanted = getattr(built, name), getattr(expected, name)
        assert (found, type(found), repr(found)) == (wanted, type(wanted), repr(wanted))
        assert built == expected


def test_plain_types_are_not_left_to_pydantic() -> None:
    params = {"number": 2, "whole": 2, "flag": True, "text": "x", "maybe": None, "texts": "one"}
    assert plainly_built(Plugin, params) == Plugin(**{**params, "number": 2.0, "texts": ("one",)})
    assert plainly_built(Plugin, {"numbers": [1, 2.5]}) == Plugin(numbers=(1.0, 2.5))
    assert plainly_built(Plugin, {"choice": "b", "either": "x"}) == Plugin(choice="b", either="x")


@dataclass(frozen=True)
class Needy:
    value: float


@dataclass(frozen=True)
class Choosy:
    share: float

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ValueError("the share lies between 0 and 1")


def test_what_a_class_refuses_is_left_to_pydantic() -> None:
    assert plainly_built(Choosy, {"share": 0.5}) == Choosy(0.5)
    assert plainly_built(Choosy, {"share": 7}) is None


def test_what_is_lacking_or_strange_is_left_to_pydantic() -> None:
    assert plainly_built(Needy, {}) is None
    assert plainly_built(Needy, {"value": 1, "more": 2}) is None
    assert plainly_built(Needy, {"value": 1}) == Needy(1.0)
    assert plainly_built(dict, {}) is None


def test_built_in_scorers_with_defaults_alone_are_those_of_pydantic() -> None:
    tried = 0
    for name in registry.BUILT_IN["scorer"]:
        cls: Any = registry.find("scorer", name)
        built = plainly_built(cls, {})
        if built is not None:
            tried += 1
            expected = TypeAdapter(cls).validate_python({})
            assert type(built) is type(expected)
            values = [[getattr(one, f.name) for f in fields(cls)] for one in (built, expected)]
            assert values[0] == values[1], name
    assert tried > 5


def test_a_conversion_before_the_check_shows_in_no_schema() -> None:
    schema = TypeAdapter(Plugin).json_schema()["properties"]["texts"]
    assert (schema["type"], schema["items"]) == ("array", {"type": "string"})
