"""A working folder that travels: into a sandbox with a program, and back as it was left."""

import io
import os
import shutil
import stat
import tarfile
from pathlib import Path, PurePosixPath

ARCHIVE = ".proctor-left.tar"
MOST_FILES = 5000
MOST_BYTES = 64 * 1024 * 1024


class TooMuch(Exception):
    """A folder that holds more than may travel."""


def contents(folder: Path) -> dict[str, bytes]:
    """Return the regular files of a folder by name; links are passed over."""
    files: dict[str, bytes] = {}
    size = 0
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(root, name)
            if not stat.S_ISREG(path.lstat().st_mode):
                continue
            size += path.lstat().st_size
            if size > MOST_BYTES or len(files) >= MOST_FILES:
                raise TooMuch(f"more than {MOST_BYTES // 2**20} MiB or {MOST_FILES} files")
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
    return files


def packing() -> tuple[str, ...]:
    """Return the command that gathers a working folder into one file, after all others."""
    script = (
        f"chmod -R u+rwX . 2>/dev/null; exec tar --exclude=./{ARCHIVE} -cf {ARCHIVE} . 2>/dev/null"
    )
    return ("/bin/sh", "-c", script)


def unpack(archive: bytes, folder: Path) -> None:
    """Make a folder hold what came back: regular files whose names stay inside, and no more."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as packed:
        size = 0
        for number, member in enumerate(packed):
            if number >= MOST_FILES:
                raise TooMuch(f"more than {MOST_FILES} files")
            name = PurePosixPath(member.name)
            if not member.isreg() or name.is_absolute() or ".." in name.parts:
                continue
            # A file with holes may say that it is much larger than the archive.
            size += member.size
            if size > MOST_BYTES:
                raise TooMuch(f"more than {MOST_BYTES // 2**20} MiB")
            place = folder.joinpath(*name.parts)
            if name.parts and (source := packed.extractfile(member)) is not None:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(source.read())
