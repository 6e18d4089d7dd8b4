"""Native suites and answers that are rows of files, read one share of the rows at a time.

Rows that differ in their texts alone have one *shape*: the first of them is read as any other case
is, the others are filled into what came of it. Whatever has no shape is read as any other case is.
"""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, repeat
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import orjson

from proctor import registry
from proctor.contracts.shares import (
    AnswerRow,
    CaseShare,
    FileRow,
    RowProblem,
    ShareReader,
    TextRows,
)
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.fingerprint import plain, sorted_json
from proctor.core.suite import Case, Json, Message, Suite
from proctor.errors import Problem
from proctor.formats.native.answers import (
    OWN,
    as_text,
    json_value,
    read_number,
    read_reply,
)
from proctor.formats.native.case import Defaults, read_case
from proctor.formats.native.rows import TAG_PREFIXES, is_encodable, read_table_row
from proctor.formats.native.spot import Spot
from proctor.io.findings import Findings
from proctor.io.row_files import TABLE_ENDINGS
from proctor.io.text_files import Document

MOST_SHAPES = 1_000
"""Beyond, a row of yet another shape is read by itself."""
FREE_TEXTS: Mapping[str, str] = {"keywords": "rules", "contains": "texts"}
"""Scorers whose main parameter is a text, or a list of texts, of which any but an empty one will
do: what it says does not change what is checked."""
_WORD = "references"
"""The one text that means something else to a scorer."""
_SIMPLE = frozenset({"id", "ask", "references", "reference", "criteria", "tags"})
_COLUMNS = frozenset({"id", "ask", "reference", "criteria"})
_LONG_NUMBER = re.compile(r"\d{15}")
_MOST_BRACKETS = 50
_PLAIN_KEYS = frozenset({"case", "output"})


@dataclass(frozen=True, slots=True)
class _Texts:
    """What tells a row from others of its shape."""

    id: str
    ask: str
    references: list[str]
    free: list[Any]
    """The texts of those criteria whose texts are free."""
    tags: Mapping[str, list[str]]


@dataclass(slots=True)
class _Shape:
    """The document of all cases of a shape, with gaps for their texts."""

    place: int
    """The place of its example."""
    pieces: list[bytes]
    gaps: list[int]
    """The places among the pieces of id, question, references, free texts and tags."""

    def filled(self, texts: _Texts, tag_names: Sequence[str]) -> bytes:
        """Return the document of a case; a TypeError where a text is no valid Unicode."""
        dumps = orjson.dumps
        pieces = self.pieces[:]
        values = [dumps(texts.id), dumps(texts.ask)]
        if texts.references:
            values.append(dumps(texts.references))
        values += map(dumps, texts.free)
        values += [dumps(texts.tags[name]) for name in tag_names]
        for gap, value in zip(self.gaps, values, strict=True):
            pieces[gap] = value
        return b"".join(pieces)


class CaseLoading(Protocol):
    """What a loader of cases offers to readers of shares."""

    findings: Findings
    tags: dict[str, None]
    clustered: set[str]

    def spot(self, document: Document) -> Spot:
        """Point at all that a document holds."""

    def note(self, case: Case, defaults: Defaults) -> None:
        """Note the tags of a case, and what it has a cluster by."""

    def row_header(self, document: Document, defaults: Defaults) -> Defaults:
        """Read the row that describes the suite, and return the defaults of its cases."""

    def suite(self, default_name: str) -> Suite:
        """Make the suite of what was gathered."""

    def check_clusters(self) -> None:
        """Note the tags that clusters are named by, and no case has."""


