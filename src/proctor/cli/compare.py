"""``proctor compare``: which of several runs is better, and with what certainty."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import json_option, store_option
from proctor.cli.output import tell_which

if TYPE_CHECKING:
    from proctor.core.grid import PromptVerdict
    from proctor.engine.compare.results import CasePair, Compared, Contrast
    from proctor.engine.compare.verdict import GroupContrast
    from proctor.engine.run.gates import GateResult
    from proctor.store.store import Store

HEADER = ("Difference", "Interval 95%", "p", "Effect", "Better", "Worse", "Cases")
LONGEST_NAME = 24
TITLES = {
    "better": "Better",
    "worse": "Worse",
    "both_wrong": "Both wrong",
    "both_partly": "Both partly right",
    "both_right": "Both right",
}


@click.command()
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True)
@click.option("--by", multiple=True, metavar="TAG", help="Break the difference down by this tag.")
@click.option("--cases", is_flag=True, help="Show every case: changed ones first.")
@click.option(
    "--interval",
    "method",
    type=click.Choice(["t", "bootstrap"]),
    default="t",
    show_default=True,
    help="Method for the interval.",
)
@click.option(
    "--margin",
    type=float,
    metavar="POINTS",
    help="A negligible difference, in points of 100: also report `no worse` and `equal`.",
)
@click.option(
    "--sequential",
    is_flag=True,
    help="Decide by evidence that may be looked at again whenever there are more cases.",
)
@click.option("--gate", "gates", multiple=True, metavar="EXPR", help="Exit 1 unless this holds.")
@click.option("--force", is_flag=True, help="Compare runs that differ in more than the candidate.")
@store_option
@json_option
def compare(runs: tuple[str, ...], **options: Any) -> int:
    """Tell whether the second RUN is better than the first, case by case, with its uncertainty.

    More than two runs are compared in pairs. All rows shown are one family: p values and intervals
    are adjusted for their number. Gates apply to the first run against each of the others.

    \b
    Example:
      proctor compare @last~1 @last
      proctor compare @baseline @last
      proctor compare old-prompt new-prompt --by lang --cases
      proctor compare main this-branch --margin 2 --gate "verdict != 'worse'"
    """
    from proctor.engine.compare.baselines import with_baselines
    from proctor.engine.compare.comparing import CompareSettings, gate_results
    from proctor.engine.compare.comparing import compare as compare_runs
    from proctor.engine.compare.prompts import prompt_verdicts
    from proctor.store.store import Store

    settings = CompareSettings(
        by=options["by"],
        gates=options["gates"],
        method=options["method"],
        margin=None if options["margin"] is None else options["margin"] / 100,
        sequential=options["sequential"],
        force=options["force"],
    )
    with Store.open(options["store"], create=False) as store:
        references = with_baselines(store, runs)
        tell_which(store, references)
        compared = compare_runs(store, references, settings)
        results = gate_results(settings.gates, compared)
        verdicts = prompt_verdicts(store, compared, settings)
        if options["as_json"]:
            _print_json(store, compared, results, verdicts, cases=options["cases"])
        else:
            _print(store, compared, verdicts, by=options["by"], cases=options["cases"])
    for result in results:
        click.echo(f"gate {'held' if result.passed else 'missed'}: {result.words}", err=True)
    if not compared.complete:
        return 3
    return 0 if all(result.passed for result in results) else 1


def _print_json(
    store: "Store",
    compared: "Compared",
    results: "list[GateResult]",
    verdicts: "Sequence[PromptVerdict]",
    *,
    cases: bool,
) -> None:
    """Print the object, its cases one at a time."""
    from proctor.engine.compare.as_json import compared_object, pair_objects
    from proctor.engine.compare.comparing import case_pairs

    missed = [result.gate for result in results if not result.passed]
    gates = [result.to_json() for result in results]
    prompts = {"prompt_verdicts": [one.to_json() for one in verdicts]} if verdicts else {}
    head = _dumps({**compared_object(compared), **prompts, "gates_missed": missed, "gates": gates})
    if not cases:
        click.echo(head)
        return
    click.echo(head.removesuffix("\n}") + ',\n  "cases": [', nl=False)
    empty = True
    for contrast in compared.contrasts:
        sides = {"runs": [contrast.first.run.id, contrast.second.run.id]}
        for pair_object in map(
            pair_objects, ([p] for p in case_pairs(store, contrast.first, contrast.second))
        ):
            click.echo("\n    " if empty else ",\n    ", nl=False)
            click.echo(_dumps({**sides, **pair_object[0]}).replace("\n", "\n    "), nl=False)
            empty = False
    click.echo("]\n}" if empty else "\n  ]\n}")


def _dumps(value: Any) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which the id of a case may contain
        return json.dumps(value, indent=2)
    return text


def _print(
    store: "Store",
    compared: "Compared",
    verdicts: "Sequence[PromptVerdict]",
    *,
    by: Sequence[str],
    cases: bool,
) -> None:
    from proctor.engine.compare.wording import sentence

    for warning in compared.warnings:
        click.echo(f"warning: {_line(warning)}", err=True)
    for number, contrast in enumerate(compared.contrasts):
        if number:
            click.echo()
        click.secho(_line(sentence(contrast)), bold=True)
        if contrast.paired.n == 0:
            continue
        click.echo()
        click.echo(_table(contrast, by))
        for line in _left_out(contrast):
            click.echo(line)
        for line in _every_case(store, contrast) if cases else _examples(contrast):
            click.echo(line)
    if verdicts:
        click.echo()
    for verdict in verdicts:
        click.secho(_line(verdict.sentence), bold=True)
    if len(compared.sides) > 2:
        click.echo()
        click.echo(_ranking(compared))


def _ranking(compared: "Compared") -> str:
    """Return a table of the ranks that each run may have, the best first."""
    ranks = compared.ranks
    rows = sorted(
        (ranks[side.run.id], -(side.totals.rate or 0.0), place, side)
        for place, side in enumerate(compared.sides)
    )
    cells = [
        (
            str(best) if best == worst else f"{best}–{worst}",
            _line(side.name),
            _percent(side.totals.rate),
        )
        for (best, worst), _, _, side in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        f"rank {rank:<{widths[0]}}  {name:<{widths[1]}}  {rate:>{widths[2]}}"
        for rank, name, rate in cells
    )


def _table(contrast: "Contrast", by: Sequence[str]) -> str:
    """Return the numbers of all cases, and of the requested breakdowns, largest group first."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from proctor.reports.tabular import printed

    sections = [[_cells("Overall", contrast)]]
    for tag in dict.fromkeys(by):
        rows = sorted(contrast.groups[tag].items(), key=lambda row: -row[1].paired.n)
        sections.append([_cells(f"{tag}: {name}", group) for name, group in rows])
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    names = [_short(side.name) for side in (contrast.first, contrast.second)]
    for place, name in enumerate(["Group", *names, *HEADER]):
        justify: Any = "right" if place else "left"
        table.add_column(Text(name), no_wrap=True, justify=justify)
    for section in sections:
        for cells in section:
            table.add_row(*(Text(cell) for cell in cells))
        table.add_section()
    # Numbers are never cut: a narrow terminal wraps the lines instead.
    return printed([table]).rstrip("\n")


