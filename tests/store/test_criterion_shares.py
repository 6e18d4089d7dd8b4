"""What criteria gave cases: shares of marks, ratings, penalties, and lists by them."""

from dataclasses import replace

import pytest
from sqlalchemy import update

from parts_runs import put_run
from proctor.core.case_value import ValueStatus
from proctor.core.score import Score, ScoreStatus
from proctor.errors import UsageError
from proctor.store import criterion_shares
from proctor.store.criterion_shares import name_of
from proctor.store.queries import Cursor, ListingQuery
from proctor.store.rows import ResultRow, RunAttempt
from proctor.store.schema import scores as scores_table
from proctor.store.store import Store

GIVEN = {
    "key-words": [(1.0, 1.0), (0.0, 2.0), (1.0, 2.0), None, (1.0, 1.0), (0.0, 1.0)],
    "rude": [(0.0, 1.0), (1.0, 1.0), (0.0, 1.0), (0.0, 1.0), None, (1.0, 1.0)],
    "help": [(4.0, None), (0.0, None), (2.0, None), (3.0, None), (5.0, None), None],
}
"""Points, and out of how much, of each case by criterion."""
SIZE = 6
LANGS = ["go", "c", "go", "c", "go", "c"]


@pytest.fixture
def filled(store: Store) -> Store:
    rows = [
        ResultRow(
            position=n, case_id=f"c{n}", status=ValueStatus.SCORED, value=n / 10, full=1.0,
            weight=1.0, low=0.0, high=1.0, spread=0.0, tags={"lang": (LANGS[n],)},
        )
        for n in range(SIZE)
    ]  # fmt: skip
    store.results.put("r", rows)
    for name, given in GIVEN.items():
        for n, pair in enumerate(given):
            score = (
                Score.failed("no verdict", out_of=1.0)
                if pair is None
                else Score(points=pair[0], out_of=pair[1])
            )
            store.scores.put([(f"{name}-{n}", "judged", score)])
    store.attempts.link(
        "r",
        [
            RunAttempt(
                position=n, index=0, attempt_key="x", score_keys={k: f"{k}-{n}" for k in GIVEN}
            )
            for n in range(SIZE)
        ],
    )
    return store


def listed(store: Store, where: str = "", **query: object) -> list[int]:
    penalties = frozenset(("rude",))
    asked = replace(ListingQuery(where=where, penalties=penalties), **query)  # type: ignore[arg-type]
    rows = [row.position for row in store.listing.page("r", asked, 100)]
    assert store.listing.count("r", asked) == len(rows)
    return rows


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("key_words < 0.5", [1, 5]),
        ("key_words <= 0.5", [1, 2, 5]),
        ("not key_words <= 0.5", [0, 3, 4]),
        ("key_words == None", [3]),
        ("key_words is not None and lang == 'go'", [0, 2, 4]),
        ("0.5 <= key_words < 1", [2]),
        ("key_words > -1", [0, 1, 2, 4, 5]),
        ("key_words - rude > 0", [0, 2]),
        ("key_words in [0, 0.5]", [1, 2, 5]),
        ("help >= 4", [0, 4]),
        ("help * 2 > 4 + 2", [0, 4]),
        ("help / 0 > 1", []),
        ("failed == 'key-words'", [1, 2, 5]),
        ("failed == 'rude'", [1, 5]),
        ("failed in ['rude', 'none']", [1, 5]),
        ("failed == 'help'", []),
        ("failed == 'none'", []),
        ("'KEY' in failed", [1, 2, 5]),
        ("failed == None", [0, 3, 4]),
        ("failed != 'key-words' and rate > 0", [3, 4]),
        ("1 < 2 and rude == 1", [1, 5]),
    ],
)
def test_expressions_on_criteria(filled: Store, where: str, wanted: list[int]) -> None:
    if where.startswith("'KEY'") and not filled.database.is_sqlite:
        wanted = []
    assert listed(filled, where) == wanted
    assert listed(filled, where, descending=True) == wanted[::-1]
    assert set(listed(filled, where, sort="id")) == set(wanted)


