"""A plain client of fake servers, to see what other clients see."""

import http.client
import json
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from proctor.testing import FakeServer
from waiting import PATIENCE


class Client:
    """Ask a fake server."""

    def user(self, text: str, **more: Any) -> dict[str, Any]:
        return {"model": "m", "messages": [{"role": "user", "content": text}], **more}

    def connect(self, server: FakeServer, timeout: float = 20) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)

    def post(
        self, server: FakeServer, body: Any, path: str = "/v1/chat/completions", **headers: str
    ) -> tuple[int, Any, http.client.HTTPMessage]:
        with closing(self.connect(server)) as connection:
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read()), response.headers

    def said(
        self, server: FakeServer, text: Any, path: str = "/v1/chat/completions", **more: Any
    ) -> Any:
        status, body, _ = self.post(server, self.user(text, **more), path)
        assert status == 200, body
        return body["choices"][0]["message"]["content"]

    def wait_for(self, condition: Callable[[], Any]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.001)


@pytest.fixture
def client() -> Client:
    return Client()
