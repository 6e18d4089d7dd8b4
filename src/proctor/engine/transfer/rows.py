"""Validation of the rows of an exported run."""

import time
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from proctor.core.attempt import AttemptStatus
from proctor.core.comparison import Preference
from proctor.core.run import RunStatus
from proctor.core.score import ScoreStatus
from proctor.core.suite import Json
from proctor.io.text_files import Document
from proctor.io.validation import Strict, validate
from proctor.stats.intervals import IntervalMethod

MOST = 1e15
"""The largest absolute value of points, weights and marks."""
MOST_COUNT = 1 << 53
SLACK = 2 * 24 * 3600.0
"""How many seconds another machine's clock may be ahead."""
NAME, KEY = 1000, 200
"""Maximum characters of a name, and of an id or a key."""
FORMATS = (1, 2)


def _plain_name(text: str) -> str:
    if any(ord(char) < 32 for char in text):
        raise ValueError("a name has no control characters")
    return text


def _past(moment: float) -> float:
    if moment > time.time() + SLACK:
        raise ValueError("this time is in the future")
    return moment


def _hex(text: str) -> str:
    if not set(text) <= set("0123456789abcdef"):
        raise ValueError("a key is written in hexadecimal digits")
    return text


Number = Annotated[StrictFloat, Field(ge=-MOST, le=MOST, allow_inf_nan=False)]
Positive = Annotated[StrictFloat, Field(ge=0, le=MOST, allow_inf_nan=False)]
Count = Annotated[StrictInt, Field(ge=0, le=MOST_COUNT)]
Index = Annotated[StrictInt, Field(ge=0, lt=1 << 31)]
Moment = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False), AfterValidator(_past)]
Name = Annotated[StrictStr, Field(max_length=NAME), AfterValidator(_plain_name)]
Id = Annotated[StrictStr, Field(min_length=1, max_length=KEY), AfterValidator(_plain_name)]
Key = Annotated[StrictStr, Field(min_length=1, max_length=KEY)]
Hex = Annotated[StrictStr, Field(min_length=32, max_length=64), AfterValidator(_hex)]
Label = Annotated[StrictStr, Field(max_length=NAME)]
Texts = Annotated[list[StrictStr], Field(max_length=100_000)]
Object = dict[StrictStr, Json]


class _Spec(Strict):
    name: Label
    params: Object = Field(default_factory=dict)


class _Sampled(Strict):
    """A model in a run's settings."""

    model: StrictStr
    sampling: Object = Field(default_factory=dict)
    system: StrictStr = ""
    suffix: StrictStr = ""


class _Settings(Strict, extra="allow"):
    """Settings of a run that pages and comparisons use."""

    attempts: Annotated[StrictInt, Field(ge=1, lt=1 << 31)] | None = None
    interval: IntervalMethod = "t"
    judges: Annotated[list[_Sampled], Field(max_length=1000)] = Field(default_factory=list)
    combine: StrictStr = ""
    tie: StrictStr = ""
    repeats: Annotated[StrictInt, Field(ge=1, lt=1 << 31)] | None = None
    simulator: _Sampled | None = None
    bench_id: StrictStr | None = None


class _CandidateParams(Strict, extra="allow"):
    sampling: Object | None = None


class _Candidate(_Spec):
    params: _CandidateParams = _CandidateParams()  # type: ignore[assignment]


class RunRow(Strict):
    """A run in a file."""

    id: Id
    name: Name
    suite: Name = ""
    suite_key: Annotated[StrictStr, Field(max_length=KEY)] = ""
    candidate: _Candidate
    settings: _Settings = _Settings()
    status: RunStatus = RunStatus.RUNNING
    started: Moment = 0.0
    finished: Moment | None = None
    signature: Annotated[StrictStr, Field(max_length=100_000)] = ""
    imported: StrictBool = False


class _ExportedPrompt(Strict):
    name: Label
    text: StrictStr = ""
    messages: list[Object] = Field(default_factory=list)


class ExportedSuite(Strict):
    """A suite in a file, without its cases."""

    name: Name
    version: Name = ""
    description: StrictStr = ""
    language: Annotated[StrictStr, Field(max_length=20)] = "en"
    reduce: Annotated[StrictStr, Field(max_length=KEY)] = "avg"
    measures: Annotated[list[_Spec], Field(max_length=1000)] = Field(default_factory=list)
    dialect: Annotated[StrictStr, Field(max_length=KEY)] = "native"
    cluster: Label = ""
    prompts: Annotated[list[_ExportedPrompt], Field(max_length=1000)] = Field(default_factory=list)
    compat: Literal["", "original"] = ""
    cases: Annotated[list[Json], Field(max_length=0)] = Field(default_factory=list)


class HeadRow(Strict):
    """The first line of a run."""

    proctor: Literal[1, 2]
    run: RunRow
    suite: ExportedSuite


class _Tool(Strict):
    name: Label
    description: StrictStr = ""
    parameters: Object = Field(default_factory=dict)


