"""Rounds on file as an agent: they are played again, in their order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from proctor.agents.recorded_rounds import recordings
from proctor.agents.source_hash import files_key
from proctor.contracts.agent import Agent, Session, Workspace
from proctor.core.rounds import Round, round_from
from proctor.core.suite import Json
from proctor.errors import ModelError, SuiteError

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
