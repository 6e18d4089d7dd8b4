"""``proctor store``: the size of a store, what can go, copies, and the key that signs exports."""

import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import json_option, store_option

if TYPE_CHECKING:
    from proctor.core.run import Run
    from proctor.store.upkeep import Pruned, StoreSize

_HEAD = "proctor-store-key 1 "
_AGE = re.compile(r"(\d{1,6}(?:\.\d+)?)\s*([smhdw]?)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "": 86400, "w": 7 * 86400}
MOST_RUNS = 20
"""How many runs the table of sizes lists; with --json there are all."""


@click.group(name="store")
def store_() -> None:
    """Look after a store: its size, what can go, copies, and its key.

    \b
    Example:
      proctor store size
      proctor store prune --older-than 90d
      proctor store backup --out copy.db
    """


@store_.command()
@store_option
@json_option
def size(store: str | None, as_json: bool) -> None:
    """Show how much room a store takes, by kind of content and by run.

    What several runs share counts for each of them. A run's size is that of its attempts, scores
    and parts, without indexes.

    \b
    Example:
      proctor store size
      proctor store size --store server.db --json
    """
    from proctor.cli.output import print_json
    from proctor.store.store import Store
    from proctor.store.upkeep import store_size

    with Store.open(store, create=False) as opened:
        measured = store_size(opened)
        place = opened.place
    if as_json:
        print_json({"store": place, **_size_json(measured)})
    else:
        click.echo("\n".join(_size_lines(place, measured)))


def _size_json(measured: "StoreSize") -> dict[str, Any]:
    return {
        "bytes": measured.total,
        "database": measured.database,
        "journal": measured.journal,
        "free": measured.free,
        "parts": measured.parts,
        "unused_parts": measured.unused_parts,
        "estimated": measured.estimated,
        "kinds": [
            {"kind": one.kind, "rows": one.rows, "bytes": one.size} for one in measured.kinds
        ],
        "runs": [
            {
                "id": one.run.id,
                "name": one.run.name,
                "status": one.run.status.value,
                "started": one.run.started,
                "attempts": one.attempts,
                "scores": one.scores,
                "bytes": one.size,
            }
            for one in measured.runs
        ],
    }


def _size_lines(place: str, measured: "StoreSize") -> Iterator[str]:
    yield f"{place}: {shown_bytes(measured.total)}"
    rows = [(one.kind, f"{one.rows:,}", shown_bytes(one.size)) for one in measured.kinds]
    more = {
        "free pages": measured.free,
        "journal": measured.journal,
        "parts of large runs": measured.parts,
        "unused parts": measured.unused_parts,
    }
    rows += [(name, "", shown_bytes(number)) for name, number in more.items() if number]
    yield ""
    yield from _table(("Content", "Rows", "Size"), rows)
    if measured.estimated:
        yield "(sizes of the texts alone: this SQLite does not count pages)"
    by_size = sorted(measured.runs, key=lambda one: -one.size)
    if by_size:
        yield ""
        yield from _table(
            ("Run", "Attempts", "Scores", "Size"),
            [
                (one.run.name, f"{one.attempts:,}", f"{one.scores:,}", shown_bytes(one.size))
                for one in by_size[:MOST_RUNS]
            ],
        )
    if len(by_size) > MOST_RUNS:
        yield f"… and {len(by_size) - MOST_RUNS} smaller runs; --json lists them all"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in (titles, *rows)) for at in range(len(titles))]
    for row in (titles, *rows):
        first, *others = row
        cells = [first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]
        yield "  ".join(cells).rstrip()


def shown_bytes(number: int) -> str:
    """Write a number of bytes with a unit."""
    value = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"