def test_lists_in_the_order_of_a_criterion_miss_and_repeat_nothing(filled: Store) -> None:
    for criterion, up in (("key-words", [1, 5, 2, 0, 4, 3]), ("help", [1, 2, 3, 0, 4, 5])):
        for descending in (False, True):
            present = up[:-1][::-1] if descending else up[:-1]
            wanted = [*present, up[-1]]
            asked = ListingQuery(criterion=criterion, descending=descending)
            assert listed(filled, criterion=criterion, descending=descending) == wanted
            for number, place in enumerate(wanted):
                after = filled.listing.cursor("r", "position", place)
                ahead = replace(asked, after=after)
                page = filled.listing.page("r", ahead, 2)
                assert [row.position for row in page] == wanted[number + 1 : number + 3]
                back = filled.listing.page("r", replace(ahead, backward=True), 10)
                assert [row.position for row in back] == wanted[:number][::-1]
    below = ListingQuery(criterion="help", where="lang == 'go'")
    assert filled.listing.next_failure("r", below) == "c2"
    gone = replace(below, after=Cursor(None, 1))
    assert [row.position for row in filled.listing.page("r", gone, 9)] == [2, 0, 4]
    assert listed(filled, criterion="unknown") == list(range(SIZE))


def test_a_tag_of_the_same_name_comes_first(filled: Store) -> None:
    rows = [
        replace(row, tags={"help": ("yes",), "failed": ("once",)})
        for row in filled.results.iter_rows("r")
    ]
    filled.results.put("r", rows)
    assert listed(filled, "help == 'yes'") == list(range(SIZE))
    assert listed(filled, "failed == 'once' and rude == 1") == [1, 5]
    with pytest.raises(UsageError, match="help is a tag"):
        listed(filled, "help > 1")


def test_what_makes_no_sense_is_refused_with_the_names(filled: Store) -> None:
    with pytest.raises(UsageError, match=r"unknown name 'keywords'.*did you mean 'key_words'"):
        listed(filled, "keywords < 1")
    with pytest.raises(UsageError, match="compared with a number"):
        listed(filled, "key_words < rate")
    with pytest.raises(UsageError, match="a text cannot be compared with a number"):
        listed(filled, "key_words == 'x'")
    with pytest.raises(UsageError, match="a number contains no text"):
        listed(filled, "'x' in key_words")


def test_large_runs_in_rows_are_refused(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(criterion_shares, "MOST_IN_ROWS", SIZE - 1)
    for query in (ListingQuery(where="rude == 1"), ListingQuery(criterion="rude")):
        with pytest.raises(UsageError, match="cannot be filtered or sorted by a criterion"):
            filled.listing.page("r", query, 5)
    assert listed(filled, "lang == 'go'") == [0, 2, 4]


def test_broken_scores_and_marks_of_nothing_give_no_number(filled: Store) -> None:
    documents = ["{", "[]", '{"points": "x"}', '{"points": 1, "out_of": 0}', "{}"]
    with filled.database.write() as connection:
        for n, text in enumerate(documents):
            key = scores_table.c.key == f"rude-{n}"
            connection.execute(
                update(scores_table).where(key).values(document=text, status=ScoreStatus.SCORED)
            )
    assert listed(filled, "rude == None") == [0, 1, 2, 3, 4]


def test_what_is_kept_of_a_finished_run_is_read_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = put_run(store)
    store.runs.save(replace(run, finished=2.0))
    asked = ListingQuery(where="failed == 'k' and j < 1", criterion="k")
    first = store.listing.page(run.id, asked, 50)
    assert first
    monkeypatch.setattr(store.criterion_shares, "_column", None)
    monkeypatch.setattr(store.criterion_shares, "_names", None)
    assert store.listing.page(run.id, asked, 50) == first


@pytest.mark.parametrize(
    ("criterion", "name"),
    [("a b", "a_b"), ("key-words", "key_words"), ("2nd", "_2nd"), ("ok", "ok")],
)
def test_names_of_criteria_in_expressions(criterion: str, name: str) -> None:
    assert name_of(criterion) == name
