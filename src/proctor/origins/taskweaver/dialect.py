"""TaskWeaver's cases for agents: fixed queries, or a task for a virtual user; scoring points."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from proctor.agents.recorded import read_rounds
from proctor.contracts.dialect import Dialect, Reading
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.fingerprint import digest_bytes
from proctor.core.python_snippet import Flaw, flaw_in
from proctor.core.rounds import AGENT, ROUNDS, USER, Round, RoundState, round_from
from proctor.core.suite import Case, CaseFile, Criterion, Json, Message, Spec, Suite
from proctor.errors import DialectError, Problem, SuiteError, UsageError
from proctor.io.concurrency import tallied
from proctor.io.findings import Findings
from proctor.io.text_files import Document, Loc, inside
from proctor.io.validation import validate
from proctor.io.yaml_files import read_yaml
from proctor.origins.taskweaver.config import Evaluator, read_config
from proctor.origins.taskweaver.format import NEW, OLD, Point, ScriptedCase, Shared, UserCase
from proctor.suggestions import suggest

ENDINGS = (".yaml", ".yml")
MOST_ROUNDS = 5
FIRST_LOOK = 256 * 1024
LARGEST_FILE = 64 * 1024 * 1024
_TELLS = re.compile(rf"^(?:{OLD}|{NEW})\s*:", re.M)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class TaskWeaverDialect(Dialect):
    """TaskWeaver's case files of both generations, and recorded rounds."""

    name: ClassVar[str] = "taskweaver"
    option_names: ClassVar[tuple[str, ...]] = ("stop_below", "max_turns", "config", "broken")

    def recognises(self, path: Path) -> bool:
        if path.is_file():
            return path.suffix.lower() in ENDINGS and _tells(path)
        if not path.is_dir():
            return False
        files = [*_yaml_in(path), *(one for folder in _folders(path) for one in _yaml_in(folder))]
        return any(_tells(one) for one in files[:50])

    def read(self, path: Path, *, compat: str = "", root: Path | None = None) -> Reading:
        return self.read_all(path, compat=compat, root=root)[0]

    def read_all(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        """Read cases as one suite; with ``broken: skip`` those that are wrong are left out."""
        chosen = dict(options or {})
        self.check_options(chosen)
        reader = _CasesReader(
            path=path, compat=compat, root=root, options=chosen, evaluator=_evaluator(chosen)
        )
        return (reader.reading(),)

    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        """Read rounds on file: what an agent did, recorded elsewhere."""
        cases = {case.id: case for case in suite.cases}
        for case_id, index, rounds in read_rounds(path, list(cases)):
            yield _recorded(cases[case_id], index, rounds)


@dataclass
class _CasesReader:
    """Reader of a suite of case files, which collects the problems of all."""

    path: Path
    compat: str
    root: Path | None
    options: Mapping[str, str]
    evaluator: Evaluator
    findings: Findings = field(default_factory=Findings)

    def reading(self) -> Reading:
        """Read all cases of the path."""
        cases = []
        for name, file in tallied("read", self._files()):
            try:
                cases.append(self._case(name, file))
            except SuiteError as error:
                self._broken(error.problems)
        self.findings.check()
        if not cases:
            message = "there is no case here that can be read"
            warnings = self.findings.warnings
            raise SuiteError([*warnings, Problem(message=message, file=str(self.path))])
        chinese = sum(bool(_CHINESE.search(_question_of(case))) for case in cases)
        suite = Suite(
            name=self.path.resolve().name if self.path.is_dir() else self.path.stem,
            cases=tuple(cases),
            language="zh" if chinese * 2 > len(cases) else "en",
            measures=(Spec(name="hit_rate"), Spec(name="agent_failure_rate")),
            dialect=TaskWeaverDialect.name,
            compat=self.compat,
        )
        return Reading(
            suite=suite,
            warnings=tuple(self.findings.warnings),
            roles=dict(self.evaluator.roles),
        )

    def _files(self) -> Iterator[tuple[str, Path]]:
        """Yield each case's name with its file, in the order in which people count."""
        if self.path.is_file():
            new = NEW in (_keys(self.path) or ())
            yield (self.path.resolve().parent.name if new else self.path.name), self.path
            return
        own = _yaml_in(self.path)
        if len(own) == 1 and NEW in (_keys(own[0]) or ()):
            yield self.path.resolve().name, own[0]
            return
        places = {file.name: file for file in own}
        for folder in _folders(self.path):
            inner = _yaml_in(folder)
            if len(inner) == 1:
                places[folder.name] = inner[0]
            elif inner:
                names = ", ".join(file.name for file in inner)
                message = f"a case is a folder with one YAML file, and this has several: {names}"
                self._broken([Problem(message=message, file=str(folder))])
        if not places:
            message = "there is no case in this folder: no .yaml file, and no folder with one"
            self._broken([Problem(message=message, file=str(self.path))])
        yield from sorted(places.items(), key=lambda item: _natural(item[0]))

    def _broken(self, problems: Sequence[Problem]) -> None:
        if self.options.get("broken") == "skip":
            self.findings.warn(*problems)
        else:
            self.findings.add(*problems)

    def _case(self, name: str, file: Path) -> Case:
        document = read_yaml(file)
        data = document.data
        if not isinstance(data, dict) or (OLD in data) == (NEW in data):
            message = f"a case has either {OLD!r} or {NEW!r}"
            raise SuiteError([document.problem((), message)])
        model: type[Shared] = ScriptedCase if OLD in data else UserCase
        keys = [name for name in data if name in model.model_fields]
        for extra in data.keys() - set(keys):
            hint = suggest(str(extra), model.model_fields)
            message = f"the key {extra!r} has no effect here"
            self.findings.warn_at(document, (extra,), message, hint=hint)
        problems = list(_unreadable_code(document))
        try:
            case = validate(model, document, {key: data[key] for key in keys})
        except SuiteError as error:
            raise SuiteError([*error.problems, *problems]) from None
        if problems:
            raise SuiteError(problems)
        if isinstance(case, ScriptedCase):
            return self._scripted(name, document, case)
        assert isinstance(case, UserCase)
        return self._task(name, document, case)

    def _scripted(self, name: str, document: Document, case: ScriptedCase) -> Case:
        first, *rest = case.eval_query
        criteria = []
        for turn, query in enumerate(case.eval_query):
            has_index = "post_index" in query.model_fields_set
            index = query.post_index if has_index else case.post_index
            for number, point in enumerate(query.scoring_points or (), 1):
                params: dict[str, Json] = {} if index is None else {"post_index": index}
                params |= self._odd(point)
                row = f"turn{turn + 1}.point{number}"
                criteria.append(_criterion(row, point, params, turn=turn))
        dialogue: dict[str, Json] = {"then": [query.user_query for query in rest]}
        if (low := self.options.get("stop_below")) is not None:
            dialogue["stop_below"] = _share(low)
        return Case(
            id=name,
            messages=(Message(role="user", content=first.user_query),),
            criteria=tuple(criteria),
            dialogue=Spec(name="scripted", params=dialogue),
            files=self._data(document, case),
            setup=_setup(document, case),
            source=str(document.path),
        )

    def _task(self, name: str, document: Document, case: UserCase) -> Case:
        limit = self.options.get("max_turns") or case.max_rounds or self.evaluator.max_rounds
        params: dict[str, Json] = {"max_rounds": int(limit or MOST_ROUNDS)}
        if case.verbose:
            params["verbose"] = True
        return Case(
            id=name,
            messages=(),
            hidden={"task": case.task_description},
            criteria=tuple(
                _criterion(f"point{number}", point, {"history": True, **self._odd(point)})
                for number, point in enumerate(case.scoring_points, 1)
            ),
            dialogue=Spec(name="virtual_user", params=params),
            files=self._data(document, case),
            setup=_setup(document, case),
            source=str(document.path),
        )

    def _odd(self, point: Point) -> dict[str, Json]:
        """Return what keeps the original's way of reading a judge's reply, where it is wanted."""
        return {"compat": self.compat} if self.compat and point.eval_code is None else {}

    def _data(self, document: Document, case: Shared) -> tuple[CaseFile, ...]:
        """Return the files that an agent finds in its working folder."""
        base = document.path.parent
        root = self.root or base
        files: dict[str, CaseFile] = {}
        for number, name in enumerate(case.data_files):
            loc: Loc = ("data_files", number)
            path = inside(root, base, name)
            if path is None:
                raise _suite_error(document, loc, f"{name!r} lies outside the folder {root}")
            if not path.exists():
                raise _suite_error(document, loc, f"there is no file or folder {path}")
            within = sorted(path.rglob("*")) if path.is_dir() else [path]
            for one in within:
                if not one.is_file() or inside(root, one.parent, one.name) is None:
                    continue
                if one.stat().st_size > LARGEST_FILE:
                    raise _suite_error(
                        document, loc, f"{one} has more than {LARGEST_FILE >> 20} MB"
                    )
                shown = one.relative_to(path.parent).as_posix()
                key = digest_bytes(one.read_bytes())
                files[shown] = CaseFile(name=shown, digest=key, path=str(one.resolve()))
        return tuple(files.values())


def _criterion(
    name: str, point: Point, params: Mapping[str, Json], turn: int | None = None
) -> Criterion:
    shared = {"statement": point.score_point, **params}
    if point.eval_code is not None:
        spec = Spec(name="eval_code", params={"code": point.eval_code, **shared})
    else:
        spec = Spec(name="scoring_point", params=shared)
    return Criterion(id=name, scorer=spec, weight=point.weight, turn=turn)


def _unreadable_code(document: Document) -> Iterator[Problem]:
    """Yield what keeps the code of scoring points from running, at its own line of the file.

    It is looked for in the values as they were read, whatever else is wrong with the case.
    """
    data = document.data
    lists: list[tuple[Loc, Json]] = [(("scoring_points",), data.get("scoring_points"))]
    for number, query in enumerate(_entries(data.get(OLD))):
        if isinstance(query, dict):
            lists.append(((OLD, number, "scoring_points"), query.get("scoring_points")))
    for loc, points in lists:
        for number, point in enumerate(_entries(points)):
            code = point.get("eval_code") if isinstance(point, dict) else None
            if isinstance(code, str) and code.strip() and (flaw := flaw_in(code)):
                yield _flaw_problem(document, (*loc, number, "eval_code"), code, flaw)


def _flaw_problem(document: Document, loc: Loc, code: str, flaw: Flaw) -> Problem:
    """Return the problem at the flaw's line where the file shows it, else at the key."""
    problem = document.problem(loc, str(flaw))
    if flaw.line is None or problem.line is None:
        return problem
    line = problem.line + flaw.line
    written = [part.strip() for part in code.split("\n")[flaw.line - 1 : flaw.line]]
    # A block's first line follows its key; folded and quoted texts have other lines.
    if not written or written != [part.strip() for part in document.lines[line - 1 : line]]:
        return problem
    return replace(
        problem, message=flaw.message, line=line, column=1, excerpt=document.lines[line - 1]
    )


def _entries(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()


def _setup(document: Document, case: Shared) -> dict[str, Json]:
    """Return what an agent's working place needs, with paths from the case's own folder."""
    folder = case.app_dir and str((document.path.parent / case.app_dir).resolve())
    setup: dict[str, Json] = {
        "app_dir": folder,
        "config_var": case.config_var,
        "dependencies": list(case.dependencies),
        "pre_command": list(case.pre_command),
    }
    return {name: value for name, value in setup.items() if value}


def _recorded(case: Case, index: int, rounds: Sequence[Json]) -> Attempt:
    """Make the attempt that rounds on file tell of."""
    messages: list[Message] = [
        Message(role="user", content=str(rounds[0].get("user_query", "")))
    ] if rounds and not case.messages else []  # fmt: skip
    round_notes = []
    for place, data in enumerate(rounds):
        round_ = round_from(data)
        if place:
            messages.append(Message(role="user", content=round_.user_query))
        if round_.reply is not None:
            messages.append(Message(role="assistant", content=round_.reply))
        round_notes.append({**round_.to_json(), **data, **_failed(round_)})
    if not rounds:
        return Attempt(case_id=case.id, index=index, status=AttemptStatus.UNANSWERED)
    ended = {"ended": "the rounds on file end there"}
    return Attempt(
        case_id=case.id, index=index, messages=tuple(messages), notes={ROUNDS: round_notes, **ended}
    )


def _failed(round_: Round) -> dict[str, Json]:
    """Return what marks a round on file as failed that gave the user nothing."""
    if round_.reply is not None:
        return {}
    why = round_.error or f"no post of the round goes from {AGENT} to {USER}"
    return {"state": RoundState.FAILED.value, "error": why}


def _evaluator(options: Mapping[str, str]) -> Evaluator:
    if path := options.get("config"):
        return read_config(Path(path))
    return Evaluator(roles={}, max_rounds=None)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise UsageError(f"the threshold is a share from 0 to 1, not {text}")
    return value


def _question_of(case: Case) -> str:
    return case.prompt or str(case.hidden.get("task", ""))


def _tells(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _TELLS.search(file.read(FIRST_LOOK).decode("utf-8", "replace")) is not None
    except OSError:
        return False


def _keys(path: Path) -> Sequence[str] | None:
    """Return the first keys of a file; none where it cannot be read, which is told later."""
    try:
        data = read_yaml(path).data
    except (SuiteError, DialectError):
        return None
    return list(data) if isinstance(data, dict) else None


def _yaml_in(folder: Path) -> list[Path]:
    files = [p for p in folder.iterdir() if p.suffix.lower() in ENDINGS and p.is_file()]
    return sorted(files, key=lambda path: _natural(path.name))


def _folders(folder: Path) -> list[Path]:
    return sorted((p for p in folder.iterdir() if p.is_dir()), key=lambda path: _natural(path.name))


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Return what sorts ``case10`` behind ``case9``."""
    parts = _DIGITS.split(name.lower())
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts]


def _suite_error(document: Document, loc: Loc, message: str) -> SuiteError:
    return SuiteError([document.problem(loc, message)])
