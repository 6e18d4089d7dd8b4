"""Add the cluster that a case belongs to."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the column; every case of an earlier run stands for itself."""
    op.add_column("run_results", sa.Column("cluster", sa.Text))
