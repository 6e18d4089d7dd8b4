"""``proctor store``: write the key of a store to a file."""

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
    help="The file to write, readable by you only.",
)
@store_option
@json_option
def store_(what: str, out: Path, store: str | None, as_json: bool) -> None:
    """Write the key with which a store signs its exports, for another store of yours.

    Anyone with the key can write runs that `proctor import --own --key FILE` accepts as yours:
    treat it like a password. It is written only by this command.

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
        key = opened.secret.derive_key(PURPOSE)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(out, flags, 0o600), "w", encoding="ascii") as file:
            file.write(f"{_HEAD}{key.hex()}\n")
    except FileExistsError:
        raise UsageError(f"{out} already exists (fix: name another file)") from None
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
        key = bytes.fromhex(text.removeprefix(_HEAD))
    except ValueError:
        key = b""
    if not text.startswith(_HEAD) or len(key) != 32:
        hint = "write it with `proctor store key --out FILE`"
        raise text_files.file_error(path, "this is not the key of a store", 1, 1, hint=hint)
    return key
