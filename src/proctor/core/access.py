"""Who named an address, who named the credentials for it, and whether the two may meet."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from proctor.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A place in which an address or a credential was written."""

    kind: Literal["command line", "environment", "file"]
    place: str = ""
    """As messages name it: an option, a variable, or a file with its line."""
    file: str = ""
    """The file's own path, by which two places in one file are the same source."""

    @property
    def personal(self) -> bool:
        """Tell whether the person named it who runs the command, and not a file they were given."""
        return self.kind != "file"

    def meets(self, other: "Source") -> bool:
        """Tell whether a credential named here may be sent to an address named there."""
        if self.personal or other.personal:
            return self.personal and other.personal
        return self.file == other.file


COMMAND_LINE = Source(kind="command line", place="the command line")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A key or headers, with the place that holds them; their values are never shown."""

    name: str
    """What the place calls it: ``sk_token``, ``--header``."""
    key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    source: Source = COMMAND_LINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who named a model and its address, with all credentials that were written for it.

    What may be sent comes out of ``to`` alone, which refuses a credential of another source than
    the address.
    """

    source: Source = COMMAND_LINE
    credentials: tuple[Credential, ...] = ()

    def read_from(self, source: Source) -> "Access":
        """Return the same as a file's, where the file did not say more exactly whose it is."""
        credentials = tuple(
            replace(one, source=source) if one.source is COMMAND_LINE else one
            for one in self.credentials
        )
        return Access(
            source=source if self.source is COMMAND_LINE else self.source, credentials=credentials
        )

    def conflicts(self, address: Source | None) -> list[str]:
        """Say which credentials do not belong to an address; none is the provider's own."""
        if address is None:
            return []
        return [
            f"{one.source.place} holds {one.name}, and {address.place} names the address"
            for one in self.credentials
            if not one.source.meets(address)
        ]

    def to(self, address: Source | None, *, fix: str) -> "Credentials":
        """Return what may be sent to an address that this source named, or raise a UsageError."""
        if conflicts := self.conflicts(address):
            raise UsageError(
                f"{'; '.join(conflicts)}: a key or a header goes only to an address that the same"
                f" source names (fix: {fix})"
            )
        keys = [one.key for one in self.credentials if one.key]
        headers = {name: text for one in self.credentials for name, text in one.headers.items()}
        return Credentials(
            key=keys[-1] if keys else "", headers=headers, environment=self.source.personal
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What may be sent to one address, found to belong to it."""

    key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    environment: bool = True
    """Whether the key in the provider's environment variable may be sent as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A base address with the headers that are sent there, and nowhere else."""

    base: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def url(self, path: str) -> str:
        """Return an address below the base; a path cannot lead to another server."""
        if path and not path.startswith("/"):
            raise ValueError(f"{path!r} is no path below {self.base}")
        return self.base + path
