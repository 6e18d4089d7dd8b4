"""Scores and documents come back as they went in, batches whole or not at all."""

from types import MappingProxyType

import pytest

from proctor.core.attempt import Attempt
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Spec
from proctor.store.rows import decode, encode, escape, unescape
from proctor.store.store import Store

AWKWARD = "NUL \x00, lone \ud83d and \udc00, escape \x10 \x100000, 漢字 😀 \u2028 '\"\\%"


@pytest.mark.parametrize(
    "value",
    [
        None,
        {"a": [1, 2.5, True, None, ""], "b": {}},
        AWKWARD,
        {AWKWARD: [AWKWARD]},
        "\x00",
        10**30,
        0.1 + 0.2,
        1e308,
        [[[[[]]]]],
    ],
)
def test_documents_come_back_and_are_text_for_any_database(value: object) -> None:
    text = encode(value)
    text.encode("utf-8")
    assert "\x00" not in text
    assert decode(text) == value


@pytest.mark.parametrize(
    "text", ["", "plain", AWKWARD, "\x10", "\x100041", "\x10\x10\x00", "\ud800"]
)
def test_escaped_texts_come_back(text: str) -> None:
    escaped = escape(text)
    escaped.encode("utf-8")
    assert "\x00" not in escaped
    assert unescape(escaped) == text


def test_mappings_of_any_kind_are_stored() -> None:
    assert decode(encode(Spec(name="x", params=MappingProxyType({"a": (1, 2)})))) == {
        "name": "x",
        "params": {"a": [1, 2]},
    }


ATTEMPTS = {"answered": Attempt.of("a", "yes"), "none": Attempt.of("a", None)}
SCORES = {
    "scored": Score(points=1.0, out_of=2.0, reason="found", detail={"spans": [[0, 3]]}),
    "zero": Score(points=0.0, out_of=0.0),
    "shown": Score(points=3.5),
    "awkward": Score(points=1.0, out_of=1.0, reason=AWKWARD, detail=[AWKWARD]),
    "not": Score(status=ScoreStatus.NOT_APPLICABLE, detail={}),
    "failed": Score.failed("no judge", out_of=2.0),
}


def test_scores_come_back(store: Store) -> None:
    store.scores.put((key, "keywords", score) for key, score in SCORES.items())
    assert store.scores.get_many(SCORES) == SCORES
    assert store.scores.stored_keys([*SCORES, "nowhere"]) == set(SCORES) - {"failed"}


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("failed", "scored", "scored"),
        ("failed", "not", "not"),
        ("scored", "failed", "scored"),
        ("scored", "zero", "scored"),
    ],
)
def test_only_a_failed_score_is_replaced(store: Store, first: str, second: str, kept: str) -> None:
    store.scores.put([("key", "a", SCORES[first])])
    store.scores.put([("key", "a", SCORES[second])])
    assert store.scores.get_many(["key"]) == {"key": SCORES[kept]}


def test_a_batch_is_stored_whole_or_not_at_all(store: Store) -> None:
    def broken_batch() -> None:
        with store.batch():
            store.attempts.put(ATTEMPTS.items())
            assert store.attempts.stored_keys(["answered"]) == {"answered"}
            store.scores.put([("key", "a", SCORES["scored"])])
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        broken_batch()
    assert store.attempts.get_many(ATTEMPTS) == {}
    assert store.scores.get_many(["key"]) == {}
    with store.batch(), store.batch():
        store.attempts.put(ATTEMPTS.items())
        store.scores.put([("key", "a", SCORES["scored"])])
    assert store.attempts.get_many(ATTEMPTS) == ATTEMPTS
    assert store.scores.get_many(["key"]) == {"key": SCORES["scored"]}
