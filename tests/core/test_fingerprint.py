"""Keys: the same content always has the same one, other content another."""

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from hashlib import blake2b
from typing import Any

import pytest

from proctor.core import fingerprint, late_code
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import (
    answer_key,
    attempt_key,
    case_key,
    content_key,
    digest,
    digest_plain,
    is_plain,
    key_text,
    plain,
    score_key,
    scoring_key,
    sorted_json,
    suite_key,
    suite_key_of_texts,
)
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import (
    Case,
    CaseFile,
    Criterion,
    Json,
    Message,
    Spec,
    Suite,
    Tool,
    ToolCall,
)

CRITERION = Criterion(
    id="words", scorer=Spec(name="contains", params={"texts": ["Paris"], "all": True})
)
CASE = Case(
    id="capital",
    messages=(Message(role="user", content="Capital of France?"),),
    criteria=(CRITERION,),
    references=("Paris",),
    context=("France is a country.",),
    hidden={"note": "easy"},
    tags={"topic": ("geography", "europe")},
    source="suite.yaml:3",
)
ATTEMPT = Attempt.of("capital", "Paris, schön – 巴黎")
KEYS = {
    "case": "e6949e0f4354fb5446d922a0a73f5dd3",
    "suite": "d8cada20428f291cf12906fa1ddaa262",
    "answer": "2f44818ad3cef50030b827f3ef8400c0",
    "judged": "2c7e810b55fa2c599e864b337b8190f5",
    "score": "03a653c1fdd5c5415176d65878bd4a78",
}


def test_keys_never_change() -> None:
    """If this fails, every store in the world forgets its scores: bump nothing without need."""
    judged = scoring_key(CASE, CRITERION, "1")
    found = {
        "case": case_key(CASE),
        "suite": suite_key(Suite(name="s", cases=(CASE,), version="2"), [case_key(CASE)]),
        "answer": answer_key(CASE, ATTEMPT),
        "judged": judged,
        "score": score_key(judged, ATTEMPT),
    }
    assert found == KEYS


def test_the_order_of_keys_does_not_matter() -> None:
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    turned = replace(
        CRITERION, scorer=Spec(name="contains", params={"all": True, "texts": ["Paris"]})
    )
    assert case_key(replace(CASE, criteria=(turned,))) == case_key(CASE)


@pytest.mark.parametrize("pair", [((1, 2), (2, 1)), (("a", "b"), ("ab",)), (("1",), (1,)),
                                  ((None,), ("",)), (([1], 2), (1, [2]))])  # fmt: skip
def test_other_things_have_other_digests(
    pair: tuple[tuple[object, ...], tuple[object, ...]],
) -> None:
    assert digest(*pair[0]) != digest(*pair[1])


def test_where_a_case_was_written_does_not_matter() -> None:
    assert case_key(replace(CASE, source="elsewhere.yaml:99")) == case_key(CASE)
    judged = scoring_key(CASE, CRITERION, "1")
    assert scoring_key(replace(CASE, source="x"), CRITERION, "1") == judged


@pytest.mark.parametrize(
    "change",
    [
        {"id": "other"},
        {"references": ("Lyon",)},
        {"context": ()},
        {"hidden": {}},
        {"tags": {"topic": ("geography",)}},
        {"weight": 2.0},
        {"full_score": 2.0},
        {"null_score": 0.5},
        {"min_points": 0.0},
        {"max_points": 1.0},
        {"out_of": 3.0},
        {"messages": ()},
        {"dialogue": Spec(name="scripted")},
        {"criteria": (replace(CRITERION, weight=2.0),)},
        {"criteria": (replace(CRITERION, scorer=Spec(name="matches", params={})),)},
    ],
)
def test_each_part_of_a_case_is_in_its_key(change: dict[str, object]) -> None:
    assert case_key(replace(CASE, **change)) != case_key(CASE)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"references": ("Lyon",)}, False),
        ({"context": ()}, False),
        ({"hidden": {}}, False),
        ({"messages": ()}, False),
        # what a score does not depend on: it is not judged again
        ({"tags": {}}, True),
        ({"weight": 3.0}, True),
        ({"full_score": 5.0}, True),
        ({"id": "renamed"}, True),
    ],
)
def test_a_score_depends_on_what_the_scorer_sees(change: dict[str, object], same: bool) -> None:
    changed = scoring_key(replace(CASE, **change), CRITERION, "1")  # type: ignore[arg-type]
    assert (changed == scoring_key(CASE, CRITERION, "1")) is same


