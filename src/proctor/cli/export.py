"""``proctor export``: write runs to a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import json_option, store_option
from proctor.cli.output import tell_which

if TYPE_CHECKING:
    from proctor.store.store import Store


@click.command()
@click.argument("runs", metavar="RUN [RUN...]", nargs=-1, required=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help=".html, .jsonl or .parquet; a folder for --as harbor",
)
@click.option("--lang", default="", metavar="en|zh", help="Language of a page.  [default: suite's]")
@click.option("--limit", type=click.IntRange(min=1), help="First N cases of each run, for a page.")
@click.option("--force", is_flag=True, help="Compare runs that differ in more than the candidate.")
@click.option(
    "--own",
    is_flag=True,
    help="Let this store import the runs as its own again (.jsonl; see `import --own`).",
)
@click.option(
    "--as",
    "form",
    type=click.Choice(["answers", "lm-eval", "events", "harbor"]),
    help="Write .jsonl as an answers file, as samples of lm-eval, or as OTLP evaluation events;"
    " or a folder as a job of Harbor.",
)
@store_option
@json_option
def export(runs: tuple[str, ...], **options: Any) -> None:
    """Write runs to a file.

    A .html page is self-contained, with filters, every case, and a comparison of 2 to 4 runs; a
    .jsonl file has everything of the runs and can be imported; .parquet has a row per score. With
    --as, the .jsonl file is one that other tools read, or an answers file to score anew; --as
    harbor writes a folder with the result and the trajectory (ATIF) of each attempt.

    \b
    Example:
      proctor export @last --out report.html
      proctor export @last~1 @last --out compared.html --lang zh
      proctor export @last --out run.jsonl
      proctor export @last --own --out backup.jsonl
      proctor export @last --as answers --out answers.jsonl
      proctor export @last --as harbor --out job
    """
    from proctor.cli.output import print_json
    from proctor.engine.transfer.export_import import write_runs
    from proctor.store.store import Store

    out: Path = options["out"]
    is_page = out.suffix.lower() == ".html"
    only_page = [name for name in ("lang", "limit", "force") if options[name]]
    if is_page and (options["own"] or options["form"]):
        flag = "--own" if options["own"] else "--as"
        raise click.UsageError(f"{flag} is for .jsonl files")
    is_folder = options["form"] == "harbor"
    if out.is_dir() and not is_folder:
        raise click.UsageError(f"{out} is a folder, and a file is to be written")
    with Store.open(options["store"], create=False) as store:
        tell_which(store, runs)
        ids = [store.runs.get(reference).id for reference in runs]
        if is_page:
            rows = _write_page(store, ids, out, options)
        elif only_page:
            raise click.UsageError(f"--{only_page[0]} is for pages (--out NAME.html)")
        elif options["form"]:
            rows = _write_as(store, ids, out, options)
        else:
            rows = write_runs(store, ids, out, own=options["own"])
    size = sum(path.stat().st_size for path in _files(out))
    if options["as_json"]:
        print_json({"wrote": str(out), "run": ids[0], "runs": ids, "rows": rows, "bytes": size})
    else:
        what = f"cases, {_size(size)}" if is_page else "trials" if is_folder else "rows"
        click.echo(f"wrote {out}: {rows} {what}")


def _files(out: Path) -> list[Path]:
    return [path for path in out.rglob("*") if path.is_file()] if out.is_dir() else [out]


def _write_as(store: "Store", ids: list[str], out: Path, options: dict[str, Any]) -> int:
    from proctor.engine.transfer.write_foreign import write_as

    if options["own"]:
        raise click.UsageError("--own is for files that can be imported: leave out --as")
    if options["form"] == "harbor":
        from proctor.engine.transfer.write_harbor import write_job

        return write_job(store, ids, out)
    return write_as(store, ids, out, options["form"])


def _write_page(store: "Store", ids: list[str], out: Path, options: dict[str, Any]) -> int:
    from proctor.engine.transfer.export_import import in_place
    from proctor.web.share.document import ShareSettings, size_notice, write_page

    settings = ShareSettings(
        language=options["lang"], limit=options["limit"], force=options["force"]
    )
    with in_place(out) as part, part.open("wb") as file:
        rows = write_page(store, ids, file, settings)
    if notice := size_notice(out):
        click.echo(notice, err=True)
    return rows


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MB" if count >= 2**20 else f"{max(1, count // 1024)} kB"
