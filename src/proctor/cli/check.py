"""``proctor check``: report every problem of a suite."""

from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import (
    from_run_file,
    json_option,
    suite_options,
    suite_options_of_dialects,
    suite_settings,
)

if TYPE_CHECKING:
    from proctor.contracts.dialect import Reading
    from proctor.core.suite import Suite
    from proctor.engine.check.trial_outcome import ExaminedTask
    from proctor.engine.run.scorer_pool import Scorers
    from proctor.engine.run.settings import SuiteSettings
    from proctor.errors import Problem


@click.command()
@suite_options
@suite_options_of_dialects
@click.option("--deep", is_flag=True, help="Attack every criterion with adversarial answers.")
@click.option(
    "--repeats",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    help="How often --deep tries each reference solution.",
)
@json_option
def check(**options: Any) -> int:
    """Report every problem of the suite SPEC, with file, line and column.

    With --deep, each case is scored with an empty answer, its own question, all its keywords pasted
    together, another case's answer, and its reference: criteria that can be gamed, keywords that
    can never match, and references that do not get full marks are reported. Tasks with
    environments, cases for agents whose files are scored, and answers that programs score are
    tried in the sandbox: by their reference solution several times and with half the time (tasks
    also with half the memory), by nobody, and by cheats; a table has the most suspicious first.

    \b
    Example:
      proctor check suite.yaml
      proctor check suite.yaml --deep
    """
    from proctor.cli.output import many_cases, print_json, problem_json, say_problems
    from proctor.engine.run import read_suite
    from proctor.errors import SuiteError

    deep, as_json = options.pop("deep"), options.pop("as_json")
    repeats = options.pop("repeats") if deep else (options.pop("repeats") and 0)
    settings = suite_settings(from_run_file(options))
    name = str(settings.path)
    try:
        checked_suites = [
            _checked(reading, settings, repeats) for reading in read_suite.read_each(settings)
        ]
    except SuiteError as error:
        problems = [*error.problems, *_further(error.rest, settings)]
        checked_suites = [({"suite": name, "cases": 0}, problems)]
    wrong = [p for _, problems in checked_suites for p in problems if p.severity == "error"]
    if as_json:
        shown = [
            {
                **summary,
                "counts": _counts(problems),
                "problems": [problem_json(problem) for problem in problems],
            }
            for summary, problems in checked_suites
        ]
        print_json(shown[0] if len(shown) == 1 else {"suites": shown})
        return 2 if wrong else 0
    printed: list[Problem] = []
    for summary, problems in checked_suites:
        say_problems(problem for problem in problems if problem not in printed)
        printed += problems
        _say_trials(summary.get("trials", []))
        numbers = ", ".join(
            f"{n} {kind}{'s' * (n != 1)}"
            for kind, n in _counts(problems).items()
            if n or kind == "error"
        )
        click.echo(f"{summary['suite']}: {many_cases(summary['cases'])}, {numbers}")
    return 2 if wrong else 0


def _further(rest: object, settings: "SuiteSettings") -> "list[Problem]":
    """Return more problems, of the cases that can be read although others cannot."""
    from proctor.core.suite import Suite
    from proctor.engine.run.scorer_pool import Dialogues, Scorers

    if not isinstance(rest, Suite):
        return []
    scorers = Scorers(allow_import=settings.allow_import, language=rest.language)
    dialogues = Dialogues(allow_import=settings.allow_import)
    return [*scorers.problems(rest), *dialogues.problems(rest)]


def _checked(
    reading: "Reading", settings: "SuiteSettings", repeats: int
) -> "tuple[dict[str, Any], list[Problem]]":
    """Return a summary of a suite, and its problems."""
    from proctor.engine.check.adversarial import NOT_TRIED, attack, local_executor
    from proctor.engine.check.clusters import cluster_notes
    from proctor.engine.run import read_suite
    from proctor.engine.run.scorer_pool import Dialogues, Scorers
    from proctor.io.concurrency import run_sync

    if reading.problems:
        roles = [p for role in reading.unusable_roles.values() for p in role.problems]
        return {"suite": reading.suite.name, "cases": 0}, [*reading.problems, *roles]
    scorers = Scorers(allow_import=settings.allow_import, language=reading.suite.language)
    suite = read_suite.chosen(reading.suite, settings)
    summary: dict[str, Any] = {
        "suite": suite.name,
        "dialect": suite.dialect,
        "cases": len(suite.cases),
    }
    problems = [*scorers.problems(suite), *scorers.doubts(suite), *reading.warnings]
    problems += Dialogues(allow_import=settings.allow_import).problems(suite)
    problems += [p for role in reading.unusable_roles.values() for p in role.problems]
    problems += cluster_notes(suite)
    if repeats and not any(problem.severity == "error" for problem in problems):

        async def attacked() -> "list[Problem]":
            executor = local_executor(settings.allow_import)
            try:
                return await attack(suite, scorers, executor)
            finally:
                await executor.close()

        problems += run_sync(attacked())
        tasks = run_sync(_tried(suite, scorers, repeats))
        seen = tuple(f"case {task.case.id!r}," for task in tasks)
        problems = [p for p in problems if p.message != NOT_TRIED or not p.about.startswith(seen)]
        problems += [problem for task in tasks for problem in task.problems()]
        if tasks:
            summary["trials"] = [{"case": task.case.id, **task.trials} for task in tasks]
    return summary, problems


async def _tried(suite: "Suite", scorers: "Scorers", repeats: int) -> "list[ExaminedTask]":
    """Try the tasks of a suite in the sandbox; none where there are none, or no sandbox."""
    from proctor import registry
    from proctor.core.suite import Spec
    from proctor.engine.check.task_trials import examined, to_try

    if not to_try(suite, scorers):
        return []
    sandbox = registry.build("sandbox", Spec(name="bubblewrap"))
    try:
        if list(sandbox.problems()):
            return []
        return await examined(suite, scorers, sandbox, repeats)
    finally:
        await sandbox.close()


def _say_trials(rows: "list[dict[str, str]]") -> None:
    """Print what the trials of tasks came to, the most suspicious first."""
    if not rows:
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = [names, *([row.get(name, "") for name in names] for row in rows)]
    widths = [max(len(line[place]) for line in table) for place in range(len(names))]
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _counts(problems: "list[Problem]") -> dict[str, int]:
    return {
        kind: sum(1 + problem.unlisted for problem in problems if problem.severity == kind)
        for kind in ("error", "warning", "note")
    }
