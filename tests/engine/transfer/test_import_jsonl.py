"""Exported runs on their way in: as quotations, or as one's own by the keys that they had."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from proctor.core.run import RunStatus
from proctor.engine.transfer.import_jsonl import Quoting, Restoring, Taking
from proctor.errors import SuiteError
from proctor.io.text_files import Document
from proctor.store.store import Store

KEY, SCORE = "a" * 64, "b" * 64
HEAD: dict[str, Any] = {
    "proctor": 2,
    "run": {
        "id": "r1",
        "name": "quiz-m",
        "candidate": {"name": "model", "params": {"name": "m"}},
        "status": "interrupted",
        "started": 5.0,
        "finished": 9.0,
        "signature": "judge:theirs|n:99",
    },
    "suite": {"name": "quiz"},
}
CASE: dict[str, Any] = {
    "case": {
        "id": "c",
        "criteria": [{"id": "e", "scorer": {"name": "exact_match"}}],
        "files": [{"name": "f", "digest": "d", "path": "/etc/passwd"}],
    },
    "attempts": [
        {
            "attempt": {"case_id": "other", "messages": [{"role": "assistant", "content": "x"}]},
            "scores": {"e": {"points": 0.5, "out_of": 1.0}},
            "key": KEY,
            "score_keys": {"e": SCORE},
        }
    ],
}


def other_run(**run: Any) -> dict[str, Any]:
    return {**HEAD, "run": {**HEAD["run"], **run}}


def comparison(first: str, second: str) -> dict[str, Any]:
    compared = {"case_id": "c", "first": first, "second": second, "outcome": "first"}
    return {"comparison": compared, "key": "k", "content": ""}


def take(store: Store, kind: type[Taking], *rows: Any) -> Taking:
    def documents() -> Iterator[Document]:
        for number, row in enumerate(rows, 1):
            yield Document(path=Path("run.jsonl"), data=deepcopy(row), row=number)

    taking = kind(store, Path("run.jsonl"), documents())
    with store.batch():
        taking.take_in()
    return taking


def test_a_quotation_keeps_its_numbers_and_gets_keys_of_its_own(store: Store) -> None:
    take(store, Quoting, HEAD, CASE)
    run = store.runs.get("quiz-m")
    assert (run.id.startswith("imported-"), run.imported, run.finished) == (True, True, 9.0)
    assert "judge:theirs" in run.signature
    assert "|n:1|" in run.signature
    (row,) = store.attempts.iter_cases(run.id)
    ((attempt, scores),) = row.attempts
    assert (attempt.case_id, attempt.output, scores["e"].points) == ("c", "x", 0.5)
    assert row.case.files[0].path == ""
    assert store.attempts.stored_keys([KEY]) == set()
    assert store.scores.get_many([SCORE]) == {}
    with pytest.raises(SuiteError, match="was imported before"):
        take(store, Quoting, HEAD, CASE)
    again = take(store, Quoting, other_run(started=6.0), CASE)
    assert again.notices == ["there is a run 'quiz-m' already: this one is called quiz-m-imported"]


def test_what_is_one_s_own_is_found_again_by_its_keys(store: Store) -> None:
    take(store, Restoring, HEAD, CASE, {"own": "0" * 64})
    run = store.runs.get("r1")
    assert (run.name, run.imported, run.status) == ("quiz-m", False, RunStatus.INTERRUPTED)
    assert (run.signature, run.finished) == ("judge:theirs|n:99", 9.0)
    assert store.attempts.stored_keys([KEY]) == {KEY}
    assert store.scores.get_many([SCORE])[SCORE].points == 0.5
    with pytest.raises(SuiteError, match="there is a run 'r1' already"):
        take(store, Restoring, HEAD, CASE)


def test_comparisons_with_runs_that_are_not_there_are_left_out_of_a_quotation(
    store: Store,
) -> None:
    rows = (HEAD, CASE, other_run(id="r2", name="two"), CASE)
    taking = take(
        store, Quoting, *rows, comparison("r1", "r2"), comparison("r1", "gone"),
    )  # fmt: skip
    ids = [run.id for run in store.runs.newest()]
    assert len(list(store.comparisons.between(ids))) == 1
    assert taking.notices == ["left out 1 comparisons with runs that are not in the file"]


WITHOUT_KEYS = {**CASE, "attempts": [{"attempt": {"case_id": "c"}}]}
TWICE = {**CASE, "attempts": CASE["attempts"] * 2}
STRANGE = {**CASE, "attempts": [{"attempt": {"case_id": "c"}, "scores": {"x": {}}}]}


@pytest.mark.parametrize(
    ("kind", "rows", "words"),
    [
        (Quoting, (), "not a run that"),
        (Quoting, (CASE,), "not a run that"),
        (Quoting, (HEAD,), "a run without a case"),
        (Quoting, (HEAD, CASE, HEAD, CASE), "'r1' occurs twice"),
        (Quoting, (HEAD, CASE, {**HEAD, "proctor": 9}), "format 9"),
        (Quoting, (HEAD, TWICE), "the attempt 0 occurs twice"),
        (Quoting, (HEAD, STRANGE), "a score by 'x'"),
        (Quoting, (HEAD, CASE, {"stranger": 1}), "has no place here"),
        (Quoting, (HEAD, CASE, {"own": "0" * 64}, CASE), "has no place here"),
        (Restoring, (HEAD, WITHOUT_KEYS), "lacks its keys"),
    ],
)
def test_a_file_comes_in_whole_or_not_at_all(
    empty: Store, kind: type[Taking], rows: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(SuiteError, match=words):
        take(empty, kind, *rows)
    assert empty.runs.newest() == []
    assert empty.attempts.stored_keys([KEY]) == set()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(str(tmp_path_factory.mktemp("empty") / "proctor.db")) as opened:
        yield opened
