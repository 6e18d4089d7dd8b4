"""Add the parts of large runs and suites, which are files beside the store."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the tables; all earlier runs have their cases in rows."""
    op.create_table(
        "run_parts",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("first", sa.Integer, nullable=False),
        sa.Column("cases", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("scores", sa.Integer, nullable=False),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_table(
        "suite_parts",
        sa.Column("suite_key", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("first", sa.Integer, nullable=False),
        sa.Column("cases", sa.Integer, nullable=False),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
    )
