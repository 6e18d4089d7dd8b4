"""``proctor recipe``: say what a recipe is, and try recipes against their data sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import json_option

if TYPE_CHECKING:
    from proctor.contracts.recipe import RecipeDialect


@click.group()
def recipe() -> None:
    """Say what a recipe is, and try recipes against their data sets.

    \b
    Example:
      proctor list recipes
      proctor recipe show gsm8k
      proctor recipe check gsm8k --data gsm8k/test.jsonl
    """


@recipe.command()
@click.argument("name")
def show(name: str) -> None:
    """Print a recipe: rows, columns, prompt, extraction, scorer, licence, sources."""
    click.echo(_path(name).read_text(encoding="utf-8").rstrip("\n"))


@recipe.command()
@click.argument("name", required=False)
@click.option("--data", type=click.Path(path_type=Path), metavar="PATH", help="A local copy.")
@click.option("--revision", metavar="COMMIT", help="The revision of the hub's data set.")
@click.option(
    "--columns", metavar="NAME=COLUMN,…", help="What the recipe's columns are called here."
)
@json_option
def check(name: str | None, as_json: bool, **options: Any) -> int:
    """Fetch the rows of one recipe or of all, look for the columns, and make every case."""
    from proctor.cli.output import print_json
    from proctor.engine.run.recipes import recipe_names
    from proctor.errors import ProctorError

    if name is None and any(options.values()):
        raise click.UsageError("--data, --revision and --columns need the NAME of a recipe")
    settings = {key: str(value) for key, value in options.items() if value}
    rows: list[dict[str, Any]] = []
    for one in [name] if name else recipe_names():
        try:
            rows.append(dict(_dialect().check(_path(one), settings)) | {"ok": True})
        except ProctorError as error:
            rows.append({"name": one, "ok": False, "problem": str(error)})
        if not as_json:
            _print(rows[-1])
    if as_json:
        print_json({"recipes": rows})
    return 0 if all(row["ok"] for row in rows) else 1


def _print(row: dict[str, Any]) -> None:
    if not row["ok"]:
        click.echo(f"{row['name']}: failed: {row['problem']}")
        return
    at = f" at {row['revision']}" if row["revision"] else ""
    click.echo(f"{row['name']}: {row['rows']} cases, columns {row['columns']}{at}")


def _path(name: str) -> Path:
    from proctor.engine.run.recipes import recipe_names, recipe_path
    from proctor.errors import UsageError
    from proctor.suggestions import suggest

    path = recipe_path(name)
    if path is None:
        hint = suggest(name, recipe_names())
        raise UsageError(f"there is no recipe {name!r}" + (f" ({hint})" if hint else ""))
    return path


def _dialect() -> "RecipeDialect":
    from proctor.core.suite import Spec
    from proctor.registry import build

    built: RecipeDialect = build("dialect", Spec(name="recipe"))
    return built
