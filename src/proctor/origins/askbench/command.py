"""``proctor askbench``: AskBench's INI files by their own names, for old scripts."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import (
    call_options,
    json_option,
    judge_options,
    run_settings,
    store_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proctor.engine.run.settings import RunSettings
    from proctor.origins.askbench.dialect import Elsewhere


@click.group(invoke_without_command=True)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="The INI of the evaluation, or the folder of one task.",
)
@click.option("--tasks", metavar="A,B", help="Only these tasks [default: those the INI enables].")
@click.option("--max-turns", "-t", type=click.IntRange(1), help="Most turns of a dialogue.")
@click.option(
    "--guidance",
    type=click.Choice(["none", "weak", "strong", "fata"]),
    help="What the candidate is told about asking.",
)
@click.option("--strict/--no-strict", default=None, help="Two turns: one to ask, one to answer.")
@click.option("--stop-below", type=click.FloatRange(0, 1), hidden=True, help="Do nothing.")
@click.option("--model", "models", multiple=True, metavar="M", help="Examine this model instead.")
@click.option("--attempts", type=click.IntRange(1), help="Attempts a case, for n_attempts.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N cases of every task.")
@click.option("--compat", type=click.Choice(["original"]), help="As the original's code does it.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the original's result files into this folder [default: the INI's save_dir].",
)
@click.option("--cases", is_flag=True, help="Show every case as well.")
@click.pass_context
def askbench(ctx: click.Context, /, **options: Any) -> int:
    """Run every task that an AskBench INI enables, and print a table of each.

    Models, sampling, attempts and turns are those of the INI; what is given here goes before it. A
    task's own INI goes over the base INI; GUIDANCE_MODE and STRICT_MODE of the environment go over
    both. Where the INI names EvalScope or OpenCompass, the results those left are gathered. The
    original's result files are written into the INI's save_dir, or --out.

    \b
    Example:
      proctor askbench --config config/base.ini
      proctor askbench --config config/base.ini --tasks ask_mind --max-turns 3 --out results
      proctor askbench --config config/base.ini --compat original --json
    """
    if ctx.invoked_subcommand is not None:
        return 0
    if options["config"] is None:
        raise click.UsageError("--config is missing: the INI of the evaluation, or a task's folder")
    elsewhere = _elsewhere(options["config"])
    if elsewhere is not None:
        return _gather(elsewhere, options)
    return _run(options)


for _decorate in (*judge_options, *call_options):
    _decorate(askbench)
json_option(askbench)
store_option(askbench)


@askbench.command()
@click.argument("kind", type=click.Choice(["ask_mind", "ask_overconfidence"]))
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    required=True,
    help="The folder that the four sources lie in.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@json_option
def build(kind: str, data: Path, out: Path, as_json: bool) -> int:
    """Build the combined set KIND: a hundred rows of each of its four sources, always the same.

    \b
    Example:
      proctor askbench build ask_mind --data data/ask_bench/ask_mind --out test.jsonl
    """
    import json

    from proctor.cli.output import print_json
    from proctor.origins.askbench.dialect import AskBench

    rows = AskBench().build_combined(kind, data)
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if as_json:
        print_json({"wrote": str(out), "rows": len(rows)})
    else:
        click.echo(f"wrote {out}: {len(rows)} rows")
    return 0


def _run(options: dict[str, Any]) -> int:
    from proctor.cli.run import INCOMPLETE, Refused, examine, exit_code, print_runs, write_layout
    from proctor.store.store import Store

    out, as_json, cases = options.pop("out"), options.pop("as_json"), options.pop("cases")
    url, config = options.pop("store"), options["config"]
    places = _places(options) if out is None else None
    several = _settings(options)
    with Store.open(url) as store:
        refused: list[Refused] = []
        outcomes = examine(several, store, quiet=as_json, refused=refused)
        if outcomes is None:
            return 130
        views = [outcome.view for outcome in outcomes]
        print_runs(views, refused, as_json, cases=cases)
        for view in views:
            folder = out if places is None else places.get(view.suite.name)
            if folder is not None:
                write_layout(view, "askbench", folder, quiet=as_json, suite=config)
        codes = [exit_code(view.summary, [], view.run) for view in views]
        return max(*codes, INCOMPLETE if refused else 0)


def _places(options: dict[str, Any]) -> dict[str, Path]:
    """Return where the INI wants the results of each task, inside of the working directory."""
    from proctor.origins.askbench.dialect import AskBench
    from proctor.origins.askbench.layout import file_name

    if len(options["models"]) > 1:
        click.echo(
            "warning: several models are examined, and the INI names one folder: no result files"
            " are written (fix: examine one at a time)",
            err=True,
        )
        return {}
    tasks = [name.strip() for name in (options["tasks"] or "").split(",") if name.strip()]
    places = AskBench().output_places(
        options["config"], compat=options["compat"] or "", tasks=tasks
    )
    files_by_folder: dict[str, list[str]] = {}
    for place in places:
        if place.save_dir:
            files_by_folder.setdefault(place.save_dir, ["final_result.txt"]).append(
                file_name(place.evalset)
            )
    usable = {name for name, parts in files_by_folder.items() if _may_write(Path(name), parts)}
    return {place.task: Path(place.save_dir) for place in places if place.save_dir in usable}


def _may_write(folder: Path, parts: "Sequence[str]") -> bool:
    """Tell whether parts of a folder that an INI names may be written to, and say why not.

    The file may be a stranger's, and so may what lies beside it: neither says where files outside
    of the working directory are written.
    """
    here = Path().resolve()
    places = [folder / part for part in parts]
    inner = [path for place in places for path in (place, *place.rglob("*"))]
    if not (here / folder).resolve().is_relative_to(here):
        why = "lies outside of the working directory"
    elif links := [path for path in inner if path.is_symlink()]:
        why = f"holds a link ({links[0]})"
    else:
        return True
    click.echo(
        f"warning: save_dir {folder} {why}: no result files are written there"
        f" (fix: --out {folder})",
        err=True,
    )
    return False


def _settings(options: dict[str, Any]) -> "list[RunSettings]":
    """Make the settings of the run; the dialect is told of ``--tasks`` and ``--attempts``."""
    tasks, attempts = options.pop("tasks") or "", options.get("attempts")
    options |= {"spec": options.pop("config"), "dialect": "askbench"}
    more = {"tasks": tasks, "attempts": str(attempts) if attempts else ""}
    extra = {name: value for name, value in more.items() if value}
    return [
        replace(
            settings, suite=replace(settings.suite, options={**settings.suite.options, **extra})
        )
        for settings in run_settings(options)
    ]


def _elsewhere(config: Path) -> "Elsewhere | None":
    """Return the tasks that another tool runs, where the INI says so."""
    from proctor.origins.askbench.dialect import AskBench

    return AskBench().elsewhere(config)


def _gather(elsewhere: "Elsewhere", options: dict[str, Any]) -> int:
    """Put the results that another tool left into the one summary."""
    from proctor.cli.output import print_json
    from proctor.origins.askbench.layout import AskBenchLayout

    layout = AskBenchLayout()
    tasks_listed = [name.strip() for name in (options["tasks"] or "").split(",") if name.strip()]
    rows = layout.gather(elsewhere.results, tasks_listed or elsewhere.tasks)
    with_metrics = [row for row in rows if row.metrics]
    folder = options["out"]
    if folder is None and with_metrics and _may_write(elsewhere.results, ["final_result.txt"]):
        folder = elsewhere.results
    final = (
        layout.append(folder, [row.line for row in with_metrics])
        if folder and with_metrics
        else None
    )
    if options["as_json"]:
        tasks = [
            {"task": row.task, "metrics": list(row.metrics), "note": row.note,
             "file": str(row.file) if row.file else None}
            for row in rows
        ]  # fmt: skip
        print_json(
            {"family": elsewhere.family, "tasks": tasks, "wrote": str(final) if final else None}
        )
    else:
        for row in rows:
            click.echo(row.line if row.metrics else f"{row.task}: {row.note}")
    return 0 if len(with_metrics) == len(rows) else 3