class _ToolCall(Strict):
    name: Label
    arguments: Json = Field(default_factory=dict)
    id: Label = ""


class _ExportedMessage(Strict):
    role: Annotated[StrictStr, Field(max_length=KEY)]
    content: StrictStr = ""
    images: Texts = Field(default_factory=list)
    thinking: StrictStr = ""
    tool_calls: list[_ToolCall] = Field(default_factory=list)
    tool_call_id: Label = ""
    carried: Object = Field(default_factory=dict)


class _Criterion(Strict):
    id: Label
    scorer: _Spec
    weight: Number = 1.0
    metric: Label = ""
    turn: Index | None = None


class _File(Strict):
    name: StrictStr
    digest: StrictStr
    path: StrictStr = ""


class _ExportedCase(Strict):
    id: Label
    messages: list[_ExportedMessage] = Field(default_factory=list)
    criteria: Annotated[list[_Criterion], Field(max_length=100_000)] = Field(default_factory=list)
    references: Texts = Field(default_factory=list)
    context: Texts = Field(default_factory=list)
    hidden: Object = Field(default_factory=dict)
    dialogue: _Spec = _Spec(name="single_turn")
    tags: dict[Label, list[Label]] = Field(default_factory=dict)
    weight: Positive = 1.0
    full_score: Positive = 1.0
    null_score: Number = 0.0
    min_points: Number | None = None
    max_points: Number | None = None
    out_of: Number | None = None
    files: list[_File] = Field(default_factory=list)
    setup: Object = Field(default_factory=dict)
    tools: list[_Tool] = Field(default_factory=list)
    tool_choice: Label = ""
    response_format: Object = Field(default_factory=dict)
    vars: Object = Field(default_factory=dict)
    cluster: Label = ""
    source: StrictStr = ""


class _Usage(Strict, extra="allow"):
    calls: Count = 0
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    cost: Positive | None = None


class _Usages(Strict, extra="allow"):
    """Usage of an attempt, by role."""

    candidate: _Usage | None = None
    judge: _Usage | None = None
    simulator: _Usage | None = None


class _Notes(Strict, extra="allow"):
    rounds: list[Object] = Field(default_factory=list)
    files: list[dict[StrictStr, StrictStr | None]] = Field(default_factory=list)


class _Attempt(Strict):
    case_id: StrictStr
    index: Index = 0
    messages: list[_ExportedMessage] = Field(default_factory=list)
    status: AttemptStatus = AttemptStatus.ANSWERED
    error: StrictStr = ""
    seconds: Positive | None = None
    usage: _Usages = _Usages()
    meta: Object = Field(default_factory=dict)
    notes: _Notes = _Notes()


class _Score(Strict):
    status: ScoreStatus = ScoreStatus.SCORED
    points: Number | None = None
    out_of: Number | None = None
    reason: StrictStr = ""
    detail: Json = None


class _Tried(Strict):
    """An attempt with its scores, and in a store's own file the keys of both."""

    attempt: _Attempt
    scores: dict[StrictStr, _Score] = Field(default_factory=dict)
    key: Hex | None = None
    score_keys: dict[StrictStr, Hex] | None = None


class CaseRow(Strict):
    """A case with all its attempts."""

    case: _ExportedCase
    attempts: Annotated[list[_Tried], Field(min_length=1, max_length=100_000)]


class _Comparison(Strict):
    case_id: Label
    first: Id
    second: Id
    first_index: Index = 0
    second_index: Index = 0
    judge: StrictStr = ""
    asked: Annotated[StrictStr, Field(max_length=KEY)] = ""
    compat: Literal["", "original"] = ""
    outcome: Preference
    scores: Annotated[list[Number | None], Field(min_length=2, max_length=2)] | None = None
    reason: StrictStr = ""
    raw: Texts = Field(default_factory=list)
    usage: _Usage = _Usage()
    imported: StrictBool = False

    @model_validator(mode="after")
    def _of_two_runs(self) -> Self:
        if self.first == self.second:
            raise ValueError("a run is not compared with itself")
        return self


class ComparisonRow(Strict):
    """A comparison of two attempts, with its key."""

    comparison: _Comparison
    key: Key
    content: Annotated[StrictStr, Field(max_length=KEY)]


class ProofRow(Strict):
    """The last line of a store's own file: its proof."""

    own: Annotated[StrictStr, Field(min_length=64, max_length=64)]


def kind_of(row: Document) -> type[Strict] | None:
    """Return the kind of a row by its keys; None if unknown."""
    kinds: Mapping[str, type[Strict]] = {
        "proctor": HeadRow,
        "case": CaseRow,
        "comparison": ComparisonRow,
        "own": ProofRow,
    }
    if not isinstance(row.data, dict):
        return None
    return next((kind for name, kind in kinds.items() if name in row.data), None)


def checked(row: Document, kind: type[Strict]) -> Mapping[str, Json]:
    """Return the validated values of a row, or raise a SuiteError."""
    validate(kind, row)
    values: Mapping[str, Json] = row.data
    return values
