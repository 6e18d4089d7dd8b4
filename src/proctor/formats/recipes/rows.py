"""Rows of a recipe: a local copy, or the files of a hub data set at a pinned revision."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proctor.errors import MissingResource, UsageError
from proctor.formats.recipes.recipe import Hub, Recipe
from proctor.formats.tables import ColumnMap
from proctor.io.row_files import read_rows
from proctor.io.text_files import Document, file_error, read_head, read_jsonl

ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
FOLDER, FILE, NUMBER = "folder_name", "file_name", "row_number"
"""Names of what a row does not hold itself: where it is."""


@dataclass(frozen=True, slots=True)
class RowFiles:
    """The files with a recipe's rows, and the revision they are of."""

    paths: tuple[Path, ...]
    root: Path
    revision: str = ""


def local_files(recipe: Recipe, data: Path) -> RowFiles:
    """Return the files of a local copy: the one that is named, or those in a folder."""
    if data.is_file():
        return RowFiles((data,), data.parent)
    if not data.is_dir():
        raise file_error(data, "there is no such file or folder")
    files = [path for path in sorted(data.rglob("*")) if path.suffix.lower() in ENDINGS]
    names = {path: path.relative_to(data).as_posix() for path in files}
    hub, joined = recipe.hub, recipe.join.files if recipe.join is not None else ""
    kept = [path for path in files if not (joined and fnmatchcase(names[path], joined))]
    if hub is not None and (fit := [path for path in kept if _belongs(hub, names[path])]):
        kept = fit
    if not kept:
        message = f"there are no files with rows here ({', '.join(ENDINGS)})"
        raise file_error(data, message)
    return RowFiles(tuple(kept), data)


def hub_files(recipe: Recipe, revision: str = "") -> RowFiles:
    """Download the files of a recipe's data set, and tell their revision."""
    hub = recipe.hub
    if hub is None:
        raise UsageError(
            f"the rows of {recipe.recipe!r} are not on the hub: download {recipe.url}, and name the"
            " file with --data"
        )
    if find_spec("huggingface_hub") is None:
        raise MissingResource(
            f"the rows of {recipe.recipe!r} are on the Hugging Face hub, and huggingface_hub is not"
            f" installed (fix: `pip install 'proctor[hub]'`, or name a local copy of"
            f" {hub.dataset} with --data)"
        )
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    wanted_revision = revision or hub.revision
    try:
        info = HfApi().dataset_info(hub.dataset, revision=wanted_revision)
        names = [one.rfilename for one in info.siblings or ()]
        wanted = [name for name in names if _belongs(hub, name)]
        if recipe.join is not None:
            wanted += [name for name in names if fnmatchcase(name, recipe.join.files)]
        if not wanted:
            raise MissingResource(_no_files(hub))
        folder = snapshot_download(
            hub.dataset, repo_type="dataset", revision=info.sha, allow_patterns=wanted
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        terms = " Its terms must be accepted on the hub first, and HF_TOKEN be set." * hub.gated
        raise MissingResource(
            f"{hub.dataset} cannot be fetched from the hub: {reason}{terms}"
            " (fix: name a local copy with --data)"
        ) from None
    return replace(local_files(recipe, Path(folder)), revision=str(info.sha))


def _no_files(hub: Hub) -> str:
    config = f" and the config {hub.config!r}" if hub.config else ""
    return (
        f"{hub.dataset} has no files of the split {hub.split!r}{config} that can be read"
        f" ({', '.join(ENDINGS)}; fix: name a local copy with --data)"
    )


def _belongs(hub: Hub, name: str) -> bool:
    """Tell whether a file of a data set holds rows of the recipe."""
    path = Path(name)
    if path.suffix.lower() not in ENDINGS:
        return False
    if hub.files:
        return any(fnmatchcase(name, pattern) for pattern in hub.files)
    in_config = not hub.config or hub.config in path.parts or hub.config in path.stem
    return in_config and (hub.split in path.parts or path.stem.startswith(hub.split))


def recipe_rows(
    recipe: Recipe, files: RowFiles, columns: ColumnMap | None = None
) -> Iterator[Document]:
    """Yield the rows as documents, with the columns of the second file and the row's place.

    Columns of other names are given those of the recipe.
    """
    further = _further(recipe, files)
    number = 0
    for path in files.paths:
        for document in _read(path):
            row = document.data
            if not isinstance(row, dict):
                raise file_error(path, "a row is an object with named columns")
            number += 1
            if columns:
                columns.rename(document, row, ())
                row = document.data
            more = further.get(row.get(recipe.join.by), {}) if recipe.join is not None else {}
            where = {FOLDER: path.parent.name, FILE: path.stem, NUMBER: number}
            yield replace(document, data={**where, **more, **row})


def _further(recipe: Recipe, files: RowFiles) -> dict[Any, dict[str, Any]]:
    if recipe.join is None:
        return {}
    pattern, by = recipe.join.files, recipe.join.by
    paths = [
        path
        for path in sorted(files.root.rglob("*"))
        if fnmatchcase(path.relative_to(files.root).as_posix(), pattern)
    ]
    return {one.data[by]: one.data for path in paths for one in _read(path) if by in one.data}


def _read(path: Path) -> Iterator[Document]:
    """Read the rows of a file; a .json file holds JSON lines, or one list."""
    if path.suffix.lower() != ".json":
        return read_rows(path)
    is_list = read_head(path, 64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    return _listed(path) if is_list else read_jsonl(path)


def _listed(path: Path) -> Iterator[Document]:
    from proctor.io.text_files import read_json

    document = read_json(path)
    for row in document.data:
        yield Document(path=path, data=row)
