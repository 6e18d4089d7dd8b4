"""``proctor store``: what a store has besides its runs, written to a file."""

import os
from pathlib import Path

import click

from proctor.cli.options import json_option, store_option

_HEAD = "proctor-store-key 1 "


@click.command(name="store")
@click.argument("what", type=click.Choice(["key"]))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file to write, which nobody else may read.",
)
@store_option
@json_option
def store_(what: str, out: Path, store: str | None, as_json: bool) -> None:
    """Write the key by which a store knows its exports, for another store of yours.

    Whoever has the key can write runs that `proctor import --own --key FILE` takes for yours: keep
    it as you keep a password. It is written nowhere unless you ask for it here.

    \b
    Example:
      proctor store key --out laptop.key
      proctor import run.jsonl --own --key laptop.key --store server.db
    """
    from proctor.cli.output import print_json
    from proctor.engine.transfer.proof import PURPOSE
    from proctor.errors import UsageError
    from proctor.store.store import Store

    with Store.open(store, create=False) as opened:
        made = opened.secret.derive_key(PURPOSE)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(out, flags, 0o600), "w", encoding="ascii") as file:
            file.write(f"{_HEAD}{made.hex()}\n")
    except FileExistsError:
        raise UsageError(f"{out} is there already (fix: name another file)") from None
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror or error}") from None
    if as_json:
        print_json({"wrote": str(out)})
    else:
        click.echo(f"wrote {out}")


def read_key(path: Path) -> bytes:
    """Read the key of a store from its file, or raise a SuiteError."""
    from proctor.io import text_files

    text = text_files.read_text(path, limit=1000).strip()
    try:
        made = bytes.fromhex(text.removeprefix(_HEAD))
    except ValueError:
        made = b""
    if not text.startswith(_HEAD) or len(made) != 32:
        hint = "write it with `proctor store key --out FILE`"
        raise text_files.wrong(path, "this is not the key of a store", 1, 1, hint=hint)
    return made
