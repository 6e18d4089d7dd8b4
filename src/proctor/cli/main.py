"""The command ``proctor``: dispatches to subcommands, and prints errors without a traceback."""

import atexit
import gc
import importlib
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any

import click

from proctor import origin_tables
from proctor.io.search_paths import forget_working_directory
from proctor.version import __version__

COMMANDS: Mapping[str, tuple[str, str]] = {
    "run": ("proctor.cli.run:run", "Evaluate a candidate on a suite; resumes where it stopped."),
    "plan": ("proctor.cli.plan:plan", "Show what a run would do and cost, without doing it."),
    "check": ("proctor.cli.check:check", "Report problems of a suite; --deep attacks it."),
    "recipe": ("proctor.cli.recipe:recipe", "Show or try the recipe of a public benchmark."),
    "report": ("proctor.cli.report:report", "Print the numbers of a run."),
    "battle": ("proctor.cli.battle:battle", "Let a judge compare the answers of several runs."),
    "charts": ("proctor.cli.charts:charts", "Draw charts of runs, as SVG and PNG."),
    "compare": (
        "proctor.cli.compare:compare",
        "Tell which run is better, and with what certainty.",
    ),
    "baseline": ("proctor.cli.baseline:baseline", "Pin the run that later ones are compared with."),
    "grid": ("proctor.cli.grid:grid", "Show cases and candidates side by side, with outputs."),
    "audit": ("proctor.cli.audit:audit", "Measure how far a run's judge is off, and by what."),
    "scan": ("proctor.cli.scan:scan", "Mark attempts that are not what they seem, with passages."),
    "items": ("proctor.cli.items:items", "List the cases of a suite that need a second look."),
    "labels": ("proctor.cli.labels:labels", "Import or export people's labels of a run's scores."),
    "show": ("proctor.cli.show:show", "Show one case of a run: transcript, scores, why."),
    "list": (
        "proctor.cli.list:list_",
        "List runs, suites, cases, recipes, scorers, languages.",
    ),
    "proxy": ("proctor.cli.proxy:proxy", "Pass an agent's model calls on, and record them."),
    "serve": ("proctor.cli.serve:serve", "Score outputs by HTTP, for training loops and others."),
    "view": ("proctor.cli.view:view", "Show suites, runs and cases as pages in a browser."),
    "convert": ("proctor.cli.convert:convert", "Rewrite a suite of any format as a native one."),
    "export": ("proctor.cli.export:export", "Write runs to a file: a page, .jsonl or .parquet."),
    "import": ("proctor.cli.import_:import_", "Import exported runs, or results of other tools."),
    "store": ("proctor.cli.store:store_", "Show a store's size, prune it, copy it, write its key."),
    "delete": ("proctor.cli.delete:delete", "Delete a run from the store."),
    "init": ("proctor.cli.init:init", "Create a small suite to start from."),
    "demo": ("proctor.cli.demo:demo", "Try a small local model on the starter suite; no key."),
    "doctor": ("proctor.cli.doctor:doctor", "Check what works on this machine."),
    **origin_tables.commands(),
}

STOPPED = 130
COLLECT_EVERY = 50_000
"""How many new objects make Python look for cycles of garbage, of which loading leaves none."""
WORKING = "proctor"
"""The name of the threads that run a command's work."""


class LazyGroup(click.Group):
    """A group that imports a command only when it is used, so that help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest a command where there is none of that name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from proctor.suggestions import LOOSELY, closest

            close = closest(args[0], COMMANDS, cutoff=LOOSELY)
            meant = f" Did you mean {close!r}?" if close else ""
            raise click.UsageError(f"No such command {args[0]!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="First steps: `proctor demo`, then `proctor init my-suite`.",
)
@click.version_option(__version__, prog_name="proctor")
def cli() -> None:
    """Evaluate language models and agents, and know how far to trust the scores.

    \b
    Example:
      proctor run suite.yaml --answers answers.jsonl
      proctor report @last --by lang

    Exit codes: 0 done, 1 a gate was missed, 2 wrong input, 3 incomplete.
    """


def main(args: list[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    forget_working_directory()
    gc.set_threshold(COLLECT_EVERY, *gc.get_threshold()[1:])
    arguments = sys.argv[1:] if args is None else args
    code = _run(arguments)
    if code == STOPPED and any(thread.name == WORKING for thread in threading.enumerate()):
        # Some thread did not stop. Its work is rolled back, or will be done again.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    # At the end Python looks for cycles among all that is loaded, which takes as long as a tenth of
    # a short command: so it finds nothing to look at.
    atexit.register(gc.freeze)
    sys.exit(code)


def bench() -> None:
    """Run ``proctor bench`` as ``bench``, the name that users of Arthur Bench know."""
    main(["bench", *sys.argv[1:]])


def _run(args: list[str]) -> int:
    try:
        result: Any = cli.main(
            args=args, prog_name="proctor", standalone_mode=False, obj=tuple(args)
        )
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as error:
        return int(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        return STOPPED
    except click.ClickException as error:
        from proctor.core.names import without_user_info

        vars(error)["message"] = without_user_info(error.message)
        error.show()
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except Exception as error:
        from proctor.errors import ProctorError

        if not isinstance(error, ProctorError):
            raise
        _say(error, as_json="--json" in args)
        return error.exit_code


def _say(error: Exception, *, as_json: bool) -> None:
    from proctor.cli.output import problem_json, say_error
    from proctor.core.names import without_user_info
    from proctor.errors import SuiteError
    from proctor.io.redaction import redact

    if not as_json:
        say_error(error)
        return
    import json

    problems = error.problems if isinstance(error, SuiteError) else []
    shown = {
        "kind": type(error).__name__,
        "message": str(error),
        "problems": [problem_json(problem) for problem in problems],
    }
    text = json.dumps({"error": shown}, ensure_ascii=False, indent=2)
    click.echo(redact(without_user_info(text)))


if __name__ == "__main__":
    main()
