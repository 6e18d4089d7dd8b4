"""promptfoo's configuration as a suite: prompts, tests, and the assertions that have a scorer."""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.contracts.dialect import PlainDialect, Reading
from proctor.core.attempt import Attempt
from proctor.core.prompt_template import TemplateError, read_template
from proctor.core.suite import Json, Suite
from proctor.errors import DialectError, Problem, SuiteError
from proctor.formats.native.case import Defaults
from proctor.formats.native.reader import CaseLoader
from proctor.formats.promptfoo_asserts import NEEDS_CONTEXT, criterion_of
from proctor.io.text_files import Document, Loc, inside, parse_json, read_head, read_text
from proctor.io.yaml_files import read_yaml

KEYS = {
    "description",
    "prompts",
    "providers",
    "targets",
    "tests",
    "defaultTest",
    "evaluateOptions",
}
TEST_KEYS = {"description", "vars", "assert"}
_KEYS = re.compile(rb"^(prompts|providers|targets|tests)\s*:", re.M)
_JSON_KEYS = re.compile(rb'"(prompts|providers|targets|tests|evalId)"\s*:')
_PROVIDERS: tuple[tuple[str, str, str], ...] = (
    (r"openai:(?:chat:|responses:)?([^:]+)", "openai:{}", ""),
    (r"anthropic:(?:messages:)?([^:]+)", "anthropic:{}", ""),
    (r"(?:google|vertex):([^:]+)", "gemini:{}", ""),
    (r"ollama:(?:chat:|completion:)?(.+)", "openai:{}", "http://localhost:11434/v1"),
)
"""Providers that are models here: the form of their name, ours, and the address of the server."""
_SETTINGS = {
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "top_p": "top_p",
    "seed": "seed",
    "reasoning_effort": "reasoning_effort",
    "apiBaseUrl": "url",
    "apiKeyEnvar": "key_env",
}


@dataclass(frozen=True)
class PromptfooConfig(PlainDialect):
    """Configuration files of promptfoo."""

    name = "promptfoo"

    def recognises(self, path: Path) -> bool:
        if path.suffix.lower() not in (".yaml", ".yml", ".json") or not path.is_file():
            return False
        head = read_head(path, 64 * 1024)
        if path.suffix.lower() == ".json":
            keys = set(_JSON_KEYS.findall(head))
            return {b"prompts", b"tests"} <= keys and b"evalId" not in keys
        keys = set(_KEYS.findall(head))
        return {b"prompts", b"tests"} <= keys or (
            b"prompts" in keys and bool(keys & {b"providers", b"targets"})
        )

    def read_with(self, path: Path, root: Path | None, options: Mapping[str, str]) -> Reading:
        return _Config(read_yaml(path), root or path.parent).reading()

    def run_options(self, path: Path) -> Mapping[str, Json]:
        return _Config(read_yaml(path), path.parent).options()

    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        raise DialectError([Problem(message="a configuration has no answers", file=str(path))])


