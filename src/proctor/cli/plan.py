"""``proctor plan``: what would run."""

from typing import Any

import click

from proctor.cli.options import json_option, run_options, run_settings, store_option, suite_options


@click.command()
@suite_options
@run_options
@store_option
@json_option
def plan(**options: Any) -> int:
    """Say what `proctor run` with the same options would do; nothing is run or stored.

    \b
    Example:
      proctor plan suite.yaml --answers answers.jsonl
    """
    from proctor.cli.output import print_json, problem_json, say_problems
    from proctor.engine.plan import plan as make_plan
    from proctor.errors import StoreError
    from proctor.store.store import Store

    as_json, url = options.pop("as_json"), options.pop("store")
    settings = run_settings(options)
    try:
        store = Store.open(url, create=False)
    except StoreError:
        store = None
    made = make_plan(settings, store)
    if store is not None:
        store.close()
    if as_json:
        print_json(
            {
                "suite": made.suite.name,
                "dialect": made.suite.dialect,
                "cases": made.cases,
                "attempts": made.attempts,
                "unanswered": made.unanswered,
                "scores": {"total": made.scores, "stored": made.stored, "to_do": made.to_do},
                "scorers": dict(made.scorers),
                "usage": {"calls": 0, "cost": None},
                "problems": [problem_json(problem) for problem in made.problems],
                "warnings": [problem_json(problem) for problem in made.warnings],
            }
        )
        return 2 if made.problems else 0
    say_problems((*made.problems, *made.warnings))
    if made.problems:
        many = f"{len(made.problems)} problem{'s' if len(made.problems) > 1 else ''}"
        click.echo(f"{many}; nothing would be run", err=True)
        return 2
    click.echo(f"suite     {made.suite.name} ({made.suite.dialect}), {made.cases} cases")
    click.echo(f"attempts  {made.attempts} on file, {made.unanswered} unanswered")
    click.echo(f"scores    {made.scores}, of which {made.stored} stored, {made.to_do} to do")
    for name, count in sorted(made.scorers.items()):
        click.echo(f"          {name}: {count}")
    click.echo("calls     0 (answers on file cost nothing)")
    return 0
