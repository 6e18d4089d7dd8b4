"""Add the comparisons of battles."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the table of comparisons."""
    texts = ("content", "first_run", "second_run", "case_id", "judge", "outcome")
    op.create_table(
        "comparisons",
        sa.Column("key", sa.Text, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in texts),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_index("ix_comparisons_first_run", "comparisons", ["first_run", "second_run"])
    op.create_index("ix_comparisons_second_run", "comparisons", ["second_run"])
