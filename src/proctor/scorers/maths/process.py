"""Mathematics for scorers that run on the loop: compared in a process that can be killed."""

import asyncio
import atexit
import json
import select
import sys
from collections.abc import Sequence

from proctor.core.score import Score
from proctor.core.suite import Json
from proctor.scorers.own_process import OwnProcess

SECONDS = 20.0
"""Until a comparison is given up, the start of the process included."""


class MathsProcess(OwnProcess):
    """Hold one process that compares, started when first needed and again when it was killed."""

    def __init__(self, seconds: float = SECONDS) -> None:
        super().__init__(__name__)
        self.seconds = seconds

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
    from proctor.scorers.maths.equality import score_of

    for line in sys.stdin.buffer:
        output, references = json.loads(line)
        score = score_of(output, references)
        made = {"points": score.points, "reason": score.reason, "detail": score.detail}
        sys.stdout.buffer.write(json.dumps(made).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
