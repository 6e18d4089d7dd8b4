"""Reading native suites: recognized at a first look, then read with every problem."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, Field

from proctor import registry
from proctor.contracts.case_spool import SpooledCases
from proctor.contracts.dialect import Dialect, Reading
from proctor.core.attempt import Attempt
from proctor.core.fold import MODES, parse_fold
from proctor.core.suite import CandidatePrompt, Case, Json, Spec, Suite
from proctor.errors import MissingResource, SuiteError, UsageError
from proctor.formats.carried_modules import SuiteModules
from proctor.formats.native.answers import read_answers, read_columns
from proctor.formats.native.case import (
    ASKING,
    CLUSTER_FIELDS,
    DefaultKeys,
    Defaults,
    defaults_of,
    normal,
    read_case,
)
from proctor.formats.native.criteria import (
    Cases,
    Plugins,
    Prompts,
    Text,
    read_criteria,
    read_plugin,
)
from proctor.formats.native.spot import Spot, neighbours
from proctor.io.concurrency import PhaseCount
from proctor.io.findings import Findings
from proctor.io.row_files import TABLE_ENDINGS
from proctor.io.temporary_database import FirstEntries
from proctor.io.text_files import Document, Loc, csv_delimiter, inside, parse_json, unusable_name
from proctor.io.validation import describe
from proctor.io.yaml_files import read_yaml
from proctor.suggestions import suggest

if TYPE_CHECKING:
    from proctor.contracts.shares import FileRow, ShareReader
    from proctor.formats.tables import ColumnMap

FIRST_LOOK = 64 * 1024

_ASKING = frozenset({"ask", "ask_file", "messages", "vars"})
_HEADER = frozenset(
    {"name", "reduce", "measures", "language", "system", "dialogue", "full_score", "null_score",
     "tags", "criteria", "description", "origin", "prompts"}
)  # fmt: skip
_FOREIGN = frozenset(
    {"attempt_reduce_mode", "full_score_per_question", "null_score_per_question", "prompt_path",
     "grading"}
)  # fmt: skip
_TOP_KEY = re.compile(r"^(?:- )?[\"']?([A-Za-z_]\w*)[\"']?\s*:(?=\s|$)", re.MULTILINE)
_ANY_KEY = re.compile(
    r"(?:^|[{,]|- )\s*[\"']?(ask|ask_file|messages|vars)[\"']?\s*:(?=\s|$)", re.MULTILINE
)


def looks_native(path: Path) -> bool:
    """Tell from a path and the beginning of its content whether it is a native suite."""
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        return False
    ending = path.suffix.lower()
    if ending in (".yaml", ".yml"):
        return _yaml(path)
    if ending == ".xlsx":
        return True
    tables = dict.fromkeys(TABLE_ENDINGS, _csv)
    look = {".jsonl": _jsonl, **tables, ".parquet": _parquet}.get(ending)
    return look is not None and look(path)


def _folder(path: Path) -> bool:
    for name in ("suite.yaml", "suite.yml"):
        if (path / name).is_file():
            return looks_native(path / name)
    endings = (".yaml", ".yml", ".jsonl", ".csv", ".parquet")
    files = sorted(entry for entry in path.iterdir() if entry.suffix.lower() in endings)
    return bool(files) and looks_native(files[0])


def _start(path: Path, size: int = FIRST_LOOK) -> str:
    try:
        with path.open("rb") as file:
            return file.read(size).decode("utf-8-sig", "ignore")
    except OSError:
        return ""


def _yaml(path: Path) -> bool:
    text = _start(path)
    keys = set(_TOP_KEY.findall(text))
    if keys & _FOREIGN:
        return False
    if keys & _ASKING or ("cases" in keys and (keys & _HEADER or _ANY_KEY.search(text))):
        return True
    if "name" in keys:
        return True
    if path.stat().st_size > FIRST_LOOK:
        return False
    try:
        return _values(path, read_yaml(path).data)
    except SuiteError:
        return False


def _values(path: Path, data: Any) -> bool:
    """Look at a small file's values: flow style and lists of paths show only here."""
    if isinstance(data, list):
        return bool(data) and isinstance(data[0], dict) and bool(_ASKING & set(data[0]))
    if not isinstance(data, dict) or set(data) & _FOREIGN:
        return False
    if set(data) & (_HEADER | _ASKING):
        return True
    cases = data.get("cases")
    first = cases[0] if isinstance(cases, list) and cases else cases
    if isinstance(first, dict):
        return bool(_ASKING & set(first))
    return isinstance(first, str) and _names_native(path, first)


