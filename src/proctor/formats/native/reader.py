"""Reading native suites with every problem."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field

from proctor import registry
from proctor.contracts.case_spool import SpooledCases
from proctor.core.fold import MODES, parse_fold
from proctor.core.suite import CandidatePrompt, Case, Json, Spec, Suite
from proctor.errors import SuiteError, UsageError
from proctor.formats.carried_modules import SuiteModules
from proctor.formats.native.case import (
    ASKING,
    CLUSTER_FIELDS,
    DefaultKeys,
    Defaults,
    cluster_of,
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
from proctor.formats.native.endings import ENDINGS, FOLDER_ENDINGS, ROW_ENDINGS
from proctor.formats.native.spot import Spot, neighbours
from proctor.io.concurrency import PhaseCount
from proctor.io.described import describe
from proctor.io.findings import Findings
from proctor.io.row_files import TABLE_ENDINGS
from proctor.io.temporary_database import FirstEntries
from proctor.io.text_files import Document, Loc, inside
from proctor.io.yaml_files import read_yaml
from proctor.suggestions import suggest

if TYPE_CHECKING:
    from proctor.formats.tables import ColumnMap

OFFERS = ("tools", "tool_choice", "response_format")
"""What a run file may say in place of the suite."""
MAX_INCLUDED = 5
FOLD_PATTERN = r"^(avg|mean|max|min|median|avg_max_[1-9]\d{0,5})$"


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
        if cluster_of(case, defaults.cluster_by):
            self.clustered.add(defaults.cluster_by)

    def row_header(self, document: Document, defaults: Defaults) -> Defaults:
        """Read the row that describes the suite, and return the defaults of its cases."""
        return self._header(self.spot(document).at("suite"), defaults, True, rows=True)

    def _claim(self, name: str, spot: Spot) -> None:
        """Note it where an id is there already, with both places."""
        if (first := self.ids.add(name, spot.place())) is not None:
            message = f"the id {name!r} is used twice (first at {first})"
            spot.error(message, hint="every case needs an id of its own", key="id")
