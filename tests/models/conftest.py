"""What the tests of models share: a server that says just what a test wants, and short requests."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from proctor.core.exchange import Request, Sampling
from proctor.core.suite import Message, Spec
from proctor.io import json_bytes
from proctor.registry import build

Said = tuple[int, dict[str, str], bytes]


class Stub:
    """Answer each request by a function of method, path and body; keep what came."""

    def __init__(self, answer: Callable[[str, str, Any], Said]) -> None:
        self.answer = answer
        self.came: list[tuple[str, str, Any, dict[str, str]]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                body = json_bytes.loads(self.rfile.read(size)) if size else None
                headers = {name.lower(): value for name, value in self.headers.items()}
                stub.came.append((self.command, self.path, body, headers))
                status, more, data = stub.answer(self.command, self.path, body)
                self.send_response(status)
                for name, value in {"content-type": "application/json", **more}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = _serve

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def stub() -> Iterator[Callable[[Callable[[str, str, Any], Said]], Stub]]:
    made: list[Stub] = []

    def make(answer: Callable[[str, str, Any], Said]) -> Stub:
        made.append(Stub(answer))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
                 "PROCTOR_PRICES", "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def ask() -> Callable[..., Request]:
    def make(text: str = "What?", **sampling: Any) -> Request:
        message = Message(role="user", content=text)
        return Request(messages=(message,), sampling=Sampling(**sampling))

    return make


@pytest.fixture
def model() -> Callable[..., Any]:
    """Make a model as the engine does; it never really waits between tries, and says how long."""

    def make(provider: str, **params: Any) -> Any:
        made = build("model", Spec(name=provider, params=params))
        made.waits = []

        async def sleep(seconds: float) -> None:
            made.waits.append(seconds)

        if hasattr(made, "_retrying"):
            made._retrying.sleep = sleep
        return made

    return make
