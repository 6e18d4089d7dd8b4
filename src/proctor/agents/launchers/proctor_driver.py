"""Be the process of a Python agent: messages come as lines of JSON, and replies go as such.

The lines travel by descriptors that what the agent prints cannot reach. This file runs by itself,
on any Python from 3.9 on, and imports nothing of the product but the files beside it and
the launcher it is told of.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any, BinaryIO

HERE = os.path.dirname(os.path.abspath(__file__))


def streams() -> tuple[BinaryIO, BinaryIO]:
    """Take the lines for ourselves; what the agent prints goes to standard error."""
    lines_in = os.fdopen(os.dup(0), "rb")
    lines_out = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return lines_in, lines_out


def write(stream: BinaryIO, data: dict[str, Any]) -> None:
    """Write one object as a line."""
    try:
        line = json.dumps(data)
    except (TypeError, ValueError) as error:
        line = json.dumps({"error": f"what it returned cannot be written as JSON: {error}"})
    stream.write(line.encode() + b"\n")
    stream.flush()


def serve(lines_in: BinaryIO, lines_out: BinaryIO) -> None:
    """Answer messages until there are no more."""
    begin = json.loads(lines_in.readline())
    # Only our own file was to be found here: the agent's modules must not meet ours.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
    sys.path.insert(0, HERE)
    if begin.get("launcher"):
        import proctor_calling

        folder, name = os.path.split(begin["launcher"])
        proctor_calling.OURS.add(folder)
        sys.path.insert(0, folder)
        agents = importlib.import_module(os.path.splitext(name)[0])
        sys.path.remove(folder)
    else:
        agents = importlib.import_module("proctor_python")
    sys.path.remove(HERE)
    sys.path[:0] = [entry for entry in begin["path"] if entry not in sys.path]
    agents.serve(begin, lines_in, lambda reply: write(lines_out, reply))


if __name__ == "__main__":
    serve(*streams())
