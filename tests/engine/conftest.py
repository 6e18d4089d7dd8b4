"""What the tests of the engine share: a store of their own, no keys, a server that keeps headers."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from proctor.core.exchange import Request, Sampling
from proctor.core.suite import Message
from proctor.store.store import Store
from proctor.testing import FakeServer


@dataclass
class Listener(FakeServer):
    """Be a fake server that also keeps the headers of what is posted."""

    headers: list[dict[str, str]] = field(default_factory=list)

    def serve(self, incoming: Any, connection: Any) -> None:
        if incoming.method == "POST":
            self.headers.append(dict(incoming.headers))
        super().serve(incoming, connection)


@pytest.fixture
def listener() -> Callable[..., Listener]:
    return Listener


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "proctor.db")) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_", "PROCTOR_")) or "proxy" in name.lower():
            monkeypatch.delenv(name)


@pytest.fixture
def ask() -> Callable[..., Request]:
    def make(text: str = "What?", *, salt: str = "", **sampling: Any) -> Request:
        message = Message(role="user", content=text)
        return Request(messages=(message,), sampling=Sampling(**sampling), salt=salt)

    return make
