"""Add the orders in which a page lists the cases of a run."""

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Index the results of runs by value, case and status."""
    for column in ("value", "case_id", "status"):
        op.create_index(f"ix_run_results_{column}", "run_results", ["run_id", column, "position"])