@dataclass
class NativeShares(ShareReader):
    """Shares of one native file of rows."""

    takes_text_rows: ClassVar[bool] = True

    path: Path
    _loader: CaseLoading
    first_row: FileRow | None = None
    """The row before the cases that describes the suite, where there is one."""
    _defaults: Defaults = field(init=False)
    _shapes: dict[Any, _Shape | None] = field(default_factory=dict)
    _short: str = field(default="", init=False)
    """The file as the sources of its cases name it."""

    def __post_init__(self) -> None:
        self._defaults = Defaults()
        if self.first_row is not None:
            document = self._document(self.first_row)
            self._defaults = self._loader.row_header(document, self._defaults)
        self._is_table = self.path.suffix.lower() != ".jsonl"
        self._mark = f"\ue000{secrets.token_hex(8)}-"
        self._names = frozenset(registry.names("scorer"))

    def header(self) -> tuple[Suite, Sequence[Problem]]:
        findings = self._loader.findings
        if findings.total:
            raise RowProblem
        return self._loader.suite(self.path.stem), list(findings.warnings)

    def check_clusters(self, tags: Iterable[str], clustered: Iterable[str]) -> None:
        loader = self._loader
        loader.tags, loader.clustered = dict.fromkeys(tags), set(clustered)
        loader.check_clusters()
        if loader.findings.total:
            raise RowProblem

    def cases(self, rows: Iterable[FileRow | TextRows], first: int) -> CaseShare:
        share = CaseShare()
        self._loader.findings = Findings()
        self._loader.tags, self._loader.clustered = share.tags, share.clustered
        self._shapes.clear()
        stem = self.path.stem
        number = first
        for some in rows:
            if isinstance(some, FileRow):
                number += 1
                self._add(share, some, f"{stem}-{number}")
                continue
            for place, written in enumerate(_texts_of(some)):
                number += 1
                default_id = f"{stem}-{number}"
                split = None if written is None else self._keyed(written, default_id)
                line = some.before + place + 1
                if split is None or not self._add_known(share, line, *split):
                    self._add(share, some.row(place), default_id)
        share.warnings = self._loader.findings.warnings
        return share

    def _document(self, row: FileRow) -> Document:
        return Document(path=self.path, data=row.data, row=row.line)

    def _add(self, share: CaseShare, row: FileRow, default_id: str) -> None:
        split = self._split(row.data, default_id) if isinstance(row.data, dict) else None
        if split is None:
            self._add_slowly(share, row, default_id)
            return
        key, texts = split
        tag_names = key[-1]
        if key in self._shapes:
            if not self._add_known(share, row.line, key, texts):
                self._add_slowly(share, row, default_id)
            return
        warnings = len(self._loader.findings.warnings)
        case = self._add_slowly(share, row, default_id)
        if len(self._shapes) < MOST_SHAPES:
            shape = None
            if len(self._loader.findings.warnings) == warnings:
                shape = self._shape_of(texts, tag_names, row, len(share.examples) - 1)
            if shape is not None and _filled(shape, texts, tag_names) != share.documents[-1]:
                shape = None
            self._short = case.source.rpartition(":")[0]
            if case.source != f"{self._short}:{row.line}":
                shape = None
            self._shapes[key] = shape

    def _add_known(self, share: CaseShare, line: int, key: Any, texts: _Texts) -> bool:
        """Add a case of a shape that is known; tell whether it is."""
        if (shape := self._shapes.get(key)) is None:
            return False
        if (document := _filled(shape, texts, key[-1])) is None:
            return False
        share.ids.append(texts.id)
        share.sources.append(f"{self._short}:{line}")
        share.documents.append(document)
        share.shapes.append(shape.place)
        return True

    def _add_slowly(self, share: CaseShare, row: FileRow, default_id: str) -> Case:
        """Read a case as any reader does, and raise a RowProblem if anything is wrong with it."""
        case = self._read(self._document(row), default_id)
        self._loader.note(case, self._defaults)
        share.ids.append(case.id)
        share.sources.append(case.source)
        content = plain(case)
        content.pop("source", None)
        share.documents.append(document_of(content))
        share.shapes.append(len(share.examples))
        share.examples.append(case)
        return case

    def _read(self, document: Document, default_id: str) -> Case:
        loader = self._loader
        if self._is_table:
            read_table_row(loader.findings, document)
        elif not isinstance(document.data, dict) or not is_encodable(document.data):
            raise RowProblem
        case = None
        if not loader.findings.total and isinstance(document.data, dict):
            case = read_case(loader.spot(document), self._defaults, default_id)
        if case is None or loader.findings.total:
            raise RowProblem
        return case

    def _split(self, data: Mapping[str, Json], default_id: str) -> tuple[Any, _Texts] | None:
        """Tell the shape of a row from its texts; none for a row that has no shape."""
        written = _cells(data) if self._is_table else _keys(data)
        return None if written is None else self._keyed(written, default_id)

    def _keyed(self, written: "_Written", default_id: str) -> tuple[Any, _Texts] | None:
        name, ask, references, criteria, tags = written
        name = default_id if name is None else name
        if not name.isprintable():
            return None
        keyed: list[Any] = []
        free: list[Any] = []
        if criteria is not None:
            for entry in criteria if isinstance(criteria, list) else [criteria]:
                if (part := self._free(entry)) is not None:
                    keyed.append(part[0])
                    free.append(part[1])
                else:
                    keyed.append(orjson.dumps(entry))
            keyed.append(isinstance(criteria, list))
        key = (tuple(keyed), criteria is None, bool(references), tuple(tags))
        return key, _Texts(name, ask, references, free, tags)

    def _free(self, entry: Json) -> tuple[Any, Any] | None:
        """Return kind and texts of a criterion whose texts are free."""
        if type(entry) is str:
            if entry and entry not in self._names and entry != _WORD:
                return "text", entry
            return None
        if type(entry) is not dict or len(entry) != 1:
            return None
        ((name, value),) = entry.items()
        if name not in FREE_TEXTS:
            return None
        if type(value) is str:
            return (name, value) if value and value != _WORD else None
        if type(value) is not list or not value:
            return None
        for text in value:
            if type(text) is not str or not text or text == _WORD:
                return None
        return (name, len(value)), value

    def _shape_of(
        self, texts: _Texts, tag_names: Sequence[str], row: FileRow, place: int
    ) -> _Shape | None:
        """Read a row like this one with marks in the place of its texts, and find them again."""
        numbers = count()

        def marked(value: Any) -> Any:
            if isinstance(value, list):
                return [f"{self._mark}{next(numbers)}" for _ in value]
            return f"{self._mark}{next(numbers)}"

        marks = _Texts(
            marked(texts.id),
            marked(texts.ask),
            [marked("")] if texts.references else [],
            [marked(value) for value in texts.free],
            {name: [marked("")] for name in tag_names},
        )
        written = (_cells if self._is_table else _keys)(row.data)
        assert written is not None
        data = _row_of(marks, written[3], self._free)
        loader, findings = self._loader, self._loader.findings
        loader.findings = Findings()
        try:
            case = read_case(
                loader.spot(self._document(row._replace(data=data))), self._defaults, ""
            )
            clean = not loader.findings.total and not loader.findings.warnings
        finally:
            loader.findings = findings
        if case is None or not clean:
            return None
        content = plain(case)
        content.pop("source", None)
        return _cut(document_of(content), marks, tag_names, place)

    def answers(self, rows: Iterable[FileRow]) -> Iterator[AnswerRow]:
        is_table = self.path.suffix.lower() in TABLE_ENDINGS
        for row in rows:
            data = row.data
            if type(data) is not dict:
                raise RowProblem
            if is_table:
                data = {name: cell for name, cell in data.items() if cell != "" or name == "case"}
            name, output = data.get("case"), data.get("output")
            if type(name) is str and type(output) is str and data.keys() == _PLAIN_KEYS:
                if name.isascii() and output.isascii():
                    yield AnswerRow(name, None, output, None)
                else:
                    yield AnswerRow(as_text(name), None, as_text(output), None)
                continue
            if name is None:
                raise RowProblem
            written = data.get("attempt")
            number = None if written is None else read_number(written)
            if written is not None and number is None:
                raise RowProblem
            yield AnswerRow(as_text(name), number, None, data)

    def text_answers(
        self, cases: Sequence[str | None], outputs: Sequence[str | None]
    ) -> Iterator[AnswerRow]:
        for name, output in zip(cases, outputs, strict=True):
            if name is not None and output and name.isascii() and output.isascii():
                yield AnswerRow(name, None, output, None)
            else:
                yield from super().text_answers([name], [output])

    def attempt(self, row: AnswerRow, number: int, question: tuple[Message, ...]) -> Attempt:
        if row.rest is None:
            return Attempt.of(row.case_id, row.output, index=number)
        findings = Findings()
        document = Document(path=self.path, data=row.rest)
        messages = read_reply(findings, document, lambda: question)
        if findings.total:
            raise RowProblem
        answered = any(message.role == "assistant" for message in messages)
        return Attempt(
            case_id=row.case_id,
            index=number,
            messages=messages,
            status=AttemptStatus.ANSWERED if answered else AttemptStatus.UNANSWERED,
            meta={key: json_value(value) for key, value in row.rest.items() if key not in OWN},
        )


