"""Prompts of a run: which are chosen, and what is refused before anything is asked."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.suite import CandidatePrompt, Case, Criterion, Message, Spec, Suite
from proctor.engine.run.prompts import check_asking, chosen_prompts, with_prompts
from proctor.engine.run.settings import RunSettings, SuiteSettings
from proctor.errors import SuiteError, UsageError

ONE, TWO = (
    CandidatePrompt(name="one", text="{{question}}"),
    CandidatePrompt(name="two", text="Please: {{question}}"),
)
EXACT = Criterion(id="e", scorer=Spec(name="exact_match"))


def suite(*prompts: CandidatePrompt, **variables: str) -> Suite:
    values = variables or {"question": "Why?"}
    text = "\n".join(f"{name}: {value}" for name, value in values.items())
    asked = Message(role="user", content=text if len(values) > 1 else next(iter(values.values())))
    case = Case(id="c", messages=(asked,), criteria=(EXACT,), references=("x",), vars=values)
    return Suite(name="s", cases=(case,), prompts=prompts)


def settings(**changes: Any) -> RunSettings:
    changes.setdefault("model", ModelChoice(spec="openai:m"))
    return RunSettings(suite=SuiteSettings(path=Path("s")), **changes)


def test_a_run_for_each_prompt() -> None:
    assert with_prompts(settings(), suite()) == [settings()]
    runs = with_prompts(settings(), suite(ONE, TWO))
    assert [run.prompt for run in runs] == [ONE, TWO]
    assert [run.candidate_name for run in runs] == ["openai:m+one", "openai:m+two"]
    assert runs[0].candidate != runs[1].candidate
    assert settings().candidate.params == {"name": "openai:m", "model": "openai:m"}
    assert [run.prompt for run in with_prompts(settings(prompts=("two",)), suite(ONE, TWO))] == [
        TWO
    ]


def test_answers_on_file_were_asked_before() -> None:
    on_file = settings(model=None, answers=Path("a.jsonl"))
    assert with_prompts(on_file, suite(ONE)) == [on_file]
    with pytest.raises(UsageError, match="answers on file"):
        with_prompts(replace(on_file, prompts=("one",)), suite(ONE))


def test_prompts_by_name_file_and_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "three.txt"
    path.write_text("Three: {{question}}\n")
    chosen = chosen_prompts(["two", str(path), ONE], suite(TWO))
    assert [prompt.name for prompt in chosen] == ["two", "three", "one"]
    with pytest.raises(UsageError, match="did you mean 'two'"):
        chosen_prompts(["tow"], suite(TWO))
    with pytest.raises(UsageError, match="the suite has none; name a file"):
        chosen_prompts(["tow"], suite())
    with pytest.raises(UsageError, match="two prompts have the name 'two'"):
        chosen_prompts(["two", replace(ONE, name="two")], suite(TWO))
    with pytest.raises(SuiteError, match="there is no such file"):
        chosen_prompts([str(tmp_path / "gone.txt")], suite())


def test_a_name_is_for_one_run() -> None:
    with pytest.raises(UsageError, match="there are 2 prompts"):
        with_prompts(settings(name="n"), suite(ONE, TWO))
    assert with_prompts(settings(name="n", prompts=("one",)), suite(ONE, TWO))


def test_what_does_not_fit_is_found_before_anything_is_asked() -> None:
    in_suite = CandidatePrompt(name="p", text="{{qestion}}", place="s.yaml:3")
    with pytest.raises(SuiteError) as caught:
        check_asking(settings(prompt=in_suite), suite())
    assert str(caught.value) == (
        "s.yaml:3: error: there is no value named 'qestion' in the case 'c': the prompt 'p' names it"
        " (line 1, column 1 of the template)\n  fix: did you mean 'question'?"
    )
    with pytest.raises(SuiteError, match=r"p\.txt:1:1: error: there is no value named 'qestion'"):
        check_asking(settings(prompt=replace(in_suite, place="p.txt")), suite())
    with pytest.raises(UsageError, match="no prompt that says how to ask it"):
        check_asking(settings(), suite(a="1", b="2"))
    check_asking(settings(), suite())
    check_asking(settings(model=None, answers=Path("a")), suite(a="1", b="2"))
