"""Checking of a share: its cases are read and written as a part of the suite, or its answers read.

It runs in worker processes. What is wrong with a share is only that something is: the reader of
whole files says what.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from proctor import registry
from proctor.contracts.scorer import Scorer
from proctor.contracts.shares import (
    AnswerRow,
    CaseShare,
    FileRow,
    RowProblem,
    ShareReader,
    TextRows,
)
from proctor.core.encoding import case_from
from proctor.core.fingerprint import content_key
from proctor.core.suite import Spec
from proctor.engine.bulk.criteria_findings import survey_to_json
from proctor.engine.bulk.tasks import (
    AnswersTask,
    CheckedAnswers,
    CheckedCases,
    CheckTask,
    ContentTask,
    FileContent,
    RowFile,
)
from proctor.engine.run.scorer_pool import Scorers, Survey
from proctor.io import json_bytes
from proctor.io.row_shares import (
    JSONL,
    Share,
    TextColumns,
    UnreadableShare,
    rows_of,
    texts_or_rows,
)
from proctor.store.parts.layout import CASES, CaseColumns, case_table

HASH_BYTES = 8
PIECE = 2**22


def reader_of(source: RowFile) -> ShareReader:
    """Return what reads the rows of a file."""
    dialect = registry.build("dialect", Spec(name=source.dialect))
    row = source.first_row
    reader: ShareReader | None = dialect.shares(
        Path(source.path),
        root=None if source.root is None else Path(source.root),
        first_row=None if row is None else FileRow(*row),
    )
    if reader is None:
        raise UnreadableShare
    return reader


def file_rows(source: RowFile, share: Share) -> Iterator[FileRow]:
    """Yield the rows of a share."""
    return (FileRow(*row) for row in rows_of(share, source.limits))


def case_rows(reader: ShareReader, source: RowFile, share: Share) -> Iterator[FileRow | TextRows]:
    """Yield the rows of a share; those of a table of texts by columns, if the reader takes them."""
    if share.path.lower().endswith(JSONL) or not reader.takes_text_rows:
        yield from file_rows(source, share)
        return
    for some in texts_or_rows(share, source.limits):
        if isinstance(some, TextColumns):
            yield TextRows(some.before, some.names, some.columns)
        else:
            yield from (FileRow(*row) for row in some)


def answer_rows(reader: ShareReader, source: RowFile, share: Share) -> Iterator[AnswerRow]:
    """Yield the answers of a share; those of a table that has nothing else by its columns."""
    if share.path.lower().endswith(JSONL):
        yield from reader.answers(file_rows(source, share))
        return
    for some in texts_or_rows(share, source.limits, ("case", "output")):
        if isinstance(some, TextColumns):
            cases, outputs = some.columns
            yield from reader.text_answers(cases, outputs)
        else:
            yield from reader.answers(FileRow(*row) for row in some)


def content_of(task: ContentTask) -> FileContent:
    """Hash the content of a file."""
    hasher = hashlib.blake2b(digest_size=16)
    with Path(task.path).open("rb") as file:
        for piece in iter(lambda: file.read(PIECE), b""):
            hasher.update(piece)
    return FileContent(digest=hasher.hexdigest())


def check_cases(task: CheckTask) -> CheckedCases:
    """Read the cases of a share, and write those that belong to the run."""
    try:
        reader = reader_of(task.source)
        share = reader.cases(case_rows(reader, task.source, task.share), task.first)
    except RowProblem:
        raise UnreadableShare from None
    scorers = Scorers(allow_import=task.allow_import, language=task.language)
    survey = surveyed(scorers, share, task.keep)
    if survey.problems:
        raise UnreadableShare
    keep = task.keep
    size = 0
    if keep:
        columns = CaseColumns(
            position=range(task.first, task.first + keep),
            id=share.ids[:keep],
            source=share.sources[:keep],
            document=share.documents[:keep],
        )
        size = task.folder.write(task.place, CASES, case_table(columns))
    return CheckedCases(
        cases=keep,
        keys=b"".join(map(document_key, islice(share.documents, keep))).hex(),
        ids=id_hashes(share.ids),
        size=size,
        survey=survey_to_json(survey),
        warnings=[asdict(warning) for warning in share.warnings],
        tags=list(share.tags),
        clustered=sorted(share.clustered),
    )


def check_answers(task: AnswersTask) -> CheckedAnswers:
    """Read the answers of a share."""
    ids: list[str] = []
    numbers: list[int | None] = []
    has_output = False
    reader = reader_of(task.source)
    try:
        for row in answer_rows(reader, task.source, task.share):
            ids.append(row.case_id)
            numbers.append(row.number)
            if row.rest is None:
                has_output = True
            else:
                has_output = has_output or "output" in row.rest or "messages" in row.rest
                reader.attempt(row, 0, ())
    except RowProblem:
        raise UnreadableShare from None
    if not any(number is not None for number in numbers):
        numbers.clear()
    count, hashes = len(ids), id_hashes(ids)
    return CheckedAnswers(answers=count, ids=hashes, numbers=numbers, has_output=has_output)


def id_hashes(ids: Iterable[str]) -> str:
    """Return 16 hexadecimal digits for each id."""
    blake = hashlib.blake2b
    return b"".join(
        [
            blake(one.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()
            for one in ids
        ]
    ).hex()


def document_key(document: bytes) -> bytes:
    """Return the key of a case, as ``core.fingerprint.case_key`` makes it."""
    if b'"files":' in document:
        return bytes.fromhex(content_key(json_bytes.loads(document)))
    return hashlib.blake2b(b"[%b]" % document, digest_size=16).digest()


def surveyed(scorers: Scorers, share: CaseShare, keep: int) -> Survey:
    """Examine the criteria of cases: of those that differ in texts alone, the first one.

    Where more than that is to be told, such as how many cases lack something, all are examined.
    """
    survey = Survey()
    last: dict[int, int] = {}
    thorough: set[int] = set()
    for place, shape in enumerate(islice(share.shapes, keep)):
        if shape in last and shape not in thorough:
            last[shape] = place
            continue
        last[shape] = place
        case = share.examples[shape]
        if shape in thorough:
            case = case_from(json_bytes.loads(share.documents[place]))
        scorers.look_at(case, survey)
        if survey.problems:
            return survey
        if survey.missing or survey.doubts or any(map(_may_doubt, map(scorers.of, case.criteria))):
            thorough.add(shape)
    survey.specs.clear()
    for shape in sorted(last, key=last.__getitem__):
        for criterion in share.examples[shape].criteria:
            survey.specs.pop(criterion.scorer.name, None)
            survey.specs[criterion.scorer.name] = criterion.scorer
    return survey


def _may_doubt(scorer: Scorer) -> bool:
    return type(scorer).doubts is not Scorer.doubts
