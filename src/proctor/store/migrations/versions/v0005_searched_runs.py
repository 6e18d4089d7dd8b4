"""Add which runs have their texts in the index that plain search looks into."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the table of indexed runs; the index itself is made when somebody first searches."""
    op.create_table(
        "searched",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("cases", sa.Integer, nullable=False),
        sa.Column("last", sa.Integer, nullable=False),
        sa.Column("whole", sa.Integer, nullable=False),
    )
    op.create_index("ix_searched_run_id", "searched", ["run_id"])