def test_a_changed_criterion_is_judged_again_a_reweighted_one_is_not() -> None:
    judged = scoring_key(CASE, CRITERION, "1")
    other = replace(CRITERION, scorer=Spec(name="contains", params={"texts": ["Lyon"]}))
    assert scoring_key(CASE, other, "1") != judged
    assert scoring_key(CASE, CRITERION, "2") != judged
    assert scoring_key(CASE, replace(CRITERION, weight=5.0, id="x", metric="m"), "1") == judged


def test_a_score_depends_on_the_transcript_alone() -> None:
    assert score_key("j", ATTEMPT) == score_key("j", replace(ATTEMPT, index=7, seconds=3.0))
    assert score_key("j", ATTEMPT) != score_key("j", Attempt.of("capital", "Lyon"))
    assert score_key("j", ATTEMPT) != score_key("k", ATTEMPT)


def test_tools_are_part_of_what_is_asked_and_what_is_answered() -> None:
    tool = Tool(name="get_weather", parameters={"type": "object"})
    with_tool = replace(CASE, tools=(tool,))
    assert attempt_key(with_tool, 0, "me") != attempt_key(CASE, 0, "me")
    assert scoring_key(with_tool, CRITERION, "1") != scoring_key(CASE, CRITERION, "1")
    call = ToolCall(name="get_weather", arguments={"city": "Paris"}, id="1")
    messages = [
        Message(role="assistant", content="", tool_calls=calls)
        for calls in ((), (call,), (replace(call, arguments={"city": "Rome"}),), (call, call))
    ]
    attempts = [Attempt(case_id="capital", messages=(message,)) for message in messages]
    assert len({score_key("s", attempt) for attempt in attempts}) == len(attempts)


def test_attempts_of_one_text_are_told_apart_by_their_index() -> None:
    assert answer_key(CASE, ATTEMPT) != answer_key(CASE, replace(ATTEMPT, index=1))
    silent = Attempt.of("capital", None)
    assert answer_key(CASE, silent) != answer_key(CASE, Attempt.of("capital", ""))


def test_texts_that_are_not_unicode_have_keys() -> None:
    assert digest("\ud800") != digest("\ud801")


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        (Spec(name="x"), {"name": "x"}),
        (Spec(name="x", params={"a": (1, 2)}), {"name": "x", "params": {"a": [1, 2]}}),
        ({"a": None}, {"a": None}),
        (Score(points=0.0), {"points": 0.0}),
        (Score(status=ScoreStatus.FAILED, reason="r"), {"status": "failed", "reason": "r"}),
        ({1: (True, None)}, {"1": [True, None]}),
    ],
)  # fmt: skip
def test_plain(thing: object, expected: object) -> None:
    assert plain(thing) == expected


@pytest.mark.parametrize(
    "thing",
    [
        [1e16, 1e-7, 0.1, -0.0, float("nan"), float("inf"), -float("inf")],
        {"b": 2**70, "a": True, "ä": None, "Z": {"y": [], "x": {}}, "巴": "\x00\x1f\x7f\u2028\ud800"},
        ["\"", "\\", "\n", "\t", "/", "é", "😀", ""],
        [],
    ],
)  # fmt: skip
def test_a_digest_is_that_of_sorted_json(thing: object) -> None:
    text = json.dumps([thing, "x"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    expected = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    assert digest(thing, "x") == expected


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        (None, True), (1.5, True), ("x", True), ({"a": [1, {"b": None}]}, True), ([], True),
        ((1, 2), False), ({"a": (1,)}, False), ({1: "x"}, False), ([Spec(name="x")], False),
        (ScoreStatus.SCORED, False), ({"a": [ScoreStatus.SCORED]}, False),
    ],
)  # fmt: skip
def test_what_is_plain_stays_as_it_is(thing: object, expected: bool) -> None:
    assert is_plain(thing) is expected
    if expected:
        assert plain(thing) == thing


def test_plain_refuses_what_is_no_json() -> None:
    with pytest.raises(TypeError, match="set"):
        plain({"a": {1, 2}})


@pytest.mark.parametrize("count", [0, 1, 999, 1_000, 1_001, 2_500])
def test_the_key_of_a_suite_is_the_digest_of_all_its_keys(count: int) -> None:
    suite = Suite(name="s\ud800", cases=(), version="2")
    keys = [digest(number) for number in range(count)]
    about = (suite.name, suite.version, suite.reduce, suite.measures, suite.variant)
    whole = digest(*about, keys)
    assert suite_key(suite, iter(keys)) == whole
    texts = ["".join(keys[:7]), "", "".join(keys[7:])]
    assert suite_key_of_texts(suite, texts) == suite_key_of_texts(suite, keys) == whole


