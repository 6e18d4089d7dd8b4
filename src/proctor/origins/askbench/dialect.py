"""AskBench: its INI files with all tasks they enable, a task's folder, or a file of rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from proctor.contracts.dialect import Dialect, Reading
from proctor.core.attempt import Attempt
from proctor.core.suite import Json, Message, Suite
from proctor.errors import DialectError, Problem, SuiteError, UsageError
from proctor.io.findings import Findings
from proctor.origins.askbench import files
from proctor.origins.askbench.combined import combined_rows
from proctor.origins.askbench.ini import KEYS, IniValues, merged, read_ini
from proctor.origins.askbench.options import Options, Protocols
from proctor.origins.askbench.roles import RoleReader
from proctor.origins.askbench.rows import RowReader, examples_of
from proctor.origins.askbench.sources import FAMILIES, SourceFinder, TaskSource
from proctor.origins.askbench.tasks import (
    ONE_QUESTION,
    TASKS,
    Task,
    TaskShape,
    measures_of,
    task_of,
)
from proctor.suggestions import suggest

_SAMPLING = ("max_tokens", "temperature", "top_p", "top_k", "max_concurrent", "shot", "n_attempts")


class Elsewhere(NamedTuple):
    """Tasks that another tool runs, whose results are only gathered."""

    family: str
    tasks: tuple[str, ...]
    results: Path


class OutputPlace(NamedTuple):
    """The folder below the working directory to which the original writes a task's results."""

    task: str
    save_dir: str
    """Empty where no INI is there to say so."""
    evalset: str
    task_name: str


