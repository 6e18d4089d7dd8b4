"""``proctor plan``: what would run."""

from typing import TYPE_CHECKING, Any

import click

from proctor.cli.grouped_help import GroupedHelp
from proctor.cli.options import (
    json_option,
    run_options,
    run_settings,
    store_option,
    suite_options,
    suite_options_of_dialects,
)

if TYPE_CHECKING:
    from proctor.engine.plan.dry_run import Plan
    from proctor.engine.run.settings import RunSettings


@click.command(cls=GroupedHelp)
@suite_options
@run_options
@suite_options_of_dialects
@store_option
@json_option
def plan(**options: Any) -> int:
    """Say what `proctor run` with the same options would do; nothing is run or stored.

    \b
    Example:
      proctor plan suite.yaml --answers answers.jsonl
      proctor plan suite.yaml --model openai:gpt-4o-mini --judge openai:gpt-4o
    """
    from proctor.cli.output import print_json
    from proctor.engine.plan.dry_run import plan_all
    from proctor.errors import StoreError
    from proctor.store.store import Store

    as_json, url = options.pop("as_json"), options.pop("store")
    several = run_settings(options)
    try:
        store = Store.open(url, create=False)
    except StoreError:
        store = None
    plans = [
        (_candidate(settings), made) for settings in several for made in plan_all(settings, store)
    ]
    if store is not None:
        store.close()
    if as_json:
        shown = [_object(candidate, made) for candidate, made in plans]
        print_json(shown[0] if len(shown) == 1 else {"plans": shown})
        return 2 if any(made.problems for _, made in plans) else 0
    codes = []
    for number, (candidate, made) in enumerate(plans):
        if number:
            click.echo()
        codes.append(_say(candidate, made))
    return max(codes)


def _candidate(settings: "RunSettings") -> str:
    """Return who would be examined, as a person named it."""
    if settings.model is not None:
        return settings.model.spec
    if settings.agent is not None:
        return settings.agent.name
    return str(settings.answers) if settings.answers is not None else "as the suite's settings say"


def _object(candidate: str, made: "Plan") -> dict[str, Any]:
    from proctor.cli.output import problem_json

    return {
        "suite": made.suite.name,
        "candidate": candidate,
        "dialect": made.suite.dialect,
        "cases": made.cases,
        "attempts": made.attempts,
        "attempts_stored": made.attempts_stored,
        "unanswered": made.unanswered,
        "scores": {"total": made.scores, "stored": made.stored, "to_do": made.to_do},
        "scorers": dict(made.scorers),
        "usage": dict(made.usage),
        "problems": [problem_json(problem) for problem in made.problems],
        "warnings": [problem_json(problem) for problem in made.warnings],
    }


def _say(candidate: str, made: "Plan") -> int:
    from proctor.cli.output import say_problems

    say_problems((*made.problems, *made.warnings))
    if made.problems:
        many = f"{len(made.problems)} problem{'s' if len(made.problems) > 1 else ''}"
        click.echo(f"{candidate}: {many}; nothing would be run", err=True)
        return 2
    click.echo(f"candidate {candidate}")
    click.echo(f"suite     {made.suite.name} ({made.suite.dialect}), {made.cases} cases")
    new = made.attempts - made.attempts_stored
    there = "on file" if made.on_file else f"in all, {made.attempts_stored} there, {new} to make"
    click.echo(f"attempts  {made.attempts} {there}, {made.unanswered} unanswered")
    click.echo(f"scores    {made.scores}, of which {made.stored} stored, {made.to_do} to do")
    for name, count in sorted(made.scorers.items()):
        click.echo(f"          {name}: {count}")
    found = made.usage["range"]
    if not found["calls"][2]:
        click.echo(
            f"calls     0 ({'answers on file cost nothing' if made.on_file else 'all stored'})"
        )
        return 0
    click.echo(f"calls     {_range(found['calls'])}")
    for role, calls in made.usage["roles"].items():
        click.echo(f"          {role}: {_range(calls)}")
    click.echo(f"tokens    in {_range(found['prompt_tokens'])}")
    click.echo(f"          out {_range(found['completion_tokens'])}")
    cost = found["cost"]
    shown = "unknown (fix: --price MODEL=IN/OUT)" if cost is None else _range(cost, "$")
    click.echo(f"cost      {shown}")
    return 0


def _range(ends: list[float], unit: str = "") -> str:
    low, likely, high = (f"{unit}{n:,.4g}" if unit else f"{n:,}" for n in ends)
    return likely if low == high else f"{likely} ({low} to {high})"
