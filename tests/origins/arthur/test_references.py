"""The data of a suite: a frame before a file before lists, checked before anything is made."""

from typing import Any

import pytest

from proctor.origins.arthur.errors import MissingParameterError, UserValueError
from proctor.origins.arthur.references import CaseData, cases_of, contexts_of
from proctor.origins.arthur.rows import BenchCases

COLUMNS = ("input", "reference_output")


def cases(requires_reference: bool = False, **data: Any) -> BenchCases:
    return cases_of(CaseData(columns=COLUMNS, **data), requires_reference=requires_reference)


def test_lists_are_taken_as_they_are() -> None:
    made = cases(inputs=["q", 2], references=["a", 3], contexts=["c", ["d", "", "e"]])
    assert (made.inputs, made.references) == (["q", "2"], ["a", "3"])
    assert made.contexts == [("c",), ("d", "e")]
    assert cases(inputs=["q"]).references is None


def test_a_frame_has_ids_and_tags_where_it_has_the_columns() -> None:
    frame = {"input": ["q", "r"], "id": ["x", "y"], "lang": ["go", None], "ctx": ["c", None]}
    made = cases(frame=frame, tag_columns=("lang",), context_column="ctx")
    assert (made.ids, made.references) == (["x", "y"], None)
    assert made.tags == {"lang": ["go", ""]}
    assert made.contexts == [("c",), ()]
    other = cases(frame={"input": ["q"], "key": [7], "reference_output": ["a"]}, id_column="key")
    assert (other.ids, other.references) == (["7"], ["a"])


@pytest.mark.parametrize(
    ("data", "required", "words"),
    [
        ({"inputs": []}, False, "at least 1 test case"),
        ({"inputs": ["q", None]}, False, "row 2 has no input"),
        ({"inputs": ["q"], "references": ["a", "b"]}, False, "1 inputs and 2 references"),
        ({"inputs": ["q"], "contexts": ["a", "b"]}, False, "1 inputs and 2 contexts"),
        ({"inputs": ["q", "r"], "references": ["a", None]}, False, "row 2 has no reference"),
        ({"inputs": ["q"]}, True, "compares with reference outputs"),
        ({"inputs": ["q"], "references": [None]}, True, "compares with reference outputs"),
        ({"frame": {"input": ["q"]}}, True, "no column 'reference_output'"),
        ({"frame": {"input": ["q", "r"], "id": ["x", "x"]}}, False, "the id 'x' is there twice"),
    ],
)
def test_what_does_not_make_a_suite_is_said(
    data: dict[str, Any], required: bool, words: str
) -> None:
    with pytest.raises(UserValueError, match=words):
        cases(required, **data)


def test_no_data_at_all_is_a_missing_parameter() -> None:
    with pytest.raises(MissingParameterError, match="no data to make one of"):
        cases(references=["a"])
    assert contexts_of([[], None], "contexts") == [(), ()]
