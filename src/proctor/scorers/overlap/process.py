"""Overlap metrics of many texts on all cores: this process works, and so do others beside it."""

import atexit
import os
import select
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from threading import Lock, Thread
from typing import IO

from proctor.core.suite import Json
from proctor.io import child_processes, json_bytes
from proctor.io.concurrency import available_cores
from proctor.scorers.overlap.values import OURS, MetricRow, Pair, values_of

PART = 256
"""How many pairs are worked on at a time."""
WORTH = 2_000_000
"""How many plain characters make it worth while to start processes: about half a second of work."""
_OTHERS = 4
"""How many plain characters the work on another one is worth."""
IDLE = 30.0
"""Seconds without work after which a process ends by itself."""
_HEADER = struct.Struct("<Q")

Compute = Callable[[Sequence[Pair]], "list[MetricRow] | None"]


def values_of_many(
    pairs: Sequence[Pair], metrics: Sequence[str], how: str = OURS
) -> list[MetricRow]:
    """Compute the metrics of all pairs, on all cores where there is enough to do."""
    parts = deque(enumerate(pairs[at : at + PART] for at in range(0, len(pairs), PART)))
    rows_by_part: list[list[MetricRow]] = [[] for _ in parts]

    def work(compute: Compute) -> None:
        while parts:
            try:
                place, part = parts.popleft()
            except IndexError:
                return
            rows = compute(part)
            if rows is None:
                parts.append((place, part))
                return
            rows_by_part[place] = rows

    def here(part: Sequence[Pair]) -> list[MetricRow]:
        return values_of(part, metrics, how)

    threads: list[Thread] = []
    if sum(_effort(answer) + _effort(reference) for answer, reference, _ in pairs) >= WORTH:
        for process in _processes():
            beside = _beside(process, metrics, how)
            threads.append(Thread(target=work, args=(beside,), daemon=True))
            threads[-1].start()
    try:
        work(here)
        for thread in threads:
            thread.join()
        work(here)
    finally:
        parts.clear()
    return [row for rows in rows_by_part for row in rows]


def _effort(text: str) -> int:
    return len(text) if text.isascii() else _OTHERS * len(text)


class TextProcess:
    """One process that computes metrics: started when it is needed, and never left behind."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, job: Json) -> Json:
        """Return what the process makes of a job; none where it is busy or broke."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            send(process.stdin, job)
            if (result := receive(process.stdout)) is not None:
                return result
            self._end()
        except OSError:
            self._end()
        finally:
            self._lock.release()
        return None

    def close(self) -> None:
        """Leave no process behind."""
        with self._lock:
            self._end()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = child_processes.popen(
                child_processes.own_module(__name__),
                env=child_processes.own_environment(keys=False),
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


def _beside(process: TextProcess, metrics: Sequence[str], how: str) -> Compute:
    def compute(part: Sequence[Pair]) -> list[MetricRow] | None:
        rows = process.ask([part, list(metrics), how])
        return None if rows is None else [MetricRow(*row) for row in rows]

    return compute


@cache
def _processes() -> list[TextProcess]:
    """Return one process for each core but the one that this process uses."""
    processes = [TextProcess() for _ in range(available_cores() - 1)]
    for process in processes:
        atexit.register(process.close)
    return processes


def send(stream: IO[bytes], message: Json) -> None:
    """Write one message with its length before it."""
    data = json_bytes.dumps(message)
    stream.write(_HEADER.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> Json:
    """Read one message; none at the end of the stream."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    data = stream.read(_HEADER.unpack(header)[0])
    return json_bytes.loads(data)


def main() -> None:
    """Compute until the input ends, or nothing comes for a while."""
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Every message is answered before the next is sent, so that none waits in the buffer.
    while select.select([stdin], [], [], IDLE)[0] and (job := receive(stdin)) is not None:
        pairs, metrics, how = job
        rows = values_of([(a, r, language) for a, r, language in pairs], metrics, how)
        send(stdout, [[row.values, row.errors] for row in rows])


if __name__ == "__main__":
    main()
