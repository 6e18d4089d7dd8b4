"""A grading process: takes jobs from its standard input, returns scores, and may be killed.

What suites bring along (regular expressions, conditions) runs here and nowhere else, so that a
pattern that never ends costs one process, which the parent kills and replaces.
"""

import mmap
import os
import signal
import struct
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import BinaryIO

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.contracts.scoring import run_scorer
from proctor.core.encoding import attempt_from, case_from, criterion_from
from proctor.core.fingerprint import plain
from proctor.core.suite import Json, Spec
from proctor.io import json_bytes
from proctor.io.search_paths import import_from_text
from proctor.registry import build

HEADER = struct.Struct("<I")
PROGRESS = struct.Struct("<qdd")
"""Which attempt of the job is being scored (-1: none), since when on the monotonic clock, and how
much processor time this process had used by then."""


def send(stream: BinaryIO, message: Json) -> None:
    """Write one message with its length before it."""
    data = json_bytes.dumps(message)
    stream.write(HEADER.pack(len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> Json:
    """Read one message; none at the end of the stream."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (size,) = HEADER.unpack(header)
    return json_bytes.loads(stream.read(size))


def serve(stdin: BinaryIO, stdout: BinaryIO, progress: mmap.mmap) -> None:
    """Score jobs until the input ends."""
    settings = receive(stdin)
    if settings is None:
        return
    # It was started elsewhere, so that nothing here is imported before the path is as it should be.
    with suppress(OSError):
        os.chdir(settings["folder"])
    sys.path[:0] = [entry for entry in settings["path"] if entry not in sys.path]
    import_from_text(settings["trusted"])
    allow_import = bool(settings["allow_import"])
    send(stdout, {"ready": os.getpid()})
    while (job := receive(stdin)) is not None:
        scores, number = [], 0
        for group in job["groups"]:
            if "case" in group:
                case = case_from(group["case"])
            scorer = _scorer(json_bytes.dumps(group["criterion"]), allow_import)
            for data in group["attempts"]:
                PROGRESS.pack_into(progress, 0, number, time.monotonic(), time.process_time())
                ctx = ScoreContext(case=case, attempt=attempt_from(data))
                scores.append(plain(run_scorer(scorer, ctx)))
                number += 1
        PROGRESS.pack_into(progress, 0, -1, 0.0, 0.0)
        send(stdout, scores)


@lru_cache(maxsize=512)
def _scorer(criterion: bytes, allow_import: bool) -> Scorer:
    spec: Spec = criterion_from(json_bytes.loads(criterion)).scorer
    scorer: Scorer = build("scorer", spec, allow_import=allow_import)
    return scorer


def die_with_parent() -> None:
    """Ask the kernel to end this process when its parent ends, however that happens."""
    if sys.platform != "linux":
        return
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None, use_errno=True).prctl(set_parent_death_signal, signal.SIGKILL)


def main(environ: Mapping[str, str] = os.environ) -> None:
    """Serve on the standard streams; what scorers print goes to standard error."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stdin = os.fdopen(os.dup(0), "rb")
    stdout = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    with mmap.mmap(int(environ["PROCTOR_PROGRESS_FD"]), PROGRESS.size) as progress:
        PROGRESS.pack_into(progress, 0, -1, 0.0, 0.0)
        serve(stdin, stdout, progress)


if __name__ == "__main__":
    main()
