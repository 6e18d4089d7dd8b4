"""The files of parts: in a folder beside the store, or at the address of an object store."""

import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from proctor.core.fingerprint import digest_bytes
from proctor.errors import PartDamaged, StoreError
from proctor.store.parts.layout import writing_options

RUN, SUITE = "r", "s"
"""What a folder of parts belongs to."""
_PLACE = re.compile(r"([rs]-[0-9a-f]{16})/([0-9]{5,9}-[0-9a-f]{12})", re.ASCII)
_FILE = re.compile(r"([a-z]+)-([0-9]{5,9}-[0-9a-f]{12})\.parquet", re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.ASCII)
_SECRET = ("key", "secret", "token", "password", "sig", "credential")
"""What is in the name of a parameter of an address whose value nobody may see."""


@dataclass(frozen=True)
class PartFolder:
    """Folder of parts; it can be pickled, so that workers write there.

    A *place* names one part: the files of all its kinds are beside each other.
    """

    address: str
    """An absolute path, or a URL, perhaps with credentials and options of its file system."""
    beside_store: bool = False
    """Whether it is the folder that belongs to a store's file, which may be moved with it."""

    @classmethod
    def beside(cls, store_file: str) -> "PartFolder":
        """Return the folder that belongs to the file of a store."""
        return cls(os.path.abspath(store_file) + ".parts", beside_store=True)

    @classmethod
    def at(cls, address: str) -> "PartFolder":
        """Return the folder at a path or a URL; credentials in a URL are kept from all output."""
        if not _SCHEME.match(address):
            if "://" in address:
                raise StoreError(f"not an address of parts: {_shown(address)} ({_EXPECTED})")
            return cls(os.path.abspath(address))
        parts = urlsplit(address)
        if parts.scheme == "file":
            if parts.netloc or not parts.path.startswith("/"):
                raise StoreError(f"not an address of parts: {_shown(address)} ({_EXPECTED})")
            return cls(os.path.abspath(unquote(parts.path)))
        if not parts.netloc or ("@" in parts.path and ":" in parts.netloc):
            raise StoreError(f"not an address of parts: {_shown(address)} ({_EXPECTED})")
        _keep_secret(address)
        return cls(urlunsplit(parts._replace(path=parts.path.rstrip("/"), fragment="")))

    @property
    def base(self) -> str:
        """Return what places in the store begin with: empty beside the store, else a URL.

        It has neither credentials nor options.
        """
        if self.beside_store:
            return ""
        if self.is_local:
            return "file://" + quote(self.address)
        parts = urlsplit(self.address)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def is_local(self) -> bool:
        """Tell whether it is a folder of this machine."""
        return not _SCHEME.match(self.address)

    def new_place(self, kind: str, owner: str, number: int, digits: str = "") -> str:
        """Return a place that no part has, for a part of a run (RUN) or of a suite (SUITE).

        The twelve digits, random ones by default, may be those of a claim.
        """
        name = f"{self.folder_of(kind, owner)}/{number:05}-{digits or secrets.token_hex(6)}"
        return f"{self.base}/{name}" if self.base else name

    @staticmethod
    def folder_of(kind: str, owner: str) -> str:
        """Return the name of the folder of a run's or a suite's parts."""
        return f"{kind}-{digest_bytes(owner.encode('utf-8', 'surrogatepass'))[:16]}"

    def relative(self, place: str) -> str:
        """Return a place relative to this folder; raise a StoreError where it leads elsewhere."""
        base = self.base
        name = place.removeprefix(f"{base}/") if base else place
        if (base and name == place) or _PLACE.fullmatch(name) is None:
            # A name that nobody gave is damage; an address may be that of another person's files.
            error = StoreError if base or "://" in place else PartDamaged
            raise error(f"a part of the run is at {_shown(place)[:200]!r}, {_OUTSIDE}")
        return name

    def path(self, place: str, kind: str) -> str:
        """Return the path of a file of a part, within this folder."""
        folder, _, stem = self.relative(place).partition("/")
        return f"{folder}/{kind}-{stem}.parquet"

    def write(self, place: str, kind: str, table: Any) -> int:
        """Write one file of a part, wholly or not at all, and return its size in bytes."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        name = self.path(place, kind)
        options = writing_options(table.schema)
        with translated(self._shown_file(name), writing=True):
            if self.is_local:
                return _write_locally(os.path.join(self.address, name), table, options)
            # As one object: a stream that breaks off would leave one that is cut short.
            sink = pa.BufferOutputStream()
            pq.write_table(table, sink, **options)
            content = sink.getvalue()
            system, root = _opened(self.address)
            with system.open_output_stream(f"{root}/{name}") as stream:
                stream.write(content)
            return int(content.size)

    def open(self, place: str, kind: str) -> Any:
        """Return a file of a part as a ``pyarrow.parquet.ParquetFile``."""
        import pyarrow.parquet as pq

        name = self.path(place, kind)
        with translated(self._shown_file(name)):
            if self.is_local:
                return pq.ParquetFile(os.path.join(self.address, name))
            system, root = _opened(self.address)
            return pq.ParquetFile(system.open_input_file(f"{root}/{name}"), pre_buffer=True)

    def size(self, place: str, kind: str) -> int | None:
        """Return the size of a file of a part in bytes; None where it is not there."""
        name = self.path(place, kind)
        with translated(self._shown_file(name)):
            if self.is_local:
                return _size_locally(os.path.join(self.address, name))
            system, root = _opened(self.address)
            (info,) = system.get_file_info([f"{root}/{name}"])
            return int(info.size) if info.is_file else None

    def delete(self, places: Iterable[str], kinds: Iterable[str]) -> None:
        """Delete files of parts; those that are gone already do not matter."""
        places, kinds = list(places), list(kinds)
        for place in places:
            for kind in kinds:
                name = self.path(place, kind)
                with translated(self._shown_file(name), writing=True), suppress(FileNotFoundError):
                    if self.is_local:
                        os.unlink(os.path.join(self.address, name))
                    else:
                        system, root = _opened(self.address)
                        system.delete_file(f"{root}/{name}")
        if self.is_local:
            for folder in {self.relative(place).partition("/")[0] for place in places}:
                with suppress(OSError):
                    os.rmdir(os.path.join(self.address, folder))

    def places(self) -> dict[str, list["PartFile"]]:
        """Return all files of parts that are there, by place."""
        from pyarrow.fs import FileSelector, FileType

        system, root = _opened(self.address)
        with translated(self._shown_file("")):
            selector = FileSelector(root, recursive=True, allow_not_found=True)
            files: dict[str, list[PartFile]] = {}
            for info in system.get_file_info(selector):
                folder = os.path.basename(os.path.dirname(info.path))
                name = _FILE.fullmatch(os.path.basename(info.path))
                if info.type != FileType.File or name is None:
                    continue
                place = f"{folder}/{name[2]}"
                if _PLACE.fullmatch(place):
                    file = PartFile(name[1], int(info.size or 0), info.mtime_ns or 0)
                    whole = f"{self.base}/{place}" if self.base else place
                    files.setdefault(whole, []).append(file)
        return files

    def check(self) -> None:
        """Raise a StoreError if nothing can be written here, before any work is done."""
        name = f".check-{secrets.token_hex(6)}"
        with translated(self._shown_file(""), writing=True):
            if self.is_local:
                os.makedirs(self.address, exist_ok=True)
                trial = Path(self.address, name)
                trial.write_bytes(b"proctor")
                trial.unlink()
                return
            system, root = _opened(self.address)
            with system.open_output_stream(f"{root}/{name}") as stream:
                stream.write(b"proctor")
            system.delete_file(f"{root}/{name}")

    def _shown_file(self, name: str) -> str:
        base = self.address if self.is_local else self.base
        return f"{base}/{name}" if name else base


@dataclass(frozen=True, slots=True)
class PartFile:
    """One file of a part, as its folder lists it."""

    kind: str
    size: int
    changed: int
    """When it was written, in nanoseconds since 1970; 0 where nobody knows."""


_EXPECTED = (
    "name a folder, or an address such as s3://BUCKET/FOLDER; a / in a secret is written %2F"
)
_OUTSIDE = (
    "which is not in the folder of parts that this store uses (fix: name the address of the parts"
    " with --parts, or in PROCTOR_PARTS, if you trust it)"
)


@contextmanager
def translated(file: str, *, writing: bool = False) -> Iterator[None]:
    """Turn what a file system or Parquet raises into a StoreError that names the file and a fix."""
    try:
        yield
    except FileNotFoundError:
        raise PartDamaged(
            f"{file} is not there, and the store says that it is a part of a run (fix: put it back"
            " from a copy, or start the same command again)"
        ) from None
    except (OSError, ValueError, _arrow_exception()) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        if writing:
            raise StoreError(
                f"{file} cannot be written: {reason} (fix: check the folder, its free space, and"
                " that you may write there)"
            ) from None
        raise PartDamaged(
            f"{file} cannot be read: {reason} (fix: put it back from a copy, or start the same"
            " command again)"
        ) from None


def _arrow_exception() -> type[Exception]:
    """Return what Arrow's errors have in common; only who looks at an error loads Arrow for it."""
    import pyarrow as pa

    exception: type[Exception] = pa.ArrowException
    return exception