def read_age(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Read an age such as 90d, 12h or 2w as seconds; a bare number is days."""
    if value is None:
        return None
    read = _AGE.fullmatch(value.strip().lower())
    if read is None:
        raise click.BadParameter(f"{value!r} is no age; write 90d, 12h or 2w", ctx, param)
    return float(read[1]) * _SECONDS[read[2]]


@store_.command()
@click.option(
    "--older-than",
    callback=read_age,
    metavar="AGE",
    help="Remove runs that were started longer ago: 90d, 12h, 2w.",
)
@click.option(
    "--keep",
    type=click.IntRange(0),
    metavar="N",
    help="Remove runs, but keep the newest N of each suite.",
)
@click.option("--unfinished", is_flag=True, help="Remove only runs that never came to their end.")
@click.option(
    "--calls",
    is_flag=True,
    help="Also remove replies of models and results of programs; to need them again costs again.",
)
@click.option("--yes", is_flag=True, help="Remove it; without, only show what would be removed.")
@store_option
@json_option
def prune(yes: bool, store: str | None, as_json: bool, **chosen: Any) -> None:
    """Remove what no run refers to and, if you ask for it, old runs.

    Without --yes nothing is removed. A run goes where all of --older-than, --keep and --unfinished
    that are given hold for it; one that people have labelled, or that is a baseline, stays. Replies
    of models stay, so that a run that is made again costs nothing; --calls removes them, too, with
    --older-than the older ones. Where a run is being made, nothing is removed.

    \b
    Example:
      proctor store prune
      proctor store prune --older-than 90d --keep 3 --yes
      proctor store prune --unfinished --yes
    """
    from proctor.cli.output import print_json
    from proctor.store import upkeep
    from proctor.store.store import Store

    age = chosen.pop("older_than")
    choice = upkeep.PruneChoice(before=None if age is None else time.time() - age, **chosen)
    with Store.open(store, create=False) as opened:
        pruned = (upkeep.prune if yes else upkeep.to_prune)(opened, choice)
    if as_json:
        print_json({"removed": yes, **_pruned_json(pruned)})
    else:
        click.echo("\n".join(_pruned_lines(pruned, done=yes)))


def _pruned_json(pruned: "Pruned") -> dict[str, Any]:
    return {
        "runs": [_named(run) for run in pruned.runs],
        "labelled": [_named(run) for run in pruned.labelled],
        "pinned": [_named(run) for run in pruned.pinned],
        "rows": pruned.rows,
        "part_bytes": pruned.part_bytes,
        "freed": pruned.freed,
        "not_compacted": pruned.not_compacted,
    }


def _named(run: "Run") -> dict[str, str]:
    return {"id": run.id, "name": run.name}


def _kept_lines(pruned: "Pruned") -> Iterator[str]:
    for runs, why in ((pruned.labelled, "people have labelled"), (pruned.pinned, "are baselines")):
        if runs:
            yield f"kept {len(runs)} that {why}: {', '.join(run.name for run in runs[:5])}"


def _pruned_lines(pruned: "Pruned", *, done: bool) -> Iterator[str]:
    verb = "removed" if done else "would remove"
    if pruned.is_empty:
        yield "nothing to remove"
    for run in pruned.runs:
        yield f"{verb} the run {run.name} ({run.id}), and what no other run uses"
    for kind, count in pruned.rows.items():
        if count:
            yield f"{verb} {count:,} row{'' if count == 1 else 's'} of {kind}"
    if pruned.part_bytes:
        yield f"{verb} {shown_bytes(pruned.part_bytes)} of files that belong to no part of a run"
    yield from _kept_lines(pruned)
    if not done and not pruned.is_empty:
        yield "to remove it, add --yes"
    if pruned.freed is not None:
        yield f"the store is {shown_bytes(pruned.freed)} smaller"
    if pruned.not_compacted:
        yield f"the room was not given back to the disk: {pruned.not_compacted}"


@store_.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The new file.",
)
@store_option
@json_option
def backup(out: Path, store: str | None, as_json: bool) -> None:
    """Copy a store to a new file, as it is at one moment; others may write to it meanwhile.

    Parts of large runs that lie beside the store are copied to a folder beside the copy. The copy
    is opened and checked before it gets its name. It holds the key of the store, and so is as
    private as the store itself. On PostgreSQL, use pg_dump.

    \b
    Example:
      proctor store backup --out copy.db
      proctor list runs --store copy.db
    """
    from proctor.cli.output import print_json, progress_bar, say
    from proctor.engine.run.evaluate import RunProgress
    from proctor.store.backup import back_up
    from proctor.store.store import Store

    with Store.open(store, create=False) as opened, progress_bar(quiet=as_json) as show:

        def progress(done: int, total: int) -> None:
            show(RunProgress(phase="copy", done=done, total=total))

        copied = back_up(opened, out, progress)
    if as_json:
        counts = {"runs": copied.runs, "bytes": copied.size, "part_files": copied.parts}
        print_json({"wrote": str(out), **counts, "parts_elsewhere": copied.elsewhere})
        return
    click.echo(f"wrote {out}: {copied.runs} runs, {shown_bytes(copied.size)}")
    if copied.elsewhere:
        say(f"{copied.elsewhere} parts lie at another address and were not copied")


@store_.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file to write, readable by you only.",
)
@store_option
@json_option
def key(out: Path, store: str | None, as_json: bool) -> None:
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
        secret = opened.secret.derive_key(PURPOSE)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(out, flags, 0o600), "w", encoding="ascii") as file:
            file.write(f"{_HEAD}{secret.hex()}\n")
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
