"""One row of an AskBench file: its fields under all their names, each problem at its line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from proctor.core.suite import Json
from proctor.errors import Problem
from proctor.io.described import describe
from proctor.io.findings import Findings
from proctor.io.text_files import Document


@dataclass(frozen=True, slots=True)
class AskBenchRow:
    """The fields of one row."""

    document: Document
    findings: Findings

    def report(self, message: str, name: str = "", hint: str = "") -> None:
        """Note a problem with a field, or with the row as a whole."""
        loc = (name,) if name else ()
        self.findings.error_at(self.document, loc, message, hint=hint)

    def warn(self, message: str, hint: str = "") -> None:
        """Warn of something once, however many rows have it."""
        problem = self.document.problem((), message, hint=hint, severity="warning")
        self.findings.warn_once(replace(problem, column=None))

    def has(self, name: str) -> bool:
        """Tell whether a field is there at all."""
        return name in self.document.data

    def value(self, name: str) -> Json:
        """Return a field as it is."""
        return self.document.data.get(name)

    def text(self, *names: str) -> str:
        """Return the first of some fields that says something; it must be there."""
        text = self.optional(*names)
        if not text.strip() and not any(self._broken(name) for name in names):
            shown = " or ".join(repr(name) for name in names)
            self.report(f"the row has no {shown}")
        return text

    def optional(self, *names: str) -> str:
        """Return the first of some fields that says something, or an empty text."""
        for name in names:
            value = self.value(name)
            if value is None:
                continue
            text = _as_text(value)
            if text is None:
                self.report(f"expected a string for {name!r}, not {describe(value)}", name)
            elif not _is_whole(text):
                self.report("a text contains half of a surrogate pair, which is no character", name)
            elif text.strip():
                return text
        return ""

    def texts(self, name: str) -> list[str]:
        """Return a list of texts; a field that is not there is an empty one."""
        value = self.value(name)
        if value is None:
            return []
        items = value if isinstance(value, list) else None
        texts = [_as_text(item) for item in items or ()]
        if items is None or not all(text is not None and _is_whole(text) for text in texts):
            self.report(f"expected a list of strings for {name!r}", name)
            return []
        return [text.strip() for text in texts if text is not None and text.strip()]

    def truth(self, name: str) -> bool:
        """Return true or false; the field must be there."""
        value = self.value(name)
        if not isinstance(value, bool):
            self.report(f"expected true or false for {name!r}, not {describe(value)}", name)
            return False
        return value

    def _broken(self, name: str) -> bool:
        value = self.value(name)
        text = None if value is None else _as_text(value)
        return value is not None and (text is None or not _is_whole(text))


def number_in(value: Json) -> float | None:
    """Return a finite number, or none where a value is no such thing."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(value)


def same_ids(rows: Iterable[tuple[str, Document]]) -> Sequence[Problem]:
    """Return a problem for every id that two rows have."""
    first: dict[str, Document] = {}
    problems = []
    for name, document in rows:
        if name in first:
            line = first[name].row
            message = f"the id {name!r} is that of line {line} too"
            problems.append(
                document.problem(("id",), message, hint="give each row an id of its own")
            )
        first.setdefault(name, document)
    return problems


def _as_text(value: Json) -> str | None:
    """Return a text, or a number as the text it is; none for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(value)


def _is_whole(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False
