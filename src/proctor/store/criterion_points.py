"""Points of one criterion over many cases of a run, without loading texts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, cast, func, select

from proctor.core.encoding import score_from
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Json
from proctor.store.database import Database, chunks
from proctor.store.homes import Homes
from proctor.store.results import Results
from proctor.store.rows import BROKEN, Positions, decode
from proctor.store.schema import run_results, run_scores, scores

_MOST_DIVIDED = 20_000
_MIXER, _MIXED = 2_654_435_761, 1 << 32
_SCATTERED = 40_000
"""Up to how many cases a sample is of single ones."""


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

    def __init__(self, database: Database, homes: Homes) -> None:
        self._database = database
        self._homes = homes
        self._results = Results(database, homes)

    def places(self, run_id: str, case_ids: Iterable[str]) -> dict[str, int]:
        """Return the positions of some cases in a run; unknown ids are left out."""
        if (home := self._homes.run(run_id)) is not None:
            return home.columns.find(case_ids)
        table = run_results.c
        query = select(table.case_id, table.position).where(table.run_id == run_id)
        rows = self._database.fetch_among(query, table.case_id, case_ids)
        return {row.case_id: row.position for row in rows}

    def sample_places(self, run_id: str, most: int, *, together: int = 1) -> list[int]:
        """Return the positions of a run's cases, or a sample of about that many.

        Of more than 40,000 cases so many neighbours come ``together``: then what is read of them
        lies in few places of the run's files.
        """
        if (home := self._homes.run(run_id)) is not None:
            return _sampled(home.end, most, together if home.end > _SCATTERED else 1)
        place = run_results.c.position
        mine = run_results.c.run_id == run_id
        cases = self._database.count(select(func.count()).where(mine))
        query = select(place).where(mine)
        if cases > most:
            # Not every n-th: suites often cycle through kinds of cases.
            spot = place // (together if cases > _SCATTERED else 1)
            mixed = cast(spot, BigInteger) * _MIXER % _MIXED
            query = query.where(mixed < int(most / cases * _MIXED))
        return [row.position for row in self._database.fetch_all(query.order_by(place))]

    def of_places(
        self, run_id: str, criterion: str, places: Iterable[int]
    ) -> Iterator[CriterionMark]:
        """Yield the points of a criterion at some positions, where it has any."""
        for position, number, _, score in self._scored(run_id, places, criterion):
            full = 1.0 if score.out_of is None else score.out_of
            if score.points is not None and full > 0:
                panel = _panel(score.detail)
                yield CriterionMark(position, number, score.points, full, panel)

    def only_shown(self, run_id: str, places: Iterable[int]) -> Iterator[tuple[int, str, float]]:
        """Yield place, criterion and points of scores that are out of nothing, such as ratings."""
        for place, _, name, score in self._scored(run_id, places):
            if score.out_of is None and score.points is not None:
                yield place, name, score.points

    def panels(self, run_id: str, most: int) -> Iterator[tuple[int, int, float, tuple[float, ...]]]:
        """Yield place, attempt, full marks and single points of scores that count, of some cases.

        The points are those of several judges or repeats; none where one was asked once.
        """
        places = self.sample_places(run_id, most)
        for position, number, _, score in self._scored(run_id, places):
            if score.out_of is not None and score.out_of > 0:
                yield position, number, score.out_of, _panel(score.detail)

    def divided(self, run_id: str) -> Iterator[tuple[str, bool]]:
        """Yield the case of each score that several judges, or repeats, gave; divided or not."""
        for chunk in chunks(self.sample_places(run_id, _MOST_DIVIDED)):
            ids = self._results.ids_at(run_id, chunk)
            for position, _, _, score in self._scored(run_id, chunk):
                panel = _panel(score.detail)
                if len(panel) > 1 and position in ids:
                    yield ids[position], len(set(panel)) > 1

    def _scored(
        self, run_id: str, places: Iterable[int], criterion: str | None = None
    ) -> Iterator[tuple[int, int, str, Score]]:
        """Yield place, attempt, criterion and score of all that was scored, or of one criterion."""
        home = self._homes.run(run_id)
        for chunk in chunks(places):
            if home is None:
                yield from self._scored_rows(run_id, chunk, criterion)
                continue
            for position, number, name, score in home.marks(Positions.of(chunk)):
                if score.status is ScoreStatus.SCORED and criterion in (None, name):
                    yield position, number, name, score

    def _scored_rows(
        self, run_id: str, places: Sequence[int], criterion: str | None = None
    ) -> Iterator[tuple[int, int, str, Score]]:
        """Yield place, attempt, criterion and score of what was scored, of a run in rows."""
        table = run_scores.c
        query = (
            select(table.position, table.number, table.criterion, scores.c.document)
            .join(scores, scores.c.key == table.score_key)
            .where(table.run_id == run_id, table.position.in_(places))
            .where(scores.c.status == ScoreStatus.SCORED.value)
        )
        if criterion is not None:
            query = query.where(table.criterion == criterion)
        for position, number, name, document in self._database.fetch_all(query):
            try:
                yield position, number, name, score_from(decode(document))
            except BROKEN:
                continue


def _sampled(cases: int, most: int, together: int) -> list[int]:
    """Return the same positions as the query for a run in rows."""
    if cases <= most:
        return list(range(cases))
    import numpy as np

    spots = np.arange(-(-cases // together), dtype=np.int64)
    spots = spots[spots * _MIXER % _MIXED < int(most / cases * _MIXED)]
    places = (spots[:, None] * together + np.arange(together)).ravel()
    chosen: list[int] = places[places < cases].tolist()
    return chosen


def _panel(detail: Json) -> tuple[float, ...]:
    """Return what single judges gave, where several were asked or one several times."""
    members = detail.get("panel") if isinstance(detail, dict) else None
    if not isinstance(members, list):
        return ()
    points = [member.get("points") for member in members if isinstance(member, dict)]
    return tuple(value for value in points if isinstance(value, int | float))
