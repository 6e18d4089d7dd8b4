"""A battle as a table, as Markdown, and as one JSON object."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proctor.core.comparison import BattleOutcome, Comparison, Pair, Standing, Tally
from proctor.core.suite import VARIANT, Json
from proctor.reports.reasons import one_line
from proctor.reports.structured import clean
from proctor.reports.tabular import md_table, printed, usage_line

if TYPE_CHECKING:
    from rich.console import RenderableType

PAIR_HEADER = (
    *("First", "Second", "Win", "Tie", "Loss", "Invalid", "Win rate"),
    *("Share", "Interval 95%", "Marks", "Agree"),
)
BOARD_HEADER = ("Rank", "Run", "Elo", "Interval 95%", "Win", "Tie", "Loss")
_UNKNOWN = "–"
_USAGE: Mapping[str, Json] = {
    "calls": 0,
    "prompt_tokens": 0,
    "completion_tokens": 0,
    "cost": None,
}


def battle_object(outcome: BattleOutcome, *, cases: bool = False) -> dict[str, Json]:
    """Make the object that ``battle --json`` prints, with every comparison if ``cases`` is set."""
    data: dict[str, Json] = {
        "battle": {
            "runs": [
                {"id": entry.run, "name": entry.name, "candidate": entry.candidate}
                for entry in outcome.contenders
            ],
            "judge": outcome.judge,
            "orders": outcome.orders,
            VARIANT: outcome.variant,
            "status": "complete" if outcome.complete else "incomplete",
            "signature": outcome.signature,
            "imported": outcome.imported,
        },
        "pairs": [_pair_object(outcome, pair) for pair in outcome.pairs],
        "leaderboard": [_standing_object(outcome, entry) for entry in outcome.leaderboard],
        "usage": {**_USAGE, **outcome.usage, "bought": outcome.bought},
        "warnings": list(outcome.warnings),
        "notes": caveats_of(outcome),
    }
    if cases:
        data["comparisons"] = [_comparison_object(outcome, one) for one in outcome.comparisons]
    cleaned: dict[str, Json] = clean(data)
    return cleaned


def battle_markdown(outcome: BattleOutcome, *, by: Sequence[str] = ()) -> str:
    """Write a battle as Markdown."""
    lines: list[str] = []
    for header, rows in _tables(outcome, by):
        lines += [*md_table(header, iter(rows)), ""]
    return "\n".join([*lines, *(f"- {note}" for note in notes_of(outcome))]) + "\n"


def battle_table(
    outcome: BattleOutcome,
    *,
    by: Sequence[str] = (),
    width: int | None = None,
    color: bool = False,
) -> str:
    """Write a battle as a table for terminals."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    for header, rows in _tables(outcome, by):
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        for name in header:
            left = name in ("First", "Second", "Run", "Group")
            table.add_column(
                name,
                justify="left" if left else "right",
                overflow="fold",
                no_wrap=not left,
            )
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        parts += [table, ""]
    parts += notes_of(outcome)
    return printed(parts, width=None if width is None else max(width, 100), color=color)


def notes_of(outcome: BattleOutcome) -> list[str]:
    """Return notes on how to read the numbers, and what they lack, one line each."""
    notes = [f"Judge: {one_line(outcome.judge) or 'none'}; {_how(outcome)}", *caveats_of(outcome)]
    if line := usage_line(outcome.usage):
        notes.append(f"{line} ({outcome.bought:,} bought now)")
    return [*notes, f"Signature: {one_line(outcome.signature) or _UNKNOWN}"]


def caveats_of(outcome: BattleOutcome) -> list[str]:
    """Return what the numbers lack, and how far they can be trusted, one line each."""
    notes = []
    if outcome.imported:
        notes.append("Imported: the judge's verdicts are as in the file")
    invalid = sum(pair.invalid for pair in outcome.pairs)
    if invalid:
        notes.append(f"Invalid: {invalid} without a readable verdict, not counted")
    missing = sum(pair.missing for pair in outcome.pairs)
    if missing:
        notes.append(f"Missing: {missing} could not be compared; the same command retries them")
    for pair in outcome.pairs:
        if pair.first_seat is not None and abs(pair.first_seat - 0.5) > 0.15:
            seat = "first" if pair.first_seat > 0.5 else "second"
            share = max(pair.first_seat, 1 - pair.first_seat)
            names = f"{outcome.name_of(pair.first)} and {outcome.name_of(pair.second)}"
            notes.append(
                f"Of {one_line(names)}, whoever was shown {seat} won {share:.0%} of the decided"
                " comparisons: the judge has a position bias"
            )
    if outcome.orders > 1 and any((pair.agreement or 1.0) < 1 for pair in outcome.pairs):
        notes.append(
            "Where the orders disagree it is a tie: with a judge that leans, shares are nearer to"
            " 50 % than what it prefers"
        )
    if len(outcome.apart) > 1:
        groups = "; ".join(", ".join(map(outcome.name_of, group)) for group in outcome.apart)
        notes.append(
            f"Never met, not even through others: {one_line(groups)}. Their ratings cannot be"
            " compared with each other"
        )
    return notes + [one_line(warning) for warning in outcome.warnings]


