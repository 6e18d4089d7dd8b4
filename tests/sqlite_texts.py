"""What SQLite is given by a run of answers on file: compiled from the schema and its statements.

`python tests/sqlite_texts.py` writes src/proctor/store/sqlite_text.py anew.
"""

import json
from pathlib import Path
from typing import Any

from sqlalchemy import Boolean, create_engine
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.sql import Select
from sqlalchemy.types import TypeEngine

from proctor.store import calls, store
from proctor.store.connect import version_table
from proctor.store.database import Database
from proctor.store.parts import ledger
from proctor.store.schema import VERSION_TABLE, VERSIONS, AnyNumber, AnyText, AnyWhole, metadata
from proctor.store.statements import STATEMENTS, Statement

MODULES = (store, calls, ledger)
"""What defines statements: the store loads most of it, and repositories when they are asked for."""
TARGET = Path(store.__file__).with_name("sqlite_text.py")
HEAD = '''\
"""What SQLite is given for the schema and for statements; written by tests/sqlite_texts.py."""

# ruff: noqa: E501
# fmt: off

from typing import Any

'''
KINDS: dict[type[TypeEngine[Any]], str] = {
    AnyText: "text", AnyNumber: "number", AnyWhole: "whole", Boolean: "truth",
}  # fmt: skip


def kind(column: TypeEngine[Any]) -> str:
    """Return how a column is read."""
    return next((name for one, name in KINDS.items() if isinstance(column, one)), "")


def compiled(named: Statement, database: Database) -> tuple[Any, ...]:
    """Return the text of a statement, and what `SqliteStatement` is told about it."""
    dialect = sqlite.dialect()
    expression: Any = database.expression(named)
    is_select = isinstance(expression, Select)
    own = None if is_select else columns_of(named)
    text = expression.compile(dialect=dialect, column_keys=own, for_executemany=not is_select)
    names = tuple(text.positiontup)
    fixed = {
        name: text.params[name]
        for name in names
        if not text.binds[name].required and name not in (own or ())
    }
    types = [text.binds[name].type for name in names]
    texts = tuple(place for place, one in enumerate(types) if isinstance(one, AnyText))
    columns = ()
    if is_select:
        columns = tuple(
            (getattr(one, "name", "") or "", kind(one.type)) for one in expression.selected_columns
        )
    return str(text), names, fixed, texts, columns


def columns_of(named: Statement) -> list[str]:
    """Return the columns of the rows that a statement is executed for."""
    return list(WRITTEN[named.name]) if named.name in WRITTEN else []


WRITTEN: dict[str, tuple[str, ...]] = {
    "attempts.link_attempts": ("run_id", "position", "number", "attempt_key"),
    "attempts.link_scores": ("run_id", "position", "number", "criterion", "score_key"),
    "attempts.put_attempt_files": ("attempt_key", "file_key"),
    "attempts.put_attempts": ("key", "status", "document"),
    "attempts.put_files": ("key", "size", "content"),
    "calls.put_calls": tuple(metadata.tables["calls"].c.keys()),
    "ledger.put_run_part": tuple(metadata.tables["run_parts"].c.keys()),
    "ledger.put_suite_part": tuple(metadata.tables["suite_parts"].c.keys()),
    "opening.put_secret": ("name", "value"),
    "results.insert_results": tuple(metadata.tables["run_results"].c.keys()),
    "results.insert_tags": ("run_id", "tag", "value", "position"),
    "results.put_summary": ("run_id", "document"),
    "runs.put_run": tuple(one.name for one in metadata.tables["runs"].c if one.name != "alive_until"),
    "scores.put_scores": ("key", "scorer", "status", "document"),
    "suites.place_cases": ("suite_key", "position", "case_key", "case_id", "source"),
    "suites.put_cases": ("key", "document"),
    "suites.put_suite": tuple(metadata.tables["suites"].c.keys()),
    "suites.renew_cases": ("key", "document"),
    "suites.renew_suite": tuple(metadata.tables["suites"].c.keys()),
    "suites.renew_places": ("suite_key", "position", "case_key", "case_id", "source"),
}  # fmt: skip
"""The columns of the rows of each insert."""


def schema() -> list[str]:
    """Return what makes the tables and indexes of a new store."""
    dialect = sqlite.dialect()
    made: list[Any] = []
    for table in [*metadata.sorted_tables, version_table]:
        made.append(CreateTable(table))
        made += [CreateIndex(one) for one in sorted(table.indexes, key=lambda one: str(one.name))]
    return [str(one.compile(dialect=dialect)).lstrip() for one in made]


def source() -> str:
    """Return the whole file."""
    database = Database(create_engine("sqlite://"), "nowhere")
    lines = [
        HEAD,
        f"VERSION_TABLE = {VERSION_TABLE!r}\n",
        f"VERSION = {VERSIONS[-1]!r}\n",
        "SCHEMA = (\n",
        *(f"    {json.dumps(one)},\n" for one in schema()),
        ")\n",
        "TEXTS: dict[str, tuple[Any, ...]] = {\n",
    ]
    for name in sorted(STATEMENTS):
        text, *others = compiled(STATEMENTS[name], database)
        lines.append(f"    {name!r}: (\n        {json.dumps(' '.join(text.split()))},\n")
        lines += [f"        {one!r},\n" for one in others]
        lines.append("    ),\n")
    return "".join([*lines, "}\n"])


if __name__ == "__main__":
    TARGET.write_text(source(), encoding="utf-8")
