"""``proctor battle``: let a judge compare the answers of several runs."""

from pathlib import Path
from typing import Any

import click

from proctor import origin_tables
from proctor.cli.options import (
    call_options,
    call_settings,
    json_option,
    panel_options,
    panel_settings,
    store_option,
    variant_option,
)
from proctor.cli.output import tell_which


@click.command()
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True)
@click.option("--one-order", is_flag=True, help="Show each pair of answers in one order only.")
@click.option("--references", is_flag=True, help="Show the judge the reference answers.")
@click.option(
    "--prompt",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A battle prompt file of ColossalAI's pipeline [default: Proctor's own prompt].",
)
@variant_option("Ask and parse as that pipeline does.")
@click.option("--attempts", type=click.IntRange(1), help="Compare at most N attempts per case.")
@click.option("--by", multiple=True, metavar="TAG", help="Break the counts down by this tag.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "md", "json"]),
    default="table",
    show_default=True,
    help="Output format.",
)
@click.option("--cases", is_flag=True, help="With JSON, include every comparison.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also write the result files of ColossalAI's pipeline into this folder.",
)
def battle(runs: tuple[str, ...], **options: Any) -> int:
    """Let a judge compare the stored answers of two RUNs or more, case by case.

    Each pair of answers is shown in both orders, and a win counts only if both agree. More than two
    runs get a leaderboard. Comparisons that are stored are not made again: after an interruption,
    run the same command again.

    \b
    Example:
      proctor battle my-run other-run --judge openai:gpt-4o
      proctor battle @last @last~1 @last~2 --judge openai:gpt-4o --by category
    """
    from proctor.cli.output import progress_bar, say, say_stopped
    from proctor.engine.battle.run_battle import battle as hold
    from proctor.io.concurrency import run_sync
    from proctor.store.store import Store

    if options["out"] is not None and origin_tables.battle_writer() is None:
        raise click.UsageError("--out: no format that is installed writes files of battles")
    panel, calls = panel_settings(options), call_settings(options)
    with Store.open(options["store"], create=False) as store:
        tell_which(store, runs)
        try:
            with progress_bar() as progress:
                outcome = run_sync(
                    hold(
                        store,
                        runs,
                        panel,
                        calls=calls,
                        both_orders=not options["one_order"],
                        prompt=_prompt(options["prompt"]),
                        variant=options["variant"] or "",
                        references=options["references"],
                        attempts=options["attempts"],
                        progress=progress,
                        notice=say,
                    )
                )
        except KeyboardInterrupt:
            say_stopped()
            return 130
    print_battle(outcome, options)
    return exit_code(outcome)


for _decorate in (*panel_options, *call_options):
    _decorate(battle)
json_option(battle)
store_option(battle)


def print_battle(outcome: Any, options: dict[str, Any]) -> None:
    """Print a battle in the requested format, and write the original's files if requested."""
    from proctor.cli.output import on_terminal, print_json, table_width
    from proctor.reports.battle import battle_markdown, battle_object, battle_table

    by = options.get("by") or ()
    form = "json" if options["as_json"] else options.get("form", "table")
    if form == "json":
        print_json(battle_object(outcome, cases=options.get("cases", False)))
    elif form == "md":
        click.echo(battle_markdown(outcome, by=by).rstrip("\n"))
    else:
        text = battle_table(outcome, by=by, width=table_width(), color=on_terminal())
        click.echo(text.rstrip("\n"))
    if options.get("out") is not None:
        for path in origin_tables.battle_writer()(outcome, options["out"]):
            if form != "json":
                click.echo(f"wrote {path}", err=True)


def exit_code(outcome: Any) -> int:
    """Say what is missing, and return the exit code of a battle."""
    if outcome.complete:
        return 0
    missing = sum(pair.missing for pair in outcome.pairs)
    if outcome.stopped or missing:
        why = outcome.stopped or f"{missing} comparisons could not be made"
        click.echo(f"incomplete: {why}; the same command resumes from here", err=True)
    else:
        many = f"{outcome.invalid} of {outcome.valid + outcome.invalid} comparisons"
        click.echo(
            f"incomplete: {many} have no readable verdict; the same command retries them", err=True
        )
    return 3


def _prompt(path: Path | None) -> Any:
    if path is None:
        return None
    from proctor.io.text_files import read_json

    prompt = read_json(path).data
    if not isinstance(prompt, dict):
        raise click.UsageError(f"{path} is not a battle prompt: expected a JSON object")
    return prompt
