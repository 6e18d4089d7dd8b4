"""Logs of Inspect, as ``.eval`` (a ZIP file) and as ``.json``."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

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
    tool_call,
)
from proctor.io.text_files import Document, decode, file_error, parse_json, read_head, read_json
from proctor.io.validation import validate
from proctor.io.zip_members import ZipMembers

TOOL = "inspect"
HEADER, SAMPLES, START = "header.json", "samples/", "_journal/start.json"
LETTERS: Mapping[str, float] = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partly correct, no answer."""
WORDS: Mapping[str, float] = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
ATTACHED = "attachment://"


class _InspectDataset(ForeignModel):
    name: str | None = None


class _InspectEval(ForeignModel):
    task: str
    model: str = ""
    created: str | None = None
    dataset: _InspectDataset = _InspectDataset()
    model_generate_config: dict[str, Json] | None = None


class _InspectHeadline(ForeignModel):
    score: str = ""


class _InspectResultScore(ForeignModel):
    name: str


class _InspectResults(ForeignModel):
    scores: list[_InspectResultScore] | None = None
    headline: _InspectHeadline | None = None


class _InspectHeader(ForeignModel):
    version: int | float = 2
    about: _InspectEval = Field(alias="eval")
    results: _InspectResults | None = None


class _InspectScore(ForeignModel):
    value: Json = None
    answer: Json = None
    explanation: Json = None


class _InspectUsage(ForeignModel):
    input_tokens: int = 0
    output_tokens: int = 0


class _InspectError(ForeignModel):
    message: str = ""
    traceback: str | None = None


class _InspectSample(ForeignModel):
    id: str | int
    epoch: int = 1
    input: Json = ""
    target: Json = ""
    choices: list[str] | None = None
    messages: list[dict[str, Json]] | None = None
    output: dict[str, Json] | None = None
    scores: dict[str, _InspectScore] | None = None
    metadata: dict[str, Json] | None = None
    model_usage: dict[str, _InspectUsage] | None = None
    error: _InspectError | None = None
    total_time: float | None = None
    attachments: dict[str, str] | None = None


@dataclass(frozen=True)
class InspectLogs(Archive):
    """Logs that ``inspect eval`` wrote."""

    def recognises(self, path: Path) -> bool:
        if path.suffix == ".eval":
            return path.is_file()
        if path.suffix != ".json" or not path.is_file():
            return False
        head = read_head(path)
        return b'"eval"' in head and b'"version"' in head and b'"status"' in head

    def read(self, path: Path) -> Iterator[KeptSuite]:
        log = _InspectLog(path)
        if path.suffix == ".eval":
            log.read_zip()
        else:
            log.read_whole()
        yield log.suite()


@dataclass
class _InspectLog:
    """One log while it is read."""

    path: Path
    header: _InspectHeader | None = None
    cases: dict[str, Case] = field(default_factory=dict)
    attempts: list[ForeignAttempt] = field(default_factory=list)

    def read_zip(self) -> None:
        with ZipMembers(self.path) as members:
            names = members.names
            start = HEADER if HEADER in names else START
            if start not in names:
                raise file_error(self.path, "this ZIP file is no log of Inspect")
            self.header = self._checked(_InspectHeader, start, members.read(start))
            samples = [name for name in names if name.startswith(SAMPLES)]
            for name in samples:
                self._take(self._checked(_InspectSample, name, members.read(name)))

    def read_whole(self) -> None:
        document = read_json(self.path)
        self.header = validate(_InspectHeader, document)
        samples = document.data.get("samples") or []
        if not isinstance(samples, list):
            raise file_error(self.path, "the samples are no list")
        for sample in samples:
            self._take(validate(_InspectSample, Document(path=self.path, data=sample, text="")))

    def _checked(self, kind: type[Any], name: str, content: bytes) -> Any:
        try:
            data = parse_json(decode(self.path, content))
        except ValueError as error:
            raise file_error(self.path, f"{name!r} in it is not readable: {error}") from None
        return validate(kind, Document(path=self.path, data=data, text=""))

    def _take(self, sample: _InspectSample) -> None:
        attached = sample.attachments or {}
        question = _input(sample.input, attached)
        case_id = str(sample.id)
        self.cases.setdefault(case_id, _case(sample, question))
        self.attempts.append(
            ForeignAttempt(
                case=case_id,
                index=max(0, sample.epoch - 1),
                messages=_exchanged(sample, len(question), attached),
                error="" if sample.error is None else sample.error.message or "error",
                scores=dict(_scores(sample.scores or {})) if sample.error is None else {},
                usage=_usage(sample.model_usage or {}),
                seconds=sample.total_time,
            )
        )

    def suite(self) -> KeptSuite:
        assert self.header is not None
        if not self.cases:
            raise file_error(self.path, "the log has no samples")
        about = self.header.about
        results = self.header.results or _InspectResults()
        headline = results.headline.score if results.headline else ""
        if not headline and results.scores:
            headline = results.scores[0].name
        run = ForeignRun(
            name=f"{about.task} {about.model}".strip(),
            candidate=about.model or "unknown",
            attempts=self.attempts,
            settings={"imported_from": TOOL, **_sampling(about.model_generate_config or {})},
            started=moment(about.created),
        )
        counted = [headline] if headline else []
        return kept_suite(about.task, self.cases, [run], counted=counted, source=TOOL)


