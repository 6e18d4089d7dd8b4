"""Scorers that misbehave, each in its own way."""

import ctypes
import os
import sys
import time
from dataclasses import dataclass
from typing import Any

from proctor import Score, ScoreContext, Scorer


@dataclass(frozen=True)
class Strange(Scorer):
    """Do what the answer says, or pass."""

    def score(self, ctx: ScoreContext) -> Any:
        word = ctx.output
        if word in _DEEDS:
            return _DEEDS[word]()
        return word == "good"


def _raise() -> Any:
    raise RuntimeError("no luck")


def _print() -> bool:
    print("a line on standard output", flush=True)
    sys.stdout.write("x" * 100_000)
    os.write(1, b"raw bytes\n")
    return True


def _read() -> bool:
    return sys.stdin.read() == ""


_DEEDS = {
    "exit": lambda: os._exit(7),
    "sys.exit": lambda: sys.exit(3),
    "segfault": lambda: ctypes.string_at(0),
    "hang": lambda: time.sleep(600),
    "raise": _raise,
    "print": _print,
    "read": _read,
    "none": lambda: None,
    "text": lambda: "1.0",
    "nan": lambda: float("nan"),
    "infinite": lambda: float("inf"),
    "nan score": lambda: Score(points=float("nan"), out_of=1.0),
    "text score": lambda: Score(points="much", out_of=1.0),  # type: ignore[arg-type]
    "empty score": lambda: Score(out_of=1.0),
    "odd detail": lambda: Score(points=1.0, out_of=1.0, detail={"a": {1, 2}}),
    "half": lambda: 0.5,
}
