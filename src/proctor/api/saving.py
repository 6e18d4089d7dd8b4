"""Runs as files, in the format that the name of the file says."""

from collections.abc import Callable
from pathlib import Path

from proctor import registry
from proctor.api.stores import StorePlace
from proctor.contracts.report import Layout, RunView
from proctor.core.suite import Spec
from proctor.engine.transfer.export_import import in_place, write_runs
from proctor.errors import UsageError

_REPORTS = {".json": "json", ".csv": "csv", ".md": "md", ".xml": "junit"}
_STORED = (".jsonl", ".parquet")


def save_run(path: Path, run_id: str, store: StorePlace, report: Callable[..., str]) -> Path:
    """Write a run, and return the path."""
    kind = path.suffix.lower()
    if kind in _REPORTS:
        with in_place(path) as part:
            part.write_text(report(_REPORTS[kind], cases=True), encoding="utf-8")
    elif kind == ".html":
        _write_page(path, run_id, store)
    elif kind in _STORED:
        with store.opened(create=False) as opened:
            write_runs(opened, [run_id], path)
    else:
        endings = ", ".join([".html", *_STORED, *_REPORTS])
        raise UsageError(f"{path}: a run is written as {endings} (fix: save('run.html'))")
    return path


def save_layout(folder: Path, name: str, view: RunView) -> Path:
    """Write the result files of an origin into a folder, and return the folder."""
    layout: Layout = registry.build("layout", Spec(name=name))
    layout.write(view, folder)
    return folder


def _write_page(path: Path, run_id: str, store: StorePlace) -> None:
    from proctor.web.share.document import ShareSettings, write_page

    with (
        store.opened(create=False) as opened,
        in_place(path) as part,
        part.open("wb") as file,
    ):
        write_page(opened, [run_id], file, ShareSettings())
