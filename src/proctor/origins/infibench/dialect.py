"""Suites, cases and responses of InfiBench (InfiCoder-Eval)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from proctor.contracts.dialect import Dialect, Reading
from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Json, Message, Suite
from proctor.errors import DialectError, Problem, SuiteError, UsageError
from proctor.io.concurrency import tallied
from proctor.io.findings import Findings
from proctor.io.text_files import Document, Loc, inside, unusable_name
from proctor.io.validation import validate_rest
from proctor.io.yaml_files import read_yaml
from proctor.origins.infibench.answers import read_answers
from proctor.origins.infibench.criteria import criteria_of
from proctor.origins.infibench.format import SuiteEntry, SuiteFile, WrittenCase
from proctor.origins.infibench.notes import Notes, near

FIRST_LOOK = 64 * 1024
ENDINGS = (".yaml", ".yml")
OWN = {"attempt_reduce_mode", "full_score_per_question", "null_score_per_question"}
OF_A_CASE = {"grading", "prompt_path"}
_KEY = re.compile(r"^([A-Za-z_]\w*)\s*:(?=\s|$)", re.MULTILINE)
_FIRST_CASE = re.compile(
    r"^cases\s*:(?:\s|#.*\n)*(?:-\s*(?:weight\s*:.*\n\s*)?(?:path\s*:\s*)?|\[\s*)"
    r"[\"']?([^\s\"',\]{}:]+\.ya?ml)\b",
    re.MULTILINE,
)
_MODE = re.compile(r"avg|max|min|avg_max_[1-9]\d{0,5}")


@dataclass(frozen=True)
class InfiBench(Dialect):
    """InfiBench suites and responses."""

    name: ClassVar[str] = "infibench"

    def recognises(self, path: Path) -> bool:
        if path.is_dir():
            return bool(_suites_in(path))
        return _is_suite(path) or bool(OF_A_CASE & set(_KEY.findall(_start(path))))

    def read(self, path: Path, *, compat: str = "", root: Path | None = None) -> Reading:
        if compat not in ("", "original"):
            raise UsageError(f"unknown compat mode {compat!r} (use 'original', or none)")
        file = _suite_file(path)
        document = read_yaml(file)
        if not isinstance(document.data, dict):
            message = "an InfiBench file is a mapping, with 'cases' or with 'grading'"
            raise DialectError([document.problem((), message)])
        reader = _InfiBenchReader(root=root or file.parent, home=file.parent, compat=compat)
        if OF_A_CASE & set(document.data) and "cases" not in document.data:
            suite = reader.single(document)
        else:
            suite = reader.suite(document)
        return Reading(suite=suite, warnings=tuple(reader.findings.warnings))

    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        yield from read_answers(path, suite)


@dataclass(kw_only=True)
class _Defaults:
    """Settings of a suite that apply to all its cases."""

    full_score: float = 1.0
    null_score: float = 0.0


@dataclass(kw_only=True)
class _InfiBenchReader:
    """Reader of one suite with all its cases, which collects the problems of all."""

    root: Path
    home: Path
    compat: str
    findings: Findings = field(default_factory=Findings)
    broken: set[str] = field(default_factory=set)
    """The files of cases with problems."""

    def single(self, document: Document) -> Suite:
        """Read a case as a suite of one."""
        case = self._case(document, document.path.name, 1.0, _Defaults())
        self._stop_if_wrong(document)
        assert case is not None
        return self._suite(document, [case])

    def suite(self, document: Document) -> Suite:
        """Read a suite and every case that it names."""
        self.findings.warn(*document.warnings)
        written, misshapen = validate_rest(SuiteFile, document)
        self.findings.add(*misshapen)
        if written is None:
            cases = self._cases(document, _paths_in(document.data.get("cases")), _Defaults())
            self._stop_if_wrong(document, cases)
        assert written is not None
        self._check_suite(document, written)
        defaults = _Defaults(
            full_score=written.full_score_per_question, null_score=written.null_score_per_question
        )
        cases = self._cases(document, written.cases, defaults)
        self._stop_if_wrong(document, cases)
        version = "" if written.version is None else document.spelt(("version",), written.version)
        return self._suite(document, cases, written.attempt_reduce_mode, version)

    def _cases(
        self, document: Document, entries: Sequence[SuiteEntry | str], defaults: _Defaults
    ) -> list[Case]:
        cases = []
        seen: dict[Path, Loc] = {}
        ids: dict[str, str] = {}
        for index, entry in enumerate(tallied("read", entries, len(entries))):
            loc: Loc = ("cases", index)
            name = entry if isinstance(entry, str) else entry.path
            weight = self._weight(document, loc, entry)
            file = self._case_file(document, loc, name, seen)
            case = self._read_case(file, name, weight, defaults) if file is not None else None
            if case is None:
                continue
            if case.id in ids:
                message = f"the id {case.id!r} is that of {ids[case.id]!r} too"
                self.findings.error_at(document, loc, message, hint="give each case its own")
            ids.setdefault(case.id, name)
            cases.append(case)
        return cases

    def _suite(
        self, document: Document, cases: list[Case], reduce: str = "avg", version: str = ""
    ) -> Suite:
        return Suite(
            name=document.path.stem,
            cases=tuple(cases),
            version=version,
            reduce=reduce,
            dialect=InfiBench.name,
            compat=self.compat,
        )

    def _stop_if_wrong(self, document: Document, cases: Sequence[Case] = ()) -> None:
        if self.findings.errors:
            whole = [case for case in cases if case.source not in self.broken]
            self.findings.check(rest=self._suite(document, whole))

    def _check_suite(self, document: Document, written: SuiteFile) -> None:
        mode = written.attempt_reduce_mode
        if not _MODE.fullmatch(mode):
            message = f"unknown attempt_reduce_mode {mode!r}"
            hint = "use avg, max, min, or avg_max_N (the best of each N attempts, averaged)"
            self.findings.error_at(document, ("attempt_reduce_mode",), message, hint=hint)
        _warn_scores(
            self._notes(document),
            ("full_score_per_question", written.full_score_per_question),
            ("null_score_per_question", written.null_score_per_question),
        )

    def _notes(self, document: Document) -> Notes:
        return Notes(
            document=document,
            root=self.root,
            home=self.home,
            compat=self.compat,
            findings=self.findings,
        )

    def _weight(self, document: Document, loc: Loc, entry: SuiteEntry | str) -> float:
        if isinstance(entry, str):
            return 1.0
        notes = self._notes(document)
        if entry.weight is None:
            notes.differs(
                loc, "an entry without weight", "stops with an error", "takes 1.0", reproduced=False
            )
            return 1.0
        if entry.weight != 1.0:
            what = f"a case of weight {entry.weight:g}"
            notes.differs((*loc, "weight"), what, "counts it like any other", "uses the weight")
        return 1.0 if self.compat else float(entry.weight)

    def _case_file(
        self, document: Document, loc: Loc, name: str, seen: dict[Path, Loc]
    ) -> Path | None:
        message, hint = unusable_name(name), ""
        path = None if message else inside(self.root, self.home, name)
        if message:
            pass
        elif path is None:
            message = f"the path {name!r} leaves the folder of the suite"
            hint = "keep all cases inside it"
        elif path in seen:
            first = document.place(seen[path])
            line = f" (the first is on line {first.line})" if first else ""
            message, hint = f"the case {name!r} occurs twice{line}", "remove one of them"
        elif not path.is_file():
            message = f"there is no case file {name!r}"
            hint = near(path) or f"case paths are relative to the suite, in {self.home}"
        if message:
            self.findings.error_at(document, loc, message, hint=hint)
            return None
        assert path is not None
        seen[path] = loc
        return self.home / name

    def _read_case(self, file: Path, name: str, weight: float, defaults: _Defaults) -> Case | None:
        before = self.findings.total
        try:
            case = self._case(read_yaml(file), name, weight, defaults)
        except SuiteError as error:
            self.findings.add(*error.problems)
            case = None
        if self.findings.total > before:
            self.broken.add(name)
        return case

    def _case(
        self, document: Document, source: str, weight: float, defaults: _Defaults
    ) -> Case | None:
        """Read one case; none where its shape is wrong, though the rest of it is looked at."""
        self.findings.warn(*document.warnings)
        written, misshapen = validate_rest(WrittenCase, document)
        self.findings.add(*misshapen)
        if written is None:
            return None
        notes = self._notes(document)
        tags = _tags(notes, written)
        lang = next(iter(tags.get("lang", ())), "")
        graded = criteria_of(notes, written.grading, lang, [one.field for one in misshapen])
        prompt = notes.text_of(("prompt_path",), written.prompt_path)
        _warn_scores(notes, ("full_score", written.full_score), ("null_score", written.null_score))
        full, null = written.full_score, written.null_score
        if misshapen:
            return None
        return Case(
            id=_case_id(notes, written),
            messages=(Message(role="user", content=prompt),),
            criteria=tuple(each.criterion for each in graded),
            tags=tags,
            weight=weight,
            full_score=defaults.full_score if full is None else full,
            null_score=defaults.null_score if null is None else null,
            min_points=written.grading.min_score,
            max_points=written.grading.max_score,
            out_of=written.grading.max_score if self.compat else None,
            source=source,
        )


def _paths_in(entries: Json) -> list[SuiteEntry | str]:
    """Return the cases that a suite names rightly before something is wrong in it."""
    paths: list[SuiteEntry | str] = []
    for entry in entries if isinstance(entries, list) else ():
        name = entry.get("path") if isinstance(entry, dict) else entry
        if not isinstance(name, str):
            break
        paths.append(name)
    return paths


def _case_id(notes: Notes, written: WrittenCase) -> str:
    document = notes.document
    if written.id is not None and (written_id := document.spelt(("id",), written.id).strip()):
        return written_id
    stem = document.path.stem
    notes.warn((), f"the case has no id; it is called {stem!r}, after its file", hint="add an id")
    return stem


def _tags(notes: Notes, written: WrittenCase) -> dict[str, tuple[str, ...]]:
    """Return the tags of a case; each may have several values."""
    tags: dict[str, tuple[str, ...]] = {}
    for name in ("lang", "type", "domain"):
        value = getattr(written, name)
        if value is None:
            if name == "type" or (name == "lang" and written.domain is None):
                message = f"the case has no {name!r}: it is missing in the table by {name}"
                notes.warn((), message, hint=f"add {name}")
            continue
        values = value if isinstance(value, list) else [value]
        spelt = [
            notes.document.spelt(
                (name, index) if isinstance(value, list) else (name,), each
            ).strip()
            for index, each in enumerate(values)
        ]
        if tag_values := tuple(dict.fromkeys(text for text in spelt if text)):
            tags[name] = tag_values
    return tags


def _warn_scores(
    notes: Notes, full: tuple[str, float | None], null: tuple[str, float | None]
) -> None:
    name, value = full
    if value is not None and value != 1.0:
        original = "grades it, but its table stops with an error"
        notes.differs((name,), f"{name} is {value:g}", original, "shows it", reproduced=False)
    name, value = null
    if value is not None and value != 0.0:
        what = f"{name} is {value:g}"
        original = "never applies it: a case without a response drops out"
        notes.differs(
            (name,), what, original, "gives it to a case without a response", reproduced=False
        )


def _suite_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    files = _suites_in(path)
    if len(files) == 1:
        return files[0]
    what = "no InfiBench suite" if not files else f"{len(files)} InfiBench suites"
    names = f": {', '.join(file.name for file in files)}" if files else ""
    message = f"the folder has {what} in it{names}"
    raise DialectError([Problem(message=message, file=str(path), hint="name one suite file")])


def _suites_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if _is_suite(path))


def _is_suite(path: Path) -> bool:
    """Tell a suite by its own keys, or by the first case that it names."""
    text = _start(path)
    keys = set(_KEY.findall(text))
    if keys & OWN:
        return True
    first = _FIRST_CASE.search(text)
    if first is None or unusable_name(first[1]):
        return False
    case = path.parent / first[1]
    if case.is_file():
        return bool(OF_A_CASE & set(_KEY.findall(_start(case))))
    return not keys - {"cases", "version"}


def _start(path: Path) -> str:
    """Return the beginning of a YAML file."""
    if path.suffix.lower() not in ENDINGS or not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            return file.read(FIRST_LOOK).decode("utf-8-sig", "replace")
    except OSError:
        return ""
