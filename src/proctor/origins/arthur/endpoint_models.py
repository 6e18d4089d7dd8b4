"""The response models of Arthur Bench's endpoints."""

from typing import Annotated, Any, Literal

from pydantic import WithJsonSchema

from proctor.web.api.response import ResponseModel

Uuid = Annotated[str, WithJsonSchema({"type": "string", "format": "uuid"})]
Moment = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A point in time, as ISO 8601 writes it."""


class EndpointError(ResponseModel):
    """The reason why a request failed."""

    status_code: int
    detail: str
    headers: None


class BenchCategory(ResponseModel):
    """A category."""

    name: str
    description: str | None


class BenchMethod(ResponseModel):
    """A scoring method."""

    name: str
    type: Literal["built_in", "custom"]
    config: dict[str, Any]
    output_type: Literal["continuous", "categorical"]
    categories: list[BenchCategory] | None


class Paged(ResponseModel):
    """The place of a page among all pages."""

    page: int
    page_size: int
    total_pages: int
    total_count: int


class BenchSuite(ResponseModel):
    """A suite."""

    id: Uuid
    name: str
    scoring_method: BenchMethod
    last_run_time: Moment | None
    description: str | None
    created_at: Moment | None
    updated_at: Moment | None


class BenchSuites(Paged):
    """A page of suites."""

    test_suites: list[BenchSuite]


class BenchCase(ResponseModel):
    """A case."""

    id: Uuid
    input: str
    reference_output: str | None


class BenchSuiteCases(BenchSuite, Paged):
    """A suite with a page of its cases."""

    num_runs: int
    test_cases: list[BenchCase]


class BenchRun(ResponseModel):
    """A run."""

    id: Uuid
    name: str
    created_at: Moment | None
    updated_at: Moment | None
    avg_score: float | None
    model_version: str | None
    prompt_template: str | None


class BenchRuns(Paged):
    """A page of runs."""

    test_suite_id: Uuid
    test_runs: list[BenchRun]


class BenchBin(ResponseModel):
    """The number of scores between two bounds."""

    count: int
    low: float
    high: float


class BenchCategoryCount(ResponseModel):
    """The number of scores in a category."""

    count: int
    category: BenchCategory


class BenchSummary(ResponseModel):
    """The average and the distribution of a run."""

    id: Uuid
    name: str
    avg_score: float | None
    histogram: list[BenchBin | BenchCategoryCount]


class BenchSummaries(Paged):
    """The averages and distributions of runs."""

    summary: list[BenchSummary]
    num_test_cases: int
    categorical: bool


class BenchScore(ResponseModel):
    """A score with its category."""

    score: float | None
    category: BenchCategory | None


class BenchOutput(BenchCase):
    """An output with its score."""

    output: str | None
    score: float | None
    score_result: BenchScore | None


class BenchRunOutputs(Paged):
    """A run with a page of its outputs."""

    id: Uuid
    name: str
    test_suite_id: Uuid
    test_case_runs: list[BenchOutput]
    created_at: Moment | None
    updated_at: Moment | None