def document_of(content: Mapping[str, Json]) -> bytes:
    """Write a case as its key is made of it."""
    return sorted_json(content).encode("utf-8", "surrogatepass")


def _filled(shape: _Shape, texts: _Texts, tag_names: Sequence[str]) -> bytes | None:
    try:
        return shape.filled(texts, tag_names)
    except TypeError:
        return None


_Written = tuple[str | None, str, list[str], Json, dict[str, list[str]]]
"""Id, question, references, criteria and tags."""


def _cells(data: Mapping[str, Json]) -> _Written | None:
    """Return what a row of a table says where it is texts alone."""
    texts: dict[str, str] = {}
    tags: dict[str, list[str]] = {}
    for column, cell in data.items():
        if type(cell) is not str:
            return None
        if not cell:
            continue
        if column.startswith(TAG_PREFIXES):
            tag = column[5:] if column.startswith(TAG_PREFIXES[0]) else column[4:]
            if cell[0] == "[" or tag in tags:
                return None
            tags[tag] = [cell]
        else:
            texts[column] = cell
    if not texts.keys() <= _COLUMNS or "ask" not in texts:
        return None
    criteria = _parsed(texts["criteria"]) if "criteria" in texts else None
    if criteria is None and "criteria" in texts:
        return None
    references = [texts["reference"]] if "reference" in texts else []
    return texts.get("id"), texts["ask"], references, criteria, tags


