"""Columns of the files of a part: their schemas, how they are written, and rows as columns.

Workers write tables from ready columns (``case_table``, ``attempt_table``, ``result_table``); what
exists as objects becomes columns by ``columns_of_cases`` and its like.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.fingerprint import content_key, plain
from proctor.core.score import Score
from proctor.core.suite import Case, Message
from proctor.store.rows import LinkedCase, ResultRow, decode_object, encode, escape

CASES, ATTEMPTS, RESULTS = "cases", "attempts", "results"
"""The kinds of files of a part."""
GROUP = 2_000
"""Rows of a row group of cases and attempts, which is what reading one case reads."""
ESCAPED = b"proctor.escaped"
"""Where the metadata of a file names the columns whose texts are escaped."""

_UNUSUAL = re.compile("[\ud800-\udfff]|[0-9]{19}|NaN|Infinity")
"""What only the standard library decodes."""
_WRITTEN = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_REPEATED = ("status", "source", "tags", "cluster", "full", "weight", "low", "high", "value")
_REPEATED_IN_SCORES = ("criterion", "scorer", "status", "points", "out_of", "reason")
_STATISTICS = ("position", "case_id", "id", "status", "value")


@lru_cache(maxsize=1)
def case_schema() -> Any:
    """Return the columns of a part of a suite, one row for each case."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("position", pa.int64(), nullable=False),
            pa.field("id", pa.string(), nullable=False),
            pa.field("source", pa.string(), nullable=False),
            pa.field("document", pa.string(), nullable=False),
        ]
    )


@lru_cache(maxsize=1)
def attempt_schema() -> Any:
    """Return the columns of the attempts of a part, one row for each, with its scores in a list."""
    import pyarrow as pa

    score = pa.struct(
        [
            pa.field("criterion", pa.string()),
            pa.field("scorer", pa.string()),
            pa.field("status", pa.string()),
            pa.field("points", pa.float64()),
            pa.field("out_of", pa.float64()),
            pa.field("reason", pa.string()),
            pa.field("detail", pa.string()),
        ]
    )
    return pa.schema(
        [
            pa.field("position", pa.int64(), nullable=False),
            pa.field("number", pa.int32(), nullable=False),
            pa.field("status", pa.string(), nullable=False),
            pa.field("output", pa.string()),
            pa.field("attempt", pa.string()),
            pa.field("attempt_key", pa.string()),
            pa.field("scores", pa.list_(pa.field("element", score)), nullable=False),
        ]
    )


@lru_cache(maxsize=1)
def result_schema() -> Any:
    """Return the columns of the results of a part, one row for each case."""
    import pyarrow as pa

    numbers = ("full", "weight", "low", "high", "spread")
    return pa.schema(
        [
            pa.field("position", pa.int64(), nullable=False),
            pa.field("case_id", pa.string(), nullable=False),
            pa.field("status", pa.string(), nullable=False),
            pa.field("value", pa.float64()),
            *(pa.field(name, pa.float64(), nullable=False) for name in numbers),
            pa.field("cluster", pa.string()),
            pa.field("tags", pa.string(), nullable=False),
        ]
    )


def writing_options(schema: Any) -> dict[str, Any]:
    """Return how a table of a schema is written by ``pyarrow.parquet``."""
    names = set(schema.names)
    repeated = [name for name in _REPEATED if name in names]
    encodings = {"position": "DELTA_BINARY_PACKED"}
    encodings |= {name: "DELTA_BYTE_ARRAY" for name in ("id", "case_id") if name in names}
    if "scores" in names:
        repeated += [f"scores.list.element.{name}" for name in _REPEATED_IN_SCORES]
    return {
        "compression": "zstd",
        # Results are read column by column, and no case by itself.
        "row_group_size": None if "value" in names else GROUP,
        "use_dictionary": repeated,
        "column_encoding": encodings,
        "write_statistics": [name for name in _STATISTICS if name in names],
        "store_schema": True,
    }


