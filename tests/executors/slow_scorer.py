"""Scorers for tests of clusters: slow, deadly, and with weights on disk."""

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor import ScoreContext, Scorer
from proctor.contracts.model import Model
from proctor.core.exchange import Reply, Request
from proctor.errors import ModelError


@dataclass(frozen=True)
class Slow(Scorer):
    """Take some time, write each attempt down, and kill the worker of the cluster where told."""

    log: str
    kills: bool = False

    def score(self, ctx: ScoreContext) -> bool:
        mark = Path(f"{self.log}.killed")
        if self.kills and ctx.output.startswith("kill"):
            if ctx.output == "kill always" or not mark.exists():
                mark.touch()
                os.kill(os.getppid(), signal.SIGKILL)
                time.sleep(5)
            return True
        time.sleep(0.01)
        with open(self.log, "a") as file:
            file.write(f"{ctx.case.id}/{ctx.output}\n")
        return True


@dataclass(frozen=True)
class Weighed(Scorer):
    """Add the size of the weights to the number that was answered."""

    out_of = None
    model: str = ""

    @property
    def batches(self) -> bool:
        return True

    def score(self, ctx: ScoreContext) -> float:
        return self.score_batch([ctx])[0]

    def score_batch(self, contexts: Sequence[ScoreContext]) -> list[float]:
        size = sum(path.stat().st_size for path in Path(self.model).rglob("*") if path.is_file())
        return [size + float(ctx.output) for ctx in contexts]


@dataclass(eq=False)
class Echo(Model):
    """Say what was asked, and in which process."""

    computes = True
    model: str = ""

    @property
    def identity(self) -> str:
        return "echo"

    @property
    def label(self) -> str:
        return "echo"

    async def check(self) -> None:
        assert (Path(self.model) / "a.bin").is_file()

    async def reply(self, request: Request) -> Reply:
        text = request.messages[-1].content
        if text == "fail":
            raise ModelError("no such luck", status=400)
        await asyncio.sleep(0.05)
        return Reply(text=f"{text} {os.getpid()}")
