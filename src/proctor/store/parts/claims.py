"""Claims on files of parts that no row commits yet, held by the processes that write them.

A claim is a locked file beside the parts. Its lock ends with the last process that works under it,
so that what dead ones have left can be told from what is still being written.
"""

import fcntl
import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

TOKEN_DIGITS = 6
"""Digits that the names of all files of one claim share."""
UNTRIED_SECONDS = 3600.0
"""After how long a trial of writing, which takes a moment, was surely cut short."""
ELSEWHERE_SECONDS = 24 * 3600.0
"""After how long a claim from another machine that shows no lock here is taken for dead."""
SHARED = ".shared"
"""A file in a folder of parts where another store than its own has parts, too."""
PART_FILE = re.compile(
    r"\.?[a-z]+-([0-9]{5,9}-([0-9a-f]{6})[0-9a-f]{6})\.parquet(\.[0-9a-f]{8})?", re.ASCII
)
"""A file of a part, its name and its claim; one cut short in writing has more behind its name."""
_CLAIM = re.compile(r"\.claim-([0-9a-f]{6})", re.ASCII)
_SCRATCH = re.compile(r"\.(?:sorted|check)-([0-9a-f]{6})-.*", re.ASCII)
_CHECK = re.compile(r"\.check-[0-9a-f]{12}", re.ASCII)
"""What is written and deleted at once, to see whether that can be done."""


@dataclass
class Claim:
    """Claim of this process, and of those that it lends its lock to."""

    token: str
    folder: str | None
    """Where its own file is; none where there is no such folder on this machine."""
    file: int | None = None
    """The open, locked file; a process that inherits it holds the claim, too."""

    def new_name(self) -> str:
        """Return twelve digits that name a new part."""
        return self.token + secrets.token_hex(6 - TOKEN_DIGITS // 2)

    def scratch(self) -> "tempfile.TemporaryDirectory[str]":
        """Return a new folder for files that this claim's processes need for a while."""
        if self.folder is None:
            return tempfile.TemporaryDirectory(prefix="proctor-")
        return tempfile.TemporaryDirectory(prefix=f".sorted-{self.token}-", dir=self.folder)

    def release(self) -> None:
        """Give up the claim: what no row commits by now is nobody's, and may be cleared away."""
        if self.file is not None:
            os.close(self.file)
            self.file = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadClaim:
    """Claim whose processes have ended without giving it up."""

    token: str
    base: str
    """What the places of its parts begin with."""


@dataclass(frozen=True)
class Claims:
    """The claims of one store, in a folder of this machine."""

    folder: str
    owner: str
    """Which store they belong to, where several may have claims in the folder."""

    def take(self, base: str) -> Claim:
        """Claim files whose places will begin with a text; without a lock if there can be none."""
        while True:
            token = secrets.token_hex(TOKEN_DIGITS // 2)
            try:
                os.makedirs(self.folder, exist_ok=True)
                file = os.open(self._path(token), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            except (FileExistsError, FileNotFoundError):
                continue  # another has it, or removed the empty folder
            except OSError:
                return Claim(token, None)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                content = {"store": self.owner, "base": base, "host": os.uname().nodename}
                os.write(file, json.dumps(content).encode())
                if os.fstat(file).st_ino == os.stat(self._path(token)).st_ino:
                    return Claim(token, self.folder, file)
            except (BlockingIOError, FileNotFoundError):
                os.close(file)  # somebody took it for a dead one before it was locked
            except OSError:
                os.close(file)
                with suppress(OSError):
                    os.unlink(self._path(token))
                return Claim(token, None)

    def live(self) -> Set[str]:
        """Return the tokens of claims that some process holds, of any store."""
        return {token for token in self._tokens() if not self._is_free(token)}

    @contextmanager
    def dead(self) -> Iterator[list[DeadClaim]]:
        """Yield the claims of this store that nobody holds; in the block nobody else sees them."""
        claims, files = [], []
        try:
            for token in self._tokens():
                if (file := self._locked(token)) is None:
                    continue
                files.append(file)
                if (claim := self._read(token, file)) is not None:
                    claims.append(claim)
            yield claims
        finally:
            for file in files:
                os.close(file)

    def forget(self, claims: Iterable[DeadClaim]) -> None:
        """Remove dead claims of which nothing is left, while they are locked."""
        for claim in claims:
            with suppress(OSError):
                os.unlink(self._path(claim.token))
        with suppress(OSError):  # others are still in there
            os.rmdir(self.folder)

    def scratch_of(self, claims: Iterable[DeadClaim]) -> Iterator[Path]:
        """Yield what these claims have left beside the parts, and old trials of writing."""
        tokens = {claim.token for claim in claims}
        older = time.time() - UNTRIED_SECONDS
        for entry in self._entries():
            name = _SCRATCH.fullmatch(entry.name)
            if name is not None and name[1] in tokens:
                yield Path(entry.path)
            elif _CHECK.fullmatch(entry.name):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < older:
                        yield Path(entry.path)

    def _tokens(self) -> list[str]:
        names = (_CLAIM.fullmatch(entry.name) for entry in self._entries())
        return [name[1] for name in names if name is not None]

    def _entries(self) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(self.folder) as entries:
                return list(entries)
        except OSError:
            return []

    def _is_free(self, token: str) -> bool:
        if (file := self._locked(token)) is None:
            return False
        try:
            return _is_from_here(file)
        finally:
            os.close(file)

    def _locked(self, token: str) -> int | None:
        """Return the file of a claim that nobody held, locked."""
        try:
            file = os.open(self._path(token), os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            return None
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_ino == os.stat(self._path(token)).st_ino:
                return file
        os.close(file)
        return None

    def _read(self, token: str, file: int) -> DeadClaim | None:
        """Return a claim of this store; one that was cut short before it said whose it is, too."""
        text = os.pread(file, 2**16, 0)
        if not text:
            return DeadClaim(token=token, base="")
        try:
            content = json.loads(text)
            if content["store"] == self.owner and _is_from_here(file):
                return DeadClaim(token=token, base=str(content["base"]))
        except (ValueError, KeyError, TypeError):
            return None
        return None

    def _path(self, token: str) -> str:
        return os.path.join(self.folder, f".claim-{token}")


def _is_from_here(file: int) -> bool:
    """Tell whether the lock on a claim says all: a file system may keep locks to each machine."""
    try:
        content = json.loads(os.pread(file, 2**16, 0))
        elsewhere = content["host"] != os.uname().nodename
    except (ValueError, KeyError, TypeError):
        return True
    return not elsewhere or os.fstat(file).st_mtime < time.time() - ELSEWHERE_SECONDS


def remove(path: Path) -> int:
    """Delete a file, or a folder with all that is in it; return how many bytes that were."""
    size = size_of(path)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return size


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all that a folder holds."""
    files = path.rglob("*") if path.is_dir() and not path.is_symlink() else [path]
    return sum(file.lstat().st_size for file in files if file.is_file())
