"""Candidate outputs beside their cases: by place or by id, as many as there are."""

from typing import Any

import pytest

from proctor.core.attempt import AttemptStatus
from proctor.core.suite import Case, Suite
from proctor.origins.arthur.candidates import CandidateOutputs, attempts_of
from proctor.origins.arthur.errors import MissingParameterError, UserTypeError, UserValueError
from proctor.origins.arthur.rows import place_id


def suite(*ids: str) -> Suite:
    cases = tuple(Case(id=name, messages=(), criteria=()) for name in ids)
    return Suite(name="s", cases=cases)


BY_PLACE = suite(*(place_id(place) for place in range(3)))
OWN = suite("x", "y", "z")


def outputs(of: Suite, **source: Any) -> list[tuple[str, str]]:
    return [(one.case_id, one.output) for one in attempts_of(CandidateOutputs(**source), of)]


def test_a_list_answers_the_cases_in_their_order() -> None:
    found = attempts_of(CandidateOutputs(outputs=["a", None, 3]), OWN)
    assert [(one.case_id, one.output) for one in found] == [("x", "a"), ("y", ""), ("z", "3")]
    assert found[1].status is AttemptStatus.UNANSWERED


def test_rows_are_found_by_their_ids_where_the_suite_has_its_own() -> None:
    frame = {"candidate_output": ["c", "a", "b"], "id": ["z", "x", "y"], "key": ["y", "z", "x"]}
    assert outputs(OWN, frame=frame) == [("x", "a"), ("y", "b"), ("z", "c")]
    assert outputs(OWN, frame=frame, id_column="key") == [("x", "b"), ("y", "c"), ("z", "a")]
    assert [text for _, text in outputs(BY_PLACE, frame=frame)] == ["c", "a", "b"]


def test_contexts_are_noted_with_their_attempts() -> None:
    frame = {"candidate_output": ["a", "b", "c"], "ctx": ["1", None, "3"]}
    found = attempts_of(CandidateOutputs(frame=frame, context_column="ctx"), BY_PLACE)
    assert [list(one.notes.get("context", ())) for one in found] == [["1"], [], ["3"]]
    listed = attempts_of(
        CandidateOutputs(outputs=["a", "b", "c"], contexts=[["1", "2"], "3", ""]), BY_PLACE
    )
    assert [list(one.notes.get("context", ())) for one in listed] == [["1", "2"], ["3"], []]


@pytest.mark.parametrize(
    ("of", "source", "error", "words"),
    [
        (OWN, {}, MissingParameterError, "no candidate outputs"),
        (OWN, {"outputs": ["a"]}, UserValueError, "has 1 tests but expected 3 tests"),
        (OWN, {"outputs": "abc"}, UserTypeError, "expected a list"),
        (OWN, {"outputs": ["a"] * 3, "contexts": ["1"]}, UserValueError, "1 contexts for 3"),
        (OWN, {"frame": {"candidate_output": ["a"] * 3, "id": ["x", "y", "?"]}}, UserValueError,
         "no case with the id '\\?'"),
        (OWN, {"frame": {"candidate_output": ["a"] * 3, "id": ["x", "y", "x"]}}, UserValueError,
         "have the id 'x' twice"),
        (OWN, {"frame": {"output": ["a"] * 3}}, UserValueError, "no column 'candidate_output'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(
    of: Suite, source: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        attempts_of(CandidateOutputs(**source), of)
