"""Cases that a search over all runs found, with the words marked where they occur."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from proctor.store.rows import LinkedCase
from proctor.store.searching import SearchHit
from proctor.store.store import Store
from proctor.web.api.response import ResponseModel
from proctor.web.highlight import pieces
from proctor.web.pages.case_models import Pieces, TextPiece

MOST_CASES = 30
"""How many cases a page of a search lists."""
MOST_COUNTED = 1000
"""Up to how many matches are counted."""
AROUND = 80
"""How many characters are shown before and after the words."""


class FoundCase(ResponseModel):
    """A case that a search found."""

    run: str
    name: str
    id: str
    value: float | None = Field(None, description="null without a score, and while the run goes on")
    full: float | None = None
    snippet: Pieces
    """A part of the question or an answer, with the words marked."""


class FoundCases(ResponseModel):
    """The cases whose texts contain the words searched for."""

    found: list[FoundCase]
    waiting: int = Field(description="runs whose texts are not indexed yet")
    count: int = Field(description=f"how many there are, counted up to {MOST_COUNTED}")
    whole: bool = Field(description="whether all were counted")
    next: int | None = Field(description="the value of `skip` for the next page")


def found_cases(
    store: Store, words: str, skip: int, names: dict[str, str], waiting: int
) -> FoundCases:
    """Return a page of the cases that contain some words."""
    hits = store.search.find(words, MOST_CASES + 1, skip=skip)
    count = store.search.count(words, MOST_COUNTED + 1)
    shown = hits[:MOST_CASES]
    snippets = _snippets(store, shown, words)
    values = _values(store, shown)
    unknown = {hit.run_id for hit in shown} - names.keys()
    for run_id in unknown:
        run = store.runs.find(run_id)
        names = {**names, run_id: run_id if run is None else run.name}
    return FoundCases(
        found=[
            FoundCase(
                run=hit.run_id,
                name=names[hit.run_id],
                id=hit.case_id,
                value=values.get(hit, (None, None))[0],
                full=values.get(hit, (None, None))[1],
                snippet=snippets.get(hit, []),
            )
            for hit in shown
        ],
        waiting=waiting,
        count=min(count, MOST_COUNTED),
        whole=count <= MOST_COUNTED,
        next=skip + MOST_CASES if len(hits) > MOST_CASES else None,
    )


def snippet(texts: Iterator[str], words: str) -> Pieces:
    """Cut the first text that contains some words around them, and mark them."""
    folded = words.lower()
    for text in texts:
        at = text.lower().find(folded)
        if at < 0:
            continue
        start, stop = max(0, at - AROUND), at + len(words) + AROUND
        before, after = "…" if start else "", "…" if stop < len(text) else ""
        cut = f"{before}{text[start:stop]}{after}"
        place = at - start + len(before)
        return [TextPiece(**one) for one in pieces(cut, [(place, place + len(words))])]
    return []


def _by_run(hits: Sequence[SearchHit]) -> dict[str, list[str]]:
    by_run: dict[str, list[str]] = {}
    for hit in hits:
        by_run.setdefault(hit.run_id, []).append(hit.case_id)
    return by_run


def _values(store: Store, hits: Sequence[SearchHit]) -> dict[SearchHit, tuple[float | None, float]]:
    """Return the values of cases of ended runs, with their full scores."""
    return {
        SearchHit(run_id, case_id): found
        for run_id, case_ids in _by_run(hits).items()
        for case_id, found in store.results.values_of(run_id, case_ids).items()
    }


def _snippets(store: Store, hits: Sequence[SearchHit], words: str) -> dict[SearchHit, Pieces]:
    snippets: dict[SearchHit, Pieces] = {}
    for run_id, case_ids in _by_run(hits).items():
        places = store.criterion_points.places(run_id, case_ids)
        for linked in store.attempts.cases_at(run_id, sorted(places.values())):
            snippets[SearchHit(run_id, linked.case.id)] = snippet(_texts(linked), words)
    return snippets


def _texts(linked: LinkedCase) -> Iterator[str]:
    for attempt, _ in linked.attempts:
        yield attempt.output
    for message in linked.case.messages:
        yield message.content
    for attempt, _ in linked.attempts:
        for message in attempt.messages:
            yield message.content
