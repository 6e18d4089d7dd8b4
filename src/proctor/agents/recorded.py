"""Rounds on file as an agent: they are played again, in their order."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from proctor.agents.source_hash import files_key
from proctor.contracts.agent import Agent, Session, Workspace
from proctor.core.rounds import Round, round_from
from proctor.core.suite import Json
from proctor.errors import DialectError, ModelError, Problem, SuiteError
from proctor.io.text_files import Document, Loc, read_json, read_jsonl

_NAMES = ("case", "case_id", "case_file", "id")
_EXPECTED = (
    "these are no rounds: expected a list of objects with user_query, state and post_list, or an"
    " object that has it under 'rounds'"
)
Recording = tuple[str, list[Json]]
"""The case, empty where any is meant, and the rounds of one attempt at it."""


def read_rounds(path: Path, cases: Sequence[str]) -> Iterator[tuple[str, int, list[Json]]]:
    """Yield case, attempt and rounds of the cases there are, or raise a DialectError."""
    names = {**{Path(name).stem: name for name in cases}, **{name: name for name in cases}}
    seen: Counter[str] = Counter()
    for name, rounds in recordings(path):
        if not name and len(cases) != 1:
            message = f"these are rounds of one case, and there are {len(cases)}"
            raise DialectError([Problem(message=message, file=str(path))])
        case = names.get(name) if name else cases[0]
        if case is not None:
            yield case, seen[case], rounds
            seen[case] += 1


def recordings(path: Path) -> Iterator[Recording]:
    """Yield all that a path holds, or raise a DialectError.

    A folder has a JSON file for each case. A JSON file is a list of rounds or ``{"rounds": […]}``
    of one case, or such values by the names of cases, ``{"cases": {…}}`` as well. The rows of a
    JSONL file, or of a list, that say under ``case`` whose they are hold ``rounds``, which is an
    attempt each, or a ``round``, which goes on with the attempt before.
    """
    if path.is_dir():
        for file in sorted(path.glob("*.json")):
            document = read_json(file)
            yield file.stem, _checked(document, (), document.data)
    elif path.suffix.lower() == ".jsonl":
        yield from _rows((row, (), row.data) for row in read_jsonl(path))
    elif path.suffix.lower() == ".json":
        yield from _in_one(read_json(path))
    else:
        message = "rounds on file are a folder of JSON files, a JSON or a JSONL file"
        raise DialectError([Problem(message=message, file=str(path))])


def _in_one(document: Document) -> Iterator[Recording]:
    data = document.data
    if isinstance(data, list) and any(_case_of(item) for item in data):
        yield from _rows((document, (place,), item) for place, item in enumerate(data))
    elif isinstance(data, list) or (isinstance(data, Mapping) and _holds_rounds(data)):
        yield "", _checked(document, (), data)
    elif isinstance(data, Mapping):
        at: Loc = ("cases",) if isinstance(data.get("cases"), Mapping) else ()
        for name, value in (data["cases"] if at else data).items():
            yield str(name), _checked(document, (*at, name), value)
    else:
        raise _dialect_error(document, (), _EXPECTED)


def _rows(rows: Iterator[tuple[Document, Loc, Json]]) -> Iterator[Recording]:
    recordings: list[Recording] = []
    going_on: dict[str, list[Json]] = {}
    for document, loc, item in rows:
        name = _case_of(item)
        if not name:
            raise _dialect_error(
                document, loc, "a row says under 'case' which case its rounds are of"
            )
        if "rounds" in item:
            recordings.append((name, _checked(document, loc, item)))
            continue
        one = _checked(document, loc, [item.get("round", item)])
        if name not in going_on:
            going_on[name] = []
            recordings.append((name, going_on[name]))
        going_on[name] += one
    yield from recordings


def _case_of(item: Json) -> str:
    if not isinstance(item, Mapping):
        return ""
    # A round has an id as well, which is not the name of a case.
    names = _NAMES[:-1] if "post_list" in item else _NAMES
    return str(next((item[name] for name in names if item.get(name)), ""))


def _holds_rounds(data: Mapping[str, Json]) -> bool:
    return "rounds" in data or "post_list" in data


def _checked(document: Document, loc: Loc, value: Json) -> list[Json]:
    if isinstance(value, Mapping):
        value = value.get("rounds", [value] if "post_list" in value else None)
    if not isinstance(value, list):
        raise _dialect_error(document, loc, _EXPECTED)
    for place, data in enumerate(value):
        try:
            round_from(data)
        except ValueError as error:
            raise _dialect_error(document, (*loc, place), str(error)) from None
    return value


def _dialect_error(document: Document, loc: Loc, message: str) -> DialectError:
    return DialectError([document.problem(loc, message)])


LONGEST = 80


@dataclass(kw_only=True)
class RecordedAgent(Agent):
    """Recorded rounds: of one case, or of many by their ids."""

    path: str
    """A JSON file, a JSONL file with case ids, or a folder with one JSON file for each case."""
    any_query: bool = False
    """Whether rounds are played also where the user says something else than then."""
    concurrency: int = 64

    @property
    def identity(self) -> Json:
        place = Path(self.path)
        files = sorted(place.glob("*.json*")) if place.is_dir() else [place]
        names = [path.name for path in files]
        return {"kind": "recorded", "files": [*names, files_key(files)], "any": self.any_query}

    @property
    def label(self) -> str:
        return f"recorded:{self.path}"

    def problems(self) -> list[str]:
        try:
            _ = self._rounds
        except ModelError as error:
            return [str(error)]
        return []

    @cached_property
    def _rounds(self) -> Mapping[str, list[Json]]:
        """Hold the rounds by case id, the first attempt at each; those for any case have none."""
        rounds_by_case: dict[str, list[Json]] = {}
        try:
            for name, rounds in recordings(Path(self.path)):
                rounds_by_case.setdefault(name, rounds)
        except SuiteError as error:
            raise ModelError(str(error)) from None
        return rounds_by_case

    async def open(self, workspace: Workspace) -> Session:
        name = workspace.case.id
        by_case = self._rounds
        rounds = next((by_case[key] for key in (name, Path(name).stem, "") if key in by_case), None)
        if rounds is None:
            raise ModelError(f"{self.path} has no rounds of the case {name!r}")
        return Played(list(rounds), name, any_query=self.any_query)


@dataclass
class Played(Session):
    """The rounds of one case, played back."""

    rounds: list[Json]
    case: str
    any_query: bool = False
    turn: int = 0

    async def send(self, message: str) -> Round:
        if self.turn >= len(self.rounds):
            return Round.failed(message, f"there are only {len(self.rounds)} rounds on file")
        data = self.rounds[self.turn]
        self.turn += 1
        try:
            recorded = round_from(data)
        except ValueError as error:
            return Round.failed(message, f"round {self.turn} on file cannot be read: {error}")
        then = recorded.user_query
        if self.any_query or not then or then.strip() == message.strip():
            return replace(recorded, user_query=message)
        return Round.failed(
            message,
            f"round {self.turn} on file answers another question: {then[:LONGEST]!r}",
        )
