"""What is stored and what is to do: the run and its plan take the same decision."""

import pytest
from sqlalchemy import update

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.score import Score, ScoreStatus, needs_scoring
from proctor.engine.run import stored_work
from proctor.engine.run.stored_work import StoredWork
from proctor.store.schema import attempts as attempt_table
from proctor.store.store import Store


def put(store: Store, key: str, status: AttemptStatus) -> None:
    store.attempts.put([(key, Attempt(case_id="c", status=status))])


@pytest.mark.parametrize("status", list(AttemptStatus))
def test_what_is_final_need_not_be_made(store: Store, status: AttemptStatus) -> None:
    put(store, "k", status)
    final = status in (AttemptStatus.ANSWERED, AttemptStatus.UNANSWERED)
    work = StoredWork(store)
    assert status.is_final is final
    assert ("k" in work.attempts(["k", "other"])) is final
    assert work.attempt_keys(["k", "other"]) == ({"k"} if final else set())


@pytest.mark.parametrize("status", list(ScoreStatus))
def test_a_score_is_made_again_where_it_failed(store: Store, status: ScoreStatus) -> None:
    score = Score(status=status, points=1.0 if status is ScoreStatus.SCORED else None)
    store.scores.put([("k", "exact_match", score)])
    failed = status is ScoreStatus.FAILED
    assert StoredWork(store).score_keys(["k", "other"]) == (set() if failed else {"k"})
    assert needs_scoring(score) is failed
    assert needs_scoring(None)


def test_what_cannot_be_read_is_made_again(store: Store) -> None:
    put(store, "k", AttemptStatus.ANSWERED)
    with store.database.write() as connection:
        connection.execute(update(attempt_table).values(document="{"))
    assert StoredWork(store).attempts(["k"]) == {}


def test_everything_is_to_do_without_a_store_or_for_a_recording(store: Store) -> None:
    put(store, "k", AttemptStatus.ANSWERED)
    assert StoredWork(None).attempts(["k"]) == {}
    assert StoredWork(None).score_keys(["k"]) == set()
    assert StoredWork(store, ignored=True).attempts(["k"]) == {}


@pytest.mark.parametrize(("most", "reads"), [(5, 1), (0, 2)])
def test_an_attempt_is_read_once_as_long_as_there_is_room(
    store: Store, monkeypatch: pytest.MonkeyPatch, most: int, reads: int
) -> None:
    put(store, "k", AttemptStatus.ANSWERED)
    monkeypatch.setattr(stored_work, "MOST_IN_MEMORY", most)
    wanted: list[str] = []
    read = store.attempts.get_many
    monkeypatch.setattr(
        store.attempts, "get_many", lambda keys: read(wanted.append(key) or key for key in keys)
    )
    work = StoredWork(store)
    assert work.attempts(["k"]) == work.attempts(["k"]) != {}
    assert len(wanted) == reads
    work.forget()
    assert "k" in work.attempts(["k"])
