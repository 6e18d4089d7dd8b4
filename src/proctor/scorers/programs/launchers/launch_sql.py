"""Run the statements of main.sql in SQLite and prove that every test holds; runs in a sandbox.

It uses the standard library alone and imports nothing of the product.
"""

import sqlite3
import sys
from collections.abc import Iterator

SOURCE = "main.sql"
BOUNDARY = "-- the test begins here"
ANSWER_TABLE = "proctor_rows_of_the_last_query"


def main() -> int:
    """Run the candidate's statements, then those of the test."""
    proof = sys.stdin.readline().strip()
    with open(SOURCE, encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    border = len(lines) - lines[::-1].index(BOUNDARY)
    connection = sqlite3.connect(":memory:", isolation_level=None)
    last = ""
    for line, statement in statements(lines[:border], 1):
        cursor = run(connection, statement, line)
        if cursor is None:
            return 1
        if cursor.description is not None:
            last = statement
            cursor.fetchall()
    if last:
        keep_answer(connection, last)
    for line, statement in statements(lines[border:], border + 1):
        cursor = run(connection, statement, line)
        if cursor is None or not holds(cursor, statement, line):
            return 1
    print(f"\n{proof}", flush=True)  # noqa: T201 - this is what it is for
    return 0


def statements(lines: list[str], first: int) -> Iterator[tuple[int, str]]:
    """Yield each statement with the line where it begins."""
    waiting: list[str] = []
    began = first
    for number, line in enumerate([*lines, ";"], first):
        for piece in pieces(line):
            if not "".join(waiting).strip():
                waiting, began = [], number
            waiting.append(piece)
            text = "".join(waiting)
            if piece.endswith(";") and sqlite3.complete_statement(text):
                if text.strip(" \t\r\n;"):
                    yield began, text
                waiting = []
        waiting.append("\n")
    if rest := "".join(waiting).strip(" \t\r\n;"):
        yield began, rest


def pieces(line: str) -> list[str]:
    """Cut a line after each semicolon."""
    parts = line.split(";")
    return [part + ";" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def run(connection: sqlite3.Connection, statement: str, line: int) -> sqlite3.Cursor | None:
    """Run one statement; say where it went wrong."""
    try:
        return connection.execute(statement)
    except sqlite3.Error as error:
        print(f"Error: {error} ({SOURCE}:{line})", file=sys.stderr)  # noqa: T201
        return None


def keep_answer(connection: sqlite3.Connection, query: str) -> None:
    """Let the test look at the rows of the candidate's last query under the name of answer."""
    schemas = [
        (kind, schema)
        for schema in ("main", "temp")
        for (kind,) in connection.execute(
            f"SELECT type FROM {schema}.sqlite_master WHERE lower(name) = 'answer'"  # noqa: S608  # nosec B608
        )
    ]
    try:
        if not schemas:
            connection.execute(f"CREATE TEMP VIEW answer AS {query}")
            return
        # What the candidate itself called so may be what its query reads, but not what is checked.
        connection.execute(f"CREATE TEMP TABLE {ANSWER_TABLE} AS {query}")
        for kind, schema in schemas:
            connection.execute(f"DROP {kind} {schema}.answer")
        connection.execute(f"ALTER TABLE temp.{ANSWER_TABLE} RENAME TO answer")
    except sqlite3.Error as error:
        print(f"there is no view answer: {error}", file=sys.stderr)  # noqa: T201
        for kind, schema in schemas:
            connection.execute(f"DROP {kind} IF EXISTS {schema}.answer")


def holds(cursor: sqlite3.Cursor, statement: str, line: int) -> bool:
    """Tell whether a query gave rows, and only true values in them; others always hold."""
    if cursor.description is None:
        return True
    rows = cursor.fetchall()
    if rows and all(cell for row in rows for cell in row):
        return True
    shown = f"{rows[:3]}" if rows else "no row"
    text = " ".join(statement.split())[:200]
    message = f"AssertionError: {text} gave {shown} ({SOURCE}:{line})"
    print(message, file=sys.stderr)  # noqa: T201
    return False


if __name__ == "__main__":
    sys.exit(main())
