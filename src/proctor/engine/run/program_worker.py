"""A process that scores attempts by running programs: jobs come as messages, scores go back.

While a job is under way it may ask whether the result of a program is stored: it writes the key
instead of its reply, and the next message is what was found.
"""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO

from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer_async
from proctor.core.encoding import attempt_from, case_from, criterion_from, spec_from
from proctor.core.fingerprint import plain
from proctor.core.suite import Json
from proctor.engine.run.sandbox_cache import SharedSandbox
from proctor.engine.run.scorer_pool import Scorers
from proctor.io import json_bytes
from proctor.io.concurrency import map_unordered
from proctor.io.message_process import end_with, read_message, write_message
from proctor.registry import build
from proctor.store.rows import CallRow


@dataclass
class AskedResults:
    """Results of programs as the run's own process has them."""

    source: BinaryIO
    sink: BinaryIO
    new: list[CallRow] = field(default_factory=list)
    """Those of the job under way."""

    def find(self, key: str) -> CallRow | None:
        """Ask for a result; meanwhile nothing else happens here."""
        write_message(self.sink, json_bytes.dumps({"find": key}))
        data = read_message(self.source)
        if data is None:
            raise SystemExit
        row = json_bytes.loads(data)
        return None if row is None else CallRow(**row)

    def put(self, results: Sequence[CallRow]) -> None:
        """Keep results for the reply to the job."""
        self.new += results

    def close(self) -> None:
        """There is nothing to keep: each job took its results along."""


@dataclass
class ProgramWorker:
    """Scorers and a sandbox, for one job after the other."""

    scorers: Scorers
    sandbox: SharedSandbox
    results: AskedResults
    at_once: int

    async def done(self, job: Json) -> Json:
        """Score the attempts of a job, and return the scores in their order."""
        scores: dict[int, Json] = {}

        async def one(numbered: tuple[int, Any]) -> tuple[int, Json]:
            number, task = numbered
            criterion = criterion_from(task["criterion"])
            context = ScoreContext(
                case=case_from(task["case"]),
                attempt=attempt_from(task["attempt"]),
                sandbox=self.sandbox,
                language=self.scorers.language,
            )
            return number, plain(await run_scorer_async(self.scorers.of(criterion), context))

        works = map_unordered(enumerate(job["tasks"]), one, limit=self.at_once)
        async with aclosing(works) as done:
            async for number, score in done:
                scores[number] = score
        new, self.results.new = self.results.new, []
        return {
            "scores": [scores[number] for number in range(len(scores))],
            "results": [asdict(call) for call in new],
        }


async def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Do jobs until there are no more; the first message says with what."""
    about = json_bytes.loads(read_message(source) or b"{}")
    if not about:
        return
    results = AskedResults(source, sink)
    sandbox = SharedSandbox(
        inner=build("sandbox", spec_from(about["sandbox"])),
        results=results,
        limit=1,
        brings_along=about["brings_along"],
        most=about["at_once"],
        sharing=about["workers"],
    )
    worker = ProgramWorker(
        Scorers(allow_import=False, language=about["language"]), sandbox, results, about["at_once"]
    )
    write_message(sink, json_bytes.dumps({"ready": os.getpid()}))
    try:
        while (data := read_message(source)) is not None:
            write_message(sink, json_bytes.dumps(await worker.done(json_bytes.loads(data))))
    finally:
        await sandbox.close()


def main() -> None:
    """Serve on the standard streams; what scorers print goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    asyncio.run(serve(source, sink))


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(0)
