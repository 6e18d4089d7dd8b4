"""Points of one criterion over many cases of a run, without loading texts."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sqlalchemy import BigInteger, cast, func, select

from proctor.core.encoding import score_from
from proctor.core.score import ScoreStatus
from proctor.core.suite import Json
from proctor.store.database import Database, chunks
from proctor.store.rows import BROKEN, decode
from proctor.store.schema import run_results, run_scores, scores

_MOST_DIVIDED = 20_000
_MIXER, _MIXED = 2_654_435_761, 1 << 32


class CriterionMark(NamedTuple):
    """Points that a criterion gave an attempt, and the most that it can give."""

    position: int
    number: int
    points: float
    full: float
    """1 where the points are only shown, and out of nothing."""
    panel: tuple[float, ...] = ()
    """What the judges of a panel, or the repeats of one judge, gave one by one."""


class CriterionPoints:
    """The points of one criterion in a run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def places(self, run_id: str, case_ids: Iterable[str]) -> dict[str, int]:
        """Return the positions of some cases in a run; unknown ids are left out."""
        table = run_results.c
        query = select(table.case_id, table.position).where(table.run_id == run_id)
        rows = self._database.fetch_among(query, table.case_id, case_ids)
        return {row.case_id: row.position for row in rows}

    def sample_places(self, run_id: str, most: int) -> list[int]:
        """Return the positions of a run's cases, or a sample of about that many."""
        place = run_results.c.position
        mine = run_results.c.run_id == run_id
        cases = self._database.count(select(func.count()).where(mine))
        query = select(place).where(mine)
        if cases > most:
            # Not every n-th: suites often cycle through kinds of cases.
            mixed = cast(place, BigInteger) * _MIXER % _MIXED
            query = query.where(mixed < int(most / cases * _MIXED))
        return [row.position for row in self._database.fetch_all(query.order_by(place))]

    def of_places(
        self, run_id: str, criterion: str, places: Iterable[int]
    ) -> Iterator[CriterionMark]:
        """Yield the points of a criterion at some positions, where it has any."""
        table = run_scores.c
        query = (
            select(table.position, table.number, scores.c.document)
            .join(scores, scores.c.key == table.score_key)
            .where(table.run_id == run_id, table.criterion == criterion)
            .where(scores.c.status == ScoreStatus.SCORED.value)
        )
        for chunk in chunks(places):
            for position, number, document in self._database.fetch_all(
                query.where(table.position.in_(chunk))
            ):
                try:
                    score = score_from(decode(document))
                except BROKEN:
                    continue
                full = 1.0 if score.out_of is None else score.out_of
                if score.points is not None and full > 0:
                    panel = _panel(score.detail)
                    yield CriterionMark(position, number, score.points, full, panel)

    def panels(self, run_id: str, most: int) -> Iterator[tuple[int, int, float, tuple[float, ...]]]:
        """Yield place, attempt, full marks and single points of scores that count, of some cases.

        The points are those of several judges or repeats; none where one was asked once.
        """
        table = run_scores.c
        query = (
            select(table.position, table.number, scores.c.document)
            .join(scores, scores.c.key == table.score_key)
            .where(table.run_id == run_id, scores.c.status == ScoreStatus.SCORED.value)
        )
        for chunk in chunks(self.sample_places(run_id, most)):
            for position, number, document in self._database.fetch_all(
                query.where(table.position.in_(chunk))
            ):
                try:
                    score = score_from(decode(document))
                except BROKEN:
                    continue
                if score.out_of is not None and score.out_of > 0:
                    yield position, number, score.out_of, _panel(score.detail)

    def divided(self, run_id: str) -> Iterator[tuple[str, bool]]:
        """Yield the case of each score that several judges, or repeats, gave; divided or not."""
        table, places = run_scores.c, run_results.c
        query = (
            select(table.position, places.case_id, scores.c.document)
            .join(scores, scores.c.key == table.score_key)
            .join(
                run_results,
                (places.run_id == table.run_id) & (places.position == table.position),
            )
            .where(table.run_id == run_id, scores.c.status == ScoreStatus.SCORED.value)
        )
        for chunk in chunks(self.sample_places(run_id, _MOST_DIVIDED)):
            for _, case_id, document in self._database.fetch_all(
                query.where(table.position.in_(chunk))
            ):
                try:
                    panel = _panel(score_from(decode(document)).detail)
                except BROKEN:
                    continue
                if len(panel) > 1:
                    yield case_id, len(set(panel)) > 1


def _panel(detail: Json) -> tuple[float, ...]:
    """Return what single judges gave, where several were asked or one several times."""
    members = detail.get("panel") if isinstance(detail, dict) else None
    if not isinstance(members, list):
        return ()
    points = [member.get("points") for member in members if isinstance(member, dict)]
    return tuple(value for value in points if isinstance(value, int | float))
