"""A battle on paper: table, Markdown, JSON."""

import json
from dataclasses import replace

import pytest

from proctor.core.comparison import BattleOutcome, Contender, Pair
from proctor.reports.battle import battle_markdown, battle_object, battle_table
from reports.battle_example import HOSTILE, OUTCOME


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
