"""A fake server that also keeps headers, and small suites for models and judges."""

import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from proctor.testing import FakeServer

CITIES = """\
name: cities
measures: [accuracy]
cases:
  - {id: paris, ask: Say Paris., criteria: Paris}
  - {id: lyon, ask: Say Lyon., criteria: Lyon}
  - {id: nice, ask: Say Nice., criteria: Nice}
  - {id: metz, ask: Say Metz., criteria: Toul}
"""
MANNERS = """\
name: manners
cases:
  - {id: one, ask: Say one., criteria: [{judged: It is polite.}]}
  - {id: two, ask: Say two., criteria: [{judged: It is polite.}]}
  - {id: three, ask: Say three., criteria: [{judged: It is polite.}]}
"""


@dataclass
class Server(FakeServer):
    """Be a fake server that can be named on the command line, and remembers what it was asked."""

    headers: list[dict[str, str]] = field(default_factory=list)
    """The headers of each call."""

    def at(self, role: str = "") -> str:
        """Return the name of the model that plays a role; the candidate is called m."""
        return f"openai:{role or 'm'}@{self.url_of(role) if role else self.url}"

    def asked(self, role: str = "") -> list[Any]:
        """Return the bodies of the calls of a role."""
        return [call.body for call in self.calls if call.role == role]

    def serve(self, incoming: Any, connection: Any) -> None:
        if incoming.method == "POST":
            self.headers.append(dict(incoming.headers))
        super().serve(incoming, connection)


@pytest.fixture
def serve() -> Callable[..., Server]:
    return Server


@pytest.fixture(autouse=True)
def _bare(cli: Any) -> None:
    for name in list(cli.env):
        if name.startswith(("OPENAI_", "ANTHROPIC_")) or "proxy" in name.lower():
            del cli.env[name]


@pytest.fixture
def cities(cli: Any) -> Any:
    cli.write("suite.yaml", CITIES)
    return cli


@pytest.fixture
def manners(cli: Any) -> Any:
    cli.write("suite.yaml", MANNERS)
    return cli


@pytest.fixture
def dead() -> str:
    """Give the URL of a server that is not there."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{found.getsockname()[1]}/v1"