def _names_native(path: Path, name: str) -> bool:
    """Tell whether a suite that is but a list of paths names files that only we read."""
    if any(char in name for char in "*?[") or not name.lower().endswith((".yaml", ".yml")):
        return True
    text = "" if unusable_name(name) else _start(path.parent / name)
    keys = set(_TOP_KEY.findall(text))
    return bool(keys & (_ASKING | {"cases"})) and not keys & _FOREIGN


def _jsonl(path: Path) -> bool:
    line = _start(path, 1024 * 1024).lstrip().partition("\n")[0]
    try:
        row = parse_json(line)
    except ValueError:
        return '"ask"' in line[:FIRST_LOOK]
    return isinstance(row, dict) and (set(row) == {"suite"} or bool(_ASKING & set(row)))


def _csv(path: Path) -> bool:
    lines = _start(path).splitlines(keepends=True)
    try:
        delimiter = csv_delimiter(lines[0] if lines else "")
        header = next(csv.reader(lines, delimiter=delimiter), [])
    except csv.Error:
        return False
    return bool(_ASKING & set(header)) and "case" not in header


def _parquet(path: Path) -> bool:
    from proctor.io.parquet_files import parquet_columns

    try:
        names = parquet_columns(path)
    except MissingResource:
        return True
    except SuiteError:
        return False
    return bool(_ASKING & set(names)) and "case" not in names


YAML_ENDINGS = (".yaml", ".yml")
ROW_ENDINGS = (".jsonl", *TABLE_ENDINGS, ".parquet", ".xlsx")
ENDINGS = YAML_ENDINGS + ROW_ENDINGS
FOLDER_ENDINGS = tuple(ending for ending in ENDINGS if ending not in (".tsv", ".xlsx"))
"""Of a folder without a suite file; a .tsv or .xlsx there is somebody's data, as it always was."""
OFFERS = ("tools", "tool_choice", "response_format")
"""What a run file may say in place of the suite."""
MAX_INCLUDED = 5
FOLD_PATTERN = r"^(avg|mean|max|min|median|avg_max_[1-9]\d{0,5})$"
SUITE_FILES = ("suite.yaml", "suite.yml")


class HeaderKeys(DefaultKeys):
    """A suite: cases, what all of them share, and how results are folded."""

    model_config = ConfigDict(json_schema_extra={"required": ["cases"]})

    name: Text | None = Field(
        default=None,
        min_length=1,
        description="The suite's name; the file's name without its ending where it is left out.",
    )
    version: Text = Field(default="", description='The suite\'s version. Quote it: "1.10".')
    description: Text = Field(default="", description="What the suite examines.")
    language: Text = Field(
        default="en", min_length=1, description="The language of the cases: en, zh, …"
    )
    reduce: str = Field(
        default="avg",
        description=f"How several attempts become one value: {', '.join(MODES)}.",
        json_schema_extra={"pattern": FOLD_PATTERN},
    )
    measures: Plugins = Field(default=None, description="Numbers over all cases.")
    cluster: Text = Field(
        default="",
        description="The tag that cases of one cluster share, or ask, context, references, source:"
        " such cases count as one draw.",
    )
    origin: Text = Field(default="native", description="The format the suite was converted from.")
    compat: Text = Field(
        default="",
        description="The mode of the original format that the suite was converted with.",
    )
    prompts: Prompts = Field(
        default=None, description="The ways in which the cases are asked, by name."
    )
    cases: Cases = Field(default=None, description="The cases, and files that hold some.")


