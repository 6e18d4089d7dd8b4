"""Traces in OTLP's JSON, by OpenTelemetry's GenAI conventions or by OpenInference's.

One trace is one case with one attempt. The GenAI conventions are still in development: read are the
attributes of version 1.38, and evaluation results as events of the log or of a span.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.contracts.archive import Archive, KeptSuite
from proctor.core.exchange import Usage
from proctor.core.suite import Case, Json, Message, ToolCall
from proctor.formats.imports.foreign_results import (
    ForeignAttempt,
    ForeignRun,
    ForeignScore,
    kept_suite,
    number,
    text_of,
    tool_call,
)
from proctor.io.text_files import file_error, parse_json, read_head, read_json, read_jsonl

TOOL = "otlp"
SPANS, LOGS = "resourceSpans", "resourceLogs"
EVALUATION = "gen_ai.evaluation.result"
LABELS: Mapping[str, float] = {
    "pass": 1.0, "correct": 1.0, "relevant": 1.0,  # nosec B105  # a label, no password
    "fail": 0.0, "incorrect": 0.0, "not_relevant": 0.0,
}  # fmt: skip
"""What a result without a number counts as, by its label."""
NANOSECONDS = 1e9


@dataclass(frozen=True)
class OtlpTraces(Archive):
    """A ``.json`` or ``.jsonl`` file that an OTLP file exporter wrote."""

    def recognises(self, path: Path) -> bool:
        if path.suffix not in (".json", ".jsonl") or not path.is_file():
            return False
        head = read_head(path)
        return f'"{SPANS}"'.encode() in head or f'"{LOGS}"'.encode() in head

    def read(self, path: Path) -> Iterator[KeptSuite]:
        traces = _Traces(path)
        if path.suffix == ".jsonl":
            for document in read_jsonl(path):
                traces.take(document.data)
        else:
            traces.take(read_json(path).data)
        yield traces.suite()


@dataclass
class _Span:
    """A span with its attributes as plain values."""

    id: str
    parent: str
    service: str
    started: float
    ended: float
    failed: str
    attributes: Mapping[str, Json]

    @property
    def is_model_call(self) -> bool:
        """Tell whether a model was asked."""
        kind = self.attributes.get("openinference.span.kind")
        operation = self.attributes.get("gen_ai.operation.name")
        if kind is not None:
            return bool(kind == "LLM")
        return operation in ("chat", "text_completion", "generate_content")

    @property
    def model(self) -> str:
        """Return the name of the model that answered."""
        names = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
        return next((str(self.attributes[name]) for name in names if name in self.attributes), "")


@dataclass
class _Traces:
    """Spans and evaluation results of a file while they are put together."""

    path: Path
    spans: dict[str, list[_Span]] = field(default_factory=dict)
    scores: dict[str, dict[str, ForeignScore]] = field(default_factory=dict)

    def take(self, data: Json) -> None:
        """Take in one document of the exporter."""
        if not isinstance(data, Mapping):
            raise file_error(self.path, "expected an object with resourceSpans or resourceLogs")
        for resource in _objects(data.get(SPANS)):
            service = str(_values(_inner(resource, "resource")).get("service.name") or "")
            for scope in _objects(resource.get("scopeSpans")):
                for span in _objects(scope.get("spans")):
                    self._take_span(span, service)
        for resource in _objects(data.get(LOGS)):
            for scope in _objects(resource.get("scopeLogs")):
                for record in _objects(scope.get("logRecords")):
                    self._take_event(str(record.get("traceId") or ""), record, "eventName")

    def _take_span(self, span: Mapping[str, Json], service: str) -> None:
        trace = str(span.get("traceId") or "")
        status = _inner(span, "status")
        failed = status.get("code") in (2, "STATUS_CODE_ERROR")
        self.spans.setdefault(trace, []).append(
            _Span(
                id=str(span.get("spanId") or ""),
                parent=str(span.get("parentSpanId") or ""),
                service=service,
                started=_seconds(span.get("startTimeUnixNano")),
                ended=_seconds(span.get("endTimeUnixNano")),
                failed=str(status.get("message") or "the span ended in an error") if failed else "",
                attributes=_values(span),
            )
        )
        for event in _objects(span.get("events")):
            self._take_event(trace, event, "name")

    def _take_event(self, trace: str, event: Mapping[str, Json], name_key: str) -> None:
        values = _values(event)
        name = event.get(name_key) or values.get("event.name")
        metric = values.get("gen_ai.evaluation.name")
        if name != EVALUATION or not isinstance(metric, str):
            return
        label = values.get("gen_ai.evaluation.score.label")
        value = number(values.get("gen_ai.evaluation.score.value"))
        if value is None and isinstance(label, str):
            value = LABELS.get(label.lower())
        self.scores.setdefault(trace, {})[metric] = ForeignScore(
            value=value,
            reason=text_of(values.get("gen_ai.evaluation.explanation")),
            detail={"label": label} if label else {},
        )

    def suite(self) -> KeptSuite:
        """Return the suite of all traces, with one run for each service and model."""
        cases: dict[str, Case] = {}
        attempts: dict[str, list[ForeignAttempt]] = {}
        started: dict[str, float] = {}
        for trace, unsorted in self.spans.items():
            spans = sorted(unsorted, key=lambda span: (span.started, span.ended))
            question, reply = _exchange(spans)
            if not question and not reply:
                continue
            cases[trace] = Case(id=trace, messages=question, criteria=())
            candidate = _candidate(spans)
            attempts.setdefault(candidate, []).append(self._attempt(trace, spans, reply))
            begun = spans[0].started
            started[candidate] = min(begun, started.get(candidate, begun))
        if not cases:
            raise file_error(
                self.path,
                "no trace in this file has messages of a model",
                hint="let the instrumentation record contents (gen_ai.input.messages,"
                " llm.input_messages)",
            )
        runs = [
            ForeignRun(
                name=f"{self.path.stem} {candidate}",
                candidate=candidate,
                attempts=rows,
                settings={"imported_from": TOOL},
                started=started[candidate],
            )
            for candidate, rows in attempts.items()
        ]
        return kept_suite(self.path.stem, cases, runs, source=TOOL)

    def _attempt(
        self, trace: str, spans: list[_Span], reply: tuple[Message, ...]
    ) -> ForeignAttempt:
        calls = [span for span in spans if span.is_model_call]
        root = _root(spans)
        return ForeignAttempt(
            case=trace,
            messages=reply,
            error=root.failed,
            scores={} if root.failed else self.scores.get(trace, {}),
            usage=Usage(
                calls=len(calls),
                prompt_tokens=_total(calls, "gen_ai.usage.input_tokens", "llm.token_count.prompt"),
                completion_tokens=_total(
                    calls, "gen_ai.usage.output_tokens", "llm.token_count.completion"
                ),
            ),
            seconds=root.ended - root.started if root.ended > root.started else None,
        )


def _candidate(spans: list[_Span]) -> str:
    names = [spans[0].service, next((span.model for span in spans if span.model), "")]
    return " ".join(name for name in names if name) or "unknown"


def _root(spans: list[_Span]) -> _Span:
    present = {span.id for span in spans}
    return next((span for span in spans if span.parent not in present), spans[0])


def _total(spans: Iterable[_Span], *names: str) -> int:
    totals = (
        next((number(span.attributes.get(name)) for name in names if name in span.attributes), None)
        for span in spans
    )
    return int(sum(total for total in totals if total is not None))


def _exchange(spans: list[_Span]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Return what was asked, and what was said after it.

    The last call of a model has the conversation before it as its input. Where no call has its
    messages, the input and the output of the first span are taken.
    """
    calls = [span for span in spans if span.is_model_call]
    for span in reversed(calls):
        history, reply = _messages(span)
        if not history and not reply:
            continue
        first = next(
            (place for place, message in enumerate(history) if message.role == "assistant"),
            len(history),
        )
        return tuple(history[:first]), (*history[first:], *reply)
    attributes = _root(spans).attributes
    question, answer = attributes.get("input.value"), attributes.get("output.value")
    question_messages = (
        (Message(role="user", content=text_of(question)),) if question is not None else ()
    )
    reply_messages = (
        (Message(role="assistant", content=text_of(answer)),) if answer is not None else ()
    )
    return question_messages, reply_messages


