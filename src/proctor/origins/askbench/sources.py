"""Which tasks a path means: the settings of each, merged, and where its rows lie."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proctor.errors import DialectError, Problem, SuiteError
from proctor.io.findings import Findings
from proctor.io.text_files import inside
from proctor.origins.askbench import files
from proctor.origins.askbench.ini import MARKS, Ini, IniValues, check_keys, read_ini
from proctor.origins.askbench.roles import connected, overruled
from proctor.origins.askbench.tasks import TASKS
from proctor.suggestions import closest, did_you_mean

DEFAULT_SAVE_DIR = "results"
FAMILIES = ("EvalScope", "OpenCompass")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSource:
    """A task before its rows are read."""

    name: str
    evalset: str
    rows: Path
    values: IniValues
    findings: Findings = field(default_factory=Findings)
    """What is wrong or odd with this task alone."""
    own: bool = False
    """Whether it stands alone: the folder or the file names it, not a list of tasks."""
    save_dir: str = ""
    """Where the original writes its results; empty where there is no INI."""
    role_notes: Mapping[str, str] = field(default_factory=dict)
    """By role, which other address was there as well."""

    @property
    def task_name(self) -> str:
        """Return what the INI calls the task, which the folder of its results is named after."""
        return _task_name(self.values) or self.name


@dataclass(kw_only=True)
class SourceFinder:
    """Finder of the tasks of one path, with what is wrong with each."""

    compat: str
    root: Path | None
    tasks: tuple[str, ...] = ()
    """The only tasks to take; empty means those that the file enables."""
    findings: Findings = field(default_factory=Findings)
    """What is wrong with the path as a whole: no task of it can be run."""
    broken: dict[str, Findings] = field(default_factory=dict)
    """By task that has no source, what keeps it from being run; the others may be run."""
    names: list[str] = field(default_factory=list)
    """The tasks of a list, in its order."""

    def sources(self, path: Path) -> list[TaskSource]:
        """Find the tasks that a path means."""
        if not path.exists():
            raise DialectError([Problem(message="there is no such file", file=str(path))])
        if path.is_dir():
            return self._folder(path)
        if path.suffix.lower() in files.INI_ENDINGS:
            return self._ini(path)
        return [self._bare(path, path.resolve().parent.name)]

    def _folder(self, path: Path) -> list[TaskSource]:
        if (base := files.base_in(path)) is not None:
            return self._ini(base)
        rows = path / files.ROWS
        if not rows.is_file():
            hint = f"a task's folder has its rows in {files.ROWS}"
            message = "the folder has no rows in it"
            raise DialectError([Problem(message=message, file=str(path), hint=hint)])
        inis = files.ini_in(path)
        if len(inis) > 1:
            names = ", ".join(ini.name for ini in inis)
            message = f"the folder has {len(inis)} INI files: {names}"
            hint = f"keep one, or call it {path.resolve().name}.ini"
            raise DialectError([Problem(message=message, file=str(path), hint=hint)])
        if not inis:
            return [self._bare(rows, path.resolve().name)]
        return [self._alone(read_ini(inis[0]), rows)]

    def _bare(self, rows: Path, folder: str) -> TaskSource:
        name = folder if folder in TASKS else rows.stem
        if name == Path(files.ROWS).stem:
            name = folder or name
        empty = IniValues(sections={})
        return TaskSource(name=name, evalset=name, rows=rows, values=empty, own=True)

    def _alone(self, ini: Ini, rows: Path) -> TaskSource:
        """Take a task's own INI with the rows beside it."""
        values = IniValues(sections=ini.sections)
        name = rows.resolve().parent.name
        evalset = values.text("evalset", "evalsetname") or name
        self.findings.add(*check_keys(ini, {evalset}))
        return TaskSource(
            name=_task_name(values) or evalset,
            evalset=evalset,
            rows=rows,
            values=values,
            own=True,
            save_dir=_save_dir(ini),
        )

    def _ini(self, path: Path) -> list[TaskSource]:
        base = read_ini(path)
        if not base.looks_right:
            message = "the file has none of AskBench's sections"
            hint = f"an evaluation has {', '.join(f'[{name}]' for name in sorted(MARKS))}"
            raise DialectError([Problem(message=message, file=str(path), hint=hint)])
        values = IniValues(sections=base.sections)
        written = values.names("tasks", "enabled")
        names = self.tasks or written
        self._refuse_other_tools(base, values)
        if "evalset" in base.sections and not names:
            evalset = values.text("evalset", "evalsetname")
            self.findings.add(*check_keys(base, {evalset}))
            return self._task_alone(base, values, evalset)
        if not names:
            entry = values.entry("tasks", "enabled")
            hint = f"known are: {', '.join(TASKS)}"
            message = "no task is enabled"
            problem = (
                entry.problem(message, hint=hint)
                if entry is not None
                else Problem(
                    message=f"{message}: [tasks] enabled is missing", file=str(path), hint=hint
                )
            )
            raise SuiteError([problem])
        self.findings.add(*check_keys(base, {*TASKS, *names, *written}))
        sources = []
        for name in dict.fromkeys(names):
            self.names.append(name)
            own = Findings()
            source = self._enabled(base, name, own)
            if source is None:
                self.broken[name] = own
            else:
                sources.append(source)
        return sources

    def _refuse_other_tools(self, base: Ini, values: IniValues) -> None:
        entry = values.entry("tasks", "tasks_config_path")
        if entry is not None and any(name.lower() in entry.text.lower() for name in FAMILIES):
            message = "these tasks are run by another tool; only its results can be gathered"
            hint = f"proctor askbench --config {base.path}"
            raise DialectError([entry.problem(message, hint=hint)])

    def _task_alone(self, ini: Ini, values: IniValues, evalset: str) -> list[TaskSource]:
        """Take the INI of one task, with no list of tasks around it."""
        if not evalset:
            message = "the task does not say what it is: [evalset] evalsetname is missing"
            raise SuiteError([ini.problem("evalset", message)])
        rows = self._rows(ini.path, ini.path, values, evalset, self.findings)
        if rows is None:
            return []
        name = _task_name(values) or evalset
        return [
            TaskSource(
                name=name,
                evalset=evalset,
                rows=rows,
                values=values,
                own=True,
                save_dir=_save_dir(ini),
            )
        ]

    def _enabled(self, base: Ini, name: str, findings: Findings) -> TaskSource | None:
        """Merge the INI of an enabled task with the base, and find its rows."""
        folder = base.sections.get("tasks", {}).get("tasks_config_path")
        places = files.task_inis(base.path, folder.text if folder else "", name)
        file, looked = files.first_file(places)
        own: Ini | None = None
        if file is not None:
            try:
                own = read_ini(file)
            except SuiteError as error:
                findings.add(*error.problems)
                return None
        elif name not in TASKS:
            findings.add(_unknown_task(base, name, looked))
            return None
        sections = base.sections
        notes: dict[str, str] = {}
        if own is not None:
            evalset = IniValues(sections=own.sections).text("evalset", "evalsetname") or name
            findings.add(*check_keys(own, {evalset, name}))
            pair = (own.sections, sections) if self.compat else (sections, own.sections)
            sections = connected(*pair)
            notes = {} if self.compat else overruled(sections, base.sections)
        values = IniValues(sections=sections)
        evalset = values.text("evalset", "evalsetname") or name
        written = own.path if own else base.path
        rows = self._rows(written, base.path, values, evalset, findings)
        if rows is None:
            return None
        return TaskSource(
            name=name,
            evalset=evalset,
            rows=rows,
            values=values,
            findings=findings,
            save_dir=_save_dir(base, own),
            role_notes=notes,
        )

    def _rows(
        self, ini: Path, base: Path, values: IniValues, evalset: str, findings: Findings
    ) -> Path | None:
        entry = values.entry("path", "data_dir")
        data_dir = entry.text if entry is not None else ""
        written = entry.path if entry is not None else ini
        places = files.row_files(written, base, data_dir, evalset)
        file, looked = files.first_file(places)
        if file is not None and self.root and inside(self.root, Path.cwd(), str(file)) is None:
            message = f"the rows of {evalset!r} lie outside the folder {self.root}"
            findings.add(Problem(message=message, file=str(file)))
            return None
        if file is not None:
            return file
        message = f"there are no rows for {evalset!r}"
        hint = "write where they lie as [path] data_dir"
        if looked:
            hint += f"; looked for {', '.join(looked[:4])}"
        problem = (
            entry.problem(message, hint=hint)
            if entry is not None
            else Problem(message=message, file=str(ini), hint=hint)
        )
        findings.add(problem)
        return None


def _unknown_task(base: Ini, name: str, looked: list[str]) -> Problem:
    message = f"there is no task {name!r}: no {name}.ini in the folder of tasks"
    near = did_you_mean(closest(name, sorted(TASKS)))
    hint = near or f"write one: looked for {', '.join(looked)}"
    entry = base.sections.get("tasks", {}).get("enabled")
    return entry.problem(message, hint=hint) if entry else Problem(message=message, hint=hint)


def _save_dir(*inis: Ini | None) -> str:
    """Return where results go: as the base says, for one summary is written of all its tasks."""
    texts = (IniValues(sections=ini.sections).text("path", "save_dir") for ini in inis if ini)
    return next((text for text in texts if text), DEFAULT_SAVE_DIR)


def _task_name(values: IniValues) -> str:
    return values.text("evalset", "task_name") or values.text("model", "task_name")
