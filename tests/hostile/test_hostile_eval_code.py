"""Snippets that attack the grader: each is contained, is a miss, and what it did is named."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from proctor import ScoreContext, Spec
from proctor.contracts.scoring import run_scorer_async
from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.registry import build
from proctor.sandboxes.bubblewrap import Bubblewrap

if TYPE_CHECKING:
    from conftest import Host

pytestmark = pytest.mark.sandbox

# What is refused is caught by nobody: the error is the snippet's own, and its name the reason.
HOSTILE: list[tuple[str, str, str]] = [
    ("exit", "import sys\nsys.exit(0)", "left by SystemExit: 0"),
    ("exit at once", "os._exit(0)", "ended its process (exit status 0) without returning"),
    ("exit from a return", "raise SystemExit(True)\nreturn True", "left by SystemExit: True"),
    ("a signal", "import signal\nos.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
    ("an aborted process", "import ctypes\nctypes.string_at(0)\nreturn True", "signal 11"),
    ("fork", "pid = os.fork()\nreturn pid == 0", "returned False"),
    ("fork bomb", "while True:\n    os.fork()", "than allowed"),
    ("network", "import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)\nreturn True",
     "failed: "),
    ("network names", "import socket\nsocket.getaddrinfo('localhost.localdomain.test', 80)\n"
     "return True", "gaierror"),
    ("shadow", "return bool(open('/etc/shadow').read())", "Error"),
    ("writing outside", "open('{canary}', 'w').write('x')\nreturn True", "Error"),
    ("writing to the system", "open('/usr/bin/proctor-was-here', 'w')\nreturn True", "Error"),
    ("endless loop", "while True:\n    pass", "longer than the 1 s allowed"),
    ("endless sleep", "import time\ntime.sleep(600)\nreturn True", "longer than the 1 s allowed"),
    ("huge output", "while True:\n    print('x' * 100000)", "printed more than allowed"),
    ("a gigabyte", "x = [bytearray(64 << 20) for _ in range(40)]\nreturn True", "memory"),
    ("a filled disk", "f = open('/tmp/x', 'wb')\nwhile True:\n    f.write(bytes(1 << 20))",
     "OSError"),
    ("faked report", "import sys\nsys.stdout.write('{{\"hit\": true}}\\n')\nsys.stdout.flush()\n"
     "os._exit(0)", "ended its process"),
    ("faked report on every handle", "for fd in range(3, 400):\n    try:\n"
     "        os.write(fd, b'{{\"hit\": true}}\\n')\n    except OSError:\n        pass\n"
     "os._exit(0)", "wrote into the channel of its own report"),
    ("the proof", "text = open('../main.py').read()\nprint(text[-200:])\nos._exit(0)", "the code"),
    ("the reporter", "import signal\nos.kill(os.getppid(), signal.SIGKILL)\nimport time\n"
     "time.sleep(0.2)\nreturn None", "the code"),
    ("deleting the files", "import shutil\nshutil.rmtree('.')\nreturn True", "PermissionError"),
    ("environment", "return 'a key of the grader' in str(dict(os.environ))", "returned False"),
    ("threads left", "import threading, time\n"
     "threading.Thread(target=time.sleep, args=(600,)).start()\nreturn 1", "returned 1, not"),
    ("a lie about truth", "class Yes:\n    __bool__ = __eq__ = lambda *_: True\n"
     "    __repr__ = lambda _: 'True'\nreturn Yes()", "returned True, not True or False"),
    ("a broken exception", "class E(Exception):\n    def __str__(self):\n        raise E\nraise E",
     "the code failed: E"),
    ("deep recursion", "def f():\n    return f()\nf()", "RecursionError"),
]  # fmt: skip


def run(snippets: list[str]) -> list[Score]:
    attempt = Attempt.of("c", "an answer")
    attempt = replace(attempt, notes={"files": [{"result.txt": "k"}]})
    ctx = replace(
        ScoreContext.of("an answer", prompt="a question"),
        attempt=attempt,
        read_file=lambda _: b"left by the agent",
    )

    async def each() -> list[Score]:
        sandbox = Bubblewrap()
        made = []
        try:
            for code in snippets:
                endless = "while True:\n    pass" in code or "time.sleep(600)\n" in code
                params: dict[str, Any] = {"code": code, "timeout": 1 if endless else 30}
                scorer = build("scorer", Spec(name="eval_code", params=params))
                assert list(scorer.problems()) == [], code
                made.append(await run_scorer_async(scorer, replace(ctx, sandbox=sandbox)))
            return made
        finally:
            await sandbox.close()

    return asyncio.run(each())


@pytest.mark.slow
def test_every_attack_is_a_miss_with_its_name(host: "Host") -> None:
    """All in one sandbox, a good snippet after each: what one did is gone before the next."""
    assert len(HOSTILE) >= 20
    good = "return open('result.txt').read() == 'left by the agent'"
    snippets = []
    for _, code, _ in HOSTILE:
        filled = code.format(port=host.port, canary=host.folder / "canary")
        snippets += [filled, good]
    made = run(snippets)
    for (name, _, reason), score in zip(HOSTILE, made[::2], strict=True):
        assert (score.status, score.points) == ("scored", 0), (name, score.reason)
        assert reason in score.reason, (name, score.reason)
    assert [score.points for score in made[1::2]] == [1] * len(HOSTILE)
    assert host.changes() == []
