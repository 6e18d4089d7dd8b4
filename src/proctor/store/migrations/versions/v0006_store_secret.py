"""Add what a store knows about itself: its secret."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the table of settings, and draw the secret."""
    table = op.create_table(
        "store_settings",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.bulk_insert(table, [{"name": "secret", "value": secrets.token_hex(32)}])
