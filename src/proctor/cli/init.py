"""``proctor init``: a small suite to start from."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.options import json_option

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

TEMPLATES = ("agent", "chat", "code", "judge", "rag", "tools")
_COMMANDS = re.compile(r"^```bash\n(.*?)^```$", re.M | re.S)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option(
    "--template",
    type=click.Choice(TEMPLATES),
    help="What the suite is about [default: questions with short answers].",
)
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@json_option
def init(folder: Path, template: str | None, force: bool, as_json: bool) -> None:
    """Write a suite of a few cases, with a candidate to try it on, into FOLDER.

    No template needs a key: each comes with answers on file, an agent, or the verdicts of a judge.

    \b
    agent  an agent with tools and files
    chat   a conversation of several turns
    code   programs that a model writes, and their tests
    judge  statements that a judge holds against the answers
    rag    passages that were found, and answers from them
    tools  tool calls with their arguments, results for them, and JSON by a schema

    \b
    Example:
      proctor init my-suite
      proctor run my-suite/suite.yaml --answers my-suite/answers.jsonl
      proctor init my-agent --template agent
    """
    from importlib.resources import files

    from proctor.cli.output import print_json
    from proctor.errors import UsageError

    starter = files("proctor.starter")
    source = starter / "templates" / template if template else starter / "template"
    names = sorted(entry.name for entry in source.iterdir() if entry.is_file())
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise UsageError(f"{folder / there[0]} already exists (fix: another folder, or --force)")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes((source / name).read_bytes())
    if as_json:
        print_json({"wrote": [str(folder / name) for name in names]})
        return
    click.echo(f"wrote {', '.join(str(folder / name) for name in names)}")
    click.echo("next:")
    for line in _next(source, folder):
        click.echo(f"  {line}")


def _next(source: "Traversable", folder: Path) -> list[str]:
    """Return the commands to try; those of a template's page are for its own folder."""
    page = source / "README.md"
    if not page.is_file():
        suite, answers = folder / "suite.yaml", folder / "answers.jsonl"
        return [f"proctor check {suite} --deep", f"proctor run {suite} --answers {answers}"]
    block = _COMMANDS.search(page.read_text(encoding="utf-8"))
    assert block is not None
    enter = [] if folder == Path() else [f"cd {folder}"]
    return [*enter, *block[1].splitlines()]
