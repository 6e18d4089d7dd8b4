"""Who may send something to another machine, and with which headers."""

import ast
import re
from functools import cache
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src" / "proctor"

CLIENTS = {
    "models/endpoints.py": "calls of models",
    "engine/models/proxy.py": "calls of agents, passed on to a model",
    "agents/endpoint.py": "agents behind an address",
}
"""The modules that open connections with headers of their own, and for what."""
CONNECTIONS = {"models/http_connection.py": "what models/endpoints.py sends"}
KNOCKS = {"agents/endpoint.py", "engine/agents/workspaces.py", "sandboxes/doors.py"}
"""Modules that look whether somebody listens on this machine, or join two ends of a sandbox."""
LIBRARIES = {"httpx", "httpx2", "requests", "urllib3", "http.client", "urllib.request", "smtplib",
             "ftplib", "websockets", "socket"}  # fmt: skip
ONLY_LISTENS = {
    "cli/serving.py", "models/llama_process.py", "testing/connection.py", "testing/server.py",
    "web/score_server.py",
}  # fmt: skip
"""Modules that open sockets which others connect to."""
LOOKS_UP = {"models/endpoints.py": "the proxy that the environment prescribes"}


@cache
def modules() -> list[tuple[str, ast.Module]]:
    words = (*LIBRARIES, "ClientSession")
    texts = {
        path.relative_to(SRC).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(SRC.rglob("*.py"))
        if "launchers" not in path.parts
    }
    return [
        (name, ast.parse(text if any(word in text for word in words) else ""))
        for name, text in texts.items()
    ]


def imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_requests_leave_from_three_modules() -> None:
    opening = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) == "ClientSession"
    }
    assert opening == CLIENTS.keys()


def test_requests_are_written_by_hand_in_one_module() -> None:
    connecting = {
        path.relative_to(SRC).as_posix()
        for path in sorted(SRC.rglob("*.py"))
        if re.search(
            r"await asyncio\.open_connection\(|loop\.create_connection\(|sock_connect\(",
            path.read_text(encoding="utf-8"),
        )
    }
    assert connecting - KNOCKS == CONNECTIONS.keys()


def test_no_other_library_opens_connections() -> None:
    found = {name: imported(tree) & LIBRARIES for name, tree in modules()}
    used = {name for name, libraries in found.items() if libraries}
    assert (
        used - ONLY_LISTENS - LOOKS_UP.keys() <= {"engine/models/network_guard.py"} | _sandboxes()
    )


def _sandboxes() -> set[str]:
    """Return what talks over sockets with processes of its own."""
    return {name for name, _ in modules() if name.startswith(("sandboxes/", "executors/"))}


def test_headers_come_with_their_address() -> None:
    """Every request is made of a Destination: no header is put together where it is sent."""
    for name in CLIENTS:
        text = (SRC / name).read_text(encoding="utf-8")
        assert "estination.headers" in text, name
        assert "allow_redirects=False" in text, name
        # A session of an agent may have cookies; it ends with its attempt.
        assert "DummyCookieJar" in text or name == "agents/endpoint.py", name
