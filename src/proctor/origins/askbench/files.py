"""Where the files of AskBench lie: what a path is, the INI of a task, and the rows it names."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from proctor.core.suite import Json
from proctor.io.text_files import parse_json
from proctor.origins.askbench.ini import MARKS
from proctor.origins.askbench.tasks import TASKS, TaskShape, shape_of

INI_ENDINGS = (".ini", ".cfg", ".conf")
ROWS = "test.jsonl"
EXAMPLES = "train.jsonl"
BASE = "base.ini"
TASKS_FOLDER = "config/common"
FIRST_LOOK = 1024 * 1024


def is_askbench(path: Path) -> bool:
    """Tell from a path and a first look at its content whether it is AskBench's."""
    if path.is_dir():
        return _is_folder(path)
    if path.suffix.lower() in INI_ENDINGS:
        return _is_ini(path)
    if path.suffix.lower() == ".jsonl":
        return _is_named(path) or _is_rows(path)
    return False


def first_shape(path: Path) -> TaskShape | None:
    """Tell by its first row what the rows of a file are."""
    return shape_of(_first_row(path))


def base_in(folder: Path) -> Path | None:
    """Return the settings of a whole evaluation, where a folder has them."""
    file = folder / BASE
    return file if _is_ini(file) else None


def ini_in(folder: Path) -> Sequence[Path]:
    """Return the INI files of a task folder: the one of its name alone, or else all."""
    files = sorted(path for path in folder.iterdir() if _is_ini(path))
    own = [path for path in files if path.stem == folder.resolve().name]
    return own or files


def task_inis(base: Path, folder: str, task: str) -> Iterator[Path]:
    """Yield the places where the INI of a task may lie, the likeliest first."""
    for root in _roots(base):
        yield root / (folder or TASKS_FOLDER) / f"{task}.ini"
    yield base.parent / "common" / f"{task}.ini"


def row_files(written: Path, other: Path, data_dir: str, evalset: str) -> Iterator[Path]:
    """Yield the places where the rows of an evaluation set may lie, the likeliest first.

    A relative folder is meant from the file that names it, or from one of the folders around it,
    or from where the command was started: the original is started at the root of its repository.
    """
    roots = [*_roots(written), written.parent.parent.parent, *_roots(other)]
    folders = [data_dir] if data_dir else []
    for root in roots:
        for folder in folders:
            yield root / folder / evalset / ROWS
            yield root / folder / ROWS
    if not data_dir and (task := TASKS.get(evalset)) is not None:
        for root in roots:
            yield root / task.folder / ROWS
            yield root / "data" / evalset / ROWS


def first_file(places: Iterator[Path]) -> tuple[Path | None, list[str]]:
    """Return the first place that has a file, and else the places that were looked at."""
    seen: dict[str, None] = {}
    for place in places:
        short = Path(os.path.normpath(place))
        if str(short) in seen:
            continue
        if short.is_file():
            return short, []
        seen[str(short)] = None
    return None, list(seen)


def _roots(path: Path) -> list[Path]:
    return [path.parent, path.absolute().parent.parent, Path()]


def _is_folder(path: Path) -> bool:
    if base_in(path) is not None:
        return True
    rows = path / ROWS
    if not rows.is_file():
        return False
    named = path.resolve().name in TASKS or any(_is_ini(entry) for entry in path.iterdir())
    return named or _is_rows(rows)


def _is_named(path: Path) -> bool:
    """Tell whether a file lies where a task of the table has its rows, broken as they may be."""
    named = path.name == ROWS and path.resolve().parent.name in TASKS
    return named and _first_row(path) is None and path.is_file()


def _is_rows(path: Path) -> bool:
    row = _first_row(path)
    native = isinstance(row, dict) and {"ask", "ask_file", "messages", "suite"} & row.keys()
    return not native and shape_of(row) is not None


def _is_ini(path: Path) -> bool:
    """Tell an INI by its sections; the first of them suffices."""
    if path.suffix.lower() not in INI_ENDINGS or not path.is_file():
        return False
    heads = {line.strip() for line in _start(path).splitlines()}
    return any(f"[{name}]" in heads for name in MARKS)


def _first_row(path: Path) -> Json:
    line = _start(path).lstrip().partition("\n")[0]
    try:
        return parse_json(line)
    except ValueError:
        return None


def _start(path: Path) -> str:
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            return file.read(FIRST_LOOK).decode("utf-8-sig", "ignore")
    except OSError:
        return ""
