"""Let both ends of a connection run once, before there is any program.

What an interpreter learns when code runs for the first time (the meaning of attributes, the types
that operations meet) it writes into its memory. Learned before the fork, it lies in memory that all
children share, and none of them has to copy it. The file runs by itself, inside a sandbox.
"""

import linecache
import marshal
import os
import socket
import sys
from collections.abc import Callable, Sequence

import answer_side
import test_side
from joined import Printed

ROUNDS = 12
ANSWER = "def double(values):\n    return [2 * value for value in values]\n"
CHECK = "assert double([1, 2]) == [2, 4]"
TEST = {
    "test": CHECK,
    "before": "",
    "names": ["double"],
    "line": 4,
    "code": marshal.dumps(compile(CHECK, "main.py", "exec")),
}


def rehearse() -> None:
    """Play each part with a child that plays the other one."""
    play(lambda fd: answer_side.run(fd, ANSWER, Printed()), lambda fd: test_side.main(fd, TEST))
    play(lambda fd: test_side.main(fd, TEST), lambda fd: answer_side.run(fd, ANSWER, Printed()))
    sys.modules.pop("program", None)
    linecache.cache.pop("main.py", None)


def play(here: Callable[[int], object], there: Callable[[int], object]) -> None:
    """Run one part in this process and the other in a child."""
    mine, other = zip(*(socket.socketpair() for _ in range(ROUNDS)), strict=True)
    pid = os.fork()
    if pid == 0:
        try:
            go_through(there, other, mine)
        finally:
            os._exit(0)
    go_through(here, mine, other)
    os.waitpid(pid, 0)


def go_through(
    part: Callable[[int], object], ends: Sequence[socket.socket], others: Sequence[socket.socket]
) -> None:
    """Run a part once for each connection."""
    for end in others:
        end.close()
    for end in ends:
        part(end.fileno())
        end.close()


rehearse()
