"""``proctor check``: what is wrong with a suite."""

from typing import Any

import click

from proctor.cli.options import json_option, suite_options, suite_settings


@click.command()
@suite_options
@click.option("--deep", is_flag=True, help="Attack every criterion with made-up answers.")
@json_option
def check(**options: Any) -> int:
    """Say everything that is wrong with the suite SPEC, each with its place.

    With --deep, each case is given the empty answer, its own question, all its keywords pasted
    together, another case's answer, and its reference: criteria that can be gamed, keywords that
    can never match, and references that do not get full marks are reported.

    \b
    Example:
      proctor check suite.yaml
      proctor check suite.yaml --deep
    """
    from proctor.bounded import run_sync
    from proctor.cli.output import print_json, problem_json, say_problems
    from proctor.engine import load
    from proctor.engine.attack import attack, local_executor
    from proctor.engine.scoring import Scorers
    from proctor.errors import Problem, SuiteError

    deep, as_json = options.pop("deep"), options.pop("as_json")
    settings = suite_settings(options)
    scorers = Scorers(allow_import=settings.allow_import)
    problems: list[Problem] = []
    summary: dict[str, Any] = {"suite": str(settings.path), "cases": 0}
    try:
        reading = load.read(settings)
        suite = load.chosen(reading.suite, settings)
        summary = {"suite": suite.name, "dialect": suite.dialect, "cases": len(suite.cases)}
        problems = [*scorers.problems(suite), *reading.warnings]
    except SuiteError as error:
        problems = list(error.problems)
    wrong = [problem for problem in problems if problem.severity == "error"]
    if deep and not wrong:

        async def attacked() -> list[Problem]:
            executor = local_executor(settings.allow_import)
            try:
                return await attack(suite, scorers, executor)
            finally:
                await executor.close()

        problems += run_sync(attacked())
    counts = {
        kind: sum(problem.severity == kind for problem in problems)
        for kind in ("error", "warning", "note")
    }
    if as_json:
        found = [problem_json(problem) for problem in problems]
        print_json({**summary, "counts": counts, "problems": found})
        return 2 if wrong else 0
    say_problems(problems)
    numbers = ", ".join(
        f"{n} {kind}{'s' * (n != 1)}" for kind, n in counts.items() if n or kind == "error"
    )
    click.echo(f"{summary['suite']}: {summary['cases']} cases, {numbers}")
    return 2 if wrong else 0
