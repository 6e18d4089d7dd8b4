"""A small battle, made by hand: wins, ties, a verdict that cannot be read, and orders missing."""

from dataclasses import replace
from math import nan

from proctor.core.comparison import (
    BattleOutcome,
    Comparison,
    Contender,
    Pair,
    Preference,
    Standing,
    Tally,
)

HOSTILE = "b|<script>\x1b[31m"


def compared(case: str, first: str, outcome: Preference, **fields: object) -> Comparison:
    """Make the comparison of two runs on a case, one of them shown first."""
    second = "r2" if first == "r1" else "r1"
    bare = Comparison(case_id=case, first=first, second=second, judge="j", outcome=outcome)
    return replace(bare, **fields)  # type: ignore[arg-type]


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
