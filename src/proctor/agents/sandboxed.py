"""Commands that nobody trusts, as agents: each turn runs in a sandbox, without network."""

import asyncio
import os
import shlex
import signal
import sys
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor import registry
from proctor.agents.process import (
    Broken,
    NoAnswer,
    exit_text,
    last_words,
    program_of,
    restore,
    with_words,
)
from proctor.agents.sessions import TimedSession, read_reply
from proctor.contracts.sandbox import Sandbox
from proctor.core.program import MIB, Limits, Program, Ran, Step, Stopped
from proctor.core.rounds import Round
from proctor.core.suite import Spec
from proctor.io import json_bytes
from proctor.io.folder_archive import ARCHIVE, MOST_BYTES, TooMuch, contents, packing, unpack

OUT, ERR, CODE = ".proctor-out", ".proctor-err", ".proctor-code"
OWN = (OUT, ERR, CODE)
PASSED = {
    Stopped.TIME: "it took longer than allowed",
    Stopped.CPU: "it used more processor time than allowed",
    Stopped.MEMORY: "it used more memory than allowed",
    Stopped.PROCESSES: "it had more processes than allowed",
    Stopped.DISK: "it wrote more to its disk than allowed",
    Stopped.OUTPUT: "it wrote more output than allowed",
}


def open_sandbox() -> Sandbox:
    """Return the sandbox in which agents run."""
    sandbox: Sandbox = registry.build("sandbox", Spec(name="bubblewrap"))
    return sandbox


@dataclass
class SandboxedSession(TimedSession):
    """A command run in a sandbox, once for each turn; its working files travel in and out."""

    argv: Sequence[str] = ()
    needs: Sequence[str] = ()
    output: int = MIB
    processes: int = 64
    memory: int = 1024 * MIB

    async def answered(self, message: str) -> Round:
        restore(self.workspace.folder)
        try:
            files = await asyncio.to_thread(contents, self.workspace.folder)
        except TooMuch as error:
            raise NoAnswer(f"its working folder holds {error}") from None
        sandbox = open_sandbox()
        try:
            ran = await sandbox.run(
                self._program(files, json_bytes.dumps(self.request_fields(message)))
            )
        finally:
            await sandbox.close()
        if ran.not_started:
            raise Broken(f"the sandbox did not start: {ran.not_started}")
        if ran.stopped is not None:
            raise NoAnswer(PASSED[ran.stopped])
        out, err, code = await asyncio.to_thread(self._back, ran)
        if code:
            raise Broken(with_words(exit_text(code), err), traceback=last_words(err))
        return read_reply(self, message, out)

    def _program(self, files: dict[str, bytes], stdin: bytes) -> Program:
        script = (
            f"{shlex.join(self.argv)} >/tmp/o 2>/tmp/e; echo $? >{CODE};"
            f" head -c {self.output + 1} /tmp/o >{OUT}; tail -c 4000 /tmp/e >{ERR}; exit 0"
        )
        return Program(
            steps=(Step(argv=("/bin/sh", "-c", script)), Step(argv=packing())),
            files=files,
            stdin=stdin,
            env={"PROCTOR_SESSION": self.name},
            needs=tuple(self.needs),
            limits=Limits(
                wall=max(1.0, self.timeout - 1.0),
                memory=self.memory,
                processes=self.processes,
                disk=4 * MOST_BYTES,
                file_size=2 * MOST_BYTES,
            ),
            keep=(ARCHIVE,),
        )

    def _back(self, ran: Ran) -> tuple[bytes, bytes, int]:
        """Put the files where they were, and return what the agent wrote and how it ended."""
        archive = ran.files.get(ARCHIVE)
        if archive is None:
            raise Broken(with_words("its working folder did not come back", ran.stderr.encode()))
        try:
            unpack(archive, self.workspace.folder)
        except (TooMuch, tarfile.TarError, OSError) as error:
            raise NoAnswer(f"its working folder cannot be brought back: {error}") from None
        out, err, code = (self._own(name) for name in OWN)
        status = int(code) if code.strip().isdigit() else 1
        if status == 128 + signal.SIGXFSZ or len(out) > self.output:
            raise NoAnswer(PASSED[Stopped.OUTPUT])
        return out, err, -(status - 128) if status > 128 else status

    def _own(self, name: str) -> bytes:
        path = self.workspace.folder / name
        data = path.read_bytes() if path.is_file() else b""
        path.unlink(missing_ok=True)
        return data


def led_out(names: Iterable[str]) -> Iterator[str]:
    """Say which names follow a link out of the working directory: the sandbox would show it."""
    here = os.path.realpath(os.curdir)
    for name in names:
        real = Path(os.path.realpath(name))
        followed = str(real) != os.path.normpath(os.path.join(here, name))
        if not os.path.isabs(name) and followed and real.exists() and not real.is_relative_to(here):
            yield (
                f"{name} is a link that leads out of the working directory, and would be shown to"
                f" the command (fix: name {real} itself)"
            )


def needed(argv: Sequence[str], more: Sequence[str]) -> list[str]:
    """Return what a command must see of this machine: its program, its files, what is named."""
    paths = [str(Path(path).resolve()) for path in more]
    paths += [word for word in argv[1:] if Path(word).is_absolute() and Path(word).is_file()]
    if program := program_of(argv[0]):
        inside = Path(sys.prefix)
        home = Path(program).parent.parent
        venv = (home / "pyvenv.cfg").exists() or Path(program).is_relative_to(inside)
        paths.append(str(home if venv else program))
    return paths
