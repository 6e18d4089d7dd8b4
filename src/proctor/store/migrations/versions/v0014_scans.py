"""Add what judges marked in the transcripts of runs."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the table; nothing was scanned before."""
    op.create_table(
        "scans",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("judge", sa.Text, primary_key=True),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
