"""A battle on paper: table, Markdown, JSON."""

import json
from dataclasses import replace
from math import nan

import pytest

from proctor.core.comparison import (
    BattleOutcome,
    Comparison,
    Contender,
    Pair,
    Preference,
    Standing,
    Tally,
)
from proctor.reports.battle import battle_markdown, battle_object, battle_table

HOSTILE = "b|<script>\x1b[31m"


def compared(case: str, first: str, outcome: Preference, **more: object) -> Comparison:
    second = "r2" if first == "r1" else "r1"
    made = Comparison(case_id=case, first=first, second=second, judge="j", outcome=outcome)
    return replace(made, **more)  # type: ignore[arg-type]


OUTCOME = BattleOutcome(
    contenders=(
        Contender(run="r1", name="a", candidate="ca"),
        Contender(run="r2", name=HOSTILE, candidate="cb"),
    ),
    pairs=(
        Pair(
            first="r1",
            second="r2",
            win=1,
            tie=1,
            loss=1,
            invalid=1,
            missing=2,
            interval=(0.25, 0.75),
            scores=(6.5, nan),
            agreement=0.5,
            first_seat=0.8,
            groups={"kind": {"odd": Tally(win=1)}},
        ),
    ),
    leaderboard=(
        Standing(run="r1", rank=1, strength=0.5, interval=(0.1, 0.9), win=1, tie=1, loss=1),
        Standing(run="r2", rank=2, strength=-0.5, interval=(-0.9, -0.1), win=1, tie=1, loss=1),
    ),
    comparisons=(
        compared("10", "r1", Preference.FIRST, scores=(8.0, 4.0), raw=("x", "8 4")),
        compared("10", "r2", Preference.SECOND, scores=(5.0, 9.0), raw=("5 9",)),
        compared("9", "r1", Preference.TIE, judge="", reason="equal answers"),
        compared("9", "r2", Preference.TIE, judge="", reason="equal answers"),
        compared("x", "r1", Preference.INVALID, raw=("hm", "no")),
        compared("x", "r2", Preference.FIRST, scores=(9.0, 1.0), raw=("9 1",)),
        compared("7", "r1", Preference.FIRST, scores=(9.0, 1.0), raw=("9 1",)),
    ),
    judge="j",
    signature="battle:2|judge:j",
    usage={"calls": 4, "prompt_tokens": 10, "completion_tokens": 2},
    bought=3,
    warnings=("one\nwarning",),
)


def test_the_object() -> None:
    made = json.loads(json.dumps(battle_object(OUTCOME), allow_nan=False))
    assert made["battle"]["status"] == "incomplete"
    (pair,) = made["pairs"]
    assert (pair["first"], pair["win"], pair["win_rate"], pair["share"]) == ("a", 1, 1 / 3, 0.5)
    assert (pair["scores"], pair["missing"]) == ([6.5, None], 2)
    assert pair["groups"]["kind"]["odd"]["win"] == 1
    assert [row["run"] for row in made["leaderboard"]] == ["a", HOSTILE]
    assert made["usage"]["bought"] == 3
    assert "comparisons" not in made
    (first, *_) = battle_object(OUTCOME, cases=True)["comparisons"]
    assert first["scores"] == [8.0, 4.0]
    assert first["first"] == {"run": "a", "attempt": 0}


def test_the_table_says_how_to_read_it() -> None:
    text = battle_table(OUTCOME, by=["kind"])
    assert "\x1b" not in text
    for words in (
        "Rank", "1087", "33.3%", "50.0%", "25.0–75.0%", "odd", "both orders", "Invalid: 1",
        "Missing: 2", "shown first won 80%", "one warning", "3 bought now", "battle:2|judge:j",
    ):  # fmt: skip
        assert words in text, words
    plain = replace(OUTCOME, orders=1, leaderboard=(), judge="")
    assert "one order" in battle_table(plain)
    assert "Rank" not in battle_table(plain)
    assert "Judge: none" in battle_table(plain)


def test_markdown_keeps_names_in_their_cells() -> None:
    lines = battle_markdown(OUTCOME).splitlines()
    (row,) = [line for line in lines if line.startswith("| a |")]
    assert r"b\|\<script>" in row
    assert "\x1b" not in row


@pytest.mark.parametrize("seat", [None, 0.6, 0.4])
def test_a_fair_judge_is_not_accused(seat: float | None) -> None:
    pair = replace(OUTCOME.pairs[0], first_seat=seat)
    assert "bias" not in battle_table(replace(OUTCOME, pairs=(pair,)))


def test_what_the_numbers_cannot_say_is_noted() -> None:
    runs = [Contender(run=name, name=name.upper(), candidate=name) for name in "abcd"]
    pairs = (
        Pair(first="a", second="b", win=3, tie=2, agreement=0.6, first_seat=0.9),
        Pair(first="c", second="d", win=1),
    )
    outcome = BattleOutcome(
        contenders=tuple(runs), pairs=pairs, apart=(("a", "b"), ("c", "d")), warnings=("careful",)
    )
    notes = "\n".join(battle_object(outcome)["notes"])
    assert "nearer to 50 % than what it prefers" in notes
    assert "Never met, not even through others: A, B; C, D." in notes
    assert "position bias" in notes
    assert notes.endswith("careful")
    assert "Never met" in battle_table(outcome)
