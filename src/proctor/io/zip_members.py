"""Members of a ZIP file that others wrote, read within limits, also where they are Zstandard."""

import io
import struct
import zipfile
from pathlib import Path
from typing import BinaryIO

from proctor.io.text_files import MAX_FILE, file_error, limit, refuse_pipe

ZSTANDARD = 93
"""The method that ``zipfile`` cannot read before Python 3.14."""
_UNREADABLE = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error)
_LOCAL_HEADER = struct.Struct("<26xHH")


class ZipMembers:
    """The members of a ZIP file, by name; what they come to in all is limited."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            refuse_pipe(path)
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise file_error(path, f"cannot be read: {error.strerror or error}") from None
        try:
            self._zip = zipfile.ZipFile(self._file)
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            self._file.close()
            raise file_error(path, f"not a readable ZIP file: {error}") from None
        self._left = limit("decoded")

    def __enter__(self) -> "ZipMembers":
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    @property
    def names(self) -> list[str]:
        """Return the names of all members, in their order."""
        return self._zip.namelist()

    def read(self, name: str) -> bytes:
        """Return the content of a member, or say why it cannot be read."""
        info = self._zip.getinfo(name)
        most = min(MAX_FILE, self._left)
        try:
            if info.compress_type == ZSTANDARD:
                content = self._zstandard(info, most + 1)
            else:
                with self._zip.open(info) as member:
                    content = member.read(most + 1)
        except (
            zipfile.BadZipFile,
            OSError,
            ValueError,
            NotImplementedError,
            struct.error,
        ) as error:
            raise file_error(self.path, f"{name!r} in it cannot be read: {error}") from None
        if len(content) > most:
            raise file_error(self.path, f"{name!r} in it has more than {most:,} bytes")
        self._left -= len(content)
        return content

    def _zstandard(self, info: zipfile.ZipInfo, most: int) -> bytes:
        import pyarrow

        self._file.seek(info.header_offset)
        name_length, extra_length = _LOCAL_HEADER.unpack(self._file.read(_LOCAL_HEADER.size))
        self._file.seek(name_length + extra_length, io.SEEK_CUR)
        packed = self._file.read(min(info.compress_size, MAX_FILE))
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as stream:
            content: bytes = stream.read(most)
        return content
