"""Suites, attempts and scores come back as they went in, once, and failures give way."""

from types import MappingProxyType

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.errors import StoreError
from proctor.store.rows import decode, encode, escape, unescape
from proctor.store.store import Store

AWKWARD = "NUL \x00, lone \ud83d and \udc00, escape \x10 \x100000, 漢字 😀 \u2028 '\"\\%"


def make_case(name: str, source: str = "") -> Case:
    return Case(
        id=name,
        messages=(Message(role="user", content=f"What is {name}?"),),
        criteria=(
            Criterion(
                id="says",
                scorer=Spec(name="keywords", params={"rules": [{"any": ["a", {"text": "b"}]}]}),
                weight=2.0,
            ),
            Criterion(id="tone", scorer=Spec(name="contains", params={"texts": []}), weight=0.0),
        ),
        references=("one", ""),
        context=("a passage",),
        hidden={"fact": None, "n": 3},
        dialogue=Spec(name="clarify", params={"turns": 3}),
        tags={"lang": ("python", "c"), "type": ("debug",)},
        weight=0.5,
        full_score=2.0,
        null_score=-1.0,
        min_points=0.0,
        max_points=3.0,
        out_of=4.0,
        source=source,
    )


def make_suite(name: str, cases: tuple[Case, ...]) -> Suite:
    return Suite(
        name=name,
        cases=cases,
        version="2",
        description="of nothing",
        reduce="avg_max_10",
        measures=(Spec(name="accuracy", params={"at": 0.5}),),
        dialect="infibench",
        compat="original",
    )


def put(store: Store, suite: Suite) -> str:
    keyed = [(case_key(case), case) for case in suite.cases]
    key = suite_key(suite, [key for key, _ in keyed])
    store.suites.put(suite, key, keyed)
    return key


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


def test_a_suite_comes_back(store: Store) -> None:
    suite = make_suite("first", (make_case("b", "b.yaml"), make_case("a"), make_case(AWKWARD)))
    key = put(store, suite)
    assert store.suites.get(key) == suite
    assert [position for position, _, _ in store.suites.iter_cases(key)] == [0, 1, 2]
    row = store.suites.newest()[0]
    assert (row.key, row.name, row.version, row.dialect) == (key, "first", "2", "infibench")
    assert row.cases == 3
    assert row.created > 0


def test_a_suite_put_twice_is_there_once_with_its_new_description(store: Store) -> None:
    suite = make_suite("first", (make_case("a"), make_case("b")))
    key = put(store, suite)
    created = store.suites.newest()[0].created
    again = Suite(**{f: getattr(suite, f) for f in suite.__slots__} | {"description": "better"})
    assert put(store, again) == key
    assert store.suites.get(key) == again
    assert [row.created for row in store.suites.newest()] == [created]


def test_a_case_shared_by_suites_keeps_its_source_in_each(store: Store) -> None:
    one = make_suite("one", (make_case("a", "one.yaml"),))
    two = make_suite("two", (make_case("x"), make_case("a", "two.yaml")))
    keys = put(store, one), put(store, two)
    assert store.suites.get(keys[0]) == one
    assert store.suites.get(keys[1]) == two
    assert {row.key for row in store.suites.newest()} == set(keys)


@pytest.mark.slow
def test_cases_are_paged(store: Store) -> None:
    cases = [(f"key{number}", make_case(f"c{number}")) for number in range(1203)]
    store.suites.put(make_suite("long", ()), "long", cases)
    assert [(key, case) for _, key, case in store.suites.iter_cases("long")] == cases
    for after, limit, expected in [
        (-1, 3, range(3)),
        (499, 2, range(500, 502)),
        (600, 501, range(601, 1102)),
        (1200, None, range(1201, 1203)),
        (1202, None, range(0)),
        (5, 0, range(0)),
        (-1, 1000, range(1000)),
    ]:
        found = store.suites.iter_cases("long", after=after, limit=limit)
        assert [position for position, _, _ in found] == list(expected)


def test_an_unknown_suite_is_an_error(store: Store) -> None:
    with pytest.raises(StoreError, match="no suite 'nowhere'"):
        store.suites.get("nowhere")
    assert list(store.suites.iter_cases("nowhere")) == []


ATTEMPTS = {
    "answered": Attempt.of("a", "yes", index=3),
    "empty": Attempt.of("a", ""),
    "none": Attempt.of("a", None),
    "awkward": Attempt.of(AWKWARD, AWKWARD),
    "whole": Attempt(
        case_id="a",
        index=7,
        messages=(
            Message(role="assistant", content="which?"),
            Message(role="user", content="that"),
            Message(role="assistant", content="done"),
        ),
        seconds=1.25,
        usage={"prompt_tokens": 3, "cost": None},
        meta={"file": "x.txt", "nested": {"a": [1, {}]}},
    ),
    "error": Attempt(case_id="a", status=AttemptStatus.ERROR, error="no route"),
}


def test_attempts_come_back(store: Store) -> None:
    store.attempts.put(ATTEMPTS.items())
    assert store.attempts.get_many(ATTEMPTS) == ATTEMPTS
    assert store.attempts.get_many(["none", "nowhere"]) == {"none": ATTEMPTS["none"]}
    assert store.attempts.get_many([]) == {}


def test_an_attempt_in_error_is_not_known(store: Store) -> None:
    store.attempts.put(ATTEMPTS.items())
    assert store.attempts.stored_keys([*ATTEMPTS, "nowhere"]) == set(ATTEMPTS) - {"error"}


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("error", "answered", "answered"),
        ("error", "none", "none"),
        ("answered", "error", "answered"),
        ("answered", "whole", "answered"),
        ("none", "answered", "none"),
    ],
)
def test_only_an_attempt_in_error_is_replaced(
    store: Store, first: str, second: str, kept: str
) -> None:
    store.attempts.put([("key", ATTEMPTS[first])])
    store.attempts.put([("key", ATTEMPTS[second])])
    assert store.attempts.get_many(["key"]) == {"key": ATTEMPTS[kept]}


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


def test_many_keys_are_asked_for_at_once(store: Store) -> None:
    keys = [f"key{number}" for number in range(1700)]
    store.attempts.put((key, Attempt.of("a", key)) for key in keys[::2])
    assert store.attempts.stored_keys(keys) == set(keys[::2])
    found = store.attempts.get_many(iter(keys))
    assert {key: attempt.output for key, attempt in found.items()} == {k: k for k in keys[::2]}


def test_the_same_key_twice_in_one_put_is_there_once(store: Store) -> None:
    store.attempts.put([("key", ATTEMPTS["error"]), ("key", ATTEMPTS["answered"])])
    store.attempts.put([("key", ATTEMPTS["whole"]), ("key", ATTEMPTS["none"])])
    assert store.attempts.get_many(["key"]) == {"key": ATTEMPTS["answered"]}


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


def test_a_put_whose_rows_break_off_leaves_nothing(store: Store) -> None:
    def rows():
        for number in range(700):
            yield f"key{number}", Attempt.of("a", "x")
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        store.attempts.put(rows())
    assert store.attempts.stored_keys(f"key{number}" for number in range(700)) == set()


def test_what_was_put_is_seen_by_another_connection_at_once(store: Store, address: str) -> None:
    store.attempts.put(ATTEMPTS.items())
    with Store.open(address) as other:
        assert other.attempts.get_many(ATTEMPTS) == ATTEMPTS
