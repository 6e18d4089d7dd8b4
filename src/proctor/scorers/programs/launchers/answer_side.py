"""Run an answer and serve calls of its functions; runs by itself, in a sandbox without the test.

Nothing of the test is in this process but the arguments of its calls.
"""

import linecache
import os
import sys
import traceback
import types
from typing import Any

from crossing import CannotCross
from joined import TRACE, Ended, Peer, Printed

SOURCE = "main.py"
READY = b"+"


class AnswerPeer(Peer):
    """The end at which the answer is."""

    def __init__(self, fd: int, names: dict[str, Any], output: Printed) -> None:
        super().__init__(fd)
        self.names, self.output = names, output

    def name(self, name: str) -> Any:
        """Return what the answer has under a name."""
        if name not in self.names:
            raise NameError(name)
        return self.names[name]

    def printed(self) -> str:
        """Return what the answer has printed since the last call."""
        return self.output.take()

    def trace_of(self, error: BaseException) -> str:
        """Return the answer's part of a traceback."""
        trace = error.__traceback__
        own = (__file__, sys.modules["joined"].__file__)
        while trace is not None and trace.tb_frame.f_code.co_filename in own:
            trace = trace.tb_next
        lines = traceback.format_exception(type(error), error, trace)
        return "".join(lines)[-TRACE:]


def main(fd: int, text: str) -> None:
    """Run the answer and serve its test; it does not return."""
    output = Printed()
    sys.stdout = output
    leave(output, run(fd, text, output))


def run(fd: int, text: str, output: Printed) -> int:
    """Run the answer, say that it has run, and serve until the test has ended; return a status."""
    module = types.ModuleType("program")
    module.__file__ = SOURCE
    sys.modules["program"] = module
    linecache.cache[SOURCE] = (len(text), None, text.splitlines(True), SOURCE)
    peer = AnswerPeer(fd, module.__dict__, output)
    try:
        exec(compile(text, SOURCE, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  # nosec B102
    except BaseException as error:  # noqa: BLE001 - whatever ends the answer is its result
        sys.stderr.write(peer.trace_of(error))
        return 1
    output.let_out()
    peer.send(READY)
    try:
        while (data := peer.receive()) is not None:
            peer.serve(data)
    except (Ended, CannotCross):
        pass
    return 0


def leave(output: Printed, code: int) -> None:
    """End this process, with all that was printed."""
    try:
        output.let_out()
        sys.stderr.flush()
    finally:
        os._exit(code)
