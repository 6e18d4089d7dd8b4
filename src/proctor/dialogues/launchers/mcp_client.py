"""Start an MCP server, list its tools and make the calls that are written down; in a sandbox.

It uses the standard library alone and imports nothing of the product.
"""

import json
import os
import subprocess  # nosec B404
import sys
from typing import Any

REQUEST = "proctor-mcp-request.json"
VERSION = "2025-06-18"
"""The revision of the protocol that is asked for; a server may answer with another."""
MOST_LINE = 4 * 1024 * 1024
MOST_STRAY = 10_000
"""Lines that are no reply to what was asked: logs, notifications, questions to us."""
MOST_PAGES = 100
NO_METHOD = -32601


class ServerError(Exception):
    """An MCP server that broke off, or says what the protocol does not know."""


class Server:
    """A running MCP server, asked one thing at a time."""

    def __init__(self, argv: list[str], errors: str) -> None:
        with open(errors, "wb") as stderr:
            self.process = subprocess.Popen(  # noqa: S603 - it runs in the sandbox  # nosec B603
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
            )
        self.last_id = 0

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        assert self.process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        try:
            self.process.stdin.write(line.encode())
            self.process.stdin.flush()
        except OSError:
            raise ServerError("it has ended") from None

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request, and wait for the reply to it."""
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        for _ in range(MOST_STRAY):
            message = self.receive()
            if message is None:
                continue
            if "method" in message:
                self.refuse(message)
            elif message.get("id") == self.last_id:
                return message
        raise ServerError(f"it does not reply to {method}")

    def receive(self) -> dict[str, Any] | None:
        """Read one message; none for a line that is no message."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline(MOST_LINE)
        if not line:
            code = self.process.wait()
            raise ServerError(f"it ended with status {code}")
        if not line.endswith(b"\n"):
            raise ServerError("it wrote a line of more than 4 MiB")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return message if isinstance(message, dict) else None

    def refuse(self, message: dict[str, Any]) -> None:
        """Answer what a server asks of us: we are there, and can do nothing else."""
        if "id" not in message:
            return
        if message["method"] == "ping":
            self.send({"id": message["id"], "result": {}})
        else:
            error = {"code": NO_METHOD, "message": f"there is no {message['method']} here"}
            self.send({"id": message["id"], "error": error})

    def greet(self) -> None:
        """Begin the session."""
        about = {"name": "proctor", "version": "1"}
        reply = self.ask(
            "initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": about}
        )
        if "result" not in reply:
            raise ServerError(f"it does not begin a session: {failure(reply)}")
        self.send({"method": "notifications/initialized"})

    def tools(self) -> list[Any]:
        """List the tools, page by page."""
        tools: list[Any] = []
        params: dict[str, Any] = {}
        for _ in range(MOST_PAGES):
            reply = self.ask("tools/list", params)
            result = reply.get("result")
            if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
                raise ServerError(f"it does not list its tools: {failure(reply)}")
            tools += result["tools"]
            if not result.get("nextCursor"):
                break
            params = {"cursor": result["nextCursor"]}
        return tools

    def call(self, name: str, arguments: Any) -> dict[str, Any]:
        """Call a tool; what goes wrong is its result."""
        reply = self.ask("tools/call", {"name": name, "arguments": arguments})
        if isinstance(reply.get("result"), dict):
            return {"result": reply["result"]}
        return {"error": failure(reply)}


def failure(reply: dict[str, Any]) -> str:
    """Say what went wrong, in the server's words."""
    error = reply.get("error")
    return str(error.get("message", error)) if isinstance(error, dict) else "no result"


def main() -> int:
    """Do what the request file says, and print what came of it as one line of JSON."""
    with open(REQUEST, encoding="utf-8") as file:
        request = json.load(file)
    os.unlink(REQUEST)
    errors = "/tmp/mcp-errors"  # noqa: S108 - the sandbox's own  # nosec B108
    try:
        server = Server(request["argv"], errors)
        server.greet()
        outcome: dict[str, Any] = {"tools": server.tools()}
        outcome["results"] = [server.call(*call) for call in request["calls"]]
        server.process.kill()
    except OSError as error:
        outcome = {"error": f"{request['argv'][0]}: {error.strerror}"}
    except ServerError as error:
        outcome = {"error": str(error), "stderr": last_words(errors)}
    print(json.dumps(outcome), flush=True)  # noqa: T201 - this is what it is for
    return 0


def last_words(path: str) -> str:
    """Return the end of what the server wrote for people."""
    with open(path, "rb") as file:
        return file.read()[-2000:].decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
