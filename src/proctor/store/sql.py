"""The words of SQLAlchemy and the tables, for the queries of repositories.

They are loaded when a query is first written: who executes statements that are text already
(``statements``) never waits for them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import (
        and_,
        bindparam,
        delete,
        exists,
        func,
        insert,
        null,
        or_,
        select,
        update,
    )

    from proctor.store.database_time import DatabaseTime
    from proctor.store.schema import (
        attempt_files,
        attempts,
        audits,
        baselines,
        calls,
        cases,
        comparisons,
        files,
        labels,
        run_attempts,
        run_parts,
        run_results,
        run_scores,
        run_tags,
        runs,
        scans,
        scores,
        searched,
        store_settings,
        suite_cases,
        suite_parts,
        suites,
        summaries,
    )

__all__ = [
    "DatabaseTime",
    "and_",
    "attempt_files",
    "attempts",
    "audits",
    "baselines",
    "bindparam",
    "calls",
    "cases",
    "comparisons",
    "delete",
    "exists",
    "files",
    "func",
    "insert",
    "labels",
    "null",
    "or_",
    "run_attempts",
    "run_parts",
    "run_results",
    "run_scores",
    "run_tags",
    "runs",
    "scans",
    "scores",
    "searched",
    "select",
    "store_settings",
    "suite_cases",
    "suite_parts",
    "suites",
    "summaries",
    "update",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import sqlalchemy

    from proctor.store import database_time, schema

    homes = (database_time, schema, sqlalchemy)
    value = next(getattr(home, name) for home in homes if hasattr(home, name))
    globals()[name] = value
    return value