@dataclass(frozen=True)
class Native(Dialect):
    """Suites and answers in Proctor's own format."""

    name = "native"
    option_names = ("columns", "run_file")
    criteria: Any = None
    """Criteria of cases that have none of their own, as a file would have them."""

    def recognises(self, path: Path) -> bool:
        return looks_native(path)

    def read_all(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        self.check_options(options or {})
        return (self._read(path, compat, root, options or {}),)

    def read(self, path: Path, *, compat: str = "", root: Path | None = None) -> Reading:
        return self._read(path, compat, root, {})

    def _read(
        self, path: Path, compat: str, root: Path | None, options: Mapping[str, str]
    ) -> Reading:
        if path.is_dir():
            there = (path / name for name in SUITE_FILES if (path / name).is_file())
            folder, path = path, next(there, path)
        else:
            folder = path.parent
        loader = CaseLoader(root or folder, folder)
        if columns := options.get("columns"):
            from proctor.formats.native.rows import columns_called

            loader.columns = columns_called(columns)
        defaults = loader.defaults(self.criteria, path.stem)
        if run_file := options.get("run_file"):
            defaults = loader.offers(Path(run_file), defaults)
        if path.is_dir():
            loader.folder(path, defaults)
        else:
            loader.file(path, defaults, top=True)
        loader.read.tell()
        loader.check_clusters()
        try:
            loader.findings.check()
        except SuiteError as error:
            error.rest = loader.suite(path.stem)
            raise
        if compat and compat != loader.header.compat:
            document = Document(path=path, data=None)
            message = "native suites have no other behaviour to be compatible with"
            hint = "write 'compat' among the parameters of a criterion"
            problem = document.problem((), message, hint=hint, severity="warning")
            loader.findings.warn(problem)
        return Reading(
            suite=loader.suite(path.name if path.is_dir() else path.stem),
            warnings=tuple(loader.findings.warnings),
        )

    def prompts(
        self, source: "Path | Document", *, root: Path | None = None, key: str = ""
    ) -> tuple[CandidatePrompt, ...]:
        from proctor.formats.native.prompts import prompts_at, prompts_in

        if isinstance(source, Path):
            return prompts_in(source)
        return prompts_at(source, root or source.path.parent, key)

    def read_data(self, data: Json, name: str, criteria: Json = None) -> Reading:
        folder = Path.cwd()
        loader = CaseLoader(folder, folder)
        loader.load_values(data, name, criteria)
        loader.check_clusters()
        loader.findings.check()
        return Reading(suite=loader.suite(name), warnings=tuple(loader.findings.warnings))

    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        return read_answers(path, suite)

    def answers_by(self, path: Path, suite: Suite, columns: str) -> Iterator[Attempt]:
        return read_columns(path, suite, columns)

    def shares(
        self, path: Path, *, root: Path | None = None, first_row: "FileRow | None" = None
    ) -> "ShareReader | None":
        from proctor.formats.native.shares import NativeShares

        rows = path.suffix.lower() in ROW_ENDINGS
        loader = CaseLoader(root or path.parent, path.parent)
        return NativeShares(path, loader, first_row) if rows else None


class CaseLoader:
    """Loader of a suite's cases from its files."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.modules = SuiteModules(root=root, home=home)
        self.findings = Findings()
        self.header = HeaderKeys()
        self.measures: tuple[Spec, ...] = ()
        self.prompts: tuple[CandidatePrompt, ...] = ()
        self.columns: ColumnMap | None = None
        """What columns of tables are called, where a person said so."""
        self.cases = SpooledCases()
        self.ids = FirstEntries[str, str]()
        """Which ids of cases are taken, and where each was written first."""
        self.clustering: dict[str, Spot] = {}
        """By the tag that clusters are named by, where that is written."""
        self.clustered: set[str] = set()
        """Those of them that some case has a cluster by."""
        self.tags: dict[str, None] = {}
        self.open: list[Path] = []
        self.included: Counter[Path] = Counter()
        self.read = PhaseCount("read")

    def suite(self, default_name: str) -> Suite:
        """Make the suite of what was gathered."""
        header = self.header
        return Suite(
            name=header.name or default_name,
            cases=self.cases.done(),
            version=header.version,
            description=header.description,
            language=header.language,
            reduce=header.reduce,
            measures=self.measures,
            cluster=header.cluster,
            prompts=self.prompts,
            dialect=header.origin,
            compat=header.compat,
        )

    def folder(self, path: Path, defaults: Defaults) -> None:
        """Read all files of cases in a folder that has no suite file."""
        files = sorted(entry for entry in path.iterdir() if entry.suffix.lower() in FOLDER_ENDINGS)
        if not files:
            hint = f"put a suite.yaml there, or files of cases ({', '.join(FOLDER_ENDINGS)})"
            self.spot(Document(path=path, data=None)).error("no suite in this folder", hint=hint)
        for file in files:
            self.file(file, defaults)

    def file(self, path: Path, defaults: Defaults, *, top: bool = False) -> None:
        """Read one file of cases; the first one may describe the suite too."""
        self.open.append(path.resolve())
        before = len(self.cases), self.findings.total
        try:
            if path.suffix.lower() in ROW_ENDINGS:
                document = self._rows(path, defaults, top)
            else:
                document = read_yaml(path)
                self.findings.warn(*document.warnings)
                self._yaml(self.spot(document), defaults, top)
            if before == (len(self.cases), self.findings.total):
                at: Loc = ("cases",) if isinstance(document.data, dict) else ()
                problem = document.problem(at, "there are no cases here")
                self.findings.add(problem)
        except SuiteError as error:
            self.findings.add(*error.problems)
        self.open.pop()

    def load_values(self, data: Json, name: str, criteria: Json) -> None:
        """Read values in memory that a file could hold; criteria serve cases that have none."""
        document = Document(path=Path(name), data=data)
        self._yaml(self.spot(document), self.defaults(criteria, name), True)

    def defaults(self, criteria: Json, name: str) -> Defaults:
        """Return what holds for cases that say nothing else, with criteria for them."""
        if criteria is None:
            return Defaults()
        at = self.spot(Document(path=Path(name), data={"criteria": criteria})).at("criteria")
        return Defaults(criteria=read_criteria(at))

    def offers(self, run_file: Path, outer: Defaults) -> Defaults:
        """Read the tools and the form of replies that a run file has for cases without any."""
        spot = self.spot(read_yaml(run_file))
        own = {key: value for key, value in spot.value.items() if key in OFFERS}
        return defaults_of(spot, spot.validated(DefaultKeys, own), outer)

    def spot(self, document: Document) -> Spot:
        """Point at all that a document holds."""
        return Spot(self.findings, self.modules, document, (), document.data)

    def _rows(self, path: Path, defaults: Defaults, top: bool) -> Document:
        repeated = None
        if path.suffix.lower() in (*TABLE_ENDINGS, ".xlsx"):
            from proctor.formats.tables import RepeatedRows

            repeated = RepeatedRows()
        number = 0
        from proctor.formats.native.rows import case_rows

        for document in case_rows(self.findings, path, self.columns):
            spot = self.spot(document)
            if number == 0 and set(spot.value) == {"suite"}:
                defaults = self._header(spot.at("suite"), defaults, top, rows=True)
                continue
            number += 1
            before = len(self.cases)
            self.case(spot, defaults, f"{path.stem}-{number}")
            if repeated is not None and len(self.cases) > before:
                repeated.add(self.cases[before], document.row or 0)
        if repeated is not None:
            repeated.warn(self.findings, path)
        return Document(path=path, data=None, row=None if path.suffix == ".parquet" else 1)

    def _yaml(self, spot: Spot, defaults: Defaults, top: bool) -> None:
        """Read a mapping with cases, a list of cases, or a single case."""
        if isinstance(spot.value, list):
            self._entries(spot, defaults)
        elif not isinstance(spot.value, dict):
            spot.error(f"a suite is a mapping with the key 'cases', not {describe(spot.value)}")
        elif "cases" not in spot.value and any(key in spot.value for key in (*ASKING, "vars")):
            self.case(spot, defaults, spot.document.path.stem)
        else:
            self._with_header(spot, defaults, top)

    def _with_header(self, spot: Spot, defaults: Defaults, top: bool) -> None:
        if len(spot.value) > 1 and not set(spot.value) & set(HeaderKeys.model_fields):
            hint = "a suite has the key 'cases', a case has 'ask' or 'messages'"
            spot.error("this is neither a suite nor a case: no key is known", hint=hint)
            return
        defaults = self._header(spot, defaults, top)
        if spot.value.get("cases") is None:
            if not any(key not in HeaderKeys.model_fields for key in spot.value):
                spot.error("the key 'cases' is missing")
            return
        cases = spot.at("cases")
        if isinstance(cases.value, list | str):
            self._entries(cases, defaults)
        else:
            cases.error(f"expected a list of cases, not {describe(cases.value)}")

    def _header(self, spot: Spot, outer: Defaults, top: bool, *, rows: bool = False) -> Defaults:
        """Read what a file says about the suite and about all of its cases."""
        if not isinstance(spot.value, dict):
            spot.error(f"the suite is described by a mapping, not by {describe(spot.value)}")
            return outer
        allowed = [key for key in HeaderKeys.model_fields if not (rows and key == "cases")]
        strange = spot.unknown_keys(allowed)
        header = {k: v for k, v in spot.value.items() if k not in strange and k != "cases"}
        keys = spot.validated(HeaderKeys, normal(replace(spot, value=header)))
        if keys.criteria == []:
            spot.error("the list of criteria is empty", key="criteria")
        if top:
            self._describe(spot, keys)
        elif lost := [key for key in ("reduce", "measures", "prompts") if key in header]:
            names = " and ".join(lost)
            spot.warn(f"{names} of an included file have no effect", key=lost[0])
        defaults = defaults_of(spot, keys, outer)
        if not keys.cluster:
            return defaults
        self.clustering[keys.cluster] = spot
        return replace(defaults, cluster_by=keys.cluster)

    def check_clusters(self) -> None:
        """Note the tags that clusters are named by, and no case has."""
        for name, spot in self.clustering.items():
            if name not in CLUSTER_FIELDS and name not in self.clustered:
                hint = suggest(name, [*self.tags, *CLUSTER_FIELDS])
                spot.error(f"no case has the tag {name!r}", hint=hint, key="cluster")

    def _describe(self, spot: Spot, keys: HeaderKeys) -> None:
        self.header = keys
        try:
            parse_fold(keys.reduce)
        except UsageError as error:
            spot.error(str(error), key="reduce")
        if keys.origin not in (dialects := registry.names("dialect")):
            message = f"there is no dialect {keys.origin!r}"
            spot.error(message, hint=suggest(keys.origin, dialects), key="origin")
        if keys.measures is not None:
            specs = [read_plugin("measure", entry) for entry in spot.at("measures").items()]
            self.measures = tuple(spec for spec in specs if spec is not None)
        if keys.prompts is not None:
            from proctor.formats.native.prompts import read_prompts

            self.prompts = read_prompts(spot.at("prompts"))

    def _entries(self, spot: Spot, defaults: Defaults) -> None:
        """Read a list whose entries are cases and paths of files with cases."""
        stem = spot.document.path.stem
        for number, entry in enumerate(spot.items(), 1):
            if isinstance(entry.value, dict):
                self.case(entry, defaults, f"{stem}-{number}")
            elif isinstance(entry.value, str):
                self._include(entry, defaults)
            else:
                entry.error(f"a case is a mapping or a path, not {describe(entry.value)}")

    def _include(self, spot: Spot, defaults: Defaults) -> None:
        for path in self._included(spot):
            resolved = path.resolve()
            if resolved in self.open:
                start = self.open.index(resolved)
                chain = " → ".join(p.name for p in (*self.open[start:], resolved))
                spot.error(f"the files include each other: {chain}")
            elif self.included[resolved] >= MAX_INCLUDED:
                spot.error(f"the file {path.name!r} is included more than {MAX_INCLUDED} times")
            elif path.suffix.lower() not in ENDINGS:
                spot.error(f"cases are read from {', '.join(ENDINGS)} files, not {path.name!r}")
            else:
                self.included[resolved] += 1
                self.file(path, defaults)

    def _included(self, spot: Spot) -> list[Path]:
        """Return the files that a path or a pattern names, or note why there are none."""
        path = spot.path()
        if path is None or path.is_file():
            return [] if path is None else [path]
        if path.is_dir():
            hint = f"write '{spot.value.rstrip('/')}/*.yaml' for the files in it"
            spot.error(f"{spot.value!r} is a folder", hint=hint)
            return []
        if not any(char in spot.value for char in "*?["):
            spot.error(f"there is no file {spot.value!r}", hint=neighbours(path))
            return []
        return self._matching(spot)

    def _matching(self, spot: Spot) -> list[Path]:
        base = spot.document.path.parent
        if Path(spot.value).is_absolute():
            spot.error("a pattern is relative to the file it is written in")
            return []
        own = spot.document.path.resolve()
        try:
            paths = sorted(p for p in base.glob(spot.value) if p.is_file() and p.resolve() != own)
        except ValueError as error:
            spot.error(f"not a pattern of paths: {error}")
            return []
        for path in paths:
            if inside(self.root, path.parent, path.name) is None:
                spot.error(
                    f"{path.name!r}, which the pattern finds, lies outside of the suite's folder"
                )
                return []
        if not paths:
            spot.error(f"no file matches {spot.value!r}")
        return paths

    def case(self, spot: Spot, defaults: Defaults, default_id: str) -> None:
        """Read one case, noting every problem."""
        if not isinstance(spot.value, dict):
            spot.error(f"a case is a mapping, not {describe(spot.value)}")
            return
        name = spot.at("id").text() if spot.value.get("id") is not None else default_id
        if isinstance(name, str):
            self._claim(name, spot)
        case = read_case(spot, defaults, default_id)
        self.read.add()
        if case is not None:
            self.cases.append(case)
            self.note(case, defaults)

    def note(self, case: Case, defaults: Defaults) -> None:
        """Note the tags of a case, and what it has a cluster by."""
        for name in case.tags:
            self.tags[name] = None
        if case.cluster:
            self.clustered.add(defaults.cluster_by)

    def row_header(self, document: Document, defaults: Defaults) -> Defaults:
        """Read the row that describes the suite, and return the defaults of its cases."""
        return self._header(self.spot(document).at("suite"), defaults, True, rows=True)

    def _claim(self, name: str, spot: Spot) -> None:
        """Note it where an id is there already, with both places."""
        if (first := self.ids.add(name, spot.place())) is not None:
            message = f"the id {name!r} is used twice (first at {first})"
            spot.error(message, hint="every case needs an id of its own", key="id")
