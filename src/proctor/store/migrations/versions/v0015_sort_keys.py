"""Add what the cases of a run can be sorted by: tokens, time, cost, lengths, reason, tags."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_KEYS = {
    "attempts": sa.Integer,
    "tokens": sa.BigInteger,
    "seconds": sa.Float,
    "cost": sa.Float,
    "question_length": sa.Integer,
    "answer_length": sa.Integer,
    "reason": sa.Text,
    "tag_text": sa.Text,
}


def upgrade() -> None:
    """Add the columns; earlier rows have nothing in them, and nothing in the indexes."""
    for name, kind in _KEYS.items():
        op.add_column("run_results", sa.Column(name, kind))
        present = sa.text(f"{name} IS NOT NULL")
        op.create_index(
            f"ix_run_results_{name}",
            "run_results",
            ["run_id", name, "position"],
            sqlite_where=present,
            postgresql_where=present,
        )