def _case(sample: _InspectSample, question: tuple[Message, ...]) -> Case:
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    tags = {
        name: (str(value),)
        for name, value in (sample.metadata or {}).items()
        if isinstance(value, str | int | bool) and len(str(value)) <= 80
    }
    return Case(
        id=str(sample.id),
        messages=question,
        criteria=(),
        references=tuple(text_of(target) for target in targets if target not in (None, "")),
        tags=tags,
    )


def _input(written: Json, attached: Mapping[str, str]) -> tuple[Message, ...]:
    if isinstance(written, list):
        return tuple(_message(message, attached) for message in written)
    return (Message(role="user", content=_attached(text_of(written), attached)),)


def _exchanged(
    sample: _InspectSample, question_length: int, attached: Mapping[str, str]
) -> tuple[Message, ...]:
    """Return what was said after the sample's own messages."""
    transcript = [_message(message, attached) for message in sample.messages or ()]
    first = next((i for i, message in enumerate(transcript) if message.role == "assistant"), None)
    after = transcript[first:] if first is not None else transcript[question_length:]
    if not any(message.role == "assistant" for message in after):
        choices = (sample.output or {}).get("choices") or []
        if choices and isinstance(choices[0], dict) and isinstance(choices[0].get("message"), dict):
            after = [*after, _message(choices[0]["message"], attached)]
    return tuple(after)


def _message(written: Any, attached: Mapping[str, str]) -> Message:
    if not isinstance(written, dict):
        return Message(role="user", content=text_of(written))
    content, thinking = _parts(written.get("content"), attached)
    calls = written.get("tool_calls") or ()
    return Message(
        role=str(written.get("role") or "user"),
        content=content,
        thinking=thinking,
        tool_calls=tuple(
            tool_call(call.get("function"), call.get("arguments"), call.get("id"))
            for call in calls
            if isinstance(call, dict)
        ),
        tool_call_id=text_of(written.get("tool_call_id")),
    )


def _parts(content: Json, attached: Mapping[str, str]) -> tuple[str, str]:
    """Return the text of a message's content, and its reasoning."""
    if not isinstance(content, list):
        return _attached(text_of(content), attached), ""
    texts, thoughts = [], []
    for part in content:
        if isinstance(part, dict) and part.get("type") == "reasoning":
            thoughts.append(_attached(text_of(part.get("reasoning")), attached))
        elif isinstance(part, dict) and "text" in part:
            texts.append(_attached(text_of(part["text"]), attached))
        elif isinstance(part, str):
            texts.append(_attached(part, attached))
    return "".join(texts), "\n\n".join(thoughts)


def _attached(text: str, attached: Mapping[str, str]) -> str:
    """Return a text, from the attachments where it was moved there."""
    if text.startswith(ATTACHED):
        return attached.get(text.removeprefix(ATTACHED), text)
    return text


def _scores(written: Mapping[str, _InspectScore]) -> Iterator[tuple[str, ForeignScore]]:
    for name, score in written.items():
        values = score.value if isinstance(score.value, dict) else {name: score.value}
        for part, value in values.items():
            yield (
                part,
                ForeignScore(
                    value=_value(value),
                    reason=text_of(score.explanation)[:10_000],
                    detail={"value": value, "answer": score.answer, "scorer": name},
                ),
            )


def _value(value: Json) -> float | None:
    """Return a score's value as Inspect's own metrics count it."""
    if isinstance(value, str):
        if value in LETTERS:
            return LETTERS[value]
        if value.lower() in WORDS:
            return WORDS[value.lower()]
        try:
            return number(float(value))
        except ValueError:
            return None
    return number(value)


def _usage(by_model: Mapping[str, _InspectUsage]) -> Usage:
    return Usage(
        calls=len(by_model),
        prompt_tokens=sum(usage.input_tokens for usage in by_model.values()),
        completion_tokens=sum(usage.output_tokens for usage in by_model.values()),
    )


def _sampling(config: Mapping[str, Json]) -> dict[str, Json]:
    names = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort")
    chosen = {name: config[name] for name in names if config.get(name) is not None}
    return {"sampling": chosen} if chosen else {}
