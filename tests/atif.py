"""A strict reading of trajectories in Harbor's format, for the tests that write some."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class AtifCall(_Strict):
    tool_call_id: Annotated[str, Field(min_length=1)]
    function_name: Annotated[str, Field(min_length=1)]
    arguments: dict[str, JsonValue]


class AtifResult(_Strict):
    source_call_id: str | None = None
    content: str


class AtifObservation(_Strict):
    results: Annotated[list[AtifResult], Field(min_length=1)]


class AtifMetrics(_Strict):
    prompt_tokens: Annotated[int, Field(ge=0)] | None = None
    completion_tokens: Annotated[int, Field(ge=0)] | None = None
    cached_tokens: Annotated[int, Field(ge=0)] | None = None
    cost_usd: float | None = None
    extra: dict[str, JsonValue] | None = None


class AtifStep(_Strict):
    step_id: int
    source: Literal["system", "user", "agent"]
    message: str
    model_name: str | None = None
    reasoning_content: str | None = None
    tool_calls: Annotated[list[AtifCall], Field(min_length=1)] | None = None
    observation: AtifObservation | None = None
    metrics: AtifMetrics | None = None
    extra: dict[str, JsonValue] | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> "AtifStep":
        if self.source != "agent":
            own = (self.model_name, self.reasoning_content, self.tool_calls, self.metrics)
            assert own == (None,) * 4, "only an agent thinks, calls and pays"
        ids = {call.tool_call_id for call in self.tool_calls or ()}
        for result in self.observation.results if self.observation else ():
            assert result.source_call_id is None or result.source_call_id in ids
        return self


class AtifAgent(_Strict):
    name: Annotated[str, Field(min_length=1)]
    version: Annotated[str, Field(min_length=1)]
    model_name: str | None = None


class AtifTotals(_Strict):
    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: int
    extra: dict[str, JsonValue] | None = None


class AtifTrajectory(_Strict):
    schema_version: Literal["ATIF-v1.4"]
    session_id: Annotated[str, Field(min_length=1)]
    agent: AtifAgent
    steps: Annotated[list[AtifStep], Field(min_length=1)]
    final_metrics: AtifTotals

    @model_validator(mode="after")
    def _is_numbered(self) -> "AtifTrajectory":
        assert [step.step_id for step in self.steps] == list(range(1, len(self.steps) + 1))
        ids = [call.tool_call_id for step in self.steps for call in step.tool_calls or ()]
        assert len(ids) == len(set(ids)), "every call has an id of its own"
        assert self.final_metrics.total_steps == len(self.steps)
        return self
