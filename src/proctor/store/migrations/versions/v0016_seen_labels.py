"""Add whether a label was given when the judge's verdict had been seen."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Add the column; earlier labels were given where the verdict is hidden."""
    op.add_column("labels", sa.Column("seen", sa.Integer, nullable=False, server_default="0"))
