"""Answers on file in the native format: rows of case, output and attempt."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from proctor.contracts.case_spool import CaseFinder
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.suite import Json, Message, Suite, ToolCall
from proctor.errors import DialectError
from proctor.io.described import describe
from proctor.io.findings import Findings
from proctor.io.row_files import TABLE_ENDINGS, read_values
from proctor.io.temporary_database import MOST_IN_MEMORY, FirstEntries
from proctor.io.text_files import Document, parse_json
from proctor.records import maker
from proctor.suggestions import closest, suggest

ENDINGS = (".jsonl", *TABLE_ENDINGS, ".parquet", ".xlsx")
OWN = frozenset({"case", "output", "messages", "attempt", "tool_calls"})
_SPOKEN = ("output", "messages", "tool_calls")
_TEXTS = frozenset({str})
_ATTEMPTS, _MESSAGES = maker(Attempt), maker(Message)
MOST_ATTEMPTS = (1 << 31) - 1
MOST_UNKNOWN = 1_000
"""How many cases that are not there are named."""
MOST_HELD = 3 * 1024 * 1024
"""How much of a file is held while it is checked; of more, none is."""
VALUE_SIZE = 500
_MEANT = ("case_id", "id", "question_id")
QUESTION = "ask"
"""The column by which rows find their case where none is named."""


if TYPE_CHECKING:
    from proctor.formats.tables import ColumnMap


class _Row(NamedTuple):
    """An answer, with its case and number."""

    path: Path
    line: int | None
    data: Json
    case: str
    number: int

    @property
    def document(self) -> Document:
        """Return the row as what says where something is wrong."""
        return Document(path=self.path, data=self.data, row=self.line)


def read_answers(
    path: Path, suite: Suite, columns: "ColumnMap | None" = None, ask: str = QUESTION
) -> Iterator[Attempt]:
    """Check the whole file, then return its attempts one by one.

    Rows that name no case belong to the one that asks what their column ``ask`` holds. What is more
    than a little is not held meanwhile, but read again.
    """
    if path.suffix.lower() not in ENDINGS or path.is_dir():
        raise DialectError(f"{path}: answers are read from {', '.join(ENDINGS)} files")
    cases = CaseFinder(suite.cases)
    findings = Findings()
    has_output = False
    attempts: list[Attempt] | None = []
    room = MOST_HELD
    for row in _AnswerRows(path, cases, findings, columns, ask):
        has_output = has_output or any(key in row.data for key in _SPOKEN)
        messages = _reply(findings, row, cases)
        room -= _size(row.data)
        if attempts is not None:
            attempts.append(_attempt(row, messages))
            attempts = attempts if room > 0 else None
    if not has_output and not findings.errors:
        raise DialectError(f"{path}: no row has an 'output'")
    findings.check()
    return _attempts(path, cases, columns, ask) if attempts is None else iter(attempts)


def read_columns(path: Path, suite: Suite, columns: str) -> Iterator[Attempt]:
    """Read answers whose columns have other names, as --columns says."""
    from proctor.formats.tables import ANSWER_COLUMNS, ColumnMap

    # The names of the cases' columns were looked at where the suite was read.
    called = ColumnMap.parse(columns)
    ask = called.columns.get(QUESTION, QUESTION)
    return read_answers(path, suite, called.only(ANSWER_COLUMNS), ask)


def _attempts(
    path: Path, cases: CaseFinder, columns: "ColumnMap | None", ask: str
) -> Iterator[Attempt]:
    findings = Findings()
    for row in _AnswerRows(path, cases, findings, columns, ask):
        messages = _reply(findings, row, cases)
        findings.check()
        yield _attempt(row, messages)


def _attempt(row: _Row, messages: tuple[Message, ...]) -> Attempt:
    answered = len(messages) > 0 and (
        messages[-1].role == "assistant" or any(one.role == "assistant" for one in messages)
    )
    return _ATTEMPTS.make(
        case_id=row.case,
        index=row.number,
        messages=messages,
        status=AttemptStatus.ANSWERED if answered else AttemptStatus.UNANSWERED,
        meta={key: json_value(value) for key, value in row.data.items() if key not in OWN},
    )


def _reply(findings: Findings, row: _Row, cases: CaseFinder) -> tuple[Message, ...]:
    """Return what the candidate said in a row."""
    if (messages := _plain_reply(row.data)) is not None:
        return messages
    return read_reply(findings, row.document, partial(_question, cases, row.case))


def _size(value: Json) -> int:
    """Return about how many bytes a value takes that is held."""
    if isinstance(value, (str, bytes)):
        return len(value)
    size = VALUE_SIZE
    if type(value) is dict and _TEXTS.issuperset(map(type, value.values())):
        size += sum(map(len, value.values()))
    elif isinstance(value, dict):
        for part in value.values():
            size += len(part) if type(part) is str else _size(part)
    elif isinstance(value, list):
        size += sum(map(_size, value))
    return size


class _AnswerRows:
    """The rows of a file, each with its case and number; wrong ones are noted."""

    def __init__(
        self,
        path: Path,
        cases: CaseFinder,
        findings: Findings,
        columns: "ColumnMap | None",
        ask: str,
    ) -> None:
        self.path, self.cases, self.findings = path, cases, findings
        self.columns, self.ask = columns, ask
        self.asking: dict[str, list[str]] | None = None
        """By question, the cases that ask it, once a row needs to know."""
        self.next = array("i", [0]) * len(cases)
        self.lines = FirstEntries[int, int]()
        self.unknown: Counter[str] = Counter()
        self.first_unknown: dict[str, Document] = {}
        self.more_unknown = 0

    def __iter__(self) -> Iterator[_Row]:
        is_table = self.path.suffix.lower() in TABLE_ENDINGS
        for number, (line, row) in enumerate(read_values(self.path)):
            data = row
            if self.columns and isinstance(data, dict):
                document = self._document(line, data)
                # All other columns stay, as notes on the attempt.
                self.columns.rename(document, data, ())
                data = document.data
            if not isinstance(data, dict) or data.get("case") is None:
                document = self._document(line, data)
                if self._is_lost(document):
                    continue
                if not isinstance(data, dict) or data.get("case") is None:
                    self._no_case(document, first=number == 0)
                    continue
            if is_table:
                data = {k: v for k, v in data.items() if v != "" or k == "case"}
            case = as_text(data["case"])
            place = self.cases.place(case)
            if place is None:
                self._strange(case, self._document(line, data))
                continue
            if (index := self._index(line, data, case, place)) is not None:
                yield _Row(self.path, line, data, case, index)
        self._tell_unknown()

    def _document(self, line: int | None, data: Json) -> Document:
        return Document(path=self.path, data=data, row=line)

    def _is_lost(self, document: Document) -> bool:
        """Name the case of a row that has the question in its place; tell whether none is it."""
        data = document.data
        if not isinstance(data, dict) or data.get("case") is not None:
            return False
        question = data.get(self.ask, data.get(QUESTION))
        if not isinstance(question, str) or len(self.cases) > MOST_IN_MEMORY:
            return False
        if self.asking is None:
            self.asking = {}
            for case in self.cases.values():
                self.asking.setdefault(case.prompt.strip(), []).append(case.id)
        ids = self.asking.get(question.strip(), [])
        if len(ids) == 1:
            data["case"] = ids[0]
        elif ids:
            message = f"{len(ids)} cases ask what this row answers ({', '.join(ids[:3])})"
            hint = "give the cases ids, and the answers a column 'case' with them"
            self._error(document, message, hint=hint)
        else:
            shown = question if len(question) <= 60 else question[:60] + "…"
            self._error(document, f"no case of the suite asks {shown!r}")
        return len(ids) != 1

    def _strange(self, case: str, document: Document) -> None:
        if case in self.unknown or len(self.unknown) < MOST_UNKNOWN:
            self.unknown[case] += 1
            self.first_unknown.setdefault(case, document)
        else:
            self.more_unknown += 1

    def _index(self, line: int | None, data: Json, case: str, place: int) -> int | None:
        """Return the number of an attempt: the one written, or the next one."""
        following, written = self.next[place], data.get("attempt")
        index = following if written is None else read_number(written)
        if index is None:
            message = f"'attempt' is a whole number from 0, not {describe(written)}"
            self._error(self._document(line, data), message)
        elif (first := self.lines.add(place << 31 | index, line or 0)) is not None:
            message = f"attempt {index} at the case {case!r} is there twice"
            self._error(self._document(line, data), f"{message} (first on line {first})")
            return None
        elif index >= following:
            self.next[place] = index + 1
        return index

    def _no_case(self, document: Document, *, first: bool) -> None:
        data = document.data
        if not isinstance(data, dict):
            problem = document.problem((), f"a row is an object, not {describe(data)}")
        else:
            meant = next((key for key in _MEANT if key in data), None)
            hint = f"call the key {meant!r} 'case'" if meant else _there(data)
            if columns := suggested_answers(data):
                hint = f"--columns {columns}, or {hint}"
            problem = document.problem(
                (), "the row does not say which 'case' it answers", hint=hint
            )
        if first:
            raise DialectError([problem])
        self.findings.add(problem)

    def _tell_unknown(self) -> None:
        for case, count in self.unknown.items():
            rows = f" (in {count} rows)" if count > 1 else ""
            message = f"the suite has no case {case!r}{rows}"
            few = len(self.cases) <= MOST_IN_MEMORY and not self.findings.full
            hint = suggest(case, self.cases) if few else ""
            self._error(self.first_unknown[case], message, hint=hint)
        if self.more_unknown:
            message = f"{self.more_unknown:,} more rows name cases that the suite does not have"
            self.findings.add(Document(path=self.path, data=None).problem((), message))

    def _error(self, document: Document, message: str, *, hint: str = "") -> None:
        self.findings.add(document.problem((), message, hint=hint))


MOST_NAMED = 20


def suggested_answers(data: Mapping[str, Json]) -> str:
    """Return what --columns should say for rows of other names."""
    from proctor.formats.tables import suggested_answers as suggested_columns

    return suggested_columns(data)


def _there(data: Mapping[str, Json]) -> str:
    """Say what is there in the place of a case, and how it should be called."""
    if closest("case", data):
        return suggest("case", data)
    there = ", ".join(repr(name) for name in [*data][:MOST_NAMED]) or "nothing"
    more = ", …" if len(data) > MOST_NAMED else ""
    return (
        f"answers have 'case' and 'output', and here are {there}{more}: say which is which with"
        " --columns case=NAME,output=NAME"
    )


def read_reply(
    findings: Findings, document: Document, question: Callable[[], tuple[Message, ...]]
) -> tuple[Message, ...]:
    """Return what the candidate said; nothing if it gave no answer.

    ``question`` gives the messages of the case, which a conversation may repeat.
    """
    data = document.data
    if (plain := _plain_reply(data)) is not None:
        return plain
    output, messages = data.get("output"), data.get("messages")
    if data.get("tool_calls") is not None:
        return _with_calls(findings, document)
    if output is not None and messages is not None:
        problem = document.problem((), "'output' and 'messages' say the same thing; write one")
        findings.add(problem)
    elif messages is not None:
        return _transcript(findings, document, question())
    elif isinstance(output, str | bool | int | float):
        return (Message(role="assistant", content=as_text(output)),)
    elif output is not None:
        message = f"'output' is a text, not {describe(output)}"
        findings.add(document.problem(("output",), message))
    elif "output" not in data and (close := closest("output", data, cutoff=0.8)):
        message = f"the row has no 'output', but {close!r}"
        findings.add(document.problem((), message, hint="call it 'output'"))
    return ()


def _plain_reply(data: Mapping[str, Json]) -> tuple[Message, ...] | None:
    """Return a reply that is one text; None for any other row."""
    output = data.get("output")
    if (
        type(output) is not str
        or data.get("messages") is not None
        or data.get("tool_calls") is not None
    ):
        return None
    return (_MESSAGES.make(role="assistant", content=as_text(output)),)


def _with_calls(findings: Findings, document: Document) -> tuple[Message, ...]:
    """Return the one reply that calls tools, with its words where there are any."""
    data = document.data
    output = data.get("output")
    if data.get("messages") is not None:
        message = "'tool_calls' go into the message that makes them, where there are 'messages'"
        findings.add(document.problem(("tool_calls",), message))
    elif output is not None and not isinstance(output, str | bool | int | float):
        message = f"'output' is a text, not {describe(output)}"
        findings.add(document.problem(("output",), message))
    else:
        try:
            calls = _calls(data["tool_calls"])
        except ValueError as error:
            findings.add(document.problem(("tool_calls",), f"'tool_calls': {error}"))
        else:
            text = "" if output is None else as_text(output)
            if calls or output is not None:
                return (Message(role="assistant", content=text, tool_calls=calls),)
    return ()


def _calls(written: Json) -> tuple[ToolCall, ...]:
    """Read the calls of a message; a table has them as the text of a JSON list."""
    if isinstance(written, str):
        written = parse_json(written)
    if isinstance(written, dict):
        written = [written]
    if not isinstance(written, list):
        raise ValueError(f"expected a list of calls, not {describe(written)}")
    from proctor.core.tool_calls import call_from

    calls = [call_from(entry) for entry in written]
    return tuple(replace(call, arguments=json_value(call.arguments)) for call in calls)


def _question(cases: CaseFinder, case_id: str) -> tuple[Message, ...]:
    return cases[case_id].messages


def _transcript(
    findings: Findings, document: Document, own: tuple[Message, ...]
) -> tuple[Message, ...]:
    """Read a conversation, leaving out the case's own messages where it starts with them."""
    written = document.data["messages"]
    if isinstance(written, str):
        try:
            written = parse_json(written)
        except ValueError:
            findings.add(document.problem(("messages",), "'messages' is not valid JSON"))
            return ()
    if not isinstance(written, list) or not all(_is_message(entry) for entry in written):
        message = "'messages' is a list of objects with a 'role' and a 'content' of text"
        findings.add(document.problem(("messages",), message))
        return ()
    try:
        messages = tuple(map(_read_message, written))
    except ValueError as error:
        findings.add(document.problem(("messages",), f"'messages': {error}"))
        return ()
    return messages[len(own) :] if messages[: len(own)] == own else messages


