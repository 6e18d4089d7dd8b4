"""Cassettes: the traffic of a run on file, and a model that plays it back without a network."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import file_digest
from pathlib import Path

from proctor.contracts.model import Model, Recorder
from proctor.core.access import Destination
from proctor.core.encoding import reply_from, request_from
from proctor.core.exchange import ProxiedExchange, Reply, Request, Upstream
from proctor.core.fingerprint import digest, plain
from proctor.core.suite import Json
from proctor.errors import ModelError, SuiteError, UsageError
from proctor.io import json_bytes
from proctor.io.text_files import decode, parse_json, read_lines

_EXCHANGE = b'{"exchange":'
"""How the line of an agent's call begins."""


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One reply of a cassette, and the model that gave it."""

    model: str
    reply: Json


def request_key(request: Request) -> str:
    """Address a request by all that is asked; marks that belong to one store are left out."""
    request = request.addressed
    return digest(request.messages, request.sampling, request.shape, request.salt)


def line(identity: Json, request: Request, reply: Reply) -> bytes:
    """Write one call as a line of a cassette."""
    recorded = {
        "key": request_key(request),
        "model": identity,
        "request": plain(request.addressed),
        "reply": plain(reply),
    }
    return json_bytes.dumps(recorded) + b"\n"


def read(path: Path) -> Mapping[str, Mapping[str, RecordedCall]]:
    """Read a cassette: by the key of the request, what each model replied to it last."""
    calls: dict[str, dict[str, RecordedCall]] = {}
    try:
        for key, recorded in _calls(read_lines(path), path):
            calls.setdefault(key, {})[recorded.model] = recorded
    except SuiteError as error:
        raise ModelError(f"replay:{error.problems[0].place}: {error.problems[0].message}") from None
    return calls


def read_exchanges(path: Path) -> Mapping[tuple[str, int, int], ProxiedExchange]:
    """Read the calls of agents in a cassette, by case, attempt and number."""
    exchanges: dict[tuple[str, int, int], ProxiedExchange] = {}
    for number, text in enumerate(read_lines(path), 1):
        if not text.startswith(_EXCHANGE):
            continue
        try:
            one = ProxiedExchange(**parse_json(decode(path, text, row=number))["exchange"])
        except (SuiteError, ValueError, LookupError, TypeError) as error:
            if not text.endswith(b"\n"):
                break
            raise ModelError(f"{path}:{number}: this is no call of an agent: {error}") from None
        exchanges[one.case, one.index, one.place] = one
    return exchanges


@dataclass(eq=False)
class Replay(Model):
    """The replies of a cassette; no model is ever called."""

    model: str
    """The cassette; ``FILE#NAME`` where several models were asked the same and one is meant."""

    @property
    def identity(self) -> Json:
        name = self._path.name
        return {"provider": "replay", "model": name, "of": self._of, "sha256": self._hash}

    @property
    def label(self) -> str:
        return f"replay:{self.model}"

    @property
    def price(self) -> tuple[float, float]:
        return (0.0, 0.0)

    @classmethod
    def record_to(cls, path: Path) -> "CassetteRecorder":
        return CassetteRecorder(path)

    async def reply(self, request: Request) -> Reply:
        recorded_calls = self._calls.get(request_key(request), {})
        if self._of:
            recorded_calls = {
                name: recorded for name, recorded in recorded_calls.items() if name == self._of
            }
        if not recorded_calls:
            question = request.messages[-1].content if request.messages else ""
            shown = " ".join(question[:200].split())
            salt = f" (for {request.salt})" if request.salt else ""
            raise ModelError(f"{self.label} has no reply to this request{salt}: {shown!r}")
        first, *others = recorded_calls.values()
        if any(other.reply != first.reply for other in others):
            names = ", ".join(sorted(recorded_calls))
            raise ModelError(
                f"{self.label}: several models were asked this: {names}"
                f" (fix: name one, replay:{self._path}#NAME)"
            )
        return reply_from(first.reply)

    async def check(self) -> None:
        _ = self._calls

    async def upstream(self) -> Upstream:
        """Answer the calls of agents that were recorded, each by its place in its attempt."""
        exchanges = read_exchanges(self._path)
        if not exchanges:
            raise UsageError(
                f"{self.label} holds no calls of an agent (fix: record them: --record)"
            )
        return Upstream(
            destination=Destination(base=self.label),
            model=self._of,
            price=self.price,
            exchanges=exchanges,
        )

    @cached_property
    def _parts(self) -> tuple[Path, str]:
        whole = Path(self.model).expanduser()
        name, mark, of = self.model.rpartition("#")
        return (Path(name).expanduser(), of) if mark and not whole.exists() else (whole, "")

    @property
    def _path(self) -> Path:
        return self._parts[0]

    @property
    def _of(self) -> str:
        return self._parts[1]

    @cached_property
    def _hash(self) -> str:
        try:
            with self._path.open("rb") as file:
                return file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelError(f"{self.label}: {error.strerror or error}") from None

    @cached_property
    def _calls(self) -> Mapping[str, Mapping[str, RecordedCall]]:
        return read(self._path)


class CassetteRecorder(Recorder):
    """A cassette to which calls are added; each is with the system before ``add`` returns."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            _cut_torn_line(self._file)
        except OSError as error:
            raise ModelError(f"the cassette {path} cannot be written: {error.strerror}") from None

    def add(self, identity: Json, request: Request, reply: Reply) -> None:
        data = memoryview(line(identity, request, reply))
        while data:
            data = data[os.write(self._file, data) :]

    def add_exchange(self, exchange: ProxiedExchange) -> None:
        data = memoryview(json_bytes.dumps({"exchange": plain(exchange)}) + b"\n")
        while data:
            data = data[os.write(self._file, data) :]

    def close(self) -> None:
        if self._file >= 0:
            os.fsync(self._file)
            os.close(self._file)
            self._file = -1


def _calls(file: Iterator[bytes], path: Path) -> Iterator[tuple[str, RecordedCall]]:
    """Yield the calls of a cassette; the end of one whose writer was killed is left out."""
    for number, text in enumerate(file, 1):
        if not text.strip() or text.startswith(_EXCHANGE):
            continue
        try:
            data = parse_json(decode(path, text, row=number))
            key = data.get("key") or request_key(request_from(data["request"]))
            named = data.get("model") or ""
            model = named if isinstance(named, str) else str(named.get("model", ""))
            reply_from(data["reply"])
            yield key, RecordedCall(model, data["reply"])
        except (SuiteError, ValueError, LookupError, TypeError, AttributeError) as error:
            if not text.endswith(b"\n"):
                return
            raise ModelError(f"{path}:{number}: this is no call of a cassette: {error}") from None


def _cut_torn_line(file: int) -> None:
    """Cut off a last line whose writer was killed before its end."""
    end = size = os.fstat(file).st_size
    while end > 0:
        start = max(0, end - 65536)
        newline = os.pread(file, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(file, end)
