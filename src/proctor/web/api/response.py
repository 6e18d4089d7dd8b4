"""Response models: what pages and endpoints answer with, and the document of the API describes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from proctor.core.run import Run, RunStatus
from proctor.core.score import ValueStatus

Interval = tuple[float, float]
Tag = str | list[str]
ValueState = ValueStatus | Literal["broken"]
"""How a case enters the sums, or that what the store has of it cannot be read."""


def _may_grow(schema: dict[str, Any]) -> None:
    """Let clients expect more keys, which later versions may add."""
    schema["additionalProperties"] = True


class ResponseModel(BaseModel):
    """Base of all response models; a key that a handler leaves out is left out of the JSON."""

    model_config = ConfigDict(extra="forbid", use_enum_values=True, json_schema_extra=_may_grow)

    def to_json(self) -> dict[str, Any]:
        """Return the keys that the handler gave, with their values."""
        return self.model_dump(exclude_unset=True)


Model_co = TypeVar("Model_co", bound=ResponseModel, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Page(Generic[Model_co]):
    """A page of a template over a response model, which is also the page's JSON."""

    template: str
    data: Model_co
    status: int = 200
    only_page: Mapping[str, Any] = field(default_factory=dict)
    """What is for the page alone: its links and limits."""


@dataclass(frozen=True, kw_only=True)
class HtmlPage:
    """A page whose template lays things out in its own way; its JSON is asked for apart."""

    template: str
    data: Mapping[str, Any]


class ErrorTold(ResponseModel):
    """What is wrong."""

    status: int
    message: str


class Error(ResponseModel):
    """An error, whatever the page."""

    error: ErrorTold


class Named(ResponseModel):
    """A run by its name."""

    id: str
    name: str
    imported: bool = Field(description="whether all of it is quoted from a file")

    @classmethod
    def of(cls, run: Run) -> "Named":
        """Return the name of a run."""
        return cls(id=run.id, name=run.name, imported=run.imported)


class ListedTotals(ResponseModel):
    """The numbers of a run in a list; none where it has none yet."""

    rate: float | None
    interval: Interval | None
    bounds: Interval | None
    score: float | None
    full: float | None
    cases: int | None
    attempts: int | None
    unanswered: int
    unscored: int
    errors: int


class ListedRun(ResponseModel):
    """A run in a list."""

    id: str
    name: str
    suite: str
    suite_key: str
    candidate: str
    status: RunStatus
    imported: bool = Field(description="whether all of it is quoted from a file")
    started: float = Field(description="seconds since 1970, UTC")
    finished: float | None
    totals: ListedTotals


class ListedSuite(ResponseModel):
    """A suite in a list."""

    key: str
    name: str
    version: str
    dialect: str
    cases: int
    imported: bool = Field(description="whether it came with an imported run")
    created: float


class Progress(ResponseModel):
    """How far a run has come."""

    id: str
    status: RunStatus
    done: int = Field(description="attempts that are stored")
    total: int


class Searched(ResponseModel):
    """What a search looked through."""

    texts: bool
    why: Literal["", "short", "filling", "missing"]
    whole: bool
    indexed: int
    cases: int
