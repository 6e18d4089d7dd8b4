"""Prompts around cases: what a candidate is shown, and what stays of the case."""

from typing import Any

import pytest

from proctor.core.encoding import case_from, prompt_from, suite_from
from proctor.core.fingerprint import attempt_key, case_key, plain, suite_key
from proctor.core.prompt import (
    as_asked,
    check_prompt,
    needs_prompt,
    prompt_key,
    prompt_of,
    put,
    question_of,
    templates_of,
)
from proctor.core.prompt_template import TemplateError
from proctor.core.suite import CandidatePrompt, Case, Criterion, Message, Spec, Suite

EXACT = Criterion(id="e", scorer=Spec(name="exact_match"))
PICTURE = "data:image/png;base64,AAAA"


def case(**more: object) -> Case:
    fields: dict[str, Any] = {
        "messages": (Message(role="user", content="Why?"),),
        "vars": {"question": "Why?"},
        "context": ("One.", "Two."),
    }
    return Case(id="c", criteria=(EXACT,), **{**fields, **more})


@pytest.mark.parametrize(
    ("variables", "question"),
    [
        ({"topic": "Rivers"}, "Rivers"),
        ({"a": "x", "question": "Why?"}, "Why?"),
        ({"input": "In", "lang": "de"}, "In"),
        ({"a": "x", "b": [1, 2]}, "a: x\nb: 1\n\n2"),
    ],
)
def test_the_question_of_vars(variables: dict[str, object], question: str) -> None:
    assert question_of(variables) == question


def test_a_text_takes_the_place_of_the_question() -> None:
    messages = (
        Message(role="system", content="Be kind."),
        Message(role="user", content="Why?", images=(PICTURE,)),
    )
    shown = put(
        case(messages=messages), CandidatePrompt(name="p", text="{{id}}: {{question}} {{ask}}")
    )
    assert shown.messages[0] == messages[0]
    assert shown.messages[1] == Message(role="user", content="c: Why? Why?", images=(PICTURE,))
    assert shown.references == case().references


def test_messages_take_the_place_of_all() -> None:
    written = (
        Message(role="system", content="From {{context | join('; ')}}"),
        Message(role="user", content="{{question}}", images=("{{photo}}",)),
    )
    given = case(vars={"question": "Why?", "photo": PICTURE})
    shown = put(given, CandidatePrompt(name="p", messages=written)).messages
    assert [message.content for message in shown] == ["From One.; Two.", "Why?"]
    assert shown[1].images == (PICTURE,)
    pictured = case(messages=(Message(role="user", content="Why?", images=(PICTURE,)),))
    alone = CandidatePrompt(name="p", messages=(Message(role="user", content="{{question}}"),))
    assert put(pictured, alone).messages[0].images == (PICTURE,)


def test_what_judges_know_is_not_named() -> None:
    hidden = case(references=("secret",), hidden={"answer": "secret"})
    for name in ("reference", "references", "hidden", "answer", "criteria"):
        with pytest.raises(TemplateError, match=name):
            put(hidden, CandidatePrompt(name="p", text="{{" + name + "}}"))


def test_a_picture_is_an_address() -> None:
    prompt = CandidatePrompt(
        name="p", messages=(Message(role="user", content="", images=("{{p}}",)),)
    )
    with pytest.raises(TemplateError, match="no picture"):
        put(case(vars={"p": "/etc/passwd"}), prompt)


def test_without_a_prompt_a_case_is_asked_as_it_is() -> None:
    assert put(case(), None) == case()
    assert not needs_prompt(case())
    several = case(
        vars={"a": "1", "b": "2"}, messages=(Message(role="user", content="a: 1\nb: 2"),)
    )
    assert needs_prompt(several)
    asked = case(vars={"a": "1", "b": "2"})
    assert not needs_prompt(asked)


def test_keys_follow_what_is_shown_and_not_who_asks() -> None:
    plain_case = case()
    one, two = (
        CandidatePrompt(name="a", text="{{question}}"),
        CandidatePrompt(name="b", text="Please: {{question}}"),
    )
    keys = {attempt_key(put(plain_case, prompt), 0, "i") for prompt in (one, two)}
    assert len(keys) == 2
    assert attempt_key(put(plain_case, one), 0, "i") == attempt_key(plain_case, 0, "i")
    suites = [Suite(name="s", cases=(plain_case,), prompts=prompts) for prompts in ((), (one, two))]
    assert len({suite_key(suite, [case_key(plain_case)]) for suite in suites}) == 1
    assert prompt_key(one) == prompt_key(
        CandidatePrompt(name="other", text="{{question}}", place="x")
    )
    assert prompt_key(one) != prompt_key(two)


def test_cases_without_vars_keep_their_keys() -> None:
    old = Case(id="c", messages=(Message(role="user", content="?"),), criteria=(EXACT,))
    assert "vars" not in plain(old)
    assert case_key(old) != case_key(case())


def test_prompts_and_vars_are_stored() -> None:
    prompt = CandidatePrompt(
        name="p", messages=(Message(role="user", content="{{x}}"),), place="f:1"
    )
    stored = plain(prompt)
    assert stored == {"name": "p", "messages": [{"role": "user", "content": "{{x}}"}]}
    assert prompt_from(stored) == prompt
    assert case_from(plain(case())) == case()
    suite = Suite(name="s", cases=(), prompts=(prompt,))
    assert suite_from(plain(suite), ()) == suite
    candidate = Spec(name="model", params={"prompt": stored})
    assert prompt_of(candidate) == prompt
    assert prompt_of(Spec(name="model")) is None


def test_readers_see_what_was_asked() -> None:
    candidate = Spec(name="model", params={"prompt": {"name": "p", "text": "Now: {{question}}"}})
    assert as_asked(case(), candidate).prompt == "Now: Why?"
    broken = Spec(name="model", params={"prompt": {"name": "p", "text": "{{gone}}"}})
    assert as_asked(case(), broken) == case()


def test_the_first_case_that_does_not_fit_is_named() -> None:
    suite = Suite(name="s", cases=(case(), case(vars={"q": "?"})))
    check_prompt(CandidatePrompt(name="p", text="{{ask}}"), suite)
    with pytest.raises(TemplateError) as caught:
        check_prompt(CandidatePrompt(name="p", text="{{question}}"), suite)
    assert caught.value.message == "there is no value named 'question' in the case 'c'"
    assert len(templates_of(CandidatePrompt(name="p", text="{{question}}"))) == 1
