"""A value of a native file with its place, at which problems are noted."""

import base64
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from proctor.core.suite import Json
from proctor.errors import SuiteError
from proctor.formats.carried_modules import SuiteModules
from proctor.io.described import describe
from proctor.io.findings import Findings
from proctor.io.text_files import Document, Loc, inside, read_text, short_name, unusable_name
from proctor.io.validation import problems_of
from proctor.suggestions import did_you_mean, suggest

Model = TypeVar("Model", bound=BaseModel)


ROLES = ("system", "developer", "user", "assistant", "tool")
"""Whose a message of a conversation may be."""
_UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")

# What people coming from elsewhere write.
MEANT: Mapping[str, str] = {
    "prompt": "ask", "question": "ask", "input": "ask", "query": "ask", "instruction": "ask",
    "user_input": "ask", "contexts": "context", "retrieved_contexts": "context",
    "retrieval_context": "context", "passages": "context", "documents": "context",
    "ground_truth": "references", "expected_output": "references", "gold": "references",
    "prompt_path": "ask_file", "reference": "references", "answer": "references",
    "answers": "references", "expected": "references", "target": "references",
    "targets": "references", "ideal": "references", "grading": "criteria", "asserts": "criteria",
    "assert": "criteria", "scorers": "criteria", "scorer": "criteria", "score": "full_score",
    "metrics": "measures", "tests": "cases", "samples": "cases", "lang": "language",
    "attempt_reduce_mode": "reduce", "system_prompt": "system", "min_score": "min_points",
    "functions": "tools", "schema": "response_format", "output_schema": "response_format",
    "mcp_server": "mcp", "max_score": "max_points", "path": "cases", "file": "ask_file",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spot:
    """A value in a file; problems with it are noted in the findings."""

    findings: Findings
    modules: SuiteModules
    document: Document
    loc: Loc
    value: Json

    @property
    def root(self) -> Path:
        """Return the folder that no path of the suite leads out of."""
        return self.modules.root

    def at(self, key: str | int) -> "Spot":
        """Point at a part of this value."""
        loc = (*self.loc, key)
        return Spot(self.findings, self.modules, self.document, loc, self.value[key])

    def items(self) -> "list[Spot]":
        """Point at each item of a list, or at the one value that stands for a list."""
        if isinstance(self.value, list):
            return [self.at(place) for place in range(len(self.value))]
        return [self]

    def error(self, message: str, *, hint: str = "", key: str = "") -> None:
        """Note something that makes the suite unreadable."""
        loc = (*self.loc, key) if key else self.loc
        self.findings.error_at(self.document, loc, message, hint=hint)

    def warn(self, message: str, *, hint: str = "", key: str = "") -> None:
        """Note something that is probably not meant."""
        loc = (*self.loc, key) if key else self.loc
        self.findings.warn_at(self.document, loc, message, hint=hint)

    def place(self) -> str:
        """Say where this value stands: the file as seen from the root, and the line."""
        name, place = short_name(self.document.path, self.root), self.document.place(self.loc)
        return f"{name}:{place.line}" if place is not None else name

    def text(self) -> Json:
        """Return a number or boolean as the text that its author wrote, all else as it is."""
        if isinstance(self.value, bool | int | float):
            return self.document.spelt(self.loc, self.value)
        return self.value

    def validated(self, model: type[Model], data: Mapping[str, Json]) -> Model:
        """Check data made of this value, noting each problem where it stands.

        What is wrong is then left out, so that the rest can be checked further.
        """
        try:
            return model.model_validate(data)
        except ValidationError as error:
            self.add_errors(error, model)
            bad = {item["loc"][0] for item in error.errors(include_url=False)}
            return model.model_validate({k: v for k, v in data.items() if k not in bad})

    def add_errors(self, error: ValidationError, model: Any, *, hint: str = "") -> None:
        """Note each of pydantic's errors where its value stands, the first with a hint."""
        problems = problems_of(error, model, self.document, self.value, self.loc)
        items = error.errors(include_url=False)
        misspelt = {item["loc"][:-1] for item in items if item["type"] in _UNKNOWN_KEY}
        own_problems = [
            problem
            for problem, item in zip(problems, items, strict=False)
            if item["type"] != "missing" or item["loc"][:-1] not in misspelt
        ]
        if hint and own_problems:
            own_problems[0] = replace(own_problems[0], hint=hint)
        self.findings.add(*own_problems)

    def unknown_keys(self, keys: Iterable[str]) -> list[str]:
        """Note the keys of this mapping that mean nothing here, and return them."""
        keys = frozenset(keys)
        strange = [key for key in self.value if key not in keys]
        for key in strange:
            message = f"unknown key {key!r}"
            if self.findings.counts_only(message):
                self.findings.count(message)
                continue
            meant = meant_by(key, keys)
            hint = did_you_mean(meant) if meant else suggest(key, keys)
            if meant and self.document.row is not None and not self.loc:
                hint += f" (or leave the file as it is, and say --columns {meant}={key})"
            self.error(message, hint=hint, key=key)
        return strange

    def path(self) -> Path | None:
        """Resolve the path that this value names, or note why it cannot be."""
        name = self.value
        if not isinstance(name, str) or not name:
            self.error(f"expected a path, not {describe(name)}")
            return None
        if wrong := unusable_name(name):
            self.error(wrong)
            return None
        path = inside(self.root, self.document.path.parent, name)
        if path is None:
            self.error(
                f"the path {name!r} leads out of the suite's folder",
                hint="keep the files of a suite in its folder",
            )
        return path

    def file_text(self) -> str | None:
        """Read the text file that this value names, or note why it cannot be."""
        path = self.path()
        if path is None:
            return None
        if not path.exists():
            self.error(f"there is no file {self.value!r}", hint=neighbours(path))
            return None
        try:
            return read_text(path)
        except SuiteError as error:
            self.findings.add(*error.problems)
            return None

    def image(self) -> str | None:
        """Return the address of a picture: as it is written, or the file as a ``data:`` one."""
        if isinstance(self.value, str) and self.value.startswith(("https:", "data:image/")):
            return self.value
        path = self.path()
        if path is None:
            return None
        kind = _PICTURES.get(path.suffix.lower())
        if kind is None:
            self.error(f"pictures are {', '.join(_PICTURES)} files, not {self.value!r}")
        elif not path.is_file():
            self.error(f"there is no file {self.value!r}", hint=neighbours(path))
        elif path.stat().st_size > MAX_PICTURE:
            self.error(f"the picture is larger than {MAX_PICTURE // 2**20} MiB")
        else:
            data = base64.b64encode(path.read_bytes()).decode("ascii")
            return f"data:image/{kind};base64,{data}"
        return None

    def pdf(self) -> str | None:
        """Return the address of a PDF: as it is written, or the file as a ``data:`` one."""
        if isinstance(self.value, str) and self.value.startswith(("https:", _PDF)):
            return self.value
        path = self.path()
        if path is None:
            return None
        if not path.is_file():
            self.error(f"there is no file {self.value!r}", hint=neighbours(path))
        elif path.stat().st_size > MAX_PICTURE:
            self.error(f"the document is larger than {MAX_PICTURE // 2**20} MiB")
        elif b"%PDF-" not in (content := path.read_bytes())[:1024]:
            self.error(f"{self.value!r} is no PDF")
        else:
            return f"{_PDF};base64,{base64.b64encode(content).decode('ascii')}"
        return None

    @property
    def names_pdf(self) -> bool:
        """Tell whether the value is a PDF by its name."""
        return isinstance(self.value, str) and (
            self.value.startswith(_PDF) or self.value.partition("?")[0].lower().endswith(".pdf")
        )


_PICTURES = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp"}
_PDF = "data:application/pdf"
MAX_PICTURE = 20 * 2**20


def meant_by(name: str, keys: Collection[str]) -> str:
    """Return the key that others call by this name, or write in other letters; else nothing."""
    plain = name.strip().lower().replace(" ", "_").replace("-", "_")
    key = MEANT.get(plain, plain)
    return key if key in keys else ""


def neighbours(path: Path) -> str:
    """Return a hint at the files that are where a missing one was looked for."""
    if not path.parent.is_dir():
        return f"there is no folder {path.parent.name!r} either"
    names = sorted(entry.name for entry in path.parent.iterdir() if entry.is_file())
    return suggest(path.name, names[:1000])
