"""Mathematics for scorers that run on the loop: compared in a process that can be killed."""

import asyncio
import atexit
import json
import select
import subprocess
import sys
from collections.abc import Sequence
from threading import Lock

from proctor.core.score import Score
from proctor.core.suite import Json

SECONDS = 20.0
"""Until a comparison is given up, the start of the process included."""


class MathsProcess:
    """Hold one process that compares, started when first needed and again when it was killed."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def compare(self, output: str, references: Sequence[str]) -> Json:
        """Return what mathematics says of an answer; none where it took too long or broke."""
        with self._lock:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            line = json.dumps([output, list(references)]).encode() + b"\n"
            try:
                process.stdin.write(line)
                process.stdin.flush()
                if select.select([process.stdout], [], [], self.seconds)[0]:
                    return json.loads(process.stdout.readline())
            except (OSError, ValueError):
                pass
            self._end()
            return None

    def close(self) -> None:
        """Leave no process behind."""
        with self._lock:
            self._end()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, this module
                [sys.executable, "-P", "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue
        process.wait()


SHARED = MathsProcess()
atexit.register(SHARED.close)


async def compared(output: str, references: Sequence[str]) -> Score | None:
    """Return the score of an answer, or none where mathematics has nothing to say about it."""
    made = await asyncio.to_thread(SHARED.compare, output, references)
    if made is None or not made["detail"]["readable"]:
        return None
    detail = {**made["detail"], "by": "math-verify"}
    return Score(points=made["points"], out_of=1.0, reason=made["reason"], detail=detail)


def main() -> None:
    """Compare what stands on each line of the standard input."""
    from proctor.scorers.maths import score_of

    for line in sys.stdin.buffer:
        output, references = json.loads(line)
        score = score_of(output, references)
        made = {"points": score.points, "reason": score.reason, "detail": score.detail}
        sys.stdout.buffer.write(json.dumps(made).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
