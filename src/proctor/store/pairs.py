"""Two runs side by side: the same cases found by their ids, counted or listed."""

from collections.abc import Iterator
from typing import Any, Literal

from sqlalchemy import Select, and_, func, or_, select

from proctor.core.run import Run
from proctor.core.suite import Case
from proctor.store.database import Database
from proctor.store.document import BROKEN, tags_of
from proctor.store.rows import PairedCount, PairedRow, StoredPair
from proctor.store.schema import cases, run_results, run_tags, suite_cases
from proctor.store.suites import read_case

Change = Literal["better", "worse", "both_wrong", "both_partly", "both_right"]

NEAR = 1e-9
"""Shares of full marks that differ by less are the same."""
ONE = run_results.alias("one")
TWO = run_results.alias("two")
VALUES = (
    *(ONE.c[name] for name in ("full", "weight", "status", "value", "low", "high")),
    *(TWO.c[name].label(f"{name}_2") for name in ("full", "status", "value", "low", "high")),
)


class Pairs:
    """The results of two runs as pairs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def iter_counts(
        self, first: Run, second: Run, *, tag: str | None = None
    ) -> Iterator[PairedCount]:
        """Yield what the cases of a run came to beside another, each outcome once with its count.

        With a tag, they are counted apart for each of its values. A database counts a million
        rights and wrongs long before they could be read one by one.
        """
        group = () if tag is None else (run_tags.c.value,)
        query = joined(first, second, select(func.count(), *group, *VALUES))
        if tag is not None:
            query = query.join(
                run_tags,
                and_(
                    run_tags.c.run_id == first.id,
                    run_tags.c.tag == tag,
                    run_tags.c.position == ONE.c.position,
                ),
            )
        query = query.group_by(*group, *VALUES)
        with self._database.read() as connection:
            streamed = connection.execution_options(yield_per=1000).execute(query)
            for row in streamed:
                values = PairedRow(*row[1 + len(group) :])
                yield PairedCount(values, row[0], row[1] if group else "")

    def iter_cases(
        self, first: Run, second: Run, change: Change | None = None, *, after: int = -1
    ) -> Iterator[StoredPair]:
        """Yield the cases that count in both runs in the order of the first, a page at a time."""
        columns = select(ONE.c.position, ONE.c.case_id, ONE.c.tags, *VALUES)
        query = joined(first, second, columns).where(changed(change))
        for row in self._database.fetch_pages(query, ONE.c.position, after, None):
            yield paired_case(row)

    def neighbours(
        self, first: Run, second: Run, position: int, change: Change | None = None
    ) -> tuple[str | None, str | None]:
        """Return the ids of the cases before and after a place, of all or of one kind."""
        query = joined(first, second, select(ONE.c.case_id)).where(changed(change))
        place = ONE.c.position
        before = self._database.fetch_first(
            query.where(place < position).order_by(place.desc()).limit(1)
        )
        after = self._database.fetch_first(query.where(place > position).order_by(place).limit(1))
        return before and before.case_id, after and after.case_id

    def largest_changes(
        self, first: Run, second: Run, change: Change, limit: int
    ) -> list[StoredPair]:
        """Return the cases that changed most, by the points they moved; the earlier of equals."""
        columns = select(ONE.c.position, ONE.c.case_id, ONE.c.tags, *VALUES)
        query = joined(first, second, columns).where(changed(change))
        moved = ONE.c.weight * ONE.c.full * func.abs(difference())
        order = [moved.desc()] if change in ("better", "worse") else []
        rows = self._database.fetch_all(query.order_by(*order, ONE.c.position).limit(limit))
        return [paired_case(row) for row in rows]

    def iter_changed_cases(
        self, first_suite: str, second_suite: str
    ) -> Iterator[tuple[Case, Case]]:
        """Yield the cases that two suites have by the same id and not with the same content."""
        if first_suite == second_suite:
            return
        one, two = suite_cases.alias("one"), suite_cases.alias("two")
        here, there = cases.alias("here"), cases.alias("there")
        query = (
            select(one.c.position, here.c.document, there.c.document.label("other"))
            .join(two, (two.c.suite_key == second_suite) & (two.c.case_id == one.c.case_id))
            .join(here, here.c.key == one.c.case_key)
            .join(there, there.c.key == two.c.case_key)
            .where(one.c.suite_key == first_suite, one.c.case_key != two.c.case_key)
        )
        for _, document, other in self._database.fetch_pages(query, one.c.position, -1, None):
            try:
                yield read_case(document, ""), read_case(other, "")
            except BROKEN:
                continue


def joined(first: Run, second: Run, query: Select[Any]) -> Select[Any]:
    """Put the rows of the second run beside those of the first, by index look-ups alone.

    In the same suite a case has the same place; in another it is looked for by its id.
    """
    tables: Any = ONE
    place = ONE.c.position
    if first.suite_key != second.suite_key:
        other = suite_cases.alias("other")
        same = and_(other.c.suite_key == second.suite_key, other.c.case_id == ONE.c.case_id)
        tables, place = ONE.outerjoin(other, same), other.c.position
    met = and_(TWO.c.run_id == second.id, TWO.c.position == place)
    return query.select_from(tables.outerjoin(TWO, met)).where(ONE.c.run_id == first.id)


def difference() -> Any:
    """Return by how much of the full marks the second is better."""
    return func.coalesce(TWO.c.value / func.nullif(TWO.c.full, 0.0), 0.0) - func.coalesce(
        ONE.c.value / func.nullif(ONE.c.full, 0.0), 0.0
    )


def changed(change: Change | None) -> Any:
    """Return the condition under which a pair is of a kind; both must have a value."""
    both = and_(ONE.c.value.is_not(None), TWO.c.value.is_not(None))
    if change is None:
        return both
    if change == "better":
        return and_(both, difference() > NEAR)
    if change == "worse":
        return and_(both, difference() < -NEAR)
    short = or_(ONE.c.value < ONE.c.full - NEAR, TWO.c.value < TWO.c.full - NEAR)
    none = and_(*(part.c.value <= NEAR * func.abs(part.c.full) for part in (ONE, TWO)))
    same = and_(both, func.abs(difference()) <= NEAR)
    kinds = {
        "both_right": ~short,
        "both_wrong": and_(short, none),
        "both_partly": and_(short, ~none),
    }
    return and_(same, kinds[change])


def paired_case(row: Any) -> StoredPair:
    """Make a case of its row."""
    return StoredPair(row[0], row[1], tags_of(row[2]), PairedRow(*row[3:]))
