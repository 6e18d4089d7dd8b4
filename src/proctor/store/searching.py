"""Full-text search in questions and answers, with an index that is filled on demand.

Writing a run does not touch it. Each case of a run is one text in the index: its id, its tags, its
question, and the answers of all attempts. The number of a text combines the number of the run's
entry with the case's position, so that a search in one run, in its order, is a range scan. Stale
texts stay under unused numbers; once they outnumber live ones, the index is emptied
and rebuilt.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    TableClause,
    Text,
    column,
    delete,
    func,
    insert,
    select,
    table,
    update,
)
from sqlalchemy.exc import DBAPIError

from proctor.errors import StoreError
from proctor.store.database import Database
from proctor.store.homes import Homes
from proctor.store.rows import BROKEN, Positions, decode, escape, tags_of
from proctor.store.schema import (
    attempts,
    cases,
    run_attempts,
    run_parts,
    run_results,
    runs,
    searched,
    suite_cases,
)
from proctor.store.search_time import SearchTime
from proctor.store.transactions import Transaction

if TYPE_CHECKING:
    from proctor.store.parts.searching import Texts, TextSearch

SHORTEST = 3
"""Minimum length of a text search, since the index consists of trigrams."""
LONGEST_TEXT = 20_000
"""Maximum number of characters of a case and its answers in the index."""
BATCH = 500
SMALL = 2_000
"""Runs up to this size are searched without an index if they have none."""
_LEFT_BEHIND = 50_000
_PLACES = 1 << 31
_LONGEST_WORDS = 1000
texts: TableClause = table("search_texts", column("rowid", BigInteger), column("text", Text))
_SQLITE = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS search_texts USING fts5(text, content='', columnsize=0,"
    " tokenize='trigram case_sensitive 1')"
)
_EMPTIED = "INSERT INTO search_texts (search_texts) VALUES ('delete-all')"
_POSTGRESQL = "CREATE TABLE IF NOT EXISTS search_texts (rowid BIGINT PRIMARY KEY, text TEXT)"
_TRIGRAMS = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "CREATE INDEX IF NOT EXISTS ix_search_texts ON search_texts USING gin (text gin_trgm_ops)",
)


class Indexed(NamedTuple):
    """State of a run in the index."""

    number: int
    cases: int
    whole: bool


class SearchHit(NamedTuple):
    """A case of a run that matches a search."""

    run_id: str
    case_id: str


class Search:
    """The text index, filled in batches, and searches in it."""

    def __init__(self, database: Database, homes: Homes) -> None:
        self._database = database
        self._homes = homes
        self.unable = False
        """Whether this database turned out to have no index of texts, and to allow none."""
        self._time: SearchTime | None = None

    def index_state(self, run_id: str) -> Indexed | None:
        """Return the state of a run in the index; None if it has no entry."""
        row = self._database.fetch_first(select(searched).where(searched.c.run_id == run_id))
        return None if row is None else Indexed(row.number, row.cases, bool(row.whole))

    def unindexed(self, run_ids: Sequence[str]) -> list[str]:
        """Return the runs that are not fully indexed, in the given order."""
        query = select(searched.c.run_id).where(searched.c.whole == 1)
        indexed = {
            run_id for (run_id,) in self._database.fetch_among(query, searched.c.run_id, run_ids)
        }
        # What is in files is searched there.
        query = select(run_parts.c.run_id).distinct()
        indexed |= {
            run_id for (run_id,) in self._database.fetch_among(query, run_parts.c.run_id, run_ids)
        }
        return [run_id for run_id in run_ids if run_id not in indexed]

    def can_search(self, words: str) -> bool:
        """Tell whether the index can search for a text."""
        if self.unable:
            return False
        return not self._database.is_sqlite or len(words) >= SHORTEST

    def index(self, run_id: str, most: int = BATCH) -> bool:
        """Index the next batch of a run's cases; return whether the run is complete."""
        state = self.index_state(run_id)
        if self.unable or (state is not None and state.whole) or self._homes.run(run_id):
            return True
        last = self._last_place(run_id)
        batch = list(self.iter_texts(run_id, after=last, limit=most))
        try:
            return self._index(run_id, last, batch, whole=len(batch) < most)
        except StoreError as error:
            # No trigrams in this SQLite, or a read-only store: search works without an index.
            if not isinstance(error.__cause__, DBAPIError):
                raise
            self.unable = True
            return True

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Let all searches in parts go on for some seconds in all, but by one step at least.

        Otherwise each of them goes on to its end.
        """
        self._time = SearchTime(seconds)
        try:
            yield
        finally:
            self._time = None

    def in_parts(self, run_ids: Sequence[str], words: str) -> "list[TextSearch | None]":
        """Go on with a search in runs in parts, within its time; None for each run in rows."""
        searches = [self._in_parts(run_id, words) for run_id in run_ids]
        if begun := [search for search in searches if search is not None]:
            from proctor.store.parts.searching import go_on

            go_on(begun, self._time or SearchTime())
        return searches

    def _in_parts(self, run_id: str, words: str) -> "TextSearch | None":
        home = self._homes.run(run_id)
        if home is None:
            return None
        from proctor.store.parts.searching import QuestionTexts, StoredQuestions, TextSearch

        row = self._database.fetch_first(select(runs.c.suite_key).where(runs.c.id == run_id))
        suite_key = "" if row is None else row.suite_key
        suite = self._homes.suite(suite_key)
        questions: Texts
        if suite is None:
            questions = StoredQuestions(suite_key, home.end, partial(self._questions, suite_key))
        else:
            questions = QuestionTexts(suite)
        return TextSearch(home, questions, words[:_LONGEST_WORDS].lower())

    def _questions(self, suite_key: str, places: range) -> Iterator[tuple[int, str]]:
        """Yield the questions of a suite at some positions, from either home."""
        if (home := self._homes.suite(suite_key)) is not None:
            stored = home.cases(Positions(places.start, places.stop - 1))
            rows: Iterable[tuple[int, str]] = ((row.position, row.document) for row in stored)
        else:
            rows = self._database.fetch_all(
                select(suite_cases.c.position, cases.c.document)
                .join(cases, cases.c.key == suite_cases.c.case_key)
                .where(suite_cases.c.suite_key == suite_key)
                .where(suite_cases.c.position.between(places.start, places.stop - 1))
            )
        for place, contents in _messages(rows).items():
            yield place, "\n".join(contents)

    def iter_texts(
        self, run_id: str, *, after: int = -1, limit: int | None = None
    ) -> Iterator[tuple[int, str]]:
        """Yield the position and the searchable text of each case of a run."""
        place = run_results.c.position
        query = select(place, run_results.c.case_id, run_results.c.tags)
        query = query.where(run_results.c.run_id == run_id)
        suite = self._database.fetch_first(select(runs.c.suite_key).where(runs.c.id == run_id))
        page: list[Any] = []
        for row in self._database.fetch_pages(query, place, after, limit):
            page.append(row)
            if len(page) == BATCH:
                yield from self._joined(run_id, suite, page)
                page = []
        if page:
            yield from self._joined(run_id, suite, page)

    def find(self, words: str, limit: int, *, skip: int = 0) -> list[SearchHit]:
        """Return cases of all indexed runs that contain some words, the newest runs first."""
        if not self._has_texts(words):
            return []
        query = (
            select(searched.c.run_id, run_results.c.case_id)
            .select_from(texts)
            .join(searched, searched.c.number == texts.c.rowid.op("/")(_PLACES))
            .join(
                run_results,
                (run_results.c.run_id == searched.c.run_id)
                & (run_results.c.position == texts.c.rowid.op("%")(_PLACES)),
            )
            .where(self._holds(words))
            .order_by(texts.c.rowid.desc())
            .limit(limit)
            .offset(skip)
        )
        return [SearchHit(*row) for row in self._database.fetch_all(query)]

    def count(self, words: str, most: int) -> int:
        """Count the texts of all indexed runs that contain some words, up to a number."""
        if not self._has_texts(words):
            return 0
        live = texts.c.rowid.op("/")(_PLACES).in_(select(searched.c.number))
        some = select(texts.c.rowid).where(self._holds(words), live).limit(most).subquery()
        return self._database.count(select(func.count()).select_from(some))

    def _has_texts(self, words: str) -> bool:
        if not self.can_search(words):
            return False
        return self._database.fetch_first(select(searched.c.number).limit(1)) is not None

    def first_number(self, run_id: str) -> int:
        """Return the number of the text at an indexed run's first position."""
        state = self.index_state(run_id)
        return 0 if state is None else state.number * _PLACES

    def condition(self, run_id: str, words: str) -> ColumnElement[bool] | Sequence[int] | None:
        """Return the condition on texts that contain some words, in a fully indexed run.

        A small run without an index is searched at once, and the positions are returned; None
        means that texts cannot be searched.
        """
        state = self.index_state(run_id)
        if state is not None and state.whole and self.can_search(words):
            first = state.number * _PLACES
            inside = texts.c.rowid.between(first, first + _PLACES - 1)
            return inside & self._holds(words) & (run_results.c.position == texts.c.rowid - first)
        small = select(run_results.c.position).where(run_results.c.run_id == run_id)
        if len(self._database.fetch_all(small.limit(SMALL + 1))) > SMALL:
            return None
        folded = _folded(words)
        return [place for place, text in self.iter_texts(run_id) if folded in text]

    def few_places(self, run_id: str, words: str, most: int) -> Sequence[int] | None:
        """Return the positions of all texts that contain some words; None where they are many.

        None also means that texts cannot be searched.
        """
        condition = self.condition(run_id, words)
        if condition is None or not isinstance(condition, ColumnElement):
            return condition
        query = self._numbers(run_id, words, (-1, _PLACES - 1))
        places = [place for (place,) in self._database.fetch_all(query.limit(most + 1))]
        return places if len(places) <= most else None

    def places(
        self, run_id: str, words: str, window: tuple[int, int]
    ) -> Select[Any] | Sequence[int] | None:
        """Return the positions in a range whose texts contain some words."""
        condition = self.condition(run_id, words)
        if condition is None or not isinstance(condition, ColumnElement):
            return condition
        return self._numbers(run_id, words, window)

    def _numbers(self, run_id: str, words: str, window: tuple[int, int]) -> Select[Any]:
        """Return the query for the positions in a range of an indexed run."""
        first = self.first_number(run_id)
        inside = texts.c.rowid.between(first + window[0] + 1, first + window[1])
        return select(texts.c.rowid - first).where(inside, self._holds(words))

    def _holds(self, words: str) -> ColumnElement[bool]:
        folded = _folded(words)[:_LONGEST_WORDS]
        if self._database.is_sqlite:
            quoted = folded.replace('"', '""')
            match: ColumnElement[bool] = texts.c.text.op("MATCH", is_comparison=True)(f'"{quoted}"')
            return match
        return texts.c.text.contains(folded, autoescape=True)

    def _last_place(self, run_id: str) -> int:
        row = self._database.fetch_first(select(searched.c.last).where(searched.c.run_id == run_id))
        return -1 if row is None else int(row.last)

    def _index(
        self, run_id: str, last: int, batch: Sequence[tuple[int, str]], *, whole: bool
    ) -> bool:
        with self._database.write(lock="search", repeatable=False) as connection:
            self._make_index(connection.connection)
            query = select(searched).where(searched.c.run_id == run_id)
            row = connection.execute(query).first()
            if (-1 if row is None else row.last) != last:
                return False  # Another process was faster.
            if row is None:
                number = _next_number(connection)
                values = {"number": number, "run_id": run_id, "cases": 0, "last": -1, "whole": 0}
                connection.execute(insert(searched).values(values))
            else:
                number = row.number
            if batch:
                first = number * _PLACES
                rows = [{"rowid": first + place, "text": text} for place, text in batch]
                connection.execute(insert(texts), rows)
            now = {
                "cases": searched.c.cases + len(batch),
                "last": batch[-1][0] if batch else last,
                "whole": int(whole),
            }
            connection.execute(update(searched).where(searched.c.number == number).values(now))
        return whole

    def _make_index(self, connection: Connection) -> None:
        if self._database.is_sqlite:
            connection.exec_driver_sql(_SQLITE)
            return
        connection.exec_driver_sql(_POSTGRESQL)
        try:
            with connection.begin_nested():
                for statement in _TRIGRAMS:
                    connection.exec_driver_sql(statement)
        except DBAPIError:
            return  # Without the extension, a search reads every text of a run.

    def _joined(
        self, run_id: str, suite: Any | None, page: Sequence[Any]
    ) -> Iterator[tuple[int, str]]:
        first, last = page[0].position, page[-1].position
        suite_key = suite.suite_key if suite else ""
        questions = dict(self._questions(suite_key, range(first, last + 1)))
        answered = self._documents(
            select(run_attempts.c.position, attempts.c.document)
            .join(attempts, attempts.c.key == run_attempts.c.attempt_key)
            .where(run_attempts.c.run_id == run_id)
            .where(run_attempts.c.position.between(first, last))
            .order_by(run_attempts.c.position, run_attempts.c.number)
        )
        for row in page:
            tags = (f"{tag}: {value}" for tag, values in tags_of(row.tags).items()
                    for value in values)  # fmt: skip
            question = [questions[row.position]] if row.position in questions else []
            messages = (*question, *answered.get(row.position, ()))
            yield row.position, _folded("\n".join((row.case_id, *tags, *messages))[:LONGEST_TEXT])

    def _documents(self, query: Any) -> dict[int, list[str]]:
        """Return the messages in the documents of each position."""
        return _messages(self._database.fetch_all(query))


def _messages(rows: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    """Return the messages in the documents of each position."""
    by_place: dict[int, list[str]] = {}
    for place, document in rows:
        try:
            messages = decode(document).get("messages", ())
            contents = [str(message.get("content", "")) for message in messages]
        except BROKEN:
            contents = []
        by_place.setdefault(place, []).extend(contents)
    return by_place


def _next_number(connection: Transaction) -> int:
    """Return the number of the next entry, after emptying a mostly stale index."""
    counted = select(func.coalesce(func.sum(searched.c.cases), 0))
    gone = connection.scalar(counted.where(searched.c.run_id == "")) or 0
    there = connection.scalar(counted.where(searched.c.run_id != "")) or 0
    if gone > max(there, _LEFT_BEHIND):
        empty(connection)
    return int(connection.scalar(select(func.coalesce(func.max(searched.c.number), 0))) or 0) + 1


def empty(connection: Transaction) -> None:
    """Take all texts out of the index; runs are indexed again when somebody searches."""
    connection.execute(delete(searched))
    local = connection.connection.dialect.name == "sqlite"
    connection.connection.exec_driver_sql(_EMPTIED if local else "TRUNCATE search_texts")


def _folded(text: str) -> str:
    return escape(text.lower())
