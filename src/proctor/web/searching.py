"""Scope of a search on a page, and the notice where texts are not searched."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from starlette.requests import Request

from proctor.core.run import Run
from proctor.store.searching import SMALL
from proctor.store.store import Store
from proctor.web.api.response import Searched
from proctor.web.store_pool import store_pool_of

if TYPE_CHECKING:
    from proctor.store.parts.searching import TextSearch


def searched(request: Request, store: Store, runs: Sequence[Run], words: str) -> Searched | None:
    """Go on with a search in some runs, and say how far it got in the one that is behind most.

    ``why`` says why only ids and tags are searched: texts are still ``filling`` the index, the
    words are too ``short`` for it, or it is ``missing``. The texts of a run in parts are read
    without an index, some of them with each request: ``scanning`` says that more are left.
    """
    if not words:
        return None
    searches = store.search.in_parts([run.id for run in runs], words)
    states = [
        _indexed(request, store, run, words) if search is None else _scanned(search)
        for run, search in zip(runs, searches, strict=True)
    ]
    return min(states, key=lambda state: (not state.why, state.indexed))


def _scanned(search: "TextSearch") -> Searched:
    return Searched(
        texts=True,
        why="" if search.whole else "scanning",
        whole=search.whole,
        indexed=search.scanned,
        cases=search.cases,
    )


def _indexed(request: Request, store: Store, run: Run, words: str) -> Searched:
    """Say whether an index has the texts of a run, and queue them for it if not."""
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
