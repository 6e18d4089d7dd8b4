"""Moving of a run from rows to parts."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from proctor.errors import StoreError
from proctor.io.concurrency import batched
from proctor.store.parts import layout
from proctor.store.parts.files import RUN, SUITE, PartFolder
from proctor.store.parts.layout import ATTEMPTS, CASES, RESULTS
from proctor.store.parts.rows import RunPart, SuitePart
from proctor.store.rows import LinkedCase
from proctor.store.suites import drop_case_rows

if TYPE_CHECKING:
    from proctor.store.store import Store

PART = 20_000
"""Cases of a part."""


def move_to_parts(store: "Store", run_id: str, *, cases: int = PART) -> int:
    """Write a run's cases as parts of so many cases, and drop its rows; return how many parts.

    The cases of its suite become parts, too, if the suite has rows. What the run has by key, and
    no other run, is not found by key any more: this is for runs whose attempts and scores can be
    made again for nothing, such as imported ones and those of answers on file.
    """
    folder = store.parts.folder
    if folder is None:
        raise StoreError(
            f"the store at {store.place} is shared, and has no place for parts (fix: name one that"
            " all its readers reach with --parts, or in PROCTOR_PARTS)"
        )
    if store.homes.run(run_id) is not None:
        return len(store.parts.of_run(run_id))
    suite_key = store.runs.suite_key(run_id)
    run_parts = list(_write_run(store, folder, run_id, cases))
    suite_parts: list[SuitePart] = []
    if store.homes.suite(suite_key) is None:
        suite_parts = list(_write_suite(store, folder, suite_key, cases))
    with store.batch():
        for part in run_parts:
            store.parts.commit(run_id, part)
        if suite_parts:
            drop_case_rows(store.database, suite_key)
        for suite_part in suite_parts:
            store.parts.commit_suite(suite_key, suite_part)
    return len(run_parts)


def _write_run(store: "Store", folder: PartFolder, run_id: str, cases: int) -> Iterator[RunPart]:
    results = store.results.iter_rows(run_id)
    first = 0
    for number, linked in enumerate(batched(_in_order(store, run_id), cases)):
        rows = list(islice(results, len(linked)))
        if [row.position for row in rows] != [one.position for one in linked]:
            raise StoreError(
                f"the run {run_id} has not been summed up, and cannot be moved (fix: finish it)"
            )
        place = folder.new_place(RUN, run_id, number)
        attempts = layout.attempt_table(layout.columns_of_attempts(linked))
        size = folder.write(place, ATTEMPTS, attempts)
        size += folder.write(place, RESULTS, layout.result_table(layout.columns_of_results(rows)))
        yield RunPart(
            number=number,
            first=first,
            cases=len(linked),
            attempts=attempts.num_rows,
            scores=sum(len(scores) for one in linked for _, scores in one.attempts),
            place=place,
            size=size,
        )
        first += len(linked)


def _in_order(store: "Store", run_id: str) -> Iterator[LinkedCase]:
    """Yield the cases of a run, which must have every position of its suite."""
    for place, linked in enumerate(store.attempts.iter_cases(run_id)):
        if linked.position != place:
            raise StoreError(
                f"the run {run_id} has no attempt at case {place + 1}, and cannot be moved (fix:"
                " finish it)"
            )
        yield linked


def _write_suite(
    store: "Store", folder: PartFolder, suite_key: str, cases: int
) -> Iterator[SuitePart]:
    rows = ((place, case) for place, _, case in store.suites.iter_cases(suite_key))
    first = 0
    for number, batch in enumerate(batched(rows, cases)):
        place = folder.new_place(SUITE, suite_key, number)
        table = layout.case_table(layout.columns_of_cases(batch))
        size = folder.write(place, CASES, table)
        yield SuitePart(number=number, first=first, cases=len(batch), place=place, size=size)
        first += len(batch)
