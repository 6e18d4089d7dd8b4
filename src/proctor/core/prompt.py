"""Prompts: the words in which a candidate is asked the cases of a suite."""

from collections.abc import Mapping
from dataclasses import replace

from proctor.core.encoding import prompt_from
from proctor.core.fingerprint import digest
from proctor.core.prompt_template import Template, TemplateError, as_text, read_template
from proctor.core.suite import CandidatePrompt, Case, Json, Message, Spec, Suite

ASK, CONTEXT, ID = "ask", "context", "id"
"""What every template may name besides the vars of a case."""
QUESTIONS = ("question", "ask", "input", "query", "prompt", "instruction", "task")
"""The vars that are the question of a case by themselves, the first that is there."""


def prompt_key(prompt: CandidatePrompt) -> str:
    """Return the hash of a prompt's words."""
    return digest(prompt.text, prompt.messages)


def templates_of(prompt: CandidatePrompt) -> tuple[Template, ...]:
    """Read all texts of a prompt, or raise a TemplateError."""
    texts = [message.content for message in prompt.messages] or [prompt.text]
    pictures = [image for message in prompt.messages for image in message.images]
    return tuple(read_template(text) for text in (*texts, *(p for p in pictures if "{{" in p)))


def prompt_of(candidate: Spec) -> CandidatePrompt | None:
    """Return the prompt of a run's candidate; none where it was asked the cases as they are."""
    data = candidate.params.get("prompt")
    return None if data is None else prompt_from(data)


def question_of(values: Mapping[str, Json]) -> str:
    """Return the vars of a case as one question, for judges and readers, whatever the prompt is."""
    if len(values) == 1:
        return as_text(next(iter(values.values())))
    for name in QUESTIONS:
        if name in values:
            return as_text(values[name])
    return "\n".join(f"{name}: {as_text(value)}" for name, value in values.items())


def needs_prompt(case: Case) -> bool:
    """Tell whether only a prompt can say how a case is asked: it has several vars, and no ask."""
    return len(case.vars) > 1 and case.prompt == question_of(case.vars)


def values_of(case: Case) -> dict[str, Json]:
    """Return what the templates of a prompt may name in a case; never what judges alone know."""
    return {ID: case.id, ASK: case.prompt, CONTEXT: list(case.context), **case.vars}


def put(case: Case, prompt: CandidatePrompt | None) -> Case:
    """Return a case as it is put to a candidate with a prompt, or raise a TemplateError."""
    if prompt is None:
        return case
    values = values_of(case)
    if not prompt.messages:
        return replace(case, messages=_with_question(case, _filled(prompt.text, values)))
    messages = [
        Message(
            role=message.role,
            content=_filled(message.content, values),
            images=tuple(_picture(image, values) for image in message.images),
        )
        for message in prompt.messages
    ]
    last_user = _last_user(messages)
    own = next((m.images for m in reversed(case.messages) if m.role == "user"), ())
    if own and last_user is not None and not messages[last_user].images:
        messages[last_user] = replace(messages[last_user], images=own)
    return replace(case, messages=tuple(messages))


def as_asked(case: Case, candidate: Spec) -> Case:
    """Return a case as a run's candidate was asked it, for people who read what happened."""
    try:
        return put(case, prompt_of(candidate))
    except (TemplateError, TypeError, LookupError):
        return case


def check_prompt(prompt: CandidatePrompt, suite: Suite) -> None:
    """Raise a TemplateError, about the first case that does not fit a prompt."""
    for case in suite.cases:
        try:
            put(case, prompt)
        except TemplateError as error:
            error.message = f"{error.message} in the case {case.id!r}"
            raise


def _filled(text: str, values: Mapping[str, Json]) -> str:
    return read_template(text).fill(values)


def _picture(image: str, values: Mapping[str, Json]) -> str:
    if "{{" not in image:
        return image
    address = _filled(image, values)
    if not address.startswith(("https:", "data:image/", "data:application/pdf")):
        raise TemplateError(
            "this is no picture or PDF",
            image,
            0,
            hint="write the var as {image: FILE}, {document: FILE.pdf}, or an https URL",
        )
    return address


def _with_question(case: Case, text: str) -> tuple[Message, ...]:
    messages = list(case.messages)
    if (last_user := _last_user(messages)) is None:
        return (*messages, Message(role="user", content=text))
    messages[last_user] = replace(messages[last_user], content=text)
    return tuple(messages)


def _last_user(messages: "list[Message]") -> int | None:
    return max((i for i, message in enumerate(messages) if message.role == "user"), default=None)
