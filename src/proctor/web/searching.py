"""What a plain search on a page looks through, and what is said where that is not all."""

from typing import Literal

from starlette.requests import Request

from proctor.core.run import Run
from proctor.store.searching import SMALL
from proctor.store.store import Store
from proctor.web.api.response import Searched
from proctor.web.store_pool import shelf_of


def searched(request: Request, store: Store, run: Run, words: str) -> Searched | None:
    """Say whether a search in a run reads its texts, and let them be indexed where they are not.

    ``why`` says why only ids and tags are looked at: texts are still ``filling`` the index, the
    words are too ``short`` for it, or it is ``missing``.
    """
    if not words:
        return None
    known = store.search.index_state(run.id)
    rows = store.suites.matching(run.suite_key)
    cases = rows[0].cases if rows else 0
    whole = known is not None and known.whole
    able = shelf_of(request).indexer.ask(run.id) if not whole else True
    why: Literal["", "short", "filling", "missing"] = ""
    if cases > SMALL and not (whole and store.search.can_search(words)):
        why = "short" if not store.search.can_search(words) else "filling" if able else "missing"
    return Searched(
        texts=not why,
        why=why,
        whole=whole or not able,
        indexed=known.cases if known is not None else 0,
        cases=cases,
    )