class _Places(NamedTuple):
    """Where the columns of a table are that a row of texts may have."""

    ask: int
    id: int | None
    reference: int | None
    criteria: int | None
    tags: Sequence[tuple[int, str]]


def _places(names: Sequence[str]) -> _Places | None:
    """Return the places of columns; none where there are others."""
    places: dict[str, int] = {}
    tags: dict[str, int] = {}
    for place, column in enumerate(names):
        if column in _COLUMNS:
            places[column] = place
            continue
        if not column.startswith(TAG_PREFIXES):
            return None
        tag = column[5:] if column.startswith(TAG_PREFIXES[0]) else column[4:]
        if tag in tags:
            return None
        tags[tag] = place
    if "ask" not in places:
        return None
    return _Places(
        ask=places["ask"],
        id=places.get("id"),
        reference=places.get("reference"),
        criteria=places.get("criteria"),
        tags=[(place, tag) for tag, place in tags.items()],
    )


def _texts_of(rows: TextRows) -> "Iterator[_Written | None]":
    """Yield what ``_cells`` returns of each row; none, too, where a cell is empty."""
    if (places := _places(rows.names)) is None:
        yield from repeat(None, len(rows.columns[0]))
        return
    ask, name, reference, criteria, tags = places
    for cells in zip(*rows.columns, strict=True):
        if not all(cells):
            yield None
            continue
        parsed = None if criteria is None else _parsed(cells[criteria])
        if (parsed is None and criteria is not None) or any(cells[at][0] == "[" for at, _ in tags):
            yield None
            continue
        yield (
            None if name is None else cells[name],
            cells[ask],
            [] if reference is None else [cells[reference]],
            parsed,
            {tag: [cells[at]] for at, tag in tags},
        )


def _parsed(cell: str) -> Json:
    """Read criteria; none for what has to be looked at more closely."""
    if not cell.lstrip().startswith(("[", "{")):
        return cell
    if cell.count("[") + cell.count("{") > _MOST_BRACKETS or _LONG_NUMBER.search(cell):
        return None
    try:
        return orjson.loads(cell) or None
    except orjson.JSONDecodeError:
        return None


def _keys(data: Mapping[str, Json]) -> _Written | None:
    """Return what a row of JSON says where it is texts alone."""
    if not data.keys() <= _SIMPLE:
        return None
    name, ask = data.get("id"), data.get("ask")
    references, tags = data.get("references", data.get("reference", [])), data.get("tags", {})
    if "references" in data and "reference" in data:
        return None
    if type(ask) is not str or not ((type(name) is str and name) or "id" not in data):
        return None
    if type(references) is str:
        references = [references]
    criteria = data.get("criteria")
    if "criteria" in data and not (criteria and type(criteria) in (str, list, dict)):
        return None
    if type(references) is not list or type(tags) is not dict:
        return None
    values = {tag: [text] if type(text) is str else text for tag, text in tags.items()}
    if not all(type(text) is str for text in references) or not all(
        map(_are_texts, values.values())
    ):
        return None
    return name, ask, references, criteria, values


def _are_texts(values: Json) -> bool:
    return type(values) is list and bool(values) and all(type(value) is str for value in values)


def _row_of(marks: _Texts, criteria: Json, is_free: Any) -> dict[str, Json]:
    """Return a row with these texts, and criteria like those."""
    data: dict[str, Json] = {"id": marks.id, "ask": marks.ask}
    if marks.references:
        data["references"] = marks.references
    if marks.tags:
        data["tags"] = dict(marks.tags)
    if criteria is not None:
        texts = iter(marks.free)
        entries = [
            entry
            if is_free(entry) is None
            else next(texts)
            if type(entry) is str
            else dict.fromkeys(entry, next(texts))
            for entry in (criteria if isinstance(criteria, list) else [criteria])
        ]
        data["criteria"] = entries if isinstance(criteria, list) else entries[0]
    return data


def _cut(document: bytes, marks: _Texts, tag_names: Sequence[str], place: int) -> _Shape | None:
    """Cut a document where its marks are; none where one of them is not there just once."""
    values: list[Json] = [marks.id, marks.ask]
    if marks.references:
        values.append(marks.references)
    values += marks.free
    values += [marks.tags[name] for name in tag_names]
    targets = [sorted_json(value).encode() for value in values]
    if any(document.count(target) != 1 for target in targets):
        return None
    places = [document.index(target) for target in targets]
    pieces: list[bytes] = []
    gaps = [0] * len(targets)
    done = 0
    for number in sorted(range(len(targets)), key=places.__getitem__):
        pieces.append(document[done : places[number]])
        gaps[number] = len(pieces)
        pieces.append(b"")
        done = places[number] + len(targets[number])
    pieces.append(document[done:])
    return _Shape(place, pieces, gaps)