def _messages(span: _Span) -> tuple[list[Message], list[Message]]:
    attributes = span.attributes
    instructions = [
        Message(role="system", content=text)
        for text in [_part_texts(_decoded(attributes.get("gen_ai.system_instructions")))]
        if text
    ]
    inputs = _otel_messages(attributes.get("gen_ai.input.messages"))
    outputs = _otel_messages(attributes.get("gen_ai.output.messages"))
    if inputs or outputs:
        return instructions + inputs, outputs
    nested = _nested(attributes)
    return (
        [_inference_message(one) for one in _objects(nested.get("input_messages"))],
        [_inference_message(one) for one in _objects(nested.get("output_messages"))],
    )


def _otel_messages(written: Json) -> list[Message]:
    return [_otel_message(one) for one in _objects(_decoded(written))]


def _otel_message(written: Mapping[str, Json]) -> Message:
    parts = _objects(written.get("parts"))
    calls = tuple(
        tool_call(part.get("name"), part.get("arguments"), part.get("id"))
        for part in parts
        if part.get("type") == "tool_call"
    )
    answers = [part for part in parts if part.get("type") == "tool_call_response"]
    if answers:
        content = text_of(answers[0].get("response", answers[0].get("result")))
        call_id = text_of(answers[0].get("id"))
        return Message(role="tool", content=content, tool_call_id=call_id)
    thoughts = [text_of(part.get("content")) for part in parts if part.get("type") == "reasoning"]
    return Message(
        role=str(written.get("role") or "user"),
        content=_part_texts(parts),
        thinking="\n\n".join(thoughts),
        tool_calls=calls,
    )