def _read_message(entry: Mapping[str, Json]) -> Message:
    return Message(
        role=entry["role"],
        content=as_text(entry.get("content") or ""),
        tool_calls=_calls(entry["tool_calls"]) if entry.get("tool_calls") else (),
        tool_call_id=as_text(entry.get("tool_call_id") or ""),
    )


def _is_message(entry: Json) -> bool:
    """Tell whether it is a message: one that calls tools may be without words."""
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("role"), str)
        and (
            isinstance(entry.get("content"), str)
            or (entry.get("content") is None and bool(entry.get("tool_calls")))
        )
    )


def read_number(value: Json) -> int | None:
    """Read a whole number from 0; tables may spell it as a text or with a fraction of zero."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    good = 0 <= number < MOST_ATTEMPTS and number.is_integer()
    return int(number) if good else None


def as_text(value: Json) -> str:
    """Return a value as text; what is no character (half of a surrogate pair) is replaced."""
    if type(value) is str:
        text = value
    elif isinstance(value, bool):
        return "true" if value else "false"
    else:
        text = str(value)
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def json_value(value: Json) -> Json:
    """Make a value of a Parquet file a JSON value: a date, a decimal number is its text."""
    if type(value) is str:
        return as_text(value)
    if isinstance(value, Mapping):
        return {as_text(key): json_value(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(part) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    return as_text(value)
