"""Run queries on a database that a suite sets up, and print their rows; runs in a sandbox.

It uses the standard library alone and imports nothing of the product.
"""

import json
import sqlite3
import time
from typing import Any

JOB = "job.json"
SECONDS = 5.0
STEPS = 10_000
"""Steps of SQLite's machine between two looks at the clock."""
MOST_ROWS = 10_000
MOST_CELL = 100_000
READING = {
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE,
}  # fmt: skip
FORBIDDEN = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"}


def allowed(action: int, first: str | None, second: str | None, *_: Any) -> int:
    """Let a query read, and do nothing else."""
    if action not in READING:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and second in FORBIDDEN:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def rows_of(setup: str, query: str) -> dict[str, Any]:
    """Return the columns and rows of one query, each on a database of its own."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.executescript(setup)
    except sqlite3.Error as error:
        return {"setup": str(error)}
    begun = time.monotonic()
    connection.execute("PRAGMA query_only = ON")
    connection.set_authorizer(allowed)
    connection.set_progress_handler(lambda: time.monotonic() - begun > SECONDS, STEPS)
    try:
        cursor = connection.execute(query)
        rows = cursor.fetchmany(MOST_ROWS + 1)
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        slow = "interrupted" in str(error)
        return {"error": f"it took longer than {SECONDS:g} s" if slow else str(error)}
    if cursor.description is None:
        return {"error": "it is no query"}
    if len(rows) > MOST_ROWS:
        return {"error": f"it gave more than {MOST_ROWS} rows"}
    columns = [column[0] for column in cursor.description]
    return {"columns": columns, "rows": [[cell(value) for value in row] for row in rows]}


def cell(value: Any) -> Any:
    """Return a value as JSON."""
    if isinstance(value, bytes):
        return {"blob": value[:MOST_CELL].hex()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return str(value)
    return value[:MOST_CELL] if isinstance(value, str) else value


def main() -> None:
    """Run what the job says; whoever lays this file into a sandbox adds the call."""
    with open(JOB, encoding="utf-8") as file:
        job = json.load(file)
    print(json.dumps([rows_of(job["setup"], query) for query in job["queries"]]), flush=True)  # noqa: T201
