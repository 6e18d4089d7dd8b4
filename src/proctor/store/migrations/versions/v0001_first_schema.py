"""Create the first schema."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    _content()
    _runs()
    _results()
    _calls_and_labels()


def _key(name: str, kind: type[sa.Text | sa.Integer] = sa.Text) -> sa.Column[Any]:
    return sa.Column(name, kind, primary_key=True)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _float(name: str, *, nullable: bool = False) -> sa.Column[float]:
    return sa.Column(name, sa.Float, nullable=nullable)


def _content() -> None:
    op.create_table(
        "suites",
        _key("key"),
        _text("name"),
        _text("version"),
        _text("dialect"),
        sa.Column("cases", sa.Integer, nullable=False),
        _float("created"),
        _text("document"),
    )
    op.create_table("cases", _key("key"), _text("document"))
    op.create_table(
        "suite_cases",
        _key("suite_key"),
        _key("position", sa.Integer),
        _text("case_key"),
        _text("case_id"),
        _text("source"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_suite_cases_case_id", "suite_cases", ["suite_key", "case_id"])
    op.create_index("ix_suite_cases_case_key", "suite_cases", ["case_key"])
    op.create_table("attempts", _key("key"), _text("status"), _text("document"))
    op.create_table("scores", _key("key"), _text("scorer"), _text("status"), _text("document"))


def _runs() -> None:
    op.create_table(
        "runs",
        _key("id"),
        _text("name"),
        _text("suite"),
        _text("suite_key"),
        _text("candidate"),
        _text("settings"),
        _text("status"),
        _float("started"),
        _float("finished", nullable=True),
        _text("signature"),
    )
    op.create_index("ix_runs_started", "runs", ["started"])
    op.create_index("ix_runs_name", "runs", ["name", "started"])
    op.create_index("ix_runs_suite_key", "runs", ["suite_key", "started"])
    op.create_table(
        "run_attempts",
        _key("run_id"),
        _key("position", sa.Integer),
        _key("number", sa.Integer),
        _text("attempt_key"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_run_attempts_attempt_key", "run_attempts", ["attempt_key"])
    op.create_table(
        "run_scores",
        _key("run_id"),
        _key("position", sa.Integer),
        _key("number", sa.Integer),
        _key("criterion"),
        _text("score_key"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_run_scores_score_key", "run_scores", ["score_key"])


def _results() -> None:
    op.create_table(
        "run_results",
        _key("run_id"),
        _key("position", sa.Integer),
        _text("case_id"),
        _text("status"),
        _float("value", nullable=True),
        _float("full"),
        _float("weight"),
        _float("low"),
        _float("high"),
        _float("spread"),
        _text("tags"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_tags",
        _key("run_id"),
        _key("tag"),
        _key("value"),
        _key("position", sa.Integer),
        sqlite_with_rowid=False,
    )
    op.create_table("summaries", _key("run_id"), _text("document"))


def _calls_and_labels() -> None:
    op.create_table(
        "calls",
        _key("key"),
        _text("model"),
        _text("request"),
        _text("response"),
        _text("usage"),
        _float("cost", nullable=True),
        _float("seconds", nullable=True),
        _float("created"),
        _text("status"),
    )
    op.create_table(
        "labels",
        _key("id", sa.Integer),
        _text("run_id"),
        _text("case_id"),
        sa.Column("number", sa.Integer, nullable=False),
        _text("criterion"),
        _float("points", nullable=True),
        _text("note"),
        _text("author"),
        _float("created"),
    )
    op.create_index("ix_labels_run_id", "labels", ["run_id", "case_id"])
