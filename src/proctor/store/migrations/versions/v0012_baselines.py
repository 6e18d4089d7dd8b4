"""Add baselines, the runs that later ones of their suites are compared with."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add the table; no run was pinned before."""
    op.create_table(
        "baselines",
        sa.Column("suite", sa.Text, primary_key=True),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("pinned", sa.Float, nullable=False),
    )
