"""Prompts and the vars of cases as people write them: texts, files, and lists of messages."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from proctor.core.prompt import templates_of
from proctor.core.prompt_template import TemplateError, as_text
from proctor.core.suite import CandidatePrompt, Json, Message
from proctor.errors import Problem, SuiteError
from proctor.formats.carried_modules import SuiteModules
from proctor.formats.native.spot import ROLES, Spot
from proctor.io.described import describe
from proctor.io.findings import Findings
from proctor.io.text_files import Document, Place, read_text
from proctor.io.yaml_files import read_yaml
from proctor.suggestions import suggest

YAML_ENDINGS = (".yaml", ".yml", ".json")
_NAME = re.compile(r"[A-Za-z_]\w*")
_PART_KEYS = frozenset({"text", "image", "document"})
_MESSAGE_KEYS = ("role", "content", "images")


def prompt_schema() -> dict[str, Json]:
    """Return the definitions of prompts and vars for the schemas of files."""
    text, file = {"type": "string"}, {"type": "string", "description": "A file with the text."}
    part = {
        "type": "object",
        "properties": {
            "text": text,
            "image": {"type": "string", "description": "A picture: a file, an address, or a var."},
            "document": {
                "type": "string",
                "description": "A text file, shown with its name, or a PDF.",
            },
        },
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
    message = {
        "type": "object",
        "properties": {
            "role": {"enum": list(ROLES)},
            "content": {"anyOf": [text, {"type": "array", "items": part}]},
            "images": {"anyOf": [text, {"type": "array", "items": text}]},
        },
        "additionalProperties": False,
        "required": ["role", "content"],
    }
    named_file = {
        "type": "object",
        "properties": {"file": file},
        "additionalProperties": False,
        "required": ["file"],
    }
    one = {"anyOf": [text, named_file, {"type": "array", "items": message}]}
    return {
        "prompt": one,
        "prompts": {
            "anyOf": [
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/prompt"}},
                {"type": "array", "items": {"anyOf": [text, named_file]}},
            ]
        },
        "vars": {"type": "object", "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}},
    }


def read_prompts(spot: Spot) -> tuple[CandidatePrompt, ...]:
    """Read the prompts of a suite or a run file, noting every problem."""
    value = spot.value
    if isinstance(value, str):
        value = [value]
    if isinstance(value, dict):
        entries = [(str(name), spot.at(name)) for name in value]
    elif isinstance(value, list):
        places = spot.items() if isinstance(spot.value, list) else [spot]
        entries = [(_listed_name(at.value, number), at) for number, at in enumerate(places, 1)]
    else:
        spot.error(f"prompts are written by name, not as {describe(value)}")
        return ()
    if not entries:
        spot.error("there are no prompts here")
    prompts = []
    for name, at in entries:
        if not name.strip() or any(char < " " for char in name):
            at.error("the name of a prompt is one line of text")
        elif (prompt := _prompt(name, at)) is not None:
            prompts.append(prompt)
    return tuple(prompts)


def _listed_name(value: Json, number: int) -> str:
    """Name a prompt that has no name: by its file, or by its number."""
    if isinstance(value, dict) and isinstance(value.get("file"), str):
        return Path(value["file"]).stem or f"prompt-{number}"
    return f"prompt-{number}"


def _prompt(name: str, spot: Spot) -> CandidatePrompt | None:
    value = spot.text()
    if isinstance(value, str):
        return _checked(CandidatePrompt(name=name, text=value, place=spot.place()), spot)
    if isinstance(value, list):
        before = spot.findings.total
        messages = tuple(_message(item) for item in spot.items())
        if spot.findings.total > before:
            return None
        if not messages:
            spot.error("the prompt has no messages")
            return None
        return _checked(CandidatePrompt(name=name, messages=messages, place=spot.place()), spot)
    if not isinstance(value, dict) or set(value) != {"file"}:
        spot.error("a prompt is a text, {file: PATH}, or a list of messages with role and content")
        return None
    path = spot.at("file").path()
    if path is None:
        return None
    if path.suffix.lower() in YAML_ENDINGS:
        return _from_yaml(name, path, spot)
    text = spot.at("file").file_text()
    if text is None:
        return None
    prompt = CandidatePrompt(name=name, text=text.removesuffix("\n"), place=str(path))
    document = Document(path=path, data=text, text=text)
    return _checked(prompt, Spot(spot.findings, spot.modules, document, (), text))


def _from_yaml(name: str, path: Path, spot: Spot) -> CandidatePrompt | None:
    if not path.is_file():
        spot.at("file").file_text()
        return None
    try:
        document = read_yaml(path)
    except SuiteError as error:
        spot.findings.add(*error.problems)
        return None
    inner = Spot(spot.findings, spot.modules, document, (), document.data)
    if isinstance(document.data, dict):
        inner.error("a prompt's file holds a text, or a list of messages with role and content")
        return None
    return _prompt(name, inner)


def _checked(prompt: CandidatePrompt, spot: Spot) -> CandidatePrompt | None:
    """Note what is wrong with the templates of a prompt, at its place in the file."""
    try:
        templates_of(prompt)
    except TemplateError as error:
        spot.findings.add(template_problem(error, spot))
        return None
    return prompt


def template_problem(error: TemplateError, spot: Spot) -> Problem:
    """Place the mistake of a template: exactly in a file of its own, else at its value."""
    document = spot.document
    if document.text and spot.value == document.text:
        at = replace(document, places={(): Place(error.line, error.column)})
        return at.problem((), error.message, hint=error.hint)
    place = document.place(spot.loc)
    where = "" if "\n" not in str(spot.value) else f"line {error.line}, "
    message = f"{error.message} ({where}column {error.column} of the template)"
    problem = document.problem(spot.loc, message, hint=error.hint)
    return problem if place is not None else replace(problem, excerpt=error.excerpt)


def _message(spot: Spot) -> Message:
    nothing = Message(role="user", content="")
    value = spot.value
    if not isinstance(value, dict):
        spot.error(f"a message is a mapping with role and content, not {describe(value)}")
        return nothing
    spot.unknown_keys(_MESSAGE_KEYS)
    role = value.get("role")
    if role not in ROLES:
        spot.error(f"there is no role {role!r}", hint=suggest(str(role), ROLES))
        return nothing
    if value.get("content") is None:
        spot.error("the message has no content")
        return nothing
    text, images = _content(spot.at("content"))
    if value.get("images") is not None:
        images = [*images, *(_image(item) for item in spot.at("images").items())]
    return Message(role=role, content=text, images=tuple(image for image in images if image))


def _content(spot: Spot) -> tuple[str, list[str]]:
    """Read the content of a message: a text, or parts of text, pictures and documents."""
    value = spot.text()
    if isinstance(value, str):
        return value, []
    if not isinstance(value, list):
        spot.error(f"a message's content is a text or a list of parts, not {describe(value)}")
        return "", []
    texts: list[str] = []
    images: list[str] = []
    for part in spot.items():
        written = part.value
        if isinstance(written, str):
            texts.append(written)
        elif not isinstance(written, dict) or len(written) != 1 or not _PART_KEYS & written.keys():
            part.error("a part is {text: …}, {image: FILE} or {document: FILE}")
        elif "text" in written:
            texts.append(str(part.at("text").text()))
        elif "image" in written:
            images.append(_image(part.at("image")))
        else:
            at = part.at("document")
            if at.names_pdf or "{{" in str(at.value):
                images.append(_pdf(at))
            else:
                texts.append(f"{at.value}:\n{literal(at.file_text() or '')}")
    return "\n\n".join(texts), images


def literal(text: str) -> str:
    """Write a text so that a template shows it as it is."""
    return re.sub(r"\{\{|\{%", lambda match: '{{"' + match[0] + '"}}', text)


def _image(spot: Spot) -> str:
    if isinstance(spot.value, str) and "{{" in spot.value:
        return spot.value
    return spot.image() or ""


def _pdf(spot: Spot) -> str:
    if isinstance(spot.value, str) and "{{" in spot.value:
        return spot.value
    return spot.pdf() or ""


def read_vars(spot: Spot) -> dict[str, Json]:
    """Read the vars of a case: JSON values, texts of files, and pictures."""
    if not isinstance(spot.value, dict):
        spot.error(f"vars are written by name, not as {describe(spot.value)}")
        return {}
    values: dict[str, Json] = {}
    for name in spot.value:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            spot.error(f"{name!r} is no name: letters, digits and _, no digit first", key=str(name))
            continue
        values[name] = _var(spot.at(name))
    return values


def _var(spot: Spot) -> Json:
    value = spot.value
    if isinstance(value, dict) and set(value) == {"file"}:
        return spot.at("file").file_text() or ""
    if isinstance(value, dict) and set(value) == {"image"}:
        return spot.at("image").image() or ""
    if isinstance(value, dict) and set(value) == {"document"}:
        at = spot.at("document")
        return (at.pdf() if at.names_pdf else at.file_text()) or ""
    if isinstance(value, dict):
        return {str(key): _var(spot.at(key)) for key in value}
    if isinstance(value, list):
        return [_var(item) for item in spot.items()]
    spelt = spot.text()
    return value if isinstance(spelt, str) and as_text(value) == spelt else spelt


def prompts_at(document: Document, root: Path, key: str = "") -> tuple[CandidatePrompt, ...]:
    """Read the prompts of a document, or those under one of its keys, or raise a SuiteError."""
    findings = Findings()
    modules = SuiteModules(root=root, home=document.path.parent)
    spot = Spot(findings, modules, document, (), document.data)
    prompts = read_prompts(spot.at(key) if key else spot)
    findings.check()
    return prompts


def prompts_in(path: Path) -> tuple[CandidatePrompt, ...]:
    """Read the prompts of a file: a text, a list of messages, or several prompts by name."""
    if path.suffix.lower() not in YAML_ENDINGS:
        text = read_text(path)
        document = Document(path=path, data=text, text=text)
        prompts = prompts_at(document, path.parent)
        return tuple(
            replace(one, name=path.stem, text=one.text.removesuffix("\n")) for one in prompts
        )
    document = read_yaml(path)
    if isinstance(document.data, list) and _are_messages(document.data):
        document.data = {path.stem: document.data}
        document.places = {(path.stem, *loc): place for loc, place in document.places.items()}
    return prompts_at(document, path.parent)


def _are_messages(entries: Sequence[Json]) -> bool:
    return all(isinstance(entry, dict) and "role" in entry for entry in entries)