Texts = Sequence[str | bytes | None]
"""Texts of a column: a list, or an array of Arrow."""
Numbers = Sequence[float | None]
"""Numbers of a column: a list, or an array of numpy or Arrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumns:
    """Scores of many attempts, one after the other, as columns."""

    offsets: Sequence[int]
    """Where the scores of each attempt begin, and the end of the last: one more than attempts."""
    criterion: Texts
    scorer: Texts
    status: Texts
    points: Numbers
    out_of: Numbers
    reason: Texts
    detail: Texts
    """JSON; none where a score has no detail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptColumns:
    """Attempts as columns, in order of position and number."""

    position: Sequence[int]
    number: Sequence[int]
    status: Texts
    output: Texts
    """The text, where an attempt is one plain message of the assistant."""
    attempt: Texts
    """All else that an attempt has, as JSON; none where there is nothing else."""
    attempt_key: Texts
    """The key of a model's attempt; that of an answer on file is computed when it is wanted."""
    scores: ScoreColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseColumns:
    """Cases as columns, in order of position."""

    position: Sequence[int]
    id: Texts
    source: Texts
    document: Texts
    """What ``case_document`` makes of a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumnsToWrite:
    """Results of cases as columns, in order of position."""

    position: Sequence[int]
    case_id: Texts
    status: Texts
    value: Numbers
    full: Numbers
    weight: Numbers
    low: Numbers
    high: Numbers
    spread: Numbers
    cluster: Texts
    """None where a case is a draw of its own."""
    tags: Texts
    """JSON: an object of lists of texts."""


@dataclass
class _Arrays:
    """Arrays of Arrow, some of whose texts had to be escaped."""

    escaped: list[str] = field(default_factory=list)

    def texts(self, name: str, values: Texts) -> Any:
        """Return an array of texts; where UTF-8 cannot hold one, all of them are escaped."""
        import pyarrow as pa

        if isinstance(values, pa.Array | pa.ChunkedArray):
            combined = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
            return combined.cast(pa.string())
        try:
            return pa.array(values, pa.string())
        except (UnicodeEncodeError, pa.ArrowInvalid):
            self.escaped.append(name)
            return pa.array([_escaped(value) for value in values], pa.string())

    def numbers(self, values: Any, kind: Any) -> Any:
        """Return an array of numbers; None, and not NaN, is nothing."""
        import pyarrow as pa

        if isinstance(values, pa.Array | pa.ChunkedArray):
            combined = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
            return combined.cast(kind)
        return pa.array(values, kind)

    def table(self, arrays: Sequence[Any], schema: Any) -> Any:
        """Return the table, which says which of its texts are escaped."""
        import pyarrow as pa

        if self.escaped:
            schema = schema.with_metadata({ESCAPED: ",".join(self.escaped).encode()})
        return pa.Table.from_arrays(arrays, schema=schema)


def _escaped(value: str | bytes | None) -> str | None:
    if value is None:
        return None
    return escape(value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value)


def escaped_columns(schema: Any) -> frozenset[str]:
    """Return the names of the columns whose texts are escaped in a file."""
    names = (schema.metadata or {}).get(ESCAPED, b"").decode("utf-8", "replace")
    return frozenset(names.split(",")) - {""}


def case_table(columns: CaseColumns) -> Any:
    """Return the table of a part of a suite."""
    import pyarrow as pa

    arrays = _Arrays()
    return arrays.table(
        [
            arrays.numbers(columns.position, pa.int64()),
            *(arrays.texts(name, getattr(columns, name)) for name in ("id", "source", "document")),
        ],
        case_schema(),
    )


def attempt_table(columns: AttemptColumns) -> Any:
    """Return the table of the attempts of a part."""
    import pyarrow as pa

    schema, arrays, scores = attempt_schema(), _Arrays(), columns.scores
    inner = schema.field("scores").type
    struct = pa.StructArray.from_arrays(
        [
            arrays.numbers(getattr(scores, one.name), one.type)
            if one.type == pa.float64()
            else arrays.texts(f"scores.{one.name}", getattr(scores, one.name))
            for one in inner.value_type
        ],
        fields=list(inner.value_type),
    )
    texts = ("status", "output", "attempt", "attempt_key")
    return arrays.table(
        [
            arrays.numbers(columns.position, pa.int64()),
            arrays.numbers(columns.number, pa.int32()),
            *(arrays.texts(name, getattr(columns, name)) for name in texts),
            pa.ListArray.from_arrays(
                arrays.numbers(scores.offsets, pa.int32()), struct, type=inner
            ),
        ],
        schema,
    )


def result_table(columns: ResultColumnsToWrite) -> Any:
    """Return the table of the results of a part."""
    import pyarrow as pa

    schema, arrays = result_schema(), _Arrays()
    return arrays.table(
        [
            arrays.texts(one.name, getattr(columns, one.name))
            if one.type == pa.string()
            else arrays.numbers(getattr(columns, one.name), one.type)
            for one in schema
        ],
        schema,
    )


def case_document(case: Case) -> str:
    """Return the JSON of a case without its source, in the order in which it was written."""
    content = plain(case)
    content.pop("source", None)
    return _WRITTEN.encode(content)


def decodable(document: str) -> str:
    """Return a document of a case as ``rows.decode`` takes it."""
    return f" {document}" if _UNUSUAL.search(document) else document


def key_of_case(document: str) -> str:
    """Return the key of the case with a document, as ``core.fingerprint.case_key`` makes it.

    The document may be in any order: sorted, as it is hashed, or as it was written.
    """
    return content_key(decode_object(decodable(document.removeprefix(" "))))


def columns_of_cases(cases: Iterable[tuple[int, Case]]) -> CaseColumns:
    """Write cases at their positions as columns."""
    rows = list(cases)
    return CaseColumns(
        position=[position for position, _ in rows],
        id=[case.id for _, case in rows],
        source=[case.source for _, case in rows],
        document=[case_document(case) for _, case in rows],
    )


def output_of(attempt: Attempt) -> str | None:
    """Return the text of an attempt that is one plain message of the assistant, else None."""
    if len(attempt.messages) != 1:
        return None
    only = attempt.messages[0]
    # By what it equals: a message may come to have more than a role and a text.
    return only.content if only == Message(role="assistant", content=only.content) else None


def rest_of(attempt: Attempt, case_id: str) -> str | None:
    """Return what an attempt has besides number, status and output as JSON; None for nothing."""
    content = plain(attempt)
    for name in ("index", "status"):
        content.pop(name, None)
    if output_of(attempt) is not None:
        del content["messages"]
    if attempt.case_id == case_id:
        content.pop("case_id", None)
    elif not attempt.case_id:
        content["case_id"] = ""
    return encode(content) if content else None


def attempt_fields(
    case_id: str, number: int, status: str, output: str | None, rest: str | None
) -> dict[str, Any]:
    """Return the JSON of an attempt, of its columns; raise what ``rows.BROKEN`` lists."""
    fields: dict[str, Any] = {"case_id": case_id} if rest is None else {
        "case_id": case_id, **decode_object(rest),
    }  # fmt: skip
    if output is not None:
        fields["messages"] = [{"role": "assistant", "content": output}]
    return {**fields, "index": number, "status": status}


def plain_attempt(case_id: str, number: int, status: str, output: str | None) -> Attempt:
    """Return the attempt that has a status and perhaps a text, and nothing else."""
    messages = () if output is None else (Message(role="assistant", content=output),)
    return Attempt(case_id=case_id, index=number, messages=messages, status=AttemptStatus(status))


@dataclass
class _ScoreLists:
    """Scores of many attempts, gathered one by one."""

    offsets: list[int] = field(default_factory=lambda: [0])
    names: list[str] = field(default_factory=list)
    scorers: list[str] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)

    def add(self, scores: Mapping[str, Score], scorers: Mapping[str, str]) -> None:
        """Add the scores of the next attempt."""
        self.names += scores
        self.scorers += [scorers.get(name, name) for name in scores]
        self.scores += scores.values()
        self.offsets.append(len(self.names))

    def columns(self) -> ScoreColumns:
        """Return all of them as columns."""
        return ScoreColumns(
            offsets=self.offsets,
            criterion=self.names,
            scorer=self.scorers,
            status=[score.status.value for score in self.scores],
            points=[score.points for score in self.scores],
            out_of=[score.out_of for score in self.scores],
            reason=[score.reason for score in self.scores],
            detail=[None if one.detail is None else encode(one.detail) for one in self.scores],
        )


def columns_of_attempts(
    cases: Iterable[LinkedCase], keys: Mapping[tuple[int, int], str] | None = None
) -> AttemptColumns:
    """Write the attempts and scores of cases as columns.

    ``keys`` has the keys of those attempts, by position and number, that a model made.
    """
    places: list[tuple[int, int]] = []
    attempts: list[tuple[str, Attempt]] = []
    scores = _ScoreLists()
    for linked in cases:
        scorers = {one.id: one.scorer.name for one in linked.case.criteria}
        for attempt, scored in linked.attempts:
            places.append((linked.position, attempt.index))
            attempts.append((linked.case.id, attempt))
            scores.add(scored, scorers)
    return AttemptColumns(
        position=[position for position, _ in places],
        number=[number for _, number in places],
        status=[attempt.status.value for _, attempt in attempts],
        output=[output_of(attempt) for _, attempt in attempts],
        attempt=[rest_of(attempt, case_id) for case_id, attempt in attempts],
        attempt_key=[(keys or {}).get(place) for place in places],
        scores=scores.columns(),
    )


def columns_of_results(results: Iterable[ResultRow]) -> ResultColumnsToWrite:
    """Write results as columns."""
    rows = list(results)
    return ResultColumnsToWrite(
        position=[row.position for row in rows],
        case_id=[row.case_id for row in rows],
        status=[row.status.value for row in rows],
        value=[row.value for row in rows],
        full=[row.full for row in rows],
        weight=[row.weight for row in rows],
        low=[row.low for row in rows],
        high=[row.high for row in rows],
        spread=[row.spread for row in rows],
        cluster=[row.cluster or None for row in rows],
        tags=[encode(row.tags) for row in rows],
    )
