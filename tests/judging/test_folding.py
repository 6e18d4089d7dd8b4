"""Verdicts folded field by field, with ties."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel, create_model

from proctor.judging.folding import fold

Word = Literal["correct", "incorrect"]


def folded(annotation: Any, values: list[Any], combine: str = "majority") -> Any:
    kind: Any = create_model("One", it=(annotation, ...), __base__=BaseModel)
    return fold([kind(it=value) for value in values], combine).it


@pytest.mark.parametrize(
    ("annotation", "values", "expected"),
    [
        (bool, [True, True, False], True),
        (bool, [False, True, False], False),
        (bool, [True, False], False),
        (bool | None, [True, False], None),
        (bool | None, [True, None, True], True),
        (bool | None, [None, None, True], None),
        (bool | None, [True, False, None], None),
        (Word, ["correct", "correct", "incorrect"], "correct"),
        (Word, ["correct", "incorrect"], "incorrect"),
        (Word, ["incorrect", "correct"], "incorrect"),
        (Word | None, ["incorrect", "correct"], None),
        (list[str], [["a", "b"], ["b", "c"], ["b", "a"]], ["a", "b"]),
        (list[str], [["a"], ["b"]], []),
        (list[str], [["a", "a"], []], []),
        (list[str], [[], []], []),
        (dict[str, int], [{"a": 1}, {"a": 2}, {"a": 2}], {"a": 2}),
        (dict[str, int], [{"a": 1}, {"a": 2}], {"a": 1}),
        (str, ["first", "second"], "first"),
    ],
)
def test_what_most_say(annotation: Any, values: list[Any], expected: Any) -> None:
    assert folded(annotation, values) == expected


@pytest.mark.parametrize(
    ("values", "combine", "expected"),
    [
        ([1, 2, 5], "mean", 8 / 3),
        ([1, 2, 5], "median", 2),
        ([1, 2], "median", 1.5),
        ([5, 1, 5], "majority", 5),
        ([1, 2, 5], "majority", 2),
        ([1, 1, 4, 4], "majority", 2.5),
        ([4, None, 2], "mean", 3),
        ([4, None, None], "mean", None),
    ],
)
def test_numbers(values: list[Any], combine: str, expected: Any) -> None:
    assert folded(int | None, values, combine) == expected


def test_a_free_text_is_that_of_the_first_who_agrees() -> None:
    class Ruling(BaseModel):
        reason: str
        met: bool
        missing: list[str]

    made = fold(
        [
            Ruling(reason="against", met=False, missing=[]),
            Ruling(reason="half", met=True, missing=["a"]),
            Ruling(reason="wholly", met=True, missing=[]),
        ]
    )
    assert (made.reason, made.met, made.missing) == ("wholly", True, [])
