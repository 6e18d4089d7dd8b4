"""Where stores are: names and files of new ones, and what each new one gets."""

import os
from pathlib import Path

from proctor.errors import StoreError

VARIABLE = "PROCTOR_STORE"
DEFAULT = Path(".proctor", "proctor.db")
EXPECTED = "name a file, sqlite:///FILE or postgresql://USER@HOST/NAME"
SETTING = "secret"
"""The name of the setting that keys are derived from."""


def new_secret() -> dict[str, str]:
    """Return the row of a new random secret."""
    return {"name": SETTING, "value": os.urandom(32).hex()}


def check_file(path: Path, *, create: bool) -> None:
    """Make sure that a file can be created: its folder exists and it is not a folder."""
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder (fix: name a file in it with --store)")
        if path.exists():
            return
        if not create:
            raise nothing_there(str(path))
        _make_folder(path.parent)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be made: {error.strerror or error}"
            " (fix: name a file in a folder of yours with --store)"
        ) from None


def _make_folder(folder: Path) -> None:
    if folder.exists():
        if not folder.is_dir():
            raise NotADirectoryError(20, f"{folder} is not a folder")
        return
    folder.mkdir(parents=True, exist_ok=True)
    if folder.name == DEFAULT.parent.name:
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def nothing_there(place: str) -> StoreError:
    """Return the error that there is no store."""
    return StoreError(f"there is no store at {place}; run `proctor run` first")
