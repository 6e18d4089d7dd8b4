"""Copies of a store that is a file, made while others write to it."""

import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.errors import StoreError
from proctor.store.failure_messages import translated
from proctor.store.store import Store

PAGES = 2000
"""Pages that are copied at once; in between the command can be stopped."""
SUFFIX = ".parts"


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy that was made and opened."""

    path: Path
    runs: int
    size: int
    """Bytes of the database and the parts."""
    parts: int
    """Files of parts that were copied."""
    elsewhere: int
    """Parts at another address, which are not copied."""


def back_up(store: Store, target: Path, progress: Callable[[int, int], None]) -> Copied:
    """Copy a store as it is at one moment to a new file, with its parts; check it by opening it.

    ``progress`` is told how many pages are copied, and of how many. The copy gets its name when it
    is whole: what stops this before leaves nothing behind.
    """
    source = store.database.file
    if source is None:
        raise StoreError(
            f"{store.place} is on a server, whose own tool makes copies (fix: pg_dump --format="
            "custom --file=FILE DATABASE, and copy the address of its parts, if it has one)"
        )
    folder = Path(f"{target}{SUFFIX}")
    for path in (target, folder):
        if path.exists():
            raise StoreError(f"{path} already exists (fix: name another file, or move it away)")
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    new_folder = Path(f"{unfinished}{SUFFIX}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Keys for what a store signs are in it: it is as private as the one it is made from.
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        shutil.copymode(source.path, unfinished)
        with translated(str(target)):
            _copy_database(source.path, unfinished, progress)
            places = _places(unfinished)
        copied, elsewhere = _copy_parts(Path(f"{source.path}{SUFFIX}"), new_folder, places)
        runs = _checked(unfinished)
        size = unfinished.stat().st_size + sum(
            file.stat().st_size for file in new_folder.rglob("*") if file.is_file()
        )
        if new_folder.exists():
            new_folder.rename(folder)
        os.rename(unfinished, target)
    except OSError as error:
        raise StoreError(
            f"{target} cannot be written: {error.strerror or error} (fix: name a file in a folder"
            " of yours, on a disk with room for it)"
        ) from None
    finally:
        if not target.exists():
            shutil.rmtree(folder, ignore_errors=True)
        for name in ("", "-wal", "-shm", "-journal"):
            with suppress(OSError):
                Path(f"{unfinished}{name}").unlink()
        shutil.rmtree(new_folder, ignore_errors=True)
    return Copied(target, runs, size, copied, elsewhere)


def _copy_database(source: str, target: Path, progress: Callable[[int, int], None]) -> None:
    def step(_status: int, remaining: int, total: int) -> None:
        progress(total - remaining, total)

    with closing(sqlite3.connect(source, timeout=30.0)) as reading:
        reading.isolation_level = None
        # While this transaction is open, others may write, and it sees nothing of that: else each
        # of their writes would begin the copy anew.
        reading.execute("BEGIN")
        reading.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        with closing(sqlite3.connect(target)) as writing:
            reading.backup(writing, pages=PAGES, progress=step, sleep=0.0)
            writing.execute("PRAGMA journal_mode=DELETE").fetchone()
            writing.commit()
    with open(target, "rb") as file:
        os.fsync(file.fileno())


def _places(copy: Path) -> list[tuple[str, str, int]]:
    """Return kind of owner, place and size of all parts that the copy knows."""
    with closing(sqlite3.connect(f"file:{copy}?mode=ro", uri=True)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        rows: list[tuple[str, str, int]] = []
        for table in ("run_parts", "suite_parts"):
            if table in tables:
                query = f"SELECT '{table}', place, size FROM {table}"  # noqa: S608  # nosec B608
                rows += connection.execute(query).fetchall()
        return rows


def _copy_parts(source: Path, target: Path, places: list[tuple[str, str, int]]) -> tuple[int, int]:
    """Copy the files of parts that lie beside the store; return how many, and how many do not."""
    from proctor.store.parts.files import PartFolder
    from proctor.store.parts.layout import ATTEMPTS, CASES, RESULTS

    if not places:
        return 0, 0
    folder = PartFolder(str(source), beside_store=True)
    copied = elsewhere = 0
    for table, place, size in places:
        if "://" in place:
            elsewhere += 1
            continue
        kinds = (ATTEMPTS, RESULTS) if table == "run_parts" else (CASES,)
        bytes_copied = 0
        for kind in kinds:
            name = folder.path(place, kind)
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            try:
                shutil.copy2(source / name, target / name)
            except FileNotFoundError:
                raise StoreError(
                    f"{source / name} is gone: a run was deleted while it was copied, or the store"
                    " is damaged (fix: make the copy again; `proctor delete` the run if that fails)"
                ) from None
            bytes_copied += (target / name).stat().st_size
            copied += 1
        if bytes_copied != size:
            raise StoreError(
                f"a part of the copy has {bytes_copied} bytes and not {size}: {place} is damaged"
                " (fix: start the command of its run again, which makes it anew)"
            )
    return copied, elsewhere


def _checked(copy: Path) -> int:
    """Open the copy as a store, and have SQLite check it; return how many runs it has."""
    with Store.open(str(copy), create=False) as opened:
        with opened.database.read() as connection:
            problems: Any = connection.exec_driver_sql("PRAGMA quick_check").scalars().all()
        if problems != ["ok"]:
            raise StoreError(
                f"the copy is damaged: {problems[0]} (fix: if another try gives the same, the store"
                " itself is damaged; `proctor export` saves the runs that can be read)"
            )
        return len(opened.runs.newest(limit=None))
