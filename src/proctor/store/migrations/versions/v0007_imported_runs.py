"""Tell runs and suites that were imported from those made here."""

import sqlalchemy as sa
from alembic import op

from proctor.core.encoding import attempt_from
from proctor.core.fingerprint import answer_key
from proctor.store.rows import decode
from proctor.store.suites import read_case

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the mark, and set it on the runs of which it can be told.

    Version 0.1.0 stored the attempts of an imported run under the keys of answers on file. A model
    or an agent that was asked here has none of those. A folder of Arthur Bench left its own id.
    Runs of answers on file cannot be told apart, and stay as they are.
    """
    for table in ("runs", "suites"):
        op.add_column(table, sa.Column("imported", sa.Integer, nullable=False, server_default="0"))
    connection = op.get_bind()
    runs = connection.execute(sa.text("SELECT id, suite_key, candidate, settings FROM runs"))
    for run_id, suite_key, candidate, settings in runs.all():
        if _was_imported(connection, run_id, suite_key, candidate, settings):
            mark = sa.text("UPDATE runs SET imported = 1 WHERE id = :run")
            connection.execute(mark, {"run": run_id})
            _take_apart(connection, run_id)


def _was_imported(
    connection: sa.Connection, run_id: str, suite_key: str, candidate: str, settings: str
) -> bool:
    try:
        if "bench_id" in decode(settings):
            return True
        if decode(candidate)["name"] not in ("model", "agent"):
            return False
        return _is_on_file(connection, run_id, suite_key)
    except (KeyError, TypeError, ValueError):
        return False


def _is_on_file(connection: sa.Connection, run_id: str, suite_key: str) -> bool:
    query = sa.text(
        "SELECT a.key, a.document, c.document, s.source FROM run_attempts r"
        " JOIN attempts a ON a.key = r.attempt_key"
        " JOIN suite_cases s ON s.suite_key = :suite AND s.position = r.position"
        " JOIN cases c ON c.key = s.case_key"
        " WHERE r.run_id = :run ORDER BY r.position, r.number LIMIT 1"
    )
    row = connection.execute(query, {"run": run_id, "suite": suite_key}).first()
    if row is None:
        return False
    key, attempt, case, source = row
    return bool(answer_key(read_case(case, source), attempt_from(decode(attempt))) == key)


def _take_apart(connection: sa.Connection, run_id: str) -> None:
    """Give a run scores under keys that nothing else has, and forget those that only it used."""
    links = sa.table("run_scores", *map(sa.column, (*_PLACE, "score_key")))
    scores = sa.table("scores", *map(sa.column, ("key", *_SCORE)))
    mine, other = links.c.run_id == run_id, links.alias()
    place = [sa.cast(links.c[name], sa.Text) for name in _PLACE]
    own: sa.ColumnElement[str] = sa.literal("imported", sa.Text)
    for part in place:
        own = own.concat("/").concat(part)
    copied = (
        sa.select(own, *(scores.c[name] for name in _SCORE))
        .join_from(links, scores, scores.c.key == links.c.score_key)
        .where(mine)
    )
    connection.execute(sa.insert(scores).from_select(["key", *_SCORE], copied))
    used = sa.select(links.c.score_key).where(mine)
    elsewhere = sa.select(other.c.score_key).where(other.c.run_id != run_id)
    gone = scores.c.key.in_(used) & scores.c.key.not_in(elsewhere)
    connection.execute(sa.delete(scores).where(gone))
    connection.execute(sa.update(links).where(mine).values(score_key=own))


_PLACE = ("run_id", "position", "number", "criterion")
_SCORE = ("scorer", "status", "document")
