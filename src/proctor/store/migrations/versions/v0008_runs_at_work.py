"""Add until when a run counts as being worked at."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the column; runs that were left in mid-work before have none, and so are interrupted."""
    op.add_column("runs", sa.Column("alive_until", sa.Float))
