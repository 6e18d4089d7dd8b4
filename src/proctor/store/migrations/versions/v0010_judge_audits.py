"""Add what audits of judges found out."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the table; nothing was audited before."""
    op.create_table(
        "audits",
        sa.Column("run_id", sa.Text, primary_key=True),
        sa.Column("judge", sa.Text, primary_key=True),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
