"""Compiled templates, kept beside their sources as Python keeps its compiled modules."""

import marshal
import os
import sys
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from tempfile import mkstemp

from jinja2.bccache import Bucket, BytecodeCache, bc_magic

__all__ = ["CompiledTemplates"]


class CompiledTemplates(BytecodeCache):
    """The compiled templates in the folder of compiled files, if it may be written.

    To compile the templates of one page takes up to a quarter of a second. A file is used only
    for the same source, and the same versions of Jinja and Python.
    """

    def __init__(self, folder: Path | None = None) -> None:
        package = Path(str(files("proctor.web").joinpath("templates")))
        self._folder = folder or package / "__pycache__"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill a bucket with what was compiled before; it stays empty where that does not fit."""
        with (
            suppress(OSError, ValueError, TypeError, EOFError),
            self._path(bucket).open("rb") as file,
        ):
            head = _head(bucket)
            if file.read(len(head)) == head:
                bucket.code = marshal.load(file)  # noqa: S302  # nosec B302 - as compiled modules

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled, where Python would keep its own."""
        if sys.dont_write_bytecode:
            return
        path = self._path(bucket)
        with suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            number, name = mkstemp(dir=self._folder, prefix=f"{path.name}.")
            try:
                with os.fdopen(number, "wb") as file:
                    file.write(_head(bucket) + marshal.dumps(bucket.code))
                Path(name).replace(path)
            except OSError:
                Path(name).unlink(missing_ok=True)

    def _path(self, bucket: Bucket) -> Path:
        return self._folder / f"{bucket.key}.{sys.implementation.cache_tag}.jinja"


def _head(bucket: Bucket) -> bytes:
    """Return what tells the versions of Jinja and Python, and the source."""
    return bc_magic + bucket.checksum.encode()