def _cells(name: str, group: "GroupContrast") -> tuple[str, ...]:
    from proctor.engine.compare.wording import p_text, points

    paired = group.paired
    ends = group.interval
    return (
        _line(name),
        _percent(paired.first),
        _percent(paired.second),
        "–" if paired.difference is None else points(paired.difference),
        "–" if ends is None else f"{points(ends[0])} to {points(ends[1])}",
        p_text(group.adjusted_p).removeprefix("p ").removeprefix("= "),
        "–" if paired.effect is None else f"{paired.effect:.2f}".replace("-", "−"),
        str(paired.better),
        str(paired.worse),
        str(paired.n) if paired.clusters is None else f"{paired.n} in {paired.clusters}",
    )


def _left_out(contrast: "Contrast") -> Iterator[str]:
    """Say which cases are excluded from the comparison, and what they could change."""
    from proctor.engine.compare.wording import points

    out, bounds = contrast.left_out, contrast.bounds
    named = (
        (out.unscored, "unscored in one of the runs"),
        (out.errors, "not reached in one of the runs"),
        (out.only_first, f"only in {contrast.first.name}"),
        (out.only_second, f"only in {contrast.second.name}"),
    )
    for count, words in named:
        if count:
            yield f"Left out: {_many(count)} {_line(words)}"
    if bounds is not None:
        yield (
            "Whatever the unscored would have come to, the difference lies within"
            f" {points(bounds[0])} to {points(bounds[1])}, sampling error included"
        )


def _examples(contrast: "Contrast") -> Iterator[str]:
    totals = {
        "better": contrast.paired.better,
        "worse": contrast.paired.worse,
        "both_wrong": contrast.flips.both_wrong,
        "both_partly": contrast.flips.both_partly,
    }
    for kind, pairs in contrast.examples.items():
        if not pairs:
            continue
        yield ""
        yield f"{TITLES[kind]}: {_many(totals[kind])}"
        for pair in pairs:
            yield _case_line(pair)
        if (left := totals[kind] - len(pairs)) > 0:
            yield f"  … and {left:,} more (--cases shows them all)"


def _every_case(store: "Store", contrast: "Contrast") -> Iterator[str]:
    from proctor.engine.compare.comparing import case_pairs
    from proctor.engine.compare.results import KINDS

    for kind in KINDS:
        title = True
        for pair in case_pairs(store, contrast.first, contrast.second, kind):
            if title:
                yield ""
                yield TITLES[kind]
                title = False
            yield _case_line(pair)


def _case_line(pair: "CasePair") -> str:
    return f"  {_line(pair.id)}  {pair.first:.4g} → {pair.second:.4g} of {pair.full:g}"


def _short(name: str) -> str:
    from proctor.cli.output import on_terminal

    shown = _line(name)
    if not on_terminal():
        return shown
    return shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 1]}…"


def _line(text: str) -> str:
    from proctor.reports.reasons import one_line

    return one_line(text)


def _many(count: int) -> str:
    return "1 case" if count == 1 else f"{count:,} cases"


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{rate * 100:.2f}%"
