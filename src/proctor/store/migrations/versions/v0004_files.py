"""Add the files that agents left in their working folders."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the table of files, and of the attempts that left them."""
    op.create_table(
        "files",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "attempt_files",
        sa.Column("attempt_key", sa.Text, primary_key=True),
        sa.Column("file_key", sa.Text, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_attempt_files_file_key", "attempt_files", ["file_key"])
