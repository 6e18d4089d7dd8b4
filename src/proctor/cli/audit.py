"""``proctor audit``: measure the noise and biases of a judge on the answers of a run."""

from typing import Any

import click

from proctor.cli.options import (
    call_options,
    call_settings,
    json_option,
    panel_options,
    panel_settings,
    store_option,
)
from proctor.cli.output import tell_which

INCOMPLETE = 3


@click.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="N",
    help="Ask about N cases, picked at random.",
)
@click.option("--seed", default="", metavar="TEXT", help="Seed of the sample.")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Ask about each original answer N times.",
)
@click.option(
    "--probes",
    default="",
    metavar="A,B",
    help="Only these: length, format, authority, error, self, other, position, self_in_battle.",
)
@click.option("--criterion", default="", metavar="ID", help="Only this criterion.")
@click.option("--dry-run", is_flag=True, help="Print the planned calls and cost, and stop.")
def audit(run: str, **options: Any) -> int:
    """Ask the judge of RUN again, and about altered versions of the same answers.

    On a random sample of cases: how often two rulings on one answer differ, and by how many points
    the judge is moved by length, format, a claim of authority, a planted error, its own name and
    the order of two answers. `proctor report` then prints the noise floor. Stored rulings are
    reused: after an interruption, run the same command again.

    \b
    Example:
      proctor audit my-run --judge openai:gpt-4o --sample 200 --max-cost 2
      proctor audit @last --judge openai:gpt-4o --dry-run
    """
    from proctor.cli.output import (
        on_terminal,
        print_json,
        progress_bar,
        say,
        say_stopped,
        table_width,
    )
    from proctor.engine.audit.probes import NAMES, PAIRED, PROBES
    from proctor.engine.audit.run_audit import Audit, AuditSettings
    from proctor.engine.run.later_findings import noise_floor
    from proctor.engine.run.stored_view import view_of
    from proctor.io.concurrency import run_sync
    from proctor.reports.audit import audit_object, audit_table
    from proctor.store.store import Store

    panel, calls = panel_settings(options), call_settings(options)
    probes = tuple(name.strip() for name in options["probes"].split(",") if name.strip())
    settings = AuditSettings(
        sample=options["sample"],
        seed=options["seed"],
        repeats=options["repeats"],
        probes=probes or NAMES,
        criterion=options["criterion"],
    )
    with Store.open(options["store"], create=False) as store, progress_bar() as progress:
        tell_which(store, [run])
        view = view_of(store, run)
        work = Audit(store, view.run, panel, settings, calls, say, progress)
        plan = work.plan()
        cost = "" if plan.cost is None else f", about ${plan.cost:,.2f}"
        words = (
            f"{_many(plan.answers, 'score')} and {_many(plan.pairs, 'pair')} of answers of"
            f" {_many(plan.cases, 'case')}"
        )
        if options["dry_run"]:
            _print_plan(plan, f"{words}: {plan.calls:,} calls{cost}", options["as_json"])
            return 0
        say(f"{words}: at most {plan.calls:,} calls{cost}")
        try:
            judge_audit = run_sync(work.carry_out())
        except KeyboardInterrupt:
            say_stopped()
            return 130
    floor = noise_floor(view, judge_audit)
    if options["as_json"]:
        print_json(audit_object(judge_audit, floor))
    else:
        shown = {**{name: probe.words for name, probe in PROBES.items()}, **PAIRED}
        text = audit_table(
            judge_audit, view.run.name, shown, floor, width=table_width(), color=on_terminal()
        )
        click.echo(text.rstrip("\n"))
    if work.stopped:
        click.echo(f"incomplete: {work.stopped}; the same command resumes from here", err=True)
    return INCOMPLETE if work.stopped else 0


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _print_plan(plan: Any, words: str, as_json: bool) -> None:
    from proctor.cli.output import print_json

    if as_json:
        names = ("cases", "answers", "pairs", "calls", "cost")
        print_json({name: getattr(plan, name) for name in names})
    else:
        click.echo(words)


for _decorate in (*panel_options, *call_options):
    _decorate(audit)
json_option(audit)
store_option(audit)
