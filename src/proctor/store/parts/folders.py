"""Where the parts of a store are, and who writes there: known without reading the database."""

import os
import secrets
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.core.fingerprint import digest_bytes
from proctor.errors import StoreError
from proctor.store.database import Database
from proctor.store.parts.files import PartFolder

if TYPE_CHECKING:
    from proctor.store.parts.claims import Claim, Claims

VARIABLE = "PROCTOR_PARTS"


class PartFolders:
    """The folders of parts of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @cached_property
    def _beside(self) -> PartFolder | None:
        """The folder beside the store's file; None for a server."""
        file = self._database.file
        return None if file is None else PartFolder.beside(file.path)

    @cached_property
    def _named(self) -> PartFolder | None:
        """The folder that a person named, by option or environment."""
        address = self._database.parts or os.environ.get(VARIABLE, "")
        return PartFolder.at(address) if address else None

    @property
    def folder(self) -> PartFolder | None:
        """Return where new parts are written; None where a shared store has no such place."""
        named, beside = self._named, self._beside
        if named is None or (beside is not None and named.address == beside.address):
            return beside
        return named

    def folder_of(self, place: str) -> PartFolder:
        """Return the folder that a place is in, or raise a StoreError where it is in none."""
        folder = self._named if "://" in place else self._beside
        if folder is None or ("://" in place and not folder.base):
            base = place.partition("?")[0].rpartition("@")[2][:200]
            raise StoreError(
                f"a part of the run is at {base!r}, and nobody said that this store has parts there"
                f" (fix: name their address in {VARIABLE}, if you trust it)"
            )
        folder.relative(place)
        return folder

    def claim(self) -> "Claim":
        """Claim the files of parts that are going to be written, until they are committed."""
        from proctor.store.parts.claims import SHARED, Claim

        folder = self.folder
        assert folder is not None
        claims = self._claims_in(folder if folder.is_local else self._beside)
        if claims is None:
            return Claim(secrets.token_hex(3), None)
        claim = claims.take(folder.base)
        if folder.base and folder.is_local:
            # It may be the folder of another store, which must not take these files for its own.
            with suppress(OSError):
                Path(folder.address, SHARED).touch()
        return claim

    def _claims_in(self, folder: PartFolder | None) -> "Claims | None":
        """Return the claims of this store in a folder of this machine."""
        from proctor.store.parts.claims import Claims

        if folder is None or not folder.is_local:
            return None
        file = self._database.file
        place = self._database.place if file is None else os.path.realpath(file.path)
        beside = self._beside is not None and self._beside.address == folder.address
        return Claims(folder.address, "" if beside else digest_bytes(place.encode()))
