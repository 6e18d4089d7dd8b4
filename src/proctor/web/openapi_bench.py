"""The shapes of Arthur Bench's endpoints, as the OpenAPI document describes them."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from proctor.web.openapi_pages import Shape


class BenchError(Shape):
    """Say what is wrong."""

    status_code: int
    detail: str
    headers: None


class BenchCategory(Shape):
    """Name a category."""

    name: str
    description: str | None


class BenchMethod(Shape):
    """Describe a scoring method."""

    name: str
    type: Literal["built_in", "custom"]
    config: dict[str, Any]
    output_type: Literal["continuous", "categorical"]
    categories: list[BenchCategory] | None


class Paged(Shape):
    """Say which page this is."""

    page: int
    page_size: int
    total_pages: int
    total_count: int


class BenchSuite(Shape):
    """Describe a suite."""

    id: UUID
    name: str
    scoring_method: BenchMethod
    last_run_time: datetime | None
    description: str | None
    created_at: datetime
    updated_at: datetime


class BenchSuites(Paged):
    """Hold a page of suites."""

    test_suites: list[BenchSuite]


class BenchCase(Shape):
    """Describe a case."""

    id: UUID
    input: str
    reference_output: str | None


class BenchSuiteCases(BenchSuite, Paged):
    """Hold a suite with a page of its cases."""

    num_runs: int
    test_cases: list[BenchCase]


class BenchRun(Shape):
    """Describe a run."""

    id: UUID
    name: str
    created_at: datetime
    updated_at: datetime
    avg_score: float | None
    model_version: str | None
    prompt_template: str | None


class BenchRuns(Paged):
    """Hold a page of runs."""

    test_suite_id: UUID
    test_runs: list[BenchRun]


class BenchBin(Shape):
    """Count the scores between two numbers."""

    count: int
    low: float
    high: float


class BenchCategoryCount(Shape):
    """Count the scores of a category."""

    count: int
    category: BenchCategory


class BenchSummary(Shape):
    """Sum a run up."""

    id: UUID
    name: str
    avg_score: float | None
    histogram: list[BenchBin | BenchCategoryCount]


class BenchSummaries(Paged):
    """Hold the averages and distributions of runs."""

    summary: list[BenchSummary]
    num_test_cases: int
    categorical: bool


class BenchScore(Shape):
    """Hold a score with its category."""

    score: float | None
    category: BenchCategory | None


class BenchOutput(BenchCase):
    """Hold an output with its score."""

    output: str | None
    score: float | None
    score_result: BenchScore | None


class BenchRunOutputs(Paged):
    """Hold a run with a page of its outputs."""

    id: UUID
    name: str
    test_suite_id: UUID
    test_case_runs: list[BenchOutput]
    created_at: datetime
    updated_at: datetime
