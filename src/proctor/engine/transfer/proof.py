"""Proof that a file of runs was written by a store, and is unchanged."""

import hashlib
import hmac
from pathlib import Path

from proctor.errors import Problem, SuiteError
from proctor.io import json_bytes, text_files

PURPOSE = "exported runs"
"""The purpose of the derived store key."""
_START = b"proctor export 1\n"


class Proof:
    """Authentication code of a file's lines, stored in the last line."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._code = hmac.new(key, _START, hashlib.sha256)
        self._last = b""

    def take(self, line: bytes) -> None:
        """Add the next line, exactly as in the file."""
        self._code.update(self._last)
        self._last = line

    def written(self) -> str:
        """Return the code of all lines so far."""
        self._code.update(self._last)
        self._last = b""
        return self._code.hexdigest()

    def check(self, path: Path) -> None:
        """Read a file, and raise a SuiteError unless its last line is a valid proof."""
        reader = Proof(self._key)
        for line in text_files.read_lines(path):
            reader.take(line)
        reader.confirm(path)

    def confirm(self, path: Path) -> None:
        """Raise a SuiteError unless the last line is the code of the others."""
        try:
            row = json_bytes.loads(self._last)
        except ValueError:
            row = None
        code = row.get("own") if isinstance(row, dict) else None
        if not isinstance(code, str):
            message = "this file was not exported with --own: it cannot be taken for one's own"
            hint = "leave --own away to import it as a quotation"
            raise SuiteError([Problem(message=message, file=str(path), hint=hint)])
        if not hmac.compare_digest(code.encode(), self._code.hexdigest().encode()):
            message = "this file is not one of this store, or it was changed since it was written"
            hint = (
                "leave --own away to import it as a quotation; a file of another store of yours"
                " needs that store's key (`proctor store key --out FILE` there, --key FILE here)"
            )
            raise SuiteError([Problem(message=message, file=str(path), hint=hint)])
