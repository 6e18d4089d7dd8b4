"""Run files: the options of ``proctor run`` in YAML, with settings of their own for each model."""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from proctor.core.suite import Json
from proctor.errors import PluginError, Problem, SuiteError, UsageError
from proctor.suggestions import suggest

if TYPE_CHECKING:
    from proctor.contracts.model import ModelChoice
    from proctor.io.text_files import Document, Loc

PLURALS = {"models": "model", "judges": "judge", "prompts": "prompt", "gates": "gate"}
"""Keys that read better than the options they stand for, which may be given several times."""
SAMPLING = (*("temperature", "top_p", "top_k", "max_tokens", "seed", "reasoning_effort", "system"),)
MODEL_NUMBERS = ("temperature", "top_p", "top_k", "max_tokens", "seed")
MODEL_KEYS = (
    *("model", "url", "key_env", *MODEL_NUMBERS, "reasoning_effort", "stop", "extra", "system"),
    *("concurrency", "timeout"),
)
OFFERS = ("tools", "tool_choice", "response_format")
"""Keys of suites that a run file may have, for cases that have none of their own."""
_OFFER_SCHEMAS: Mapping[str, tuple[Json, str]] = {
    "tools": (["array", "object", "string"], "The tools that candidates may call"),
    "tool_choice": ("string", "auto, none, required, or the name of a tool"),
    "response_format": ("object", "The JSON Schema of replies"),
}
VARIANT_FOLDERS = ("files", "skills")
"""What of a variant is a folder, named from the folder of the run file."""
REPORT_FORMATS = ("csv", "html", "json", "junit", "md", "table")
ONLY_BY_HAND = {
    "allow_import": "it lets the suite load its own classes",
    "json": "it says what is printed",
    "variant": "it chooses some of the variants that the file has",
}
"""Options that a file cannot set, with the reason."""


