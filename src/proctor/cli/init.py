"""``proctor init``: a small suite to start from."""

from pathlib import Path

import click

from proctor.cli.options import json_option


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@json_option
def init(folder: Path, force: bool, as_json: bool) -> None:
    """Write a suite of three cases, with answers to try it on, into FOLDER.

    \b
    Example:
      proctor init my-suite
      proctor run my-suite/suite.yaml --answers my-suite/answers.jsonl
    """
    from importlib.resources import files

    from proctor.cli.output import print_json
    from proctor.errors import UsageError

    template = files("proctor.starter") / "template"
    names = sorted(entry.name for entry in template.iterdir() if entry.is_file())
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise UsageError(f"{folder / there[0]} already exists (fix: another folder, or --force)")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes((template / name).read_bytes())
    suite, answers = folder / "suite.yaml", folder / "answers.jsonl"
    if as_json:
        print_json({"wrote": [str(folder / name) for name in names]})
        return
    click.echo(f"wrote {', '.join(str(folder / name) for name in names)}")
    click.echo("next:")
    click.echo(f"  proctor check {suite} --deep")
    click.echo(f"  proctor run {suite} --answers {answers}")
