"""Response models of pages and endpoints, from which the OpenAPI document is derived."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from proctor.core.case_value import ValueStatus
from proctor.core.run import Run, RunStatus

Interval = tuple[float, float]
Tag = str | list[str]
ValueState = ValueStatus | Literal["broken"]
"""The status of a case's value; "broken" where its stored data cannot be read."""


def _may_grow(schema: dict[str, Any]) -> None:
    """Declare that later versions may add keys."""
    schema["additionalProperties"] = True


class ResponseModel(BaseModel):
    """Base of all response models; fields that a handler does not set are omitted from the JSON."""

    model_config = ConfigDict(extra="forbid", use_enum_values=True, json_schema_extra=_may_grow)

    def to_json(self) -> dict[str, Any]:
        """Return the fields that the handler set."""
        return self.model_dump(exclude_unset=True)


Model_co = TypeVar("Model_co", bound=ResponseModel, covariant=True)


@dataclass(frozen=True, kw_only=True)
class Page(Generic[Model_co]):
    """A template with a response model, which is also the JSON of the page."""

    template: str
    data: Model_co
    status: int = 200
    only_page: Mapping[str, Any] = field(default_factory=dict)
    """Template variables that the JSON does not have, such as links and limits."""


@dataclass(frozen=True, kw_only=True)
class HtmlPage:
    """An HTML page whose JSON has a different shape and is served separately."""

    template: str
    data: Mapping[str, Any]


class ErrorTold(ResponseModel):
    """Status and message of an error."""

    status: int
    message: str


class Error(ResponseModel):
    """Error response of any page."""

    error: ErrorTold


class Named(ResponseModel):
    """A run by its name."""

    id: str
    name: str
    imported: bool = Field(description="whether all of it was imported from a file")

    @classmethod
    def of(cls, run: Run) -> "Named":
        """Return the name of a run."""
        return cls(id=run.id, name=run.name, imported=run.imported)


class ListedTotals(ResponseModel):
    """Totals of a run in a list; None where they are not computed yet."""

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
    imported: bool = Field(description="whether all of it was imported from a file")
    stopped_early: bool = Field(description="whether it ended before its last case, being sure")
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
    """Progress of a run."""

    id: str
    status: RunStatus
    done: int = Field(description="attempts that are stored")
    total: int


class Searched(ResponseModel):
    """Scope of a search: whether texts were searched, and if not, why."""

    texts: bool
    why: Literal["", "short", "filling", "missing", "scanning"]
    whole: bool
    indexed: int
    cases: int