@dataclass(frozen=True)
class AskBench(Dialect):
    """AskBench tasks: INI files, task folders and files of rows."""

    name: ClassVar[str] = "askbench"
    option_names: ClassVar[tuple[str, ...]] = (
        "max_turns", "guidance", "strict", "tasks", "attempts",
    )  # fmt: skip

    def recognises(self, path: Path) -> bool:
        return files.is_askbench(path)

    def read(self, path: Path, *, compat: str = "", root: Path | None = None) -> Reading:
        readings = self.read_all(path, compat=compat, root=root)
        if len(readings) > 1:
            names = ", ".join(reading.suite.name for reading in readings)
            message = f"the file enables {len(readings)} tasks: {names}"
            hint = "name one of them with --tasks, or the folder of its rows"
            raise DialectError([Problem(message=message, file=str(path), hint=hint)])
        return readings[0]

    def read_all(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        """Read every enabled task; what is wrong with any of them is said at once."""
        readings = self.read_each(path, compat=compat, root=root, options=options)
        if any(reading.problems for reading in readings):
            raise SuiteError(_once(_all_problems(readings)))
        return readings

    def read_each(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        if compat not in ("", "original"):
            raise UsageError(f"unknown compat mode {compat!r} (use 'original', or none)")
        self.check_options(options or {})
        parsed = Options.of(options or {})
        finder = SourceFinder(compat=compat, root=root, tasks=parsed.tasks)
        reader = _TasksReader(compat=compat, options=parsed)
        readings = [reader.task(source) for source in finder.sources(path)]
        readings += [_broken(name, own) for name, own in finder.broken.items()]
        if finder.names:
            readings.sort(key=lambda reading: finder.names.index(reading.suite.name))
        if finder.findings.errors:
            raise SuiteError(_once([*finder.findings.shown, *_all_problems(readings)]))
        return readings

    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        message = "AskBench has no format for answers on file"
        raise DialectError([Problem(message=message, file=str(path))])

    def elsewhere(self, path: Path) -> Elsewhere | None:
        """Return the tasks of an INI that EvalScope or OpenCompass runs; none for other files."""
        file = files.base_in(path) if path.is_dir() else path
        if file is None or file.suffix.lower() not in files.INI_ENDINGS:
            return None
        values = IniValues(sections=read_ini(file).sections)
        folder = values.text("tasks", "tasks_config_path")
        family = next((name for name in FAMILIES if name.lower() in folder.lower()), None)
        if family is None:
            return None
        tasks = tuple(values.names("tasks", "enabled"))
        return Elsewhere(family, tasks, Path(values.text("path", "save_dir", "results")))

    def output_places(
        self, path: Path, *, compat: str = "", tasks: Sequence[str] = ()
    ) -> list[OutputPlace]:
        """Return where the results of each task go that a path means."""
        finder = SourceFinder(compat=compat, root=None, tasks=tuple(tasks))
        return [
            OutputPlace(source.name, source.save_dir, source.evalset, source.task_name)
            for source in finder.sources(path)
        ]

    def build_combined(self, kind: str, folder: Path) -> list[dict[str, Json]]:
        """Make the rows of a combined set out of its four sources."""
        return combined_rows(kind, folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TasksReader:
    """Reader of the tasks that a finder lists."""

    compat: str
    options: Options

    def task(self, source: TaskSource) -> Reading:
        """Read one task, or note what is wrong with it."""
        shape = files.first_shape(source.rows)
        listed = TASKS.get(source.evalset)
        if shape is None and listed is None:
            message = (
                f"the rows are of no kind that AskBench has, and {source.evalset!r} is no task"
            )
            hint = suggest(source.evalset, TASKS)
            problem = Problem(message=message, file=str(source.rows), line=1, hint=hint)
            source.findings.add(problem)
            return _broken(source.name, source.findings)
        task = listed or task_of(source.evalset, shape or TaskShape.QUESTION)
        return self._read(source, task)

    def _read(self, source: TaskSource, task: Task) -> Reading:
        values, findings = source.values, source.findings
        turns = task.shape.several_turns
        protocols = Protocols(values=values, options=self.options, compat=self.compat)
        sections = self._free(source, turns)
        attempts = self.options.attempts or _attempts(sections)
        shown = self._examples(source, task, sections)
        reader = RowReader(
            task=task,
            evalset=source.evalset,
            protocol=protocols.of(task, findings),
            examples=shown,
        )
        cases = reader.cases(source.rows)
        players = RoleReader(
            values=sections,
            compat=self.compat,
            several_turns=turns,
            simulator_is_judge=task.shape is TaskShape.IN3,
        )
        roles = players.roles()
        for part in (values.findings, sections.findings, reader.findings):
            findings.include(part)
        suite = Suite(
            name=source.name,
            cases=cases,
            language=values.text("evaluatorconfig", "language", "en") or "en",
            measures=measures_of(task, self.compat, attempts or 1),
            dialect=AskBench.name,
            compat=self.compat,
        )
        return Reading(
            suite=suite,
            warnings=(*findings.warnings, *reader.findings.warnings),
            problems=tuple(findings.shown),
            roles=roles,
            attempts=attempts,
            unusable_roles=players.unusable,
            role_notes=source.role_notes,
        )

    def _examples(self, source: TaskSource, task: Task, values: IniValues) -> tuple[Message, ...]:
        shot = values.whole("generateconfig", "shot", values.whole("evalset", "shot", 0), least=0)
        if not shot or self.compat or task.shape not in ONE_QUESTION:
            return ()
        file = source.rows.with_name(files.EXAMPLES)
        if not file.is_file():
            entry = values.entry("generateconfig", "shot") or values.entry("evalset", "shot")
            assert entry is not None
            message = f"no examples are shown: there is no {file}"
            source.findings.warn(entry.problem(message, severity="warning"))
            return ()
        protocol = Protocols(values=values, options=self.options, compat="").of(task, Findings())
        reader = RowReader(task=task, evalset=source.evalset, protocol=protocol)
        cases = reader.cases(file)
        source.findings.include(reader.findings)
        return () if reader.findings.errors else examples_of(cases, shot)

    def _free(self, source: TaskSource, several_turns: bool) -> IniValues:
        """Let the section of a task's name change how the candidate is asked."""
        values = source.values
        free = values.sections.get(source.evalset, {})
        if not free or source.evalset in KEYS or (self.compat and several_turns):
            return values
        for key, entry in free.items():
            used = key in _SAMPLING
            message = f"[{source.evalset}] is no section of the document; {key!r} " + (
                "is taken as if it stood in [generateconfig]" if used else "has no effect"
            )
            source.findings.warn(entry.problem(message, severity="warning"))
        sampling = {key: entry for key, entry in free.items() if key in _SAMPLING}
        return IniValues(sections=merged(values.sections, {"generateconfig": sampling}))


def _once(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems, each once: tasks that share a file share its mistakes."""
    return list(dict.fromkeys(problems))


def _all_problems(readings: Iterable[Reading]) -> Iterator[Problem]:
    for reading in readings:
        yield from reading.problems
        for role in reading.unusable_roles.values():
            yield from role.problems


def _broken(name: str, findings: Findings) -> Reading:
    """Stand for a task that cannot be run."""
    suite = Suite(name=name, cases=(), dialect=AskBench.name)
    return Reading(suite=suite, problems=tuple(findings.shown))


def _attempts(values: IniValues) -> int | None:
    for section in ("generateconfig", "evalset"):
        if values.entry(section, "n_attempts") is not None:
            return values.whole(section, "n_attempts", 1, least=1)
    return None