@dataclass(frozen=True, kw_only=True)
class WrittenModel:
    """A model of a run file, with settings of its own."""

    spec: str
    place: str
    """The file with the line."""
    file: str
    settings: Mapping[str, Json] = field(default_factory=dict)
    key_env: str = ""

    def choice(self, model_options: Mapping[str, Any]) -> "ModelChoice":
        """Lay its settings over those of the command, and take its key from the environment."""
        from proctor.contracts.model import ModelChoice
        from proctor.core.exchange import Sampling
        from proctor.core.names import parse_model
        from proctor.io.loopback import is_loopback_host

        urls = parse_model(self.spec).params.get("urls")
        own = dict(self.settings)
        names = (*MODEL_NUMBERS, "reasoning_effort", "stop", "extra")
        drawn = {name: own.pop(name) for name in names if name in own}
        shared = dict(model_options)
        sampling = replace(shared.pop("sampling", None) or Sampling(), **drawn)
        access = shared.pop("access", None)
        if urls or self.key_env:
            access = self._access(access, by_file=bool(urls))
            hosts = [urlsplit(url).hostname or "" for url in urls or ()]
            if self.key_env and not all(map(is_loopback_host, hosts)):
                click.echo(f"{self.place}: the key in {self.key_env} goes to {hosts[0]}", err=True)
        more = {} if access is None else {"access": access}
        return ModelChoice(spec=self.spec, sampling=sampling, **{**shared, **own}, **more)

    def _access(self, access: Any, *, by_file: bool) -> Any:
        """Let the key that the file names go to the address that the same file names."""
        from proctor.core.access import COMMAND_LINE, Access, Credential, Source

        source = Source(kind="file", place=self.place, file=self.file) if by_file else COMMAND_LINE
        credentials = () if access is None else access.credentials
        if self.key_env:
            key = os.environ.get(self.key_env, "").strip()
            if not key:
                raise UsageError(
                    f"the environment variable {self.key_env}, which {self.place} names, is not set"
                )
            own = Credential(name=f"the key in {self.key_env}", key=key, source=source)
            credentials = (*credentials, own)
        return Access(source=source, credentials=credentials)


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report that a run file asks for."""

    format: str
    path: Path
    cases: bool = True


def with_run_file(options: dict[str, Any]) -> dict[str, Any]:
    """Complete a command's options by those of the run file that stands in the suite's place.

    What is given on the command line wins.
    """
    spec: Path = options["spec"]
    context = click.get_current_context()
    written = RunFile.read(spec)
    on_command_line = {
        name
        for name in options
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    merged = {
        name: options[name] if name in on_command_line else value for name, value in written.items()
    }
    own_options = {name: value for name, value in merged.items() if name in options}
    completed = {**options, **own_options, "spec": written["spec"]}
    if "run_file" in written:
        completed["run_file"] = written["run_file"]
    if isinstance(models := completed.get("models"), tuple):
        completed["models"] = tuple(_without(model, on_command_line) for model in models)
    if "variants" in written and "agent" not in on_command_line:
        completed["variants"] = written["variants"]
    if "models" in options:
        candidates = {"models", "answers", "agent"}
        if on_command_line & candidates:
            # Another candidate than the file's is meant.
            completed |= {
                name: options[name] for name in candidates - on_command_line if name in options
            }
        completed["reports"] = merged.get("reports", ())
    return completed


def _without(model: "str | WrittenModel", on_command_line: Collection[str]) -> "str | WrittenModel":
    """Drop the settings of a model that the command line sets for all of them."""
    if isinstance(model, str):
        return model
    kept = {name: value for name, value in model.settings.items() if name not in on_command_line}
    return replace(model, settings=kept)


class RunFile:
    """Reader of a run file: each key is an option of ``run``, checked as the option is."""

    def __init__(self, document: "Document") -> None:
        self.document = document
        self.folder = document.path.parent
        self.problems: list[Problem] = []
        self.values: dict[str, Any] = {}
        self.options = run_options()

    @classmethod
    def read(cls, path: Path) -> dict[str, Any]:
        """Return the options that a run file sets, or raise a SuiteError with every problem."""
        from proctor.io.yaml_files import read_yaml

        reader = cls(read_yaml(path))
        reader.take()
        if reader.problems:
            raise SuiteError(reader.problems)
        return reader.values

    def take(self) -> None:
        """Read every key."""
        data = self.document.data
        for key, value in data.items():
            if value is not None:
                self._take(str(key), value)
        if "spec" not in self.values and not self.problems:
            self._error(("suite",), "'suite' is the path of a suite")

    def _take(self, key: str, value: Json) -> None:
        readers: dict[str, Callable[[Json], None]] = {
            "suite": self._suite,
            "sampling": self._sampling,
            "reports": self._reports,
            "prompts": self._prompts,
            "variants": self._variants,
        }
        if key in readers:
            readers[key](value)
            return
        if key in OFFERS:
            # Read with the suite, whose cases they hold for.
            self.values["run_file"] = self.document.path
            return
        name = PLURALS.get(key, key).replace("-", "_")
        if name in ONLY_BY_HAND:
            hint = f"{ONLY_BY_HAND[name]}: give --{name.replace('_', '-')} on the command line"
            self._error((key,), f"a run file cannot set {key!r}", hint=hint)
        elif name in ("model", "judge", "simulator"):
            self._models(key, name, value)
        elif name in self.options:
            self._option((key,), self.options[name], value)
        else:
            keys = [*self.options, *PLURALS, *OFFERS, "suite", "sampling", "reports", "variants"]
            self._error((key,), f"unknown key {key!r}", hint=suggest(key, keys))

    def _suite(self, value: Json) -> None:
        if not isinstance(value, str) or not value:
            self._error(("suite",), "'suite' is the path of a suite")
            return
        self.values["spec"] = self._path(value)

    def _path(self, text: str) -> Path:
        """Return a path as seen from the file's folder."""
        return self.folder / text

    def _sampling(self, value: Json) -> None:
        if not isinstance(value, dict):
            self._error(("sampling",), "'sampling' is a mapping, such as {temperature: 0}")
            return
        for key, part in value.items():
            if key not in SAMPLING:
                hint = suggest(str(key), SAMPLING)
                self._error(("sampling", key), f"unknown key {key!r}", hint=hint)
            elif part is not None:
                self._option(("sampling", key), self.options[key], part)

    def _prompts(self, value: Json) -> None:
        if isinstance(value, str) or (
            isinstance(value, list) and all(isinstance(one, str) for one in value)
        ):
            names = [value] if isinstance(value, str) else value
            self.values["prompts"] = tuple(
                str(self._path(one)) if self._path(one).is_file() else one for one in names
            )
            return
        from proctor.core.suite import Spec
        from proctor.registry import build

        try:
            native = build("dialect", Spec(name="native"))
            self.values["prompts"] = native.prompts(self.document, root=self.folder, key="prompts")
        except SuiteError as error:
            self.problems += error.problems

    def _variants(self, value: Json) -> None:
        """Read variants of the agent by name, each with the parameters that it has besides."""
        if not isinstance(value, dict) or not value:
            hint = "write {plain: {}, skilled: {skills: skills/}}"
            self._error(("variants",), "'variants' are mappings by name", hint=hint)
            return
        if "agent" not in self.document.data:
            self._error(("variants",), "variants are of an agent", hint="name one under 'agent'")
        from proctor.engine.run.settings import AgentVariant

        variants = []
        for name, params in value.items():
            loc: Loc = ("variants", name)
            if not re.fullmatch(r"[\w.-]+", str(name)):
                self._error(loc, "a variant's name has letters, digits and . _ - alone")
            elif params is not None and not isinstance(params, dict):
                self._error(loc, "a variant is a mapping of the agent's parameters")
            else:
                own = {str(key): self._variant_part(loc, str(key), part)
                       for key, part in (params or {}).items()}  # fmt: skip
                variants.append(AgentVariant(name=str(name), params=own))
        self.values["variants"] = tuple(variants)

    def _variant_part(self, loc: "Loc", key: str, part: Json) -> Json:
        """Read a parameter of a variant: folders and files are named from the file's folder."""
        if key == "instructions" and isinstance(part, dict):
            try:
                return self._path(str(part["file"])).read_text("utf-8")
            except (KeyError, OSError, ValueError) as error:
                message = f"the file of instructions cannot be read: {error}"
                self._error((*loc, key), message, hint="write {file: PATH}, or the text itself")
                return ""
        if key in VARIANT_FOLDERS and isinstance(part, str):
            if not self._path(part).is_dir():
                self._error((*loc, key), f"there is no folder {part!r}")
            return str(self._path(part))
        return part

    def _models(self, key: str, name: str, value: Json) -> None:
        entries = value if isinstance(value, list) else [value]
        locs: list[Loc] = [
            (key, n) if isinstance(value, list) else (key,) for n in range(len(entries))
        ]
        read = [self._model(loc, entry) for loc, entry in zip(locs, entries, strict=True)]
        models = tuple(model for model in read if model is not None)
        if name == "simulator":
            self.values["simulator"] = models[0] if models else None
        else:
            self.values[f"{name}s"] = models

    def _model(self, loc: "Loc", value: Json) -> "str | WrittenModel | None":
        entry = {"model": value} if isinstance(value, str) else value
        if not isinstance(entry, dict) or not isinstance(entry.get("model"), str):
            hint = "write openai:NAME, or {model: openai:NAME, temperature: 0}"
            self._error(loc, "a model is named, or a mapping with the key 'model'", hint=hint)
            return None
        settings: dict[str, Json] = {}
        for key, part in entry.items():
            if key not in MODEL_KEYS:
                hint = suggest(str(key), MODEL_KEYS)
                self._error((*loc, key), f"unknown key {key!r}", hint=hint)
            elif part is not None and key not in ("model", "url", "key_env"):
                settings[key] = self._setting((*loc, key), key, part)
        spec = str(entry["model"])
        if entry.get("url"):
            spec = f"{spec}@{entry['url']}"
        try:
            from proctor.core.names import parse_model
            from proctor.registry import find

            find("model", parse_model(spec).name)
        except (UsageError, PluginError) as error:
            self._error(loc, str(error))
            return None
        key_env = str(entry.get("key_env") or "")
        if key_env and not re.fullmatch(r"[A-Za-z_]\w*", key_env):
            hint = "a key itself is never written into a file"
            self._error((*loc, "key_env"), "the name of an environment variable", hint=hint)
            return None
        place = self.document.place(loc)
        where = f"{self.document.path}:{place.line}" if place else str(self.document.path)
        file = str(self.document.path.resolve())
        return WrittenModel(spec=spec, place=where, file=file, settings=settings, key_env=key_env)

    def _setting(self, loc: "Loc", key: str, value: Json) -> Json:
        """Check a setting of a model, as its option is checked where it has one."""
        if key == "stop":
            texts = [value] if isinstance(value, str) else value
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                self._error(loc, "'stop' is a text, or a list of texts")
                return ()
            return tuple(texts)
        if key == "extra":
            if not isinstance(value, dict):
                self._error(loc, "'extra' is a mapping of fields of the request")
                return {}
            return value
        param = self.options[key]
        return self._converted(loc, param, value)

    def _option(self, loc: "Loc", param: click.Option, value: Json) -> None:
        assert param.name is not None
        if param.multiple:
            entries = value if isinstance(value, list) else [value]
            if param.name in ("prices", "headers", "agent_options") and isinstance(value, dict):
                entries = [f"{name}={_plain(part)}" for name, part in value.items()]
            self.values[param.name] = tuple(self._converted(loc, param, entry) for entry in entries)
        elif param.is_flag:
            if not isinstance(value, bool):
                self._error(loc, f"{loc[-1]!r} is true or false")
            self.values[param.name] = bool(value)
        else:
            if param.name == "columns" and isinstance(value, dict):
                self.values[param.name] = ",".join(
                    f"{name}={_plain(part)}" for name, part in value.items()
                )
                return
            self.values[param.name] = self._converted(loc, param, value)

    def _converted(self, loc: "Loc", param: click.Option, value: Json) -> Any:
        if isinstance(value, dict | list):
            self._error(loc, f"{loc[-1]!r} is one value")
            return None
        text = self.document.spelt(loc, value)
        if isinstance(param.type, click.Path) or (param.name == "store" and "://" not in text):
            text = str(self._path(text))
        try:
            return param.type.convert(text, param, click.get_current_context(silent=True))
        except click.UsageError as error:
            self._error(loc, error.message)
            return None

    def _reports(self, value: Json) -> None:
        entries = value if isinstance(value, list) else [value]
        reports = []
        for number, entry in enumerate(entries):
            loc: Loc = ("reports", number) if isinstance(value, list) else ("reports",)
            if not isinstance(entry, dict) or not {"format", "path"} <= entry.keys():
                self._error(loc, "a report has a 'format' and a 'path'")
                continue
            if entry["format"] not in REPORT_FORMATS:
                hint = suggest(str(entry["format"]), REPORT_FORMATS)
                self._error((*loc, "format"), f"there is no format {entry['format']!r}", hint=hint)
                continue
            if strange := sorted(entry.keys() - {"format", "path", "cases"}):
                self._error((*loc, strange[0]), f"unknown key {strange[0]!r}")
            path, cases = self._path(str(entry["path"])), entry.get("cases", True) is True
            reports.append(WrittenReport(entry["format"], path, cases))
        self.values["reports"] = tuple(reports)

    def _error(self, loc: "Loc", message: str, *, hint: str = "") -> None:
        self.problems.append(self.document.problem(loc, message, hint=hint))


