"""Scoring methods by their names: configured, compared with a stored suite, and who judges."""

from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.suite import Case, Criterion, Suite
from proctor.origins.arthur.errors import MissingParameterError, UserValueError
from proctor.origins.arthur.methods import (
    ScoringMethod,
    chosen,
    difference,
    judge_choice,
    specs_for,
    stored_in,
)


def suite(method: str, **config: Any) -> Suite:
    (spec,) = ScoringMethod(method, **config).specs("", 1)
    case = Case(id="c", messages=(), criteria=(Criterion(id=method, scorer=spec),))
    return Suite(name="s", cases=(case,))


def test_a_method_knows_its_settings() -> None:
    method = ScoringMethod("exact_match", case_sensitive=False)
    assert repr(method) == "ScoringMethod('exact_match', case_sensitive=False)"
    assert method.requires_reference
    assert len(method.specs("", 3)) == 3
    with pytest.raises(UserValueError, match="no setting 'colour'"):
        ScoringMethod("exact_match", colour=1)
    with pytest.raises(UserValueError, match="exact_match"):
        ScoringMethod("exact_mach")


def test_a_method_scores_through_a_suite_alone() -> None:
    method = ScoringMethod("readability")
    with pytest.raises(AttributeError, match="it scores through a suite"):
        method.run_batch  # noqa: B018 - it is asked for
    with pytest.raises(AttributeError, match="has no 'colour'"):
        method.colour  # noqa: B018 - it is asked for


def test_what_people_give_is_a_method_or_their_own() -> None:
    method = chosen("exact_match")
    assert isinstance(method, ScoringMethod)
    assert chosen(method) is method
    assert chosen(lambda **_: 1.0).name
    assert [spec.name for spec in specs_for(method, "", 2)] == ["exact_match"] * 2


def test_unit_tests_are_read_from_their_folder(tmp_path: Path) -> None:
    for name, text in (("b.py", "2"), ("a.py", "1")):
        (tmp_path / name).write_text(text)
    specs = ScoringMethod("python_unit_testing", unit_test_dir=str(tmp_path)).specs("", 2)
    assert "1" in str(specs[0].params)
    assert "2" in str(specs[1].params)
    with pytest.raises(MissingParameterError, match="one test a case"):
        ScoringMethod("python_unit_testing").specs("", 1)
    with pytest.raises(UserValueError, match="there is no folder"):
        ScoringMethod("python_unit_testing", unit_test_dir=str(tmp_path / "x")).specs("", 1)


def test_a_stored_suite_keeps_its_method() -> None:
    stored = suite("exact_match", case_sensitive=False)
    assert stored_in(stored).name == "exact_match"
    assert difference(stored, "exact_match") == ""
    assert difference(stored, ScoringMethod("exact_match", case_sensitive=False)) == ""
    assert "configured otherwise" in difference(
        stored, ScoringMethod("exact_match", case_sensitive=True)
    )
    assert difference(stored, "readability") == "it is scored by exact_match, not by readability"
    assert "not by" in difference(stored, lambda **_: 1.0)


def test_only_a_method_that_asks_needs_a_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROCTOR_JUDGE", raising=False)
    assert judge_choice("exact_match", None) == ()
    assert judge_choice("own", None) == ()
    with pytest.raises(MissingParameterError, match="asks a judge"):
        judge_choice("qa_correctness", None)
    choice = ModelChoice(spec="openai:m")
    assert judge_choice("qa_correctness", choice) == (choice,)
    assert judge_choice("qa_correctness", "openai:m")[0].spec == "openai:m"
    monkeypatch.setenv("PROCTOR_JUDGE", "openai:env")
    assert judge_choice("qa_correctness", None)[0].spec == "openai:env"
    with pytest.raises(UserValueError, match="judge:"):
        judge_choice("qa_correctness", "nobody")