def _part_texts(parts: Json) -> str:
    if isinstance(parts, str):
        return parts
    return "\n".join(
        text_of(part.get("content")) for part in _objects(parts) if part.get("type") == "text"
    )


def _inference_message(written: Mapping[str, Json]) -> Message:
    message = _inner(written, "message")
    content = message.get("content")
    if content is None:
        parts = [_inner(part, "message_content") for part in _objects(message.get("contents"))]
        content = "\n".join(text_of(part.get("text")) for part in parts if part.get("text"))
    calls: list[ToolCall] = []
    for entry in _objects(message.get("tool_calls")):
        call = _inner(entry, "tool_call")
        function = _inner(call, "function")
        calls.append(tool_call(function.get("name"), function.get("arguments"), call.get("id")))
    return Message(
        role=str(message.get("role") or "user"),
        content=text_of(content),
        tool_calls=tuple(calls),
        tool_call_id=text_of(message.get("tool_call_id")),
    )


def _nested(attributes: Mapping[str, Json]) -> dict[str, Json]:
    """Build the lists that OpenInference flattens into indexed keys below ``llm``."""
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        if not name.startswith(("llm.input_messages.", "llm.output_messages.")):
            continue
        place: Any = tree
        *path, last = name.removeprefix("llm.").split(".")
        for part in path:
            place = place.setdefault(part, {}) if isinstance(place, dict) else {}
        if isinstance(place, dict):
            place[last] = value
    listed = _listed(tree)
    return listed if isinstance(listed, dict) else {}


def _listed(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isdigit() for key in tree):
        return [_listed(tree[key]) for key in sorted(tree, key=int)]
    return {key: _listed(value) for key, value in tree.items()}


def _values(holder: Mapping[str, Json]) -> dict[str, Json]:
    """Return the attributes of a span, a resource or an event as plain values."""
    return {
        str(entry.get("key")): _value(entry.get("value"))
        for entry in _objects(holder.get("attributes"))
    }


def _value(written: Json) -> Json:
    if not isinstance(written, Mapping) or not written:
        return written
    kind, value = next(iter(written.items()))
    if kind == "intValue":
        return int(value) if isinstance(value, int) or str(value).lstrip("-").isdigit() else None
    if kind == "arrayValue":
        return [_value(one) for one in _objects(_inner(written, kind).get("values"))]
    if kind == "kvlistValue":
        entries = _objects(_inner(written, kind).get("values"))
        return {str(entry.get("key")): _value(entry.get("value")) for entry in entries}
    return value


def _decoded(value: Json) -> Json:
    """Return a value that may have been written as JSON in a string."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except ValueError:
        return value


def _objects(values: Json) -> list[Mapping[str, Json]]:
    return [one for one in values if isinstance(one, Mapping)] if isinstance(values, list) else []


def _inner(holder: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = holder.get(name)
    return value if isinstance(value, Mapping) else {}


def _seconds(nanoseconds: Json) -> float:
    try:
        return max(0.0, int(nanoseconds) / NANOSECONDS)
    except (TypeError, ValueError, OverflowError):
        return 0.0
