"""``proctor scan``: let a judge read the transcripts of a run, and mark what is not as it seems."""

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
    "--for",
    "kinds",
    default="reward_hack,outage,refusal,unsupported_claim",
    show_default=True,
    metavar="A,B",
    help="What to look for.",
)
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", help="Only N cases, picked at random."
)
@click.option("--seed", default="", metavar="TEXT", help="Seed of the sample.")
@click.option(
    "--everywhere",
    is_flag=True,
    help="Look for every kind in every attempt, whatever it scored.",
)
@click.option("--dry-run", is_flag=True, help="Print the number of questions, and stop.")
@click.option("--stored", is_flag=True, help="Ask nothing; print what earlier scans come to now.")
def scan(run: str, **options: Any) -> int:
    """Mark attempts of RUN whose success or failure is not what it seems, with the passage.

    A judge reads the transcripts: attempts that won something for reward_hack and
    unsupported_claim, attempts that lost something for outage and refusal. People check the marks:
    `proctor labels export RUN FILE --criterion scan:KIND --sample N`, then import. The score is
    printed as it stands, as the marks leave it, and corrected by the labels.

    \b
    Example:
      proctor scan my-run --for reward_hack,outage --judge openai:gpt-4o
      proctor scan @last --stored
    """
    from proctor.cli.output import (
        on_terminal,
        print_json,
        progress_bar,
        say,
        say_stopped,
        table_width,
    )
    from proctor.engine.run.stored_view import view_of
    from proctor.engine.scan.findings import findings_of
    from proctor.engine.scan.run_scan import Scan, ScanSettings
    from proctor.errors import UsageError
    from proctor.io.concurrency import run_sync
    from proctor.reports.scan import scan_object, scan_table
    from proctor.store.store import Store

    kinds = tuple(name.strip() for name in options["kinds"].split(",") if name.strip())
    stopped = ""
    with Store.open(options["store"], create=False) as store, progress_bar() as progress:
        tell_which(store, [run])
        view = view_of(store, run)
        if not options["stored"]:
            settings = ScanSettings(
                kinds=kinds,
                sample=options["sample"],
                seed=options["seed"],
                everywhere=options["everywhere"],
            )
            panel, calls = panel_settings(options), call_settings(options)
            work = Scan(store, view, panel, settings, calls, say, progress)
            words = f"{work.attempts} attempts: at most {work.questions:,} questions"
            if options["dry_run"]:
                counts = {"attempts": work.attempts, "questions": work.questions}
                print_json(counts) if options["as_json"] else click.echo(words)
                return 0
            say(words)
            try:
                run_sync(work.carry_out())
            except KeyboardInterrupt:
                say_stopped()
                return 130
            stopped = work.stopped
        findings = findings_of(store, view)
    if stopped:
        click.echo(f"incomplete: {stopped}; the same command resumes from here", err=True)
    if findings is None:
        if stopped:
            return INCOMPLETE
        raise UsageError(f"the run {view.run.name!r} was never scanned (fix: name a --judge)")
    if options["as_json"]:
        about = {"id": view.run.id, "name": view.run.name}
        print_json({"run": about, **scan_object(findings)})
    else:
        text = scan_table(findings, view.run.name, width=table_width(), color=on_terminal())
        click.echo(text.rstrip("\n"))
    return INCOMPLETE if stopped else 0


for _decorate in (*panel_options, *call_options):
    _decorate(scan)
json_option(scan)
store_option(scan)