CALL = ToolCall(name="f", arguments={"b": 1, "a": [None, True, 1.5]}, id="1")
OTHER: dict[type, dict[str, Json]] = {
    Case: {
        "id": '\u2028\ud800"\\\n',
        "messages": (Message(role="assistant", content="", tool_calls=(CALL,)),),
        "criteria": (replace(CRITERION, weight=1, metric="m", turn=0),),
        "references": (),
        "context": ("", "x"),
        "hidden": {"z": {}, "a": [{}], "": None},
        "dialogue": Spec(name="clarify", params={"turns": 3}),
        "tags": {},
        "weight": 1,
        "full_score": 1e22,
        "null_score": -0.0,
        "min_points": 0.0,
        "max_points": 3,
        "out_of": 1e-7,
        "files": (CaseFile(name="f", digest="d", path="here"),),
        "setup": {2: "two", "1": "one"},
        "tools": (Tool(name="t", parameters={"type": "object"}),),
        "tool_choice": "auto",
        "response_format": {"type": "object"},
        "vars": {"n": float("inf")},
        "cluster": "k",
        "source": "",
    },
    Message: {
        "role": "",
        "content": "",
        "images": ("data:",),
        "thinking": "hm",
        "tool_calls": (CALL,),
        "tool_call_id": "1",
        "carried": {"p": 1},
        "marks": ("a",),
    },
}
THINGS = [
    *(None, True, 0, -1, 1 << 70, 0.0, 1e16, 1e-7, float("nan"), "", "é", "\x7f\x1f", (), [], {}),
    *({"b": 1, "a": {"d": "", "c": 0}}, {1: 2, "1": 3}, [[1, [2, (3,)]]], ScoreStatus.SCORED),
    *(
        ATTEMPT,
        CRITERION,
        Spec(name="x"),
        Score(points=1.0, detail={"a": (1,)}),
        [CALL, {"x": CALL}],
    ),
]


@pytest.mark.parametrize("thing", THINGS, ids=repr)
def test_a_text_for_keys_is_that_of_the_plain_value(thing: Json) -> None:
    assert key_text(thing) == sorted_json(plain(thing))
    assert digest("x", thing) == digest_plain(["x", plain(thing)])


@pytest.mark.parametrize("kind", OTHER, ids=lambda kind: kind.__name__)
def test_each_field_is_part_of_a_text_for_keys_as_of_the_plain_value(kind: type) -> None:
    usual = {Case: CASE, Message: CASE.messages[0]}[kind]
    assert OTHER[kind].keys() == {one.name for one in fields(usual)}
    for name, value in OTHER[kind].items():
        other = replace(usual, **{name: value})
        assert key_text(other) == sorted_json(plain(other)), name
        if isinstance(other, Case):
            assert case_key(other) == content_key(plain(other)), name


@pytest.fixture
def code_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile code for the first object of a class, and for the first one that is otherwise."""
    monkeypatch.setattr(late_code, "WORTH_CODE", 1)
    tables: list[dict[type, Any]] = [fingerprint._WRITERS, fingerprint._CASE_WRITERS]
    before = [dict(table) for table in tables]
    for table in tables:
        for kind in [kind for kind in table if is_dataclass(kind)]:
            del table[kind]
    yield
    for table, entries in zip(tables, before, strict=True):
        table.clear()
        table.update(entries)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, changed in OTHER.items() for name in ("", *changed)],
    ids=str,
)
@pytest.mark.usefixtures("code_at_once")
def test_code_for_one_object_writes_others_as_they_are(kind: type, name: str) -> None:
    usual = {Case: CASE, Message: CASE.messages[0]}[kind]
    first = replace(usual, **({name: OTHER[kind][name]} if name else {}))
    others = [replace(usual, **{other: value}) for other, value in OTHER[kind].items()]
    # The second time all of them find the code that is there for any object.
    for thing in (first, first, usual, *others, usual, *others):
        assert key_text(thing) == sorted_json(plain(thing))
        if isinstance(thing, Case):
            assert case_key(thing) == content_key(plain(thing))


def test_code_is_compiled_where_it_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late_code, "WORTH_CODE", 3)
    put: list[Callable[[Any], str]] = []
    first = late_code.late_writer(
        put.append,
        "loop {}".format,
        lambda one, other: lambda thing: f"as {one}" if thing == one else other(thing),
        lambda: "any {}".format,
    )
    assert [first(place) for place in range(3)] == ["loop 0", "loop 1", "loop 2"]
    (alike,) = put
    assert [alike(place) for place in (2, 5, 2, 6, 7)] == [
        *("as 2", "loop 5", "as 2", "loop 6", "loop 7")
    ]
    assert put[1](8) == "any 8"
    assert len(put) == 2