def _how(outcome: BattleOutcome) -> str:
    if outcome.orders > 1:
        return "both orders, a win only where they agree; a tie is half a win in the share"
    return "one order; a tie is half a win in the share"


def _tables(
    outcome: BattleOutcome, by: Sequence[str]
) -> Iterator[tuple[Sequence[str], list[tuple[str, ...]]]]:
    if outcome.leaderboard:
        yield BOARD_HEADER, [_board_cells(outcome, standing) for standing in outcome.leaderboard]
    yield PAIR_HEADER, [_pair_cells(outcome, pair) for pair in outcome.pairs]
    for tag in by:
        rows = [
            _group_cells(outcome, pair, value, tally)
            for pair in outcome.pairs
            for value, tally in pair.groups.get(tag, {}).items()
        ]
        yield ("First", "Second", "Group", "Win", "Tie", "Loss", "Invalid", "Share"), rows


def _pair_cells(outcome: BattleOutcome, pair: Pair) -> tuple[str, ...]:
    marks = _UNKNOWN if pair.scores is None else f"{pair.scores[0]:.2f} : {pair.scores[1]:.2f}"
    ends = pair.interval
    return (
        one_line(outcome.name_of(pair.first)),
        one_line(outcome.name_of(pair.second)),
        *map(str, (pair.win, pair.tie, pair.loss, pair.invalid)),
        _percent(pair.win_rate),
        _percent(pair.share),
        _UNKNOWN if ends is None else f"{ends[0] * 100:.1f}–{ends[1] * 100:.1f}%",
        marks,
        _percent(pair.agreement),
    )


def _board_cells(outcome: BattleOutcome, standing: Standing) -> tuple[str, ...]:
    elo, ends = standing.elo, standing.elo_interval
    return (
        _UNKNOWN if elo is None else str(standing.rank),
        one_line(outcome.name_of(standing.run)),
        _UNKNOWN if elo is None else f"{elo:.0f}",
        _UNKNOWN if ends is None else f"{ends[0]:.0f}–{ends[1]:.0f}",
        *map(str, (standing.win, standing.tie, standing.loss)),
    )


def _group_cells(outcome: BattleOutcome, pair: Pair, value: str, tally: Tally) -> tuple[str, ...]:
    return (
        one_line(outcome.name_of(pair.first)),
        one_line(outcome.name_of(pair.second)),
        one_line(value),
        *map(str, (tally.win, tally.tie, tally.loss, tally.invalid)),
        _percent(tally.share),
    )


def _pair_object(outcome: BattleOutcome, pair: Pair) -> dict[str, Json]:
    return {
        "first": outcome.name_of(pair.first),
        "second": outcome.name_of(pair.second),
        **_tally_object(pair),
        "missing": pair.missing,
        "interval": pair.interval,
        "scores": pair.scores,
        "agreement": pair.agreement,
        "first_seat": pair.first_seat,
        "groups": {
            tag: {value: _tally_object(tally) for value, tally in rows.items()}
            for tag, rows in pair.groups.items()
        },
    }


def _tally_object(tally: Tally) -> dict[str, Json]:
    return {
        "win": tally.win,
        "tie": tally.tie,
        "loss": tally.loss,
        "invalid": tally.invalid,
        "win_rate": tally.win_rate,
        "share": tally.share,
    }


def _standing_object(outcome: BattleOutcome, standing: Standing) -> dict[str, Any]:
    return {
        "rank": None if standing.interval is None else standing.rank,
        "run": outcome.name_of(standing.run),
        "strength": None if standing.interval is None else standing.strength,
        "interval": standing.interval,
        "elo": standing.elo,
        "elo_interval": standing.elo_interval,
        "win": standing.win,
        "tie": standing.tie,
        "loss": standing.loss,
        "invalid": standing.invalid,
    }


def _comparison_object(outcome: BattleOutcome, one: Comparison) -> dict[str, Json]:
    return {
        "case": one.case_id,
        "first": {"run": outcome.name_of(one.first), "attempt": one.first_index},
        "second": {"run": outcome.name_of(one.second), "attempt": one.second_index},
        "judge": one.judge,
        "outcome": one.outcome.value,
        "scores": one.scores,
        "reason": one.reason,
    }


def _percent(share: float | None) -> str:
    return _UNKNOWN if share is None else f"{share * 100:.1f}%"