def _size_locally(path: str) -> int | None:
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_size if S_ISREG(status.st_mode) else None


def _write_locally(path: str, table: Any, options: dict[str, Any]) -> int:
    import pyarrow.parquet as pq

    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    unfinished = os.path.join(folder, f".{os.path.basename(path)}.{secrets.token_hex(4)}")
    try:
        pq.write_table(table, unfinished, **options)
        descriptor = os.open(unfinished, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        os.replace(unfinished, path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
    return size


@lru_cache(maxsize=8)
def _opened(address: str) -> tuple[Any, str]:
    """Return the file system of a folder and its path there."""
    from pyarrow import fs

    if not _SCHEME.match(address):
        return fs.LocalFileSystem(), address
    import pyarrow as pa

    try:
        system, root = fs.FileSystem.from_uri(address)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        system, root = _by_fsspec(address, error)
    return system, root.rstrip("/")


def _by_fsspec(address: str, refused: Exception) -> tuple[Any, str]:
    """Return a file system that only fsspec knows."""
    from pyarrow import fs

    reason = next(iter(str(refused).splitlines()), "")
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise StoreError(
            f"{_shown(address)}: {reason} (fix: pip install fsspec and what it needs for this"
            " kind of address)"
        ) from None
    try:
        system, root = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise StoreError(f"{_shown(address)}: {reason}; fsspec: {error} ({_EXPECTED})") from None
    return fs.PyFileSystem(fs.FSSpecHandler(system)), root


def _shown(address: str) -> str:
    """Return an address, which may be no valid one, without credentials and options."""
    scheme, between, rest = address.partition("://")
    if not between:
        return address
    rest = rest.partition("?")[0]
    return f"{scheme}://{'…@' * ('@' in rest)}{rest.rpartition('@')[2]}"


def _keep_secret(address: str) -> None:
    from proctor.io.redaction import SECRETS

    parts = urlsplit(address)
    words = [unquote(word) for word in (parts.username or "", parts.password or "")]
    for name, value in parse_qsl(parts.query):
        if any(part in name.lower() for part in _SECRET):
            words.append(value)
    SECRETS.add(*(word for word in words if word))
