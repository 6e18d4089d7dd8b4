"""Results that promptfoo wrote as JSON: one run for each prompt and provider."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proctor.contracts.archive import Archive, KeptSuite
from proctor.core.exchange import Usage
from proctor.core.suite import Case, Json, Message
from proctor.formats.imports.foreign_results import (
    ForeignAttempt,
    ForeignModel,
    ForeignRun,
    ForeignScore,
    kept_suite,
    moment,
    number,
    text_of,
    unique,
)
from proctor.io.text_files import file_error, read_head, read_json
from proctor.io.validation import validate

TOOL = "promptfoo"
PASS, SCORE = "pass", "score"
"""What every row has: whether all asserts hold, and their weighted mean."""


class _PromptfooProvider(ForeignModel):
    id: str = ""
    label: str | None = None


class _PromptfooPrompt(ForeignModel):
    raw: Json = ""
    label: str | None = None


class _PromptfooAssertion(ForeignModel):
    type: str = "assert"
    value: Json = None
    metric: str | None = None


class _PromptfooComponent(ForeignModel):
    score: float | None = None
    reason: str | None = None
    assertion: _PromptfooAssertion | None = None


class _PromptfooGrading(ForeignModel):
    reason: str | None = None
    componentResults: list[_PromptfooComponent] | None = None


class _PromptfooTokens(ForeignModel):
    prompt: int | None = None
    completion: int | None = None
    numRequests: int | None = None


class _PromptfooResponse(ForeignModel):
    output: Json = None
    tokenUsage: _PromptfooTokens | None = None


class _PromptfooTestCase(ForeignModel):
    description: str | None = None
    vars: dict[str, Json] | None = None
    metadata: dict[str, Json] | None = None


class _PromptfooRow(ForeignModel):
    promptIdx: int = 0
    testIdx: int = 0
    testCase: _PromptfooTestCase = _PromptfooTestCase()
    provider: _PromptfooProvider = _PromptfooProvider()
    prompt: _PromptfooPrompt = _PromptfooPrompt()
    vars: dict[str, Json] | None = None
    response: _PromptfooResponse | None = None
    error: str | None = None
    failureReason: int = 0
    success: bool = False
    score: float | None = None
    namedScores: dict[str, Json] | None = None
    gradingResult: _PromptfooGrading | None = None
    latencyMs: float | None = None
    cost: float | None = None


class _PromptfooTable(ForeignModel):
    timestamp: str | None = None
    results: list[_PromptfooRow]


class _PromptfooResultsFile(ForeignModel):
    evalId: str | None = None
    results: _PromptfooTable
    config: dict[str, Json] | None = None


FAILED_CALL = 2
"""promptfoo's reason of a failure that is an error, not a missed assert."""


@dataclass(frozen=True)
class PromptfooResults(Archive):
    """The JSON that ``promptfoo eval --output results.json`` writes."""

    def recognises(self, path: Path) -> bool:
        if path.suffix != ".json" or not path.is_file():
            return False
        head = read_head(path)
        return b'"evalId"' in head and b'"results"' in head

    def read(self, path: Path) -> Iterator[KeptSuite]:
        document = read_json(path)
        written = validate(_PromptfooResultsFile, document)
        if not written.results.results:
            raise file_error(path, "the file has no results")
        yield _PromptfooSuite(path, written).suite()


@dataclass
class _PromptfooSuite:
    """The results of one evaluation while they are put together."""

    path: Path
    written: _PromptfooResultsFile
    cases: dict[str, Case] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """The case of each test, by its description and variables."""

    def suite(self) -> KeptSuite:
        rows: dict[tuple[str, str, int], list[_PromptfooRow]] = {}
        for row in self.written.results.results:
            label = row.prompt.label or text_of(row.prompt.raw)
            provider = row.provider.label or row.provider.id or "unknown"
            rows.setdefault((provider, label, row.promptIdx), []).append(row)
        prompts = {(label, place) for _, label, place in rows}
        several = len({label for label, _ in prompts}) > 1
        runs: dict[str, ForeignRun] = {}
        for (provider, label, _), column in sorted(rows.items(), key=lambda item: item[0][2]):
            shown = " ".join(label.split())[:60]
            name = unique(f"{provider} · {shown}" if several else provider, runs)
            runs[name] = ForeignRun(
                name=name,
                candidate=provider,
                attempts=self._attempts(column),
                settings={"imported_from": TOOL, "prompt": label},
                started=moment(self.written.results.timestamp),
            )
        about = (
            (self.written.config or {}).get("description") or self.written.evalId or self.path.stem
        )
        return kept_suite(str(about), self.cases, list(runs.values()), counted=[PASS], source=TOOL)

    def _attempts(self, column: list[_PromptfooRow]) -> list[ForeignAttempt]:
        counts: dict[str, int] = {}
        attempts = []
        for row in column:
            case = self._case(row)
            index = counts.get(case, 0)
            counts[case] = index + 1
            attempts.append(_attempt(case, index, row))
        return attempts

    def _case(self, row: _PromptfooRow) -> str:
        """Return the case of a row; rows with the same variables are attempts at the same case."""
        values = row.vars or row.testCase.vars or {}
        described = row.testCase.description or ""
        content = text_of([described, values])
        if (case_id := self.names.get(content)) is not None:
            return case_id
        name = unique(described or f"test {row.testIdx + 1}", self.cases)
        self.names[content] = name
        question = "\n".join(f"{key}: {text_of(value)}" for key, value in values.items())
        self.cases[name] = Case(
            id=name,
            messages=(Message(role="user", content=question or text_of(row.prompt.raw)),),
            criteria=(),
            tags={
                key: (str(value),)
                for key, value in (row.testCase.metadata or {}).items()
                if isinstance(value, str | int | bool)
            },
        )
        return name


def _attempt(case: str, index: int, row: _PromptfooRow) -> ForeignAttempt:
    failed = row.error if row.failureReason == FAILED_CALL or row.response is None else None
    output = None if row.response is None else row.response.output
    reply = () if output is None else (Message(role="assistant", content=text_of(output)),)
    tokens = (row.response.tokenUsage if row.response else None) or _PromptfooTokens()
    question = Message(role="user", content=text_of(row.prompt.raw))
    return ForeignAttempt(
        case=case,
        index=index,
        messages=(question, *reply),
        error=failed or "",
        scores={} if failed else dict(_scores(row)),
        usage=Usage(
            calls=1 if row.response else 0,
            prompt_tokens=tokens.prompt or 0,
            completion_tokens=tokens.completion or 0,
            cost=row.cost or None,
        ),
        seconds=None if row.latencyMs is None else row.latencyMs / 1000,
    )


def _scores(row: _PromptfooRow) -> Iterator[tuple[str, ForeignScore]]:
    grading = row.gradingResult or _PromptfooGrading()
    yield PASS, ForeignScore(value=float(row.success), reason=grading.reason or "")
    yield SCORE, ForeignScore(value=number(row.score), reason=grading.reason or "")
    taken: dict[str, None] = {PASS: None, SCORE: None}
    for component in grading.componentResults or ():
        assertion = component.assertion or _PromptfooAssertion()
        name = unique(assertion.metric or assertion.type, taken)
        taken[name] = None
        value = number(component.score)
        detail: Mapping[str, Json] = {"assertion": assertion.model_dump(exclude_none=True)}
        yield name, ForeignScore(value=value, reason=component.reason or "", detail=detail)
    for metric, value in (row.namedScores or {}).items():
        if metric not in taken:
            yield metric, ForeignScore(value=number(value))
