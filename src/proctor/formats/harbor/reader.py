"""Folders of Harbor tasks, or one task, read as a suite."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from proctor.contracts.dialect import PlainDialect, Reading
from proctor.core.attempt import Attempt
from proctor.core.dockerfile import last_workdir
from proctor.core.environment import LOGS, MIB, SETUP, SOLUTIONS, packed_file
from proctor.core.fingerprint import digest
from proctor.core.suite import Case, Criterion, Json, Message, Spec, Suite
from proctor.errors import DialectError, Problem, SuiteError
from proctor.formats.harbor.task_file import (
    TaskAgent,
    TaskEnvironment,
    TaskFile,
    TaskVerifier,
    unsupported,
)
from proctor.io.findings import Findings
from proctor.io.text_files import Document, Loc, Place, file_error, read_bytes, read_text
from proctor.io.validation import validate

TASK, INSTRUCTION = "task.toml", "instruction.md"
COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")
MOST_BYTES = 16 * MIB
"""Bytes of the files of one task."""
MEMORY, STORAGE = 2048, 10240
TIMEOUT = 600.0
_SECTION = re.compile(r"^\s*(\[\[?)\s*([\w.\"'-]+)\s*\]\]?")
_KEY = re.compile(r"^\s*([\w-]+)\s*=")


@dataclass(frozen=True)
class Harbor(PlainDialect):
    """Tasks in the format of Harbor: one folder each, with task.toml, instruction.md and tests."""

    name: ClassVar[str] = "harbor"

    def recognises(self, path: Path) -> bool:
        if path.is_file():
            return path.name == TASK
        return path.is_dir() and next(_tasks(path), None) is not None

    def read_with(self, path: Path, root: Path | None, options: Mapping[str, str]) -> Reading:
        folder = path.parent if path.is_file() else path
        findings = Findings()
        cases = []
        for task in _tasks(folder):
            try:
                cases.append(_case(task, folder, findings))
            except SuiteError as error:
                findings.add(*error.problems)
        if not cases and not findings.errors:
            raise DialectError([Problem(message=f"no {TASK} in this folder", file=str(folder))])
        seen: dict[str, Case] = {}
        for case in cases:
            if case.id in seen:
                findings.add(
                    Problem(
                        message=f"the task {case.id!r} is also at {seen[case.id].source}",
                        file=case.source,
                    )
                )
            seen[case.id] = case
        suite = Suite(name=folder.resolve().name, cases=tuple(cases), dialect=self.name)
        findings.check(rest=suite)
        return Reading(suite=suite, warnings=tuple(findings.warnings))

    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        raise DialectError(
            [Problem(message="tasks are worked on by agents, not answered on file", file=str(path))]
        )


def _tasks(folder: Path) -> Iterator[Path]:
    """Yield the folders that hold a task: this one, or those in it."""
    if (folder / TASK).is_file():
        yield folder
        return
    for inner in sorted(folder.iterdir()):
        if (inner / TASK).is_file():
            yield inner


def _case(folder: Path, top: Path, findings: Findings) -> Case:
    """Read a task, or raise a SuiteError with every problem of it."""
    document = _toml(folder / TASK)
    task = validate(TaskFile, document)
    problems = [document.problem(at, message) for at, message in unsupported(task)]
    for name in COMPOSE:
        if (folder / "environment" / name).exists():
            problems.append(
                Problem(
                    message="tasks of several containers (docker compose) are not supported",
                    file=str(folder / "environment" / name),
                )
            )
    steps = [folder / "steps" / step.name for step in task.steps] or [folder]
    texts = []
    for step in steps:
        try:
            texts.append(read_text(step / INSTRUCTION))
        except SuiteError as error:
            problems += error.problems
    if not (folder / "tests" / "test.sh").is_file():
        problems += [
            Problem(message="there is no tests/test.sh", file=str(step))
            for step in steps
            if not (step / "tests" / "test.sh").is_file()
        ]
    if problems:
        raise SuiteError(problems)
    for at, network in (("environment", task.environment.network), ("agent", "")):
        if network in ("public", "allowlist"):
            findings.warn_once(
                document.problem(
                    (at,),
                    f"the network mode {network} is not given: only the proxy can be reached",
                    severity="note",
                )
            )
    files = _files(folder / "environment")
    environment = _environment(task.environment, task.agent, files)
    environment["agent_timeout"] = max(
        (step.agent.timeout_sec or task.agent.timeout_sec or TIMEOUT for step in task.steps),
        default=task.agent.timeout_sec or TIMEOUT,
    )
    name = task.task.name if task.task is not None else folder.name
    least = [step.min_reward for step in task.steps if isinstance(step.min_reward, float | int)]
    dialogue: dict[str, Json] = {"then": texts[1:]} if len(texts) > 1 else {}
    if least and dialogue:
        dialogue["stop_below"] = min(1.0, max(0.0, float(min(least))))
    return Case(
        id=name if top == folder else folder.name,
        messages=(Message(role="user", content=texts[0]),),
        criteria=tuple(_criteria(task, folder, steps, environment)),
        hidden=_solutions(folder, steps),
        dialogue=Spec(name="scripted", params=dialogue) if dialogue else Spec(name="single_turn"),
        setup={SETUP: environment},
        tags=_tags(task),
        source=str(folder / TASK),
    )


def _environment(
    wanted: TaskEnvironment, agent: TaskAgent, files: Mapping[str, Json]
) -> dict[str, Json]:
    dockerfile = files.get("Dockerfile", "")
    text = dockerfile if isinstance(dockerfile, str) else str(dockerfile.get("text", ""))
    needs: dict[str, Json] = {
        "image": wanted.docker_image or "",
        "dockerfile": text,
        "files": {name: entry for name, entry in files.items() if name != "Dockerfile"},
        "workdir": wanted.workdir or last_workdir(text) or "/app",
        "env": dict(wanted.env),
        "user": "" if agent.user is None else str(agent.user),
        "cpus": wanted.cpus or 1.0,
        "memory": wanted.size("memory", MEMORY) * MIB,
        "disk": wanted.size("storage", STORAGE) * MIB,
        "build_timeout": wanted.build_timeout_sec,
        "network": agent.network_mode or wanted.network,
        "hosts": sorted({*wanted.allowed_hosts, *agent.allowed_hosts}),
    }
    return {name: value for name, value in needs.items() if value not in ("", {}, [], None)}


def _criteria(
    task: TaskFile, folder: Path, steps: Sequence[Path], environment: Mapping[str, Json]
) -> Iterator[Criterion]:
    shared = _files(folder / "tests")
    for place, step in enumerate(steps):
        own = task.steps[place] if task.steps else None
        verifier = task.verifier if own is None else own.verifier
        artifacts = [*task.artifacts, *(own.artifacts if own is not None else ())]
        files = {**shared, **(_files(step / "tests") if own is not None else {})}
        params = _tests(task.verifier, verifier, files, artifacts)
        params["environment"] = digest(environment)
        if task.verifier.environment is not None:
            params["own"] = _environment(task.verifier.environment, TaskAgent(), {})
        last = place == len(steps) - 1
        counts = own is None or task.multi_step_reward_strategy == "mean" or last
        yield Criterion(
            id="reward" if own is None else own.name,
            scorer=Spec(name="task_tests", params=params),
            weight=1.0 if counts else 0.0,
            turn=None if own is None else place,
        )


def _tests(
    usual: TaskVerifier, verifier: TaskVerifier, files: Mapping[str, Json], artifacts: list[Json]
) -> dict[str, Json]:
    separate = (verifier.environment_mode or usual.environment_mode) == "separate"
    user = verifier.user if verifier.user is not None else usual.user
    hooks = [hook.model_dump(exclude_defaults=True) for hook in (*usual.collect, *verifier.collect)]
    if verifier is usual:
        hooks = hooks[: len(usual.collect)]
    params: dict[str, Json] = {
        "files": dict(files),
        "timeout": verifier.timeout_sec or usual.timeout_sec or TIMEOUT,
        "user": "" if user is None else str(user),
        "env": {**usual.env, **verifier.env},
        "separate": separate,
        "artifacts": [_path(one) for one in artifacts] + [f"{LOGS}/artifacts"] if separate else [],
        "collect": hooks,
    }
    return {name: value for name, value in params.items() if value not in ("", {}, [], False)}


def _path(artifact: Json) -> str:
    path = artifact if isinstance(artifact, str) else str(artifact.get("source", ""))
    return "/" + path.strip("/")


def _solutions(folder: Path, steps: Sequence[Path]) -> dict[str, Json]:
    sets = [_files(step / "solution") for step in steps]
    usual = _files(folder / "solution")
    solutions = [files or usual for files in sets]
    return {SOLUTIONS: solutions} if any(solutions) else {}


def _tags(task: TaskFile) -> dict[str, tuple[str, ...]]:
    tags: dict[str, tuple[str, ...]] = {}
    for name in ("difficulty", "category"):
        if isinstance(value := task.metadata.get(name), str) and value:
            tags[name] = (value,)
    keywords = task.task.keywords if task.task is not None else task.metadata.get("tags", [])
    if isinstance(keywords, list) and (texts := tuple(str(word) for word in keywords)):
        tags["keywords"] = texts
    return tags


def _files(folder: Path) -> dict[str, Json]:
    """Return the files of a folder by name; links are refused."""
    if not folder.is_dir():
        return {}
    files: dict[str, Json] = {}
    size = 0
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise file_error(path, "is a link, and a task must hold all that it needs itself")
        if not path.is_file():
            continue
        content = read_bytes(path, limit=MOST_BYTES)
        size += len(content)
        if size > MOST_BYTES:
            raise file_error(folder, f"holds more than the {MOST_BYTES // MIB} MiB allowed")
        executable = bool(path.stat().st_mode & 0o100)
        files[path.relative_to(folder).as_posix()] = packed_file(content, executable=executable)
    return files


def _toml(path: Path) -> Document:
    text = read_text(path)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (None, None)
        raise file_error(path, f"is no TOML: {error}", line, column) from None
    return Document(path, data, _places(text), text=text)


def _places(text: str) -> dict[Loc, Place]:
    """Return where the keys of a TOML file stand, as far as lines tell."""
    places: dict[Loc, Place] = {}
    section: Loc = ()
    counts: dict[Loc, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if (header := _SECTION.match(line)) is not None:
            section = tuple(header[2].replace('"', "").split("."))
            if header[1] == "[[":
                counts[section] = counts.get(section, -1) + 1
                section = (*section, counts[section])
            elif section[:1] in counts:
                section = (section[0], counts[section[:1]], *section[1:])
            places[section] = Place(number, 1)
        elif (key := _KEY.match(line)) is not None:
            places[(*section, key[1])] = Place(number, key.start(1) + 1)
    return places
