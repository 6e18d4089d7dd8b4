"""``proctor plan``: show what a run would do."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import (
    GroupedHelp,
    from_run_file,
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
    from proctor.errors import Problem


@click.command(cls=GroupedHelp)
@suite_options
@run_options
@suite_options_of_dialects
@store_option
@json_option
def plan(**options: Any) -> int:
    """Show what `proctor run` with the same options would do and cost; nothing is run or stored.

    \b
    Example:
      proctor plan suite.yaml --answers answers.jsonl
      proctor plan suite.yaml --model openai:gpt-4o-mini --judge openai:gpt-4o
    """
    from proctor.cli.output import print_json
    from proctor.engine.plan.dry_run import plan_all
    from proctor.errors import StoreError
    from proctor.store.store import Store

    options = from_run_file(options)
    options.pop("reports", None)
    as_json, url = options.pop("as_json"), options.pop("store")
    several = run_settings(options)
    try:
        store = Store.open(url, create=False)
    except StoreError:
        store = None
    plans = [
        (_prompted_name(name, run_plan), run_plan)
        for name, settings in zip(_candidates(several), several, strict=True)
        for run_plan in plan_all(settings, store)
    ]
    if store is not None:
        store.close()
    if as_json:
        shown = [_object(candidate, run_plan) for candidate, run_plan in plans]
        print_json(shown[0] if len(shown) == 1 else {"plans": shown})
        return 2 if any(run_plan.problems for _, run_plan in plans) else 0
    codes = []
    told: set[Problem | str] = set()
    for number, (candidate, run_plan) in enumerate(plans):
        if number and not run_plan.problems:
            click.echo()
        codes.append(_say(candidate, run_plan, told))
    if len(plans) > 1 and not any(codes):
        _say_sum([run_plan for _, run_plan in plans])
    return max(codes)


def _candidates(several: "Sequence[RunSettings]") -> list[str]:
    """Return candidates as the user named them, with what tells apart those of one name."""
    from proctor.core.names import distinctions

    names = [_candidate(settings) for settings in several]
    added = distinctions([settings.candidate for settings in several])
    return [
        f"{name}{more}" if names.count(name) > 1 else name
        for name, more in zip(names, added, strict=True)
    ]


def _candidate(settings: "RunSettings") -> str:
    """Return the candidate as the user named it."""
    if settings.model is not None:
        return settings.model.spec
    if settings.agent is not None:
        return settings.agent.name
    return str(settings.answers) if settings.answers is not None else "from the suite's settings"


def _prompted_name(candidate: str, run_plan: "Plan") -> str:
    return f"{candidate}+{run_plan.prompt}" if run_plan.prompt else candidate


def _object(candidate: str, run_plan: "Plan") -> dict[str, Any]:
    from proctor.cli.output import problem_json

    return {
        "suite": run_plan.suite.name,
        "candidate": candidate,
        "dialect": run_plan.suite.dialect,
        "cases": run_plan.cases,
        "attempts": run_plan.attempts,
        "attempts_stored": run_plan.attempts_stored,
        "unanswered": run_plan.unanswered,
        "scores": {"total": run_plan.scores, "stored": run_plan.stored, "to_do": run_plan.to_do},
        "scorers": dict(run_plan.scorers),
        "stop_when": run_plan.stop_when or None,
        "usage": dict(run_plan.usage),
        "problems": [problem_json(problem) for problem in run_plan.problems],
        "warnings": [problem_json(problem) for problem in run_plan.warnings],
    }


def _say(candidate: str, run_plan: "Plan", told: "set[Problem | str]") -> int:
    """Print a plan, with the problems and warnings that no plan before it had.

    ``told`` has these, and the names of the candidates so far.
    """
    from proctor.cli.output import many_cases, say_problems

    noted = (*run_plan.problems, *run_plan.warnings)
    new_ones = [one for one in noted if one not in told]
    say_problems(new_ones)
    told.update(noted)
    if run_plan.problems and not new_ones:
        if candidate not in told:
            click.echo(f"{candidate}: the same; nothing would be run", err=True)
        told.add(candidate)
        return 2
    told.add(candidate)
    if run_plan.problems:
        many = f"{len(run_plan.problems)} problem{'s' if len(run_plan.problems) > 1 else ''}"
        click.echo(f"{candidate}: {many}; nothing would be run", err=True)
        return 2
    click.echo(f"candidate {candidate}")
    click.echo(
        f"suite     {run_plan.suite.name} ({run_plan.suite.dialect}), {many_cases(run_plan.cases)}"
    )
    new = run_plan.attempts - run_plan.attempts_stored
    there = (
        "on file"
        if run_plan.on_file
        else f"in all, {run_plan.attempts_stored} there, {new} to make"
    )
    click.echo(f"attempts  {run_plan.attempts} {there}, {run_plan.unanswered} unanswered")
    click.echo(
        f"scores    {run_plan.scores}, of which {run_plan.stored} stored, {run_plan.to_do} to do"
    )
    for name, count in sorted(run_plan.scorers.items()):
        click.echo(f"          {name}: {count}")
    if run_plan.stop_when:
        click.echo(f"end       stops when {run_plan.stop_when} is answered: at most what follows")
    usage_range = run_plan.usage["range"]
    if not usage_range["calls"][2]:
        click.echo(
            f"calls     0 ({'answers on file cost nothing' if run_plan.on_file else 'all stored'})"
        )
        return 0
    click.echo(f"calls     {_range(usage_range['calls'])}")
    for role, calls in run_plan.usage["roles"].items():
        click.echo(f"          {role}: {_range(calls)}")
    if (jobs := run_plan.usage.get("batch")) is not None:
        click.echo("batch     in batch jobs, at their lower price, but for the first of each role")
        if jobs["pending"]:
            click.echo(f"          {jobs['pending']:,} are handed in already, and only collected")
    click.echo(f"tokens    in {_range(usage_range['prompt_tokens'])}")
    click.echo(f"          out {_range(usage_range['completion_tokens'])}")
    cost = usage_range["cost"]
    shown = "unknown (fix: --price MODEL=IN/OUT)" if cost is None else _range(cost, "$")
    click.echo(f"cost      {shown}")
    return 0


def _say_sum(plans: "list[Plan]") -> None:
    """Print what several runs come to together."""
    ranges = [run_plan.usage["range"] for run_plan in plans]
    calls = [sum(ends) for ends in zip(*(one["calls"] for one in ranges), strict=True)]
    costs = [one["cost"] for one in ranges if one["calls"][2]]
    priced = [cost for cost in costs if cost is not None]
    cost = [sum(ends) for ends in zip(*priced, strict=True)] if priced else [0.0] * 3
    more = ", and calls whose price is unknown" if len(priced) < len(costs) else ""
    click.echo(f"\ntogether  {len(plans)} runs, {_range(calls)} calls, {_range(cost, '$')}{more}")


def _range(ends: list[float], unit: str = "") -> str:
    low, likely, high = (f"{unit}{n:,.4g}" if unit else f"{n:,}" for n in ends)
    return likely if low == high else f"{likely} ({low} to {high})"