class _Config:
    """Reader of one configuration, which notes what has no counterpart."""

    def __init__(self, document: Document, root: Path) -> None:
        self.document, self.root = document, root
        if not isinstance(document.data, dict):
            raise SuiteError([document.problem((), "a configuration is a mapping")])
        self.data: dict[str, Any] = document.data
        self.left_out: list[Problem] = []

    def reading(self) -> Reading:
        """Return the suite, with a warning for each thing that was left out."""
        loader = CaseLoader(self.root, self.root)
        header: dict[str, Json] = {
            "name": self.document.path.stem,
            "description": str(self.data.get("description") or ""),
            "prompts": self._prompts(),
        }
        defaults = loader.row_header(
            Document(path=self.document.path, data={"suite": header}), Defaults()
        )
        for key in self.data:
            if key not in KEYS:
                self._without((key,), f"{key!r} has no counterpart")
        for number, (loc, case) in enumerate(self._cases(), 1):
            place = self.document.place(loc)
            row = None if place is None else place.line
            document = Document(path=self.document.path, data=case, row=row)
            loader.case(loader.spot(document), defaults, f"test-{number}")
        loader.findings.check()
        self.options()
        warnings = dict.fromkeys((*self.left_out, *loader.findings.warnings))
        return Reading(suite=loader.suite(self.document.path.stem), warnings=tuple(warnings))

    def options(self) -> dict[str, Json]:
        """Return the keys of a run file: models, attempts, concurrency."""
        options: dict[str, Json] = {}
        key = "providers" if "providers" in self.data else "targets"
        entries = self.data.get(key) or []
        listed = isinstance(entries, list)
        models = [
            model
            for number, entry in enumerate(entries if listed else [entries])
            if (model := self._model((key, number) if listed else (key,), entry)) is not None
        ]
        if models:
            options["models"] = models
        evaluate = self.data.get("evaluateOptions") or {}
        names = {"repeat": "attempts", "maxConcurrency": "concurrency"}
        for name, value in evaluate.items():
            if name in names:
                options[names[name]] = value
            else:
                self._without(("evaluateOptions", name), f"{name!r} has no counterpart")
        return options

    def _prompts(self) -> dict[str, Json]:
        entries = self.data.get("prompts") or []
        entries = entries if isinstance(entries, list) else [entries]
        prompts: dict[str, Json] = {}
        for number, entry in enumerate(entries):
            raw, label = entry, ""
            if isinstance(entry, dict):
                raw, label = entry.get("raw") or entry.get("id"), str(entry.get("label") or "")
            text = self._text(("prompts", number), raw)
            if text is None:
                continue
            name = re.sub(r"[^\w.-]+", "-", label).strip("-") or f"prompt-{number + 1}"
            prompts[name] = _messages(text)
        if not prompts:
            raise SuiteError([self.document.problem(("prompts",), "there is no prompt to convert")])
        return prompts

    def _text(self, loc: Loc, raw: Any) -> str | None:
        """Return a text, read from the file that it names where it names one."""
        if not isinstance(raw, str):
            self._without(loc, "this is no text")
            return None
        if not raw.startswith("file://"):
            return raw
        name = raw.removeprefix("file://")
        path = inside(self.root, self.document.path.parent, name)
        if path is None or path.suffix.lower() not in (".txt", ".md", ".json"):
            self._without(loc, f"{name!r} is no text in the configuration's folder")
            return None
        return read_text(path)

    def _model(self, loc: Loc, entry: Any) -> Json | None:
        config: dict[str, Any] = {}
        name = entry
        if isinstance(entry, dict):
            if "id" not in entry and len(entry) == 1:
                ((name, inner),) = entry.items()
                entry = inner if isinstance(inner, dict) else {}
            else:
                name = entry.get("id")
            config = entry.get("config") or {}
        named = _model_name(str(name))
        if named is None:
            self._without(loc, f"the provider {name!r} is no model here")
            return None
        sampling = {ours: config[theirs] for theirs, ours in _SETTINGS.items() if theirs in config}
        for key in config:
            if key not in _SETTINGS:
                self._without(loc, f"the setting {key!r} of {name} is left out")
        spec, url = named
        settings = {**({"url": url} if url else {}), **sampling}
        return {"model": spec, **settings} if settings else spec

    def _cases(self) -> Iterator[tuple[Loc, dict[str, Json]]]:
        tests = self.data.get("tests")
        if tests is not None and not isinstance(tests, list):
            self._without(("tests",), "tests in a file of their own are not read")
            tests = []
        shared = self.data.get("defaultTest")
        if isinstance(shared, str):
            self._without(("defaultTest",), "a file of its own is not read")
        shared = shared if isinstance(shared, dict) else {}
        common = self._criteria(("defaultTest",), shared, shared.get("vars") or {})
        taken: set[str] = set()
        for number, test in enumerate(tests or [{}]):
            loc: Loc = ("tests", number)
            if not isinstance(test, dict):
                self._without(loc, "tests in a file of their own are not read")
                continue
            variables = {**(shared.get("vars") or {}), **(test.get("vars") or {})}
            for chosen in _combinations(variables):
                values = self._values(loc, chosen)
                criteria = [*self._criteria(loc, test, values), *common]
                case = self._case(loc, test, values, criteria)
                if (name := test.get("description")) and name not in taken:
                    taken.add(name)
                    case["id"] = name
                yield loc, case

    def _case(
        self, loc: Loc, test: Mapping[str, Any], values: dict[str, Json], criteria: list[Any]
    ) -> dict[str, Json]:
        for key in test:
            if key not in TEST_KEYS:
                self._without((*loc, key), f"{key!r} of a test has no counterpart")
        if not criteria:
            self._without(loc, "no assertion has a scorer: only the length is shown")
            criteria = [{"scorer": "length", "with": {}, "weight": 0}]
        case: dict[str, Json] = {"vars": values, "criteria": criteria}
        kinds = {one.get("type") for one in test.get("assert") or () if isinstance(one, dict)}
        if kinds & NEEDS_CONTEXT and "context" in values:
            context = values.pop("context")
            case["context"] = context if isinstance(context, list) else [context]
        return case

    def _values(self, loc: Loc, chosen: Mapping[str, Any]) -> dict[str, Json]:
        values: dict[str, Json] = {}
        for name, written in chosen.items():
            is_text = isinstance(written, str)
            value = self._text((*loc, "vars", name), written) if is_text else written
            if value is not None:
                values[name] = value
        return values

    def _criteria(
        self, loc: Loc, test: Mapping[str, Any], values: Mapping[str, Json]
    ) -> list[dict[str, Json]]:
        criteria = []
        for number, entry in enumerate(test.get("assert") or ()):
            at: Loc = (*loc, "assert", number)
            if not isinstance(entry, dict):
                self._without(at, "this is no assertion")
                continue
            value = entry.get("value")
            try:
                if isinstance(value, str) and "{{" in value:
                    value = read_template(value).fill(values)
            except TemplateError as error:
                self._without(at, error.message)
                continue
            criterion = criterion_of({**entry, "value": value})
            if criterion is None:
                self._without(at, f"no scorer does what {entry.get('type')!r} does")
            else:
                criteria.append(criterion)
        return criteria

    def _without(self, loc: Loc, message: str) -> None:
        problem = self.document.problem(loc, f"not converted: {message}", severity="warning")
        self.left_out.append(problem)


def _model_name(provider: str) -> tuple[str, str] | None:
    """Return our name of a provider's model and the address of its server; none if unknown."""
    for pattern, ours, url in _PROVIDERS:
        if match := re.fullmatch(pattern, provider):
            return ours.format(match[1]), url
    return None


def _messages(text: str) -> Json:
    """Return a prompt's messages where it is a list of them in JSON, or the text."""
    if not text.lstrip().startswith("["):
        return text.strip("\n")
    try:
        messages = parse_json(text)
    except ValueError:
        return text
    is_chat = all(isinstance(one, dict) and {"role", "content"} <= one.keys() for one in messages)
    return messages if is_chat else text


def _combinations(variables: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the values of a test; a list stands for one test with each of its entries."""
    lists = [value if isinstance(value, list) else [value] for value in variables.values()]
    for values in itertools.product(*lists):
        yield dict(zip(variables, values, strict=True))
