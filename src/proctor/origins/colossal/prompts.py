"""Prompt files of ColossalAI's evaluation: the user's own, or those that come with Proctor."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from proctor.core.suite import Json
from proctor.errors import SuiteError
from proctor.io.described import describe
from proctor.io.findings import Findings
from proctor.io.text_files import Loc
from proctor.origins.colossal.source import JsonDocument, meant_by, near, read_document

GENERAL = "general"
SHORT: Mapping[str, str] = {"zh": "cn", "en": "en"}
PLACES = ("question", "answer", "metric", "steps")
BATTLE_PLACES = ("question", "answer_1", "answer_2", "prompt")
BATTLE_KEYS = ("system_prompt", "prompt_template", "prompt")
KEYS = ("id", "category", "metrics", "CoT", "prompt")
_PLACE = re.compile(r"\{\{|\}\}|\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryPrompt:
    """The prompt by which the answers of one category are rated."""

    category: str
    prompt: str
    metrics: Mapping[str, str]
    steps: Mapping[str, str]


@dataclass
class PromptFile:
    """A prompt file, of which only the requested categories are read."""

    document: JsonDocument
    findings: Findings = field(default_factory=Findings)
    _read: dict[str, CategoryPrompt | None] = field(default_factory=dict)

    def of(self, category: str) -> CategoryPrompt | None:
        """Return the prompt of a category, or else the general one; none where there is neither."""
        data = self.document.data
        name = category if category in data else GENERAL
        if name not in data:
            return None
        if name not in self._read:
            self._read[name] = self._category(name, data[name])
        return self._read[name]

    def _category(self, name: str, row: Json) -> CategoryPrompt | None:
        before = self.findings.total
        if not isinstance(row, dict):
            self.report((name,), f"expected a mapping of {', '.join(KEYS)}, not {describe(row)}")
            return None
        metrics, steps = self._texts(row, name, "metrics"), self._texts(row, name, "CoT")
        prompt = row.get("prompt")
        if not isinstance(prompt, str):
            self.report((name, "prompt"), "the prompt is missing, or no text", _hint("prompt", row))
            return None
        self.check_places((name, "prompt"), prompt, PLACES, ("answer",))
        if self.findings.total > before:
            return None
        return CategoryPrompt(category=name, prompt=prompt, metrics=metrics, steps=steps)

    def _texts(self, row: Json, name: str, key: str) -> dict[str, str]:
        texts = row.get(key)
        if not isinstance(texts, dict):
            message = f"{key!r} is missing, or no mapping of texts"
            self.report((name, key), message, _hint(key, row))
            return {}
        for metric, text in texts.items():
            if not isinstance(text, str):
                self.report((name, key, metric), f"expected a string, not {describe(text)}")
        return {metric: text for metric, text in texts.items() if isinstance(text, str)}

    def check_places(
        self, loc: Loc, text: str, allowed: tuple[str, ...], needed: tuple[str, ...]
    ) -> None:
        """Report places of a template that nothing is put into, and those that must be there."""
        places = {match[1] for match in _PLACE.finditer(text) if match[1] is not None}
        for place in sorted(places - set(allowed)):
            self.report(loc, f"nothing is put into the place {{{place}}}", near(place, allowed))
        for place in needed:
            if place not in places:
                self.report(loc, f"the prompt has no place {{{place}}}")

    def report(self, loc: Loc, message: str, hint: str = "") -> None:
        """Note a problem."""
        self.findings.error_at(self.document, loc, message, hint=hint)


def prompt_file(path: Path | None, language: str) -> PromptFile:
    """Open a prompt file, or the one of ours in a language."""
    document = _ours("evaluation", language) if path is None else read_document(path)
    if not isinstance(document.data, dict):
        message = "a prompt file is a mapping with an entry for each category"
        raise SuiteError([document.problem((), message)])
    return PromptFile(document)


def battle_prompt(path: Path | None, language: str) -> dict[str, str]:
    """Read a battle prompt file, or the one of ours in a language."""
    document = _ours("battle", language) if path is None else read_document(path)
    reader = PromptFile(document)
    data = document.data
    if not isinstance(data, dict):
        raise SuiteError([document.problem((), "a battle prompt file is a mapping")])
    for key in BATTLE_KEYS:
        if not isinstance(data.get(key), str):
            reader.report((key,), f"{key!r} is missing, or no text", _hint(key, data))
    if isinstance(template := data.get("prompt_template"), str):
        needed = ("answer_1", "answer_2")
        reader.check_places(("prompt_template",), template, BATTLE_PLACES, needed)
    reader.findings.check()
    return {key: data[key] for key in BATTLE_KEYS}


def _hint(key: str, row: Mapping[str, Json]) -> str:
    """Name the key that was probably meant to be another."""
    strange = [name for name in row if name not in (*KEYS, *BATTLE_KEYS)]
    close = [name for name in strange if meant_by(name, [key])]
    return f"{close[0]!r} should be {key!r}" if close else ""


def _ours(kind: str, language: str) -> JsonDocument:
    name = f"{kind}_prompt_{SHORT.get(language, 'en')}.json"
    text = files(__package__).joinpath("prompt_files", name).read_text(encoding="utf-8")
    return JsonDocument(path=Path(name), data=json.loads(text), text=text)
