"""Answer messages with a Python function or session; this file runs in the agent's own process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from proctor_calling import Caller, NotThere, load, raised


def serve(
    begin: dict[str, Any], lines: Iterable[bytes], answer: Callable[[dict[str, Any]], None]
) -> None:
    """Load the agent, say whether it is there, and let it answer message after message."""
    try:
        caller = Caller(load(begin["target"]), begin["given"])
    except NotThere as error:
        answer({"missing": str(error)})
        return
    answer({"ready": True})
    try:
        for line in lines:
            fields = json.loads(line)
            message = fields.pop("message")
            try:
                answer(caller.send(message, fields))
            except Exception as error:  # noqa: BLE001 - an agent may raise anything
                answer(raised(error))
    finally:
        with suppress(Exception):
            caller.close()
