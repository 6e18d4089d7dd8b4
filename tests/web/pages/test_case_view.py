"""A case laid out for a page: matches marked, tables of what scorers found, any note survived."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.run.aggregate import case_result, fold_of
from proctor.store.queries import ListingQuery
from proctor.store.rows import ResultRow
from proctor.store.store import Store
from proctor.web.pages.case_view import (
    BINS,
    case_view,
    histogram_bins,
    histogram_svg,
    short_count,
)

CASE = Case(
    id="c",
    messages=(Message(role="user", content="Which?", images=("https://x/a.png", "data:abc")),),
    criteria=(Criterion(id="k", scorer=Spec(name="keywords"), weight=2.0),),
    references=("red",),
    hidden={"key": 1},
    tags={"lang": ("go", "c")},
)


def laid(
    detail: Any = None, notes: Any = None, *more: Attempt, most: int | None = None
) -> dict[str, Any]:
    attempt = replace(Attempt.of("c", "red and green"), notes=notes or {})
    score = Score(points=1.0, out_of=1.0, reason="found", detail=detail)
    pairs = [(attempt, {"k": score}), *((one, {}) for one in more)]
    return case_view(case_result(fold_of(Suite(name="s", cases=())), CASE, pairs), most=most)


def texts(pieces: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    return [(piece["text"], piece["hit"]) for piece in pieces]


def test_the_question_is_there_with_links_to_pictures_on_the_web_alone() -> None:
    case = laid()
    (message,) = case["messages"]
    assert texts(message["text"]) == [("Which?", False)]
    assert [image["href"] for image in message["images"]] == ["https://x/a.png", ""]
    assert case["tags"] == [("lang", "go, c")]
    assert '"key": 1' in case["hidden"]
    assert (case["value"], case["buckets"]) == (1.0, [])


def test_what_a_scorer_found_is_marked_in_the_answer_and_listed() -> None:
    rules = [
        {"keyword": "red", "status": "match", "points": 1, "spans": [[0, 3]]},
        {"keyword": "blue", "status": "unmatch", "points": "?", "spans": "none"},
    ]
    (attempt,) = laid({"rules": rules})["attempts"]
    (turn,) = attempt["turns"]
    assert texts(turn["text"]) == [("red", True), (" and green", False)]
    (score,) = attempt["scores"]
    assert score["rules"] == [
        {"hit": True, "points": "+1", "keyword": "red", "places": "0–3"},
        {"hit": False, "points": "", "keyword": "blue", "places": ""},
    ]
    assert (score["weight"], score["points"], score["reason"]) == (2.0, 1.0, "found")
    assert attempt["formula"]


def test_what_a_score_of_one_turn_matched_is_marked_in_that_turn() -> None:
    criteria = tuple(
        Criterion(id=f"k{turn}", scorer=Spec(name="keywords"), turn=turn) for turn in (0, 1, 7)
    )
    said = (("assistant", "red"), ("user", "And then?"), ("assistant", "green"))
    messages = tuple(Message(role=role, content=text) for role, text in said)
    attempt = replace(Attempt.of("c", "green"), messages=messages)
    scores = {
        name: Score(points=1.0, out_of=1.0, reason="", detail={"texts": [{"span": span}]})
        for name, span in (("k0", [0, 2]), ("k1", [1, 3]), ("k7", [4, 5]))
    }
    case = replace(CASE, criteria=criteria)
    result = case_result(fold_of(Suite(name="s", cases=())), case, [(attempt, scores)])
    (shown,) = case_view(result, most=None)["attempts"]
    assert [texts(turn["text"]) for turn in shown["turns"]] == [
        [("re", True), ("d", False)],
        [("And then?", False)],
        [("g", False), ("re", True), ("e", False), ("n", True)],
    ]


def test_tests_blanks_and_panels_have_their_tables() -> None:
    (attempt,) = laid(
        {
            "tests": [{"passed": True, "seconds": 0.125, "stderr": "e", "stdout": "o",
                       "program": "a\nb"}],
            "blanks": [{"text": "x", "target": "y", "points": 0, "line": 3}],
            "panel": [{"points": 1, "raw": ["yes"]}],
            "raw": ["first", "second"],
        }
    )["attempts"]  # fmt: skip
    (score,) = attempt["scores"]
    assert score["tests"] == [
        {
            "hit": True, "result": "", "line": None, "seconds": "0.12", "output": "e\no",
            "program": [(1, "a"), (2, "b")],
        }
    ]  # fmt: skip
    assert score["blanks"] == [{"hit": False, "text": "x", "target": "y", "line": "3"}]
    assert score["panel"] == [{"points": 1, "reason": "", "replies": ["yes"]}]
    assert [texts(reply) for reply in score["replies"]] == [
        [("first", False)],
        [("second", False)],
    ]


def test_the_ledger_has_a_row_for_each_point() -> None:
    ledger = {"points": ["size", "colour"], "covered": [[True, False], [True]], "asked": [[True]],
              "first": [1, None]}  # fmt: skip
    (attempt,) = laid(notes={"ledger": ledger, "reason": "done", "truncated": [2]})["attempts"]
    notes = attempt["notes"]
    assert notes["ledger"]["turns"] == [1, 2]
    assert notes["ledger"]["rows"] == [
        {
            "point": "size",
            "turns": [{"covered": True, "asked": True}, {"covered": True, "asked": None}],
            "first": 1,
        },
        {
            "point": "colour",
            "turns": [{"covered": False, "asked": None}, {"covered": None, "asked": None}],
            "first": None,
        },
    ]
    assert (notes["reason"], notes["truncated"]) == ("done", "2")


@pytest.mark.parametrize(
    ("detail", "notes"),
    [
        ("text", {"ledger": "x", "flags": "y", "turns": 3, "context": 4}),
        (["list"], {"ledger": {"points": "ab"}, "turns": [1, {"raw": "x"}]}),
        ({"rules": 3, "tests": ["x"], "blanks": None, "panel": {}}, {"flags": [1, {"a": 2}]}),
        ({"rules": [{}], "tests": [{}], "blanks": [{}], "panel": [{}]}, {"reason": None}),
        ({"rules": [{"spans": [[0], "x", [1, 2]]}]}, {"ledger": {"points": ["a"], "covered": 1}}),
    ],
)
def test_what_strangers_noted_breaks_no_page(detail: Any, notes: Any) -> None:
    (attempt,) = laid(detail, notes)["attempts"]
    assert attempt["scores"][0]["detail"]


def test_long_texts_are_cut_and_failures_have_their_words() -> None:
    lost = Attempt(
        case_id="c", index=1, status=AttemptStatus.ERROR, error="gone", notes={"traceback": "at 3"}
    )
    first, second = laid(None, None, lost, most=3)["attempts"]
    assert [(one["text"], one["more"]) for one in first["turns"][0]["text"]] == [
        ("red", 0),
        ("", 10),
    ]
    assert (second["error"], second["traceback"], second["formula"]) == ("gone", "at 3", "")
    assert second["scores"] == []


def test_bars_of_a_histogram_lead_to_their_cases(store_with_values: tuple[Store, int]) -> None:
    store, cases = store_with_values
    counts = store.listing.histogram("r", BINS)
    assert counts[0] == 1
    assert store.listing.reaches_below("r")
    assert not store.listing.reaches_below("none")
    for one, count in zip(histogram_bins(BINS, below=True), counts, strict=True):
        assert store.listing.count("r", ListingQuery(where=one.where)) == count, one
    assert sum(counts) == cases
    assert histogram_bins(BINS)[1].coords == "17,0,34,106"
    assert [one.where for one in histogram_bins(2)] == ["rate >= 0 and rate < 0.5", "rate >= 0.5"]
    assert "&lt; 0%: 1</title>" in histogram_svg(counts)
    assert "&lt; 0" not in histogram_svg([0, *counts[1:]])


@pytest.fixture
def store_with_values(tmp_path: Path) -> Iterator[tuple[Store, int]]:
    values = [-0.5, *(place / 20 for place in range(21)), 0.333, 1.5, None]
    rows = [
        ResultRow(
            position=place,
            case_id=f"c{place}",
            status=ValueStatus.UNSCORED if value is None else ValueStatus.SCORED,
            value=value,
            full=1.0,
            weight=1.0,
            low=0.0,
            high=1.0,
            spread=0.0,
        )
        for place, value in enumerate(values)
    ]
    with Store.open(str(tmp_path / "p.db")) as store:
        store.results.put("r", rows)
        yield store, len(rows) - 1


@pytest.mark.parametrize(
    ("count", "words"),
    [(7, "7"), (950, "950"), (1234, "1.2k"), (9960, "10k"), (43_210, "43k"), (10**6, "1.0M")],
)
def test_counts_are_short(count: int, words: str) -> None:
    assert short_count(count) == words
    assert f">{words}</text>" in histogram_svg([0, count])
    assert "</text>" not in histogram_svg([0, count], labelled=False)
