"""Scope of a search on a page, and the notice where texts are not searched."""

from typing import Literal

from starlette.requests import Request

from proctor.core.run import Run
from proctor.store.searching import SMALL
from proctor.store.store import Store
from proctor.web.api.response import Searched
from proctor.web.store_pool import store_pool_of


def searched(request: Request, store: Store, run: Run, words: str) -> Searched | None:
    """Say whether a search covers a run's texts, and queue them for indexing if not.

    ``why`` says why only ids and tags are searched: texts are still ``filling`` the index, the
    words are too ``short`` for it, or it is ``missing``. The texts of a run in parts are read
    without an index, some of them with each request: ``scanning`` says that more are left.
    """
    if not words:
        return None
    search = store.search.in_parts(run.id, words, seconds=0.0)
    if search is not None:
        return Searched(
            texts=True,
            why="" if search.whole else "scanning",
            whole=search.whole,
            indexed=search.scanned,
            cases=search.run.end,
        )
    index_state = store.search.index_state(run.id)
    rows = store.suites.matching(run.suite_key)
    cases = rows[0].cases if rows else 0
    whole = index_state is not None and index_state.whole
    able = store_pool_of(request).indexer.ask(run.id) if not whole else True
    why: Literal["", "short", "filling", "missing"] = ""
    if cases > SMALL and not (whole and store.search.can_search(words)):
        why = "short" if not store.search.can_search(words) else "filling" if able else "missing"
    return Searched(
        texts=not why,
        why=why,
        whole=whole or not able,
        indexed=index_state.cases if index_state is not None else 0,
        cases=cases,
    )
