"""What changed between a suite and the edition before it: cases added, taken out, edited."""

from pydantic import Field
from starlette.requests import Request

from proctor.store.rows import SuiteRow
from proctor.store.store import Store
from proctor.web.api.response import ResponseModel
from proctor.web.store_pool import store_pool_of

MOST_CASES = 5_000
"""Up to how many cases two editions are held against each other."""


class EditionChange(ResponseModel):
    """How a suite differs from the edition before it."""

    key: str
    version: str
    created: float
    added: list[str]
    removed: list[str]
    edited: list[str] = Field(description="cases of which anything is different")


def change_since(request: Request, store: Store, row: SuiteRow) -> EditionChange | None:
    """Return what changed since the edition before; None without one, or where they are large."""
    before = [
        one
        for one in store.suites.newest()
        if one.name == row.name and one.key != row.key and one.created < row.created
    ]
    earlier = max(before, key=lambda one: one.created, default=None)
    if earlier is None or max(earlier.cases, row.cases) > MOST_CASES:
        return None
    # A suite never changes under its key.
    page_cache = store_pool_of(request).page_cache
    return page_cache.of(("edition", earlier.key, row.key), lambda: _change(store, earlier, row))


def _change(store: Store, earlier: SuiteRow, row: SuiteRow) -> EditionChange:
    old, new = (
        {case.id: key for _, key, case in store.suites.iter_cases(one.key)}
        for one in (earlier, row)
    )
    return EditionChange(
        key=earlier.key,
        version=earlier.version,
        created=earlier.created,
        added=[case_id for case_id in new if case_id not in old],
        removed=[case_id for case_id in old if case_id not in new],
        edited=[case_id for case_id, key in new.items() if old.get(case_id, key) != key],
    )
