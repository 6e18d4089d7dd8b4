"""``proctor list``: list runs, suites, cases, languages, recipes or plugins."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import json_option, store_option
from proctor.reports.reasons import one_line

if TYPE_CHECKING:
    from proctor.core.run import Run
    from proctor.store.store import Store

PLUGINS = {
    "scorers": "scorer",
    "dialects": "dialect",
    "dialogues": "dialogue",
    "measures": "measure",
    "models": "model",
    "reports": "report",
}


@click.command(name="list")
@click.argument(
    "what", type=click.Choice(["runs", "suites", "cases", "languages", "recipes", *PLUGINS])
)
@click.argument("spec", required=False, type=click.Path(path_type=Path))
@click.option("--dialect", metavar="NAME", help="Read the suite SPEC in this format.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most N.")
@store_option
@json_option
def list_(
    what: str,
    spec: Path | None,
    dialect: str | None,
    limit: int,
    store: str | None,
    as_json: bool,
) -> None:
    """List runs or suites of the store, cases of the suite SPEC, languages, recipes, or plugins.

    \b
    Example:
      proctor list runs
      proctor list cases suite.yaml
      proctor list scorers
      proctor list recipes
    """
    from proctor.cli.output import print_json
    from proctor.store.store import Store

    if what == "cases":
        if spec is None:
            raise click.UsageError("`proctor list cases` needs a suite: proctor list cases SUITE")
        rows = _cases(spec, dialect or "", limit)
    elif what == "languages":
        rows = _languages()
    elif what == "recipes":
        rows = _recipes()
    elif what in PLUGINS:
        rows = _plugins(PLUGINS[what])
    else:
        with Store.open(store, create=False) as opened:
            rows = _runs(opened, limit) if what == "runs" else _suites(opened, limit)
    if as_json:
        print_json({what: rows})
    else:
        _print(rows)


def _runs(store: "Store", limit: int) -> list[dict[str, Any]]:
    from proctor.core.run import RunStatus, sound_summary

    rows = []
    newest: dict[str, Run] = {}
    for run in store.runs.newest(limit=limit):
        newer = newest.setdefault(run.name, run)
        stored = store.summaries.get(run.id)
        numbers = sound_summary(stored)
        broken = stored is not None and numbers is None
        totals = (numbers or {}).get("totals", {})
        rows.append(
            {
                "id": run.id,
                "name": run.name,
                "suite": run.suite,
                "status": (RunStatus.BROKEN if broken else run.status).value,
                "imported": run.imported,
                "stopped_early": run.stopped_early is not None,
                "differs": _apart(run, newer),
                "rate": totals.get("rate"),
                "started": datetime.fromtimestamp(run.started, UTC).isoformat(timespec="seconds"),
            }
        )
    return rows


def _apart(run: "Run", newer: "Run") -> str:
    """Say how a run differs from others of its name, or which run it regrades."""
    from proctor.engine.run.names import differences

    if newer is run:
        return f"regraded from {run.regraded}" if run.regraded else ""
    return f"older, with {' and '.join(differences(run, newer)) or 'the same settings'}"


def _suites(store: "Store", limit: int) -> list[dict[str, Any]]:
    return [
        {
            "key": row.key[:12],
            "name": row.name,
            "version": row.version,
            "dialect": row.dialect,
            "cases": row.cases,
            "imported": row.imported,
        }
        for row in store.suites.newest()[:limit]
    ]


def _cases(path: Path, dialect: str, limit: int) -> list[dict[str, Any]]:
    from proctor.engine.run import read_suite
    from proctor.engine.run.settings import SuiteSettings

    suite = read_suite.read(SuiteSettings(path=path, dialect=dialect)).suite
    return [
        {
            "id": case.id,
            "criteria": ", ".join(criterion.label for criterion in case.criteria),
            **{tag: ", ".join(values) for tag, values in case.tags.items()},
        }
        for case in suite.cases[:limit]
    ]


def _plugins(kind: str) -> list[dict[str, Any]]:
    from proctor.registry import describe

    return [{"name": name, "does": text.replace("``", "")} for name, text in describe(kind)]


def _recipes() -> list[dict[str, Any]]:
    from proctor.contracts.recipe import RecipeDialect
    from proctor.core.suite import Spec
    from proctor.engine.run.recipes import recipe_names, recipe_path
    from proctor.registry import build

    dialect: RecipeDialect = build("dialect", Spec(name="recipe"))
    paths = [path for name in recipe_names() if (path := recipe_path(name)) is not None]
    return [dict(dialect.describe(path)) for path in paths]


def _languages() -> list[dict[str, Any]]:
    from proctor.registry import find

    return [
        {
            "name": row.name,
            "version": row.version or "not installed",
            "aliases": ", ".join(row.aliases),
            "install": "" if row.available else row.install,
        }
        for row in find("scorer", "unit_tests").languages()
    ]


def _print(rows: list[dict[str, Any]]) -> None:
    if not rows:
        click.echo("none")
        return
    columns = list(dict.fromkeys(name for row in rows for name in row))
    # Most stores have no imported runs and no name twice: the column appears only when needed.
    rare = ("imported", "differs")
    columns = [name for name in columns if name not in rare or any(row[name] for row in rows)]
    shown = [[_cell(row.get(name)) for name in columns] for row in rows]
    widths = [
        max(map(len, [name, *cells]))
        for name, cells in zip(columns, zip(*shown, strict=True), strict=True)
    ]
    for cells in [columns, *shown]:
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        click.echo(line.rstrip())


def _cell(value: Any) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    return f"{value:.4f}" if isinstance(value, float) else one_line(str(value))