def _plain(value: Json) -> str:
    """Write a value behind a name: prices of two numbers as IN/OUT."""
    if isinstance(value, list):
        return "/".join(str(part) for part in value)
    return str(value)


def run_options() -> dict[str, click.Option]:
    """Return the options of ``run`` by the names that a run file uses."""
    from proctor.cli.main import cli

    run = cli.get_command(click.Context(cli), "run")
    assert run is not None
    options: dict[str, click.Option] = {}
    for param in run.params:
        if isinstance(param, click.Option) and not param.hidden and param.name != "help":
            long = max(param.opts, key=len).removeprefix("--").replace("-", "_")
            options[long] = param
    return options


def run_file_schema() -> dict[str, Json]:
    """Return the JSON Schema of run files, made of the options of ``run``."""
    properties: dict[str, Json] = {
        "suite": {"type": "string", "description": "The path of the suite, from this file."}
    }
    for name, param in sorted(run_options().items()):
        if name not in ONLY_BY_HAND:
            properties[name] = _option_schema(param)
    one = {
        "type": "object",
        "properties": {key: _model_key_schema(key) for key in MODEL_KEYS},
        "required": ["model"],
        "additionalProperties": False,
    }
    model = {"anyOf": [{"type": "string"}, one]}
    several = {"anyOf": [model, {"type": "array", "items": model}]}
    for key in ("model", "models", "judge", "judges"):
        properties[key] = several
    properties["simulator"] = model
    properties["variants"] = _variants_schema()
    properties["gates"] = properties["gate"]
    named = {"type": "object", "additionalProperties": True}
    properties["prompts"] = {"anyOf": [*properties["prompt"]["anyOf"], named]}
    properties["sampling"] = {
        "type": "object",
        "properties": {name: properties[name] for name in SAMPLING},
        "additionalProperties": False,
    }
    report = {
        "type": "object",
        "properties": {
            "format": {"enum": list(REPORT_FORMATS)},
            "path": {"type": "string"},
            "cases": {"type": "boolean", "default": True},
        },
        "required": ["format", "path"],
        "additionalProperties": False,
    }
    for key, (kinds, words) in _OFFER_SCHEMAS.items():
        properties[key] = {"type": kinds, "description": f"{words}, for cases that say nothing."}
    properties["reports"] = {"anyOf": [report, {"type": "array", "items": report}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Proctor run file",
        "description": "The options of `proctor run`, in a file.",
        "type": "object",
        "properties": properties,
        "required": ["suite"],
        "additionalProperties": False,
    }


def _variants_schema() -> dict[str, Json]:
    texts = {"type": "array", "items": {"type": "string"}}
    instructions: dict[str, Json] = {"type": "object", "required": ["file"]}
    instructions["properties"] = {"file": {"type": "string"}}
    kinds: dict[str, Json] = {
        "files": {"type": "string", "description": "A folder laid over the files of every case."},
        "env": {"type": "object", "description": "Further environment variables."},
        "instructions": {
            "anyOf": [{"type": "string"}, instructions],
            "description": "Text for the file that the agent reads by itself.",
        },
        "skills": {"type": "string", "description": "A folder with one folder for each skill."},
        "mcp": {"type": "object", "description": "MCP servers by name."},
        "tools": {**texts, "description": "The tools that the agent has."},
    }
    return {
        "type": "object",
        "description": "Variants of the agent by name, with what each has besides; a run each.",
        "additionalProperties": {"type": ["object", "null"], "properties": kinds},
    }


def _option_schema(param: click.Option) -> dict[str, Json]:
    kinds: list[tuple[type, Json]] = [
        (click.types.IntParamType, "integer"),
        (click.types.FloatParamType, "number"),
    ]
    schema: dict[str, Json] = {"type": ["string", "number", "boolean"]}
    if param.is_flag:
        schema = {"type": "boolean"}
    elif isinstance(param.type, click.Choice):
        schema = {"enum": list(param.type.choices)}
    else:
        schema = next(
            ({"type": kind} for cls, kind in kinds if isinstance(param.type, cls)), schema
        )
    if param.multiple:
        schema = {"anyOf": [schema, {"type": "array", "items": schema}]}
        if param.name in ("prices", "headers", "agent_options"):
            schema["anyOf"].append({"type": "object"})
    elif param.name == "columns":
        schema = {"type": ["string", "object"]}
    return {**schema, "description": param.help or ""}


def _model_key_schema(key: str) -> dict[str, Json]:
    special: dict[str, dict[str, Json]] = {
        "model": {"type": "string", "description": "provider:model, as for --model."},
        "url": {"type": "string", "description": "The base URL of its server."},
        "key_env": {"type": "string", "description": "The environment variable with its key."},
        "stop": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "extra": {"type": "object", "description": "Further fields of the request."},
    }
    return special.get(key) or _option_schema(run_options()[key])


def write_reports(views: Sequence[Any], reports: Sequence[WrittenReport], *, quiet: bool) -> None:
    """Write the reports of a run file; of several runs, each has its name in the file's."""
    from proctor.core.suite import Spec
    from proctor.registry import build

    for report in reports:
        for view in views:
            path = report.path
            if len(views) > 1:
                name = re.sub(r"[^\w.+-]+", "-", view.run.name)
                path = path.with_name(f"{path.stem}-{name}{path.suffix}")
            text = build("report", Spec(name=report.format)).render(view, cases=report.cases)
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            except OSError as error:
                raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None
            if not quiet:
                click.echo(f"wrote {path}", err=True)
