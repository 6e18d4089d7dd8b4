"""What is found while reading an InfiBench file: problems, warnings, and the files it names."""

import ast
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proctor.core.suite import Json
from proctor.errors import SuiteError
from proctor.formats.carried_modules import SuiteModules, file_of, is_module_name
from proctor.io.findings import Findings
from proctor.io.text_files import Document, Loc, inside, normal_newlines, read_text, unusable_name
from proctor.origins.infibench.format import AnswerEntry, WrittenNode, keys_of
from proctor.suggestions import closest, did_you_mean

ORIGINAL = "original"
# What changes its meaning when a pattern is written in small letters.
_CASED = re.compile(r"\\[A-Z]|\(\?P|\[[^\]]*[A-Z]")

Params = dict[str, Json]


@dataclass(kw_only=True)
class Notes:
    """What is wrong or odd in one file, and the files beside it."""

    document: Document
    root: Path
    """No file outside this folder is read."""
    home: Path
    """The folder of the suite, where Python modules are looked for last."""
    compat: str = ""
    findings: Findings = field(default_factory=Findings)

    @property
    def original(self) -> bool:
        """Tell whether the original's behaviour is kept."""
        return self.compat == ORIGINAL

    def error(self, loc: Loc, message: str, *, hint: str = "") -> None:
        """Note something that is wrong."""
        self.findings.error_at(self.document, loc, message, hint=hint)

    def warn(self, loc: Loc, message: str, *, hint: str = "") -> None:
        """Note something that is odd."""
        self.findings.warn_at(self.document, loc, message, hint=hint)

    def differs(
        self,
        loc: Loc,
        what: str,
        original: str,
        ours: str,
        *,
        reproduced: bool = True,
        hint: str = "",
    ) -> None:
        """Note a construct that the original treats otherwise than Proctor does."""
        end = (
            "this is kept (compat original)" if reproduced and self.original else f"Proctor {ours}"
        )
        self.warn(loc, f"{what}: the original {original}; {end}", hint=hint)

    def spelt(self, loc: Loc, value: Json) -> str:
        """Return a value as the text its author wrote, warning where it is not a text."""
        text = self.document.spelt(loc, value)
        if not isinstance(value, str):
            self.differs(
                loc,
                f"{text} is not a text but a {_type_name(value)}",
                "loses the case with an error",
                "takes it as it is spelt",
                reproduced=False,
                hint=f'put it in quotes: "{text}"',
            )
        return text

    def condition(self, loc: Loc, value: Json) -> str:
        """Return a condition, noting what is no Python expression."""
        text = str(value) if isinstance(value, bool) else self.document.spelt(loc, value)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = getattr(error, "msg", None) or str(error)
            self.error(loc, f"the condition {text!r} is not a Python expression: {reason}")
        return text

    def ignored(self, loc: Loc, names: Sequence[str], why: str) -> None:
        """Warn of keys that have no effect, here as in the original."""
        shown = ", ".join(repr(name) for name in names)
        for name in names:
            message = f"{shown} has no effect, here as in the original: {why}"
            self.warn((*loc, name), message, hint="write one of them")

    def beside_content(self, node: WrittenNode | AnswerEntry, loc: Loc, ours: str) -> None:
        """Warn of settings at a rule or target itself, where the original does not look."""
        for name in sorted({"regex", "cond"} & keys_of(node)):
            self.differs(
                (*loc, name),
                f"{name!r} beside 'content'",
                "ignores it",
                ours,
                hint=f"write {name!r} inside 'content'",
            )

    def nested_to_lower(self, loc: Loc) -> None:
        """Warn of ``to_lower`` where the original does not look for it."""
        self.differs(
            loc,
            "'to_lower' inside 'content'",
            "ignores it",
            "ignores case from here downward",
            hint="write 'to_lower' beside 'content', where it holds for the whole rule",
        )

    def meaningless(self, node: WrittenNode | AnswerEntry, loc: Loc, names: Iterable[str]) -> None:
        """Warn of keys that only mean something at a rule or target itself."""
        for name in names:
            if name in keys_of(node):
                message = f"{name!r} inside 'content' has no effect, here as in the original"
                self.warn((*loc, name), message, hint=f"write {name!r} beside 'content'")

    def keys_at(self, loc: Loc) -> Sequence[str]:
        """Return the keys of a mapping in the order in which they are written."""
        value = self.document.data
        for part in loc:
            value = value[part]
        return tuple(value)

    def pattern(self, loc: Loc, text: str, *, lowered: bool) -> None:
        """Note a regular expression that does not compile, or that small letters would change."""
        if lowered and _CASED.search(text):
            self.differs(
                loc,
                f"'to_lower' with the regular expression {text!r}",
                "writes the pattern itself in small letters, which changes its meaning",
                "leaves the pattern alone and ignores case",
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            self.error(loc, f"the regular expression {text!r} does not compile: {error}")

    def text_of(self, loc: Loc, name: str) -> str:
        """Read a file that the case names, relative to the case."""
        folder = self.document.path.parent
        if wrong := unusable_name(name):
            self.error(loc, wrong)
            return ""
        path = inside(self.root, folder, name)
        if path is None:
            self.error(
                loc,
                f"the path {name!r} leaves the folder of the suite",
                hint="keep files inside it",
            )
            return ""
        if not path.is_file():
            self.error(loc, f"there is no file {name!r} beside the case", hint=near(path))
            return ""
        return self.text(path)

    def module_params(self, loc: Loc, module: str) -> Params:
        """Return the text of a module, and the files it imports or names, by their names inside."""
        path = self._module_file(loc, module)
        if path is None:
            return {"source": ""}
        modules = SuiteModules(root=self.root, home=self.home)
        try:
            return modules.params(module, path, lambda message: self.warn(loc, message))
        except SuiteError as error:
            self.findings.add(*error.problems)
            return {"source": ""}

    def _module_file(self, loc: Loc, module: str) -> Path | None:
        """Find the file of a dotted module name beside the case or the suite.

        The original imports from its working directory, so a name may begin with packages above
        the folder at hand; the longest ending of the name that is a file counts.
        """
        if not is_module_name(module):
            self.error(loc, f"{module!r} is not the dotted name of a module")
            return None
        parts = module.split(".")
        folders = dict.fromkeys((self.document.path.parent, self.home))
        for folder in folders:
            modules = SuiteModules(root=self.root, home=folder)
            for start in range(len(parts)):
                if (path := modules.find(".".join(parts[start:]))) is not None:
                    return path
        tried = [str(folder / file_of(module)) for folder in folders]
        self.error(loc, f"there is no module {module!r}", hint=f"looked for {' and '.join(tried)}")
        return None

    def text(self, path: Path) -> str:
        """Read a file, noting what is wrong with it."""
        try:
            return normal_newlines(read_text(path))
        except SuiteError as error:
            self.findings.add(*error.problems)
            return ""


def shortest(node: Params) -> Json:
    """Write a node that is nothing but a text as that text."""
    return node["text"] if list(node) == ["text"] else node


def _type_name(value: Json) -> str:
    return "truth value" if isinstance(value, bool) else "number"


def near(path: Path) -> str:
    """Name the file that was probably meant."""
    if not path.parent.is_dir():
        return f"there is no folder {path.parent.name!r} either"
    names = [entry.name for entry in path.parent.iterdir()]
    return did_you_mean(closest(path.name, names))
