"""The tables of the current schema; migrations bring older databases to it."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Dialect,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    cast,
    func,
    text,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from proctor.store.cells import read_number, read_text, read_whole
from proctor.store.rows import escape

VERSIONS = tuple(f"{number:04}" for number in range(1, 17))
"""The migrations in order; a store at the last one is current."""
VERSION_TABLE = "proctor_version"


class AnyText(TypeDecorator[str]):
    """Text column for arbitrary strings from files or models."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape on the way in."""
        return None if value is None else escape(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Restore on the way out."""
        return read_text(value)


class AnyNumber(TypeDecorator[float]):
    """Number column; other stored values are read as NaN."""

    impl = Float
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> float | None:
        """Let finite numbers through."""
        return read_number(value)


class AnyWhole(TypeDecorator[int]):
    """Integer column; other stored values are read as -1."""

    impl = Integer
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> int | None:
        """Let whole numbers through."""
        return read_whole(value)


class LargeWhole(AnyWhole):
    """Integer column that takes more than 32 bits on a server, too."""

    impl = BigInteger
    cache_ok = True


def total_size(table: Table) -> ColumnElement[int]:
    """Return the sum of a table's column ``size`` as a whole number, which PostgreSQL widens."""
    return cast(func.sum(table.c.size), LargeWhole)


def is_number(kind: TypeEngine[Any]) -> bool:
    """Tell whether a column or expression is a number."""
    return isinstance(kind, Float | AnyNumber)


metadata = MetaData()

store_settings = Table(
    "store_settings",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

suites = Table(
    "suites",
    metadata,
    Column("key", Text, primary_key=True),
    Column("name", AnyText, nullable=False),
    Column("version", AnyText, nullable=False),
    Column("dialect", AnyText, nullable=False),
    Column("cases", AnyWhole, nullable=False),
    Column("created", AnyNumber, nullable=False),
    Column("document", Text, nullable=False),
    Column("imported", AnyWhole, nullable=False, server_default="0"),
)

cases = Table(
    "cases",
    metadata,
    Column("key", Text, primary_key=True),
    Column("document", Text, nullable=False),
)

suite_cases = Table(
    "suite_cases",
    metadata,
    Column("suite_key", Text, primary_key=True),
    Column("position", AnyWhole, primary_key=True),
    Column("case_key", Text, nullable=False),
    Column("case_id", AnyText, nullable=False),
    Column("source", AnyText, nullable=False),
    Index("ix_suite_cases_case_id", "suite_key", "case_id"),
    Index("ix_suite_cases_case_key", "case_key"),
    sqlite_with_rowid=False,
)

attempts = Table(
    "attempts",
    metadata,
    Column("key", Text, primary_key=True),
    Column("status", Text, nullable=False),
    Column("document", Text, nullable=False),
)

scores = Table(
    "scores",
    metadata,
    Column("key", Text, primary_key=True),
    Column("scorer", AnyText, nullable=False),
    Column("status", Text, nullable=False),
    Column("document", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", AnyText, primary_key=True),
    Column("name", AnyText, nullable=False),
    Column("suite", AnyText, nullable=False),
    Column("suite_key", Text, nullable=False),
    Column("candidate", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("started", AnyNumber, nullable=False),
    Column("finished", AnyNumber),
    Column("signature", AnyText, nullable=False),
    Column("imported", AnyWhole, nullable=False, server_default="0"),
    Column("alive_until", AnyNumber),
    Index("ix_runs_started", "started"),
    Index("ix_runs_name", "name", "started"),
    Index("ix_runs_suite_key", "suite_key", "started"),
)

run_attempts = Table(
    "run_attempts",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("position", AnyWhole, primary_key=True),
    Column("number", AnyWhole, primary_key=True),
    Column("attempt_key", Text, nullable=False),
    Index("ix_run_attempts_attempt_key", "attempt_key"),
    sqlite_with_rowid=False,
)

run_scores = Table(
    "run_scores",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("position", AnyWhole, primary_key=True),
    Column("number", AnyWhole, primary_key=True),
    Column("criterion", AnyText, primary_key=True),
    Column("score_key", Text, nullable=False),
    Index("ix_run_scores_score_key", "score_key"),
    sqlite_with_rowid=False,
)

SORT_KEYS: Mapping[str, type[TypeEngine[Any]]] = {
    "attempts": AnyWhole,
    "tokens": LargeWhole,
    "seconds": AnyNumber,
    "cost": AnyNumber,
    "question_length": AnyWhole,
    "answer_length": AnyWhole,
    "reason": AnyText,
    "tag_text": AnyText,
}
"""Columns that exist to sort the cases of a run by; each may be NULL."""


def _key_index(name: str) -> Index:
    """Return the index of a sort key, without the rows that have none, which cost nothing."""
    present = text(f"{name} IS NOT NULL")
    columns = ("run_id", name, "position")
    return Index(f"ix_run_results_{name}", *columns, sqlite_where=present, postgresql_where=present)


run_results = Table(
    "run_results",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("position", AnyWhole, primary_key=True),
    Column("case_id", AnyText, nullable=False),
    Column("status", Text, nullable=False),
    Column("value", AnyNumber),
    Column("full", AnyNumber, nullable=False),
    Column("weight", AnyNumber, nullable=False),
    Column("low", AnyNumber, nullable=False),
    Column("high", AnyNumber, nullable=False),
    Column("spread", AnyNumber, nullable=False),
    Column("tags", Text, nullable=False),
    Column("cluster", AnyText),
    Index("ix_run_results_value", "run_id", "value", "position"),
    Index("ix_run_results_case_id", "run_id", "case_id", "position"),
    *(Column(name, kind) for name, kind in SORT_KEYS.items()),
    Index("ix_run_results_status", "run_id", "status", "position"),
    *(_key_index(name) for name in SORT_KEYS),
    sqlite_with_rowid=False,
)

run_tags = Table(
    "run_tags",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("tag", AnyText, primary_key=True),
    Column("value", AnyText, primary_key=True),
    Column("position", AnyWhole, primary_key=True),
    sqlite_with_rowid=False,
)

run_parts = Table(
    "run_parts",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("number", AnyWhole, primary_key=True, autoincrement=False),
    Column("first", AnyWhole, nullable=False),
    Column("cases", AnyWhole, nullable=False),
    Column("attempts", AnyWhole, nullable=False),
    Column("scores", AnyWhole, nullable=False),
    Column("place", AnyText, nullable=False),
    Column("size", LargeWhole, nullable=False),
    Column("document", Text, nullable=False),
)

suite_parts = Table(
    "suite_parts",
    metadata,
    Column("suite_key", Text, primary_key=True),
    Column("number", AnyWhole, primary_key=True, autoincrement=False),
    Column("first", AnyWhole, nullable=False),
    Column("cases", AnyWhole, nullable=False),
    Column("place", AnyText, nullable=False),
    Column("size", LargeWhole, nullable=False),
)

summaries = Table(
    "summaries",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("document", Text, nullable=False),
)

searched = Table(
    "searched",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("cases", AnyWhole, nullable=False),
    Column("last", AnyWhole, nullable=False),
    Column("whole", AnyWhole, nullable=False),
    Index("ix_searched_run_id", "run_id"),
)

calls = Table(
    "calls",
    metadata,
    Column("key", Text, primary_key=True),
    Column("model", AnyText, nullable=False),
    Column("request", Text, nullable=False),
    Column("response", Text, nullable=False),
    Column("usage", Text, nullable=False),
    Column("cost", AnyNumber),
    Column("seconds", AnyNumber),
    Column("created", AnyNumber, nullable=False),
    Column("status", Text, nullable=False),
)

labels = Table(
    "labels",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("case_id", AnyText, nullable=False),
    Column("number", AnyWhole, nullable=False),
    Column("criterion", AnyText, nullable=False),
    Column("points", AnyNumber),
    Column("note", AnyText, nullable=False),
    Column("author", AnyText, nullable=False),
    Column("created", AnyNumber, nullable=False),
    Column("seen", AnyWhole, nullable=False, server_default="0"),
    Index("ix_labels_run_id", "run_id", "case_id"),
)

audits = Table(
    "audits",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("judge", AnyText, primary_key=True),
    Column("created", AnyNumber, nullable=False),
    Column("document", Text, nullable=False),
)

scans = Table(
    "scans",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("judge", AnyText, primary_key=True),
    Column("created", AnyNumber, nullable=False),
    Column("document", Text, nullable=False),
)

batches = Table(
    "batches",
    metadata,
    Column("id", Text, primary_key=True),
    Column("model", Text, nullable=False),
    Column("remote", AnyText, nullable=False),
    Column("created", AnyNumber, nullable=False),
)

batch_calls = Table(
    "batch_calls",
    metadata,
    Column("batch", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("key", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("written", Text, nullable=False),
)

baselines = Table(
    "baselines",
    metadata,
    Column("suite", AnyText, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("pinned", AnyNumber, nullable=False),
)

comparisons = Table(
    "comparisons",
    metadata,
    Column("key", Text, primary_key=True),
    Column("content", Text, nullable=False),
    Column("first_run", Text, nullable=False),
    Column("second_run", Text, nullable=False),
    Column("case_id", AnyText, nullable=False),
    Column("judge", AnyText, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("created", AnyNumber, nullable=False),
    Column("document", Text, nullable=False),
    Index("ix_comparisons_first_run", "first_run", "second_run"),
    Index("ix_comparisons_second_run", "second_run"),
)

files = Table(
    "files",
    metadata,
    Column("key", Text, primary_key=True),
    Column("size", AnyWhole, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

attempt_files = Table(
    "attempt_files",
    metadata,
    Column("attempt_key", Text, primary_key=True),
    Column("file_key", Text, primary_key=True),
    Index("ix_attempt_files_file_key", "file_key"),
    sqlite_with_rowid=False,
)
