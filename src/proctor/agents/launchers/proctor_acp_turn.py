"""Started inside an environment: one turn with an agent that speaks the Agent Client Protocol.

Reads ``{"argv", "cwd", "prompt", "session", "servers"}`` from standard input, and writes what the
agent tells as lines of JSON; the last line says how the turn ended, and in which session.
"""

import json
import subprocess
import sys
from typing import Any

ABLE = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}


def tell(data: Any) -> None:
    """Write a line for whoever reads the turn."""
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()


class Talk:
    """A conversation by JSON-RPC in lines."""

    def __init__(self, argv: "list[str]", cwd: str) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - the command that a person named
            argv, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.to, self.lines = self.process.stdin, self.process.stdout
        self.last = 0
        self.heard = False

    def send(self, **message: Any) -> None:
        """Write a message."""
        line = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
        self.to.write(line.encode())
        self.to.flush()

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request, and serve what the agent asks until it is answered."""
        self.last += 1
        self.send(id=self.last, method=method, params=params)
        for line in self.lines:
            try:
                data = json.loads(line)
            except ValueError:
                continue
            if "method" in data:
                self.serve(data)
            elif data.get("id") == self.last:
                if data.get("error") is not None:
                    raise SystemExit(method + ": " + str(data["error"].get("message")))
                return data.get("result") or {}
        raise SystemExit("it ended before it answered " + method)

    def serve(self, data: Any) -> None:
        """Take in what it tells, and answer what it asks."""
        params = data.get("params") or {}
        if data["method"] == "session/update":
            if self.heard:
                tell(params.get("update"))
        elif data["method"] == "session/request_permission":
            options = params.get("options") or []
            allowed = [one for one in options if str(one.get("kind", "")).startswith("allow")]
            chosen = (allowed or options or [{}])[0].get("optionId")
            outcome = {"outcome": "selected", "optionId": chosen}
            self.send(id=data.get("id"), result={"outcome": outcome})
        elif "id" in data:
            error = {"code": -32601, "message": data["method"] + " is not served"}
            self.send(id=data["id"], error=error)


def main() -> None:
    """Hold the turn."""
    turn = json.load(sys.stdin)
    talk = Talk(turn["argv"], turn["cwd"])
    begun = talk.ask("initialize", protocolVersion=1, clientCapabilities=ABLE)
    place = {"cwd": turn["cwd"], "mcpServers": turn["servers"]}
    can_load = (begun.get("agentCapabilities") or {}).get("loadSession")
    if turn["session"] and can_load:
        session = turn["session"]
        talk.ask("session/load", sessionId=session, **place)
    else:
        session = talk.ask("session/new", **place).get("sessionId")
    talk.heard = True
    prompt = [{"type": "text", "text": turn["prompt"]}]
    ended = talk.ask("session/prompt", sessionId=session, prompt=prompt)
    told = {"session": session, "stop": ended.get("stopReason") or "end_turn"}
    tell({"proctor": told})
    talk.process.kill()


main()
