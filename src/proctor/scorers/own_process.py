"""A process of our own beside this one: started when it is needed, and never left behind."""

import subprocess
from threading import Lock

from proctor.io import child_processes


class OwnProcess:
    """One process that runs a module of this package and talks over its standard streams."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """Leave no process behind."""
        with self._lock:
            self._end()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = child_processes.popen(
                child_processes.own_module(self._module),
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
