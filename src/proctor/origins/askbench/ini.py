"""INI files of AskBench: read as configparser does, with the place of every value."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import TypeVar

from proctor.core.access import Source
from proctor.errors import Problem
from proctor.io.findings import Findings
from proctor.io.text_files import read_text
from proctor.suggestions import suggest

MAX_INI = 1024 * 1024
SECRET = frozenset({"sk_token", "headers"})

_MODEL = {
    "model_type", "model_name", "api_type", "api_url", "sk_token", "timeout", "time_out",
    "system_prompt", "extra_prompt", "enable_thinking", "task_name", "headers",
}  # fmt: skip
_SAMPLING = {"temperature", "top_p", "top_k", "max_concurrent"}
_PROTOCOL = {"max_turns", "guidance_mode", "strict_mode", "language"}
KEYS: Mapping[str, frozenset[str]] = {
    "path": frozenset({"data_dir", "save_dir"}),
    "evalset": frozenset({"evalsetname", "task_name", "shot", "n_attempts"}),
    "model": frozenset(_MODEL),
    "generateconfig": frozenset(_SAMPLING | {"max_tokens", "shot", "n_attempts"}),
    "evaluatorconfig": frozenset(_MODEL | _SAMPLING | _PROTOCOL | {"max_new_tokens"}),
    "simulatorconfig": frozenset(_MODEL | _SAMPLING | {"max_new_tokens"}),
    "tasks": frozenset({"enabled", "tasks_config_path"}),
}
MARKS = frozenset({"tasks", "model", "evaluatorconfig", "evalset"})
"""Sections of which an AskBench file has at least one."""

_HEADER = re.compile(r"\[(?P<name>.+)\]\s*(?:[#;].*)?")
_OPTION = re.compile(r"(?P<key>.*?)\s*(?:[=:])\s*(?P<value>.*)")
_TRUE = frozenset({"1", "true", "yes", "y", "on"})
_FALSE = frozenset({"", "0", "false", "no", "n", "off", "none"})

Typed = TypeVar("Typed", int, float, bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class IniEntry:
    """One value with its place."""

    text: str = field(repr=False)
    key: str
    path: Path
    line: int
    shown: str = field(default="", repr=False)
    """The line as it may be printed: nothing that could be a secret."""

    @property
    def source(self) -> Source:
        """Return the file as the source of what it names."""
        return Source(kind="file", place=f"{self.path}:{self.line}", file=str(self.path.resolve()))

    def problem(self, message: str, *, hint: str = "", severity: str = "error") -> Problem:
        """Make a problem at this value."""
        return Problem(
            message=message,
            file=str(self.path),
            line=self.line,
            column=1,
            field=self.key,
            hint=hint,
            excerpt=self.shown,
            severity=severity,  # type: ignore[arg-type]
        )


Sections = Mapping[str, Mapping[str, IniEntry]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ini:
    """The sections of one file, and the line on which each begins."""

    path: Path
    sections: Sections
    lines: Mapping[str, int]

    @property
    def looks_right(self) -> bool:
        """Tell whether the sections are those of AskBench."""
        return bool(MARKS & self.sections.keys())

    def problem(self, section: str, message: str, *, hint: str = "") -> Problem:
        """Make a problem at the head of a section."""
        return Problem(message=message, file=str(self.path), line=self.lines[section], hint=hint)


def read_ini(path: Path) -> Ini:
    """Read a file, or raise every line of it that cannot be read."""
    reader = _IniReader(path)
    for number, line in enumerate(read_text(path, limit=MAX_INI).splitlines(), 1):
        reader.take(number, line)
    reader.findings.check()
    return reader.ini()


def check_keys(ini: Ini, free: Iterable[str]) -> Iterator[Problem]:
    """Yield the sections and keys that nobody knows; sections named free may hold any key."""
    sections = {*KEYS, *free}
    for section, entries in ini.sections.items():
        if section in KEYS:
            for key in entries.keys() - KEYS[section]:
                hint = suggest(key, KEYS[section])
                yield entries[key].problem(f"unknown key {key!r} in [{section}]", hint=hint)
        elif section not in sections:
            yield ini.problem(section, f"unknown section [{section}]", hint=_near(section))


def _near(section: str) -> str:
    return suggest(section, KEYS)


def merged(below: Sections, above: Sections) -> dict[str, dict[str, IniEntry]]:
    """Put the keys of one file over those of another, section by section."""
    names = list(dict.fromkeys([*below, *above]))
    return {name: {**below.get(name, {}), **above.get(name, {})} for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class IniValues:
    """Typed values of merged sections, with the problems of reading them."""

    sections: Sections
    findings: Findings = field(default_factory=Findings)

    def entry(self, section: str, *keys: str) -> IniEntry | None:
        """Return the first of some keys that is there."""
        entries = self.sections.get(section, {})
        return next((entries[key] for key in keys if key in entries), None)

    def text(self, section: str, key: str, default: str = "") -> str:
        """Return a text."""
        entry = self.entry(section, key)
        return default if entry is None else entry.text

    def whole(self, section: str, key: str, default: int, *, least: int | None = None) -> int:
        """Return a whole number."""
        return self._typed(self.entry(section, key), int, "a whole number", default, least)

    def number(self, section: str, key: str, default: float, *, least: float = 0.0) -> float:
        """Return a number."""
        return self._typed(self.entry(section, key), _finite, "a number", default, least)

    def flag(self, section: str, key: str, default: bool) -> bool:
        """Return true or false."""
        return self._typed(self.entry(section, key), truth, "true or false", default, None)

    def seconds(self, section: str, default: float) -> float:
        """Return a time limit, by either spelling of its key."""
        entry = self.entry(section, "time_out", "timeout")
        return self._typed(entry, _finite, "a number of seconds", default, 0.001)

    def names(self, section: str, key: str) -> list[str]:
        """Return a list of names written with commas; blanks around them do not count."""
        return [name.strip() for name in self.text(section, key).split(",") if name.strip()]

    def _typed(
        self,
        entry: IniEntry | None,
        read: Callable[[str], Typed],
        expected: str,
        default: Typed,
        least: float | None,
    ) -> Typed:
        if entry is None or not entry.text:
            return default
        try:
            value = read(entry.text)
        except ValueError:
            self.findings.add(entry.problem(f"expected {expected} for {entry.key!r}"))
            return default
        if least is not None and value < least:
            message = f"{entry.key!r} must be at least {least:g}"
            self.findings.add(entry.problem(message))
            return default
        return value


def truth(text: str) -> bool:
    """Read true or false in any of the usual words, or raise a ValueError."""
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError(text)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(text)
    return value


class _IniReader:
    """Reader of the lines of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.findings = Findings()
        self.sections: dict[str, dict[str, IniEntry]] = {}
        self.lines: dict[str, int] = {}
        self.values: dict[tuple[str, str], list[str]] = {}
        self.section: str | None = None
        self.key: str | None = None
        self.indent = 0

    def take(self, number: int, line: str) -> None:
        """Take in one line."""
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if not text or text[0] in "#;":
            if not text and self.section is not None and self.key is not None:
                self.values[self.section, self.key].append("")
        elif self.key is not None and self.section is not None and indent > self.indent:
            self.values[self.section, self.key].append(text)
        elif (header := _HEADER.fullmatch(text)) is not None:
            self._head(number, header["name"])
        elif (option := _OPTION.fullmatch(text)) is None or not option["key"]:
            message = "this line is neither [section] nor key = value"
            self._report(number, message)
        elif self.section is None:
            self._report(number, "a key stands before the first [section]")
        else:
            self.indent = indent
            self._option(number, option["key"].lower(), option["value"])

    def ini(self) -> Ini:
        """Return what was read, with values over several lines joined."""
        sections = {
            section: {
                key: IniEntry(
                    text=unquoted("\n".join(self.values[section, key]).rstrip()),
                    key=entry.key,
                    path=entry.path,
                    line=entry.line,
                    shown=entry.shown,
                )
                for key, entry in entries.items()
            }
            for section, entries in self.sections.items()
        }
        return Ini(path=self.path, sections=sections, lines=self.lines)

    def _head(self, number: int, name: str) -> None:
        self.key = None
        self.section = name
        if name in self.sections:
            self._report(number, f"the section [{name}] is already on line {self.lines[name]}")
        else:
            self.sections[name] = {}
            self.lines[name] = number

    def _option(self, number: int, key: str, value: str) -> None:
        assert self.section is not None
        entries = self.sections[self.section]
        if key in entries:
            message = f"the key {key!r} is already on line {entries[key].line}"
            self._report(number, message)
            self.key = None
            return
        self.key = key
        safe = key in KEYS.get(self.section, ()) and key not in SECRET and "@" not in value
        shown = f"{key} = {value if safe else '…'}"
        entries[key] = IniEntry(text=value, key=key, path=self.path, line=number, shown=shown)
        self.values[self.section, key] = [value]

    def _report(self, number: int, message: str) -> None:
        self.findings.add(Problem(message=message, file=str(self.path), line=number, column=1))


def unquoted(text: str) -> str:
    """Take off double quotes around a whole value; a doubled percent sign is a single one."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    return text.replace("%%", "%")
