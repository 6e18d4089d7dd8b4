"""Answers that attack the grader through unit tests: none passes, none harms the next one."""

import asyncio
import os

import pytest

from level import LEVEL
from proctor.contracts.scorer import ScoreContext
from proctor.core.score import Score
from proctor.io.concurrency import map_unordered
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.scorers.programs.unit_tests import UnitTest, UnitTests
from room import Cold

pytestmark = [pytest.mark.sandbox, pytest.mark.scaled]

RIGHT = "def twice(x):\n    return 2 * x"
ATTACKS = {
    "ends with success": "import os\nos._exit(0)",
    "ends inside the test": "import os\ndef twice(x):\n    os._exit(0)",
    "prints success": "print('OK\\n1 passed\\nRan 1 test in 0.001s')\nraise SystemExit(0)",
    "prints guesses": "import os\nfor n in range(999):\n    print('%032x' % n)\nos._exit(0)",
    "prints all it finds": (
        "import os, sys\n"
        "for place in ('/proc/self/cmdline', '/proc/self/environ', *os.listdir('.')):\n"
        "    if os.path.isfile(place): print(open(place, errors='replace').read())\n"
        "sys.stdout.flush()\nos._exit(0)"
    ),
    "kills its parent": (
        "import os\nfor n in (1, os.getppid()):\n"
        "    try: os.kill(n, 9)\n    except OSError: pass\nos._exit(0)"
    ),
    "kills everyone": "import os\ntry: os.kill(-1, 9)\nfinally: os._exit(0)",
    "forks without end": "import os\nwhile True: os.fork()",
    "takes memory": "x = []\nwhile True: x.append(bytearray(10**8))",
    "leaves a process": (
        "import os, time\nif not os.fork():\n    os.setsid()\n    time.sleep(60)\nos._exit(0)"
    ),
    "closes its files": "import os\nos.closerange(0, 4096)\nos._exit(0)",
    "writes to its files": (
        "import os\nfor n in range(3, 4096):\n"
        "    try: os.write(n, b'0' * 32)\n    except OSError: pass\nos._exit(0)"
    ),
    "copies every file to every other": (
        "import os\nfiles = [int(name) for name in os.listdir('/proc/self/fd')]\n"
        "for a in files:\n    if a < 3: continue\n"
        "    try:\n        os.set_blocking(a, False)\n        data = os.read(a, 100)\n"
        "    except OSError: continue\n"
        "    for b in files:\n        if b != a:\n"
        "            try: os.write(b, data)\n            except OSError: pass\nos._exit(0)"
    ),
    "walks the frames": (
        "import os, sys\nframe = sys._getframe()\nwhile frame:\n"
        "    for value in list(frame.f_locals.values()):\n"
        "        if isinstance(value, (str, bytes)): print(value)\n"
        "        if callable(value) and 'finish' in getattr(value, '__name__', ''): value(None)\n"
        "    frame = frame.f_back\nsys.stdout.flush()\nos._exit(0)"
    ),
    "asks the collector": (
        "import gc, os, types\nfor thing in gc.get_objects():\n"
        "    for part in (thing, *(thing if isinstance(thing, (list, tuple)) else ())):\n"
        "        if isinstance(part, types.FunctionType) and 'finish' in part.__name__:\n"
        "            part(None)\nos._exit(0)"
    ),
    "replaces the test": "import sys\nsys.settrace(lambda *a: sys.exit(0))\ndef twice(x): return 1",
    "crashes": "import ctypes\nctypes.string_at(0)",
    "stops itself": "import os\nos.kill(os.getpid(), 19)\nos._exit(0)",
    "reads the host": "open('/etc/shadow')",
    "connects": "import socket\nsocket.create_connection(('1.1.1.1', 80), 1)",
}
TEST = UnitTest(content="assert twice(2) == 4\nassert twice(3) == 6", timeout=3)


async def _score(sandbox: Bubblewrap, answer: str) -> Score:
    given = ScoreContext.of(f"```python\n{answer}\n```")
    ctx = ScoreContext(case=given.case, attempt=given.attempt, sandbox=sandbox)
    return await UnitTests(tests=(TEST,), lang="python").score(ctx)


@pytest.fixture(scope="module", params=[Bubblewrap, Cold] if LEVEL.ci else [Bubblewrap])
def scores(request: pytest.FixtureRequest) -> dict[str, tuple[Score, Score]]:
    """Score every attack, and a right answer after it where an interpreter is used again."""

    async def run() -> dict[str, tuple[Score, Score]]:
        sandbox = request.param()

        async def attacked(name: str) -> tuple[str, tuple[Score, Score]]:
            made = await _score(sandbox, ATTACKS[name])
            return name, (made, await _score(sandbox, RIGHT) if again else right)

        again = request.param is Bubblewrap
        right = await _score(sandbox, RIGHT)
        try:
            limit = 1 if again else os.cpu_count() or 1
            return {
                name: made async for name, made in map_unordered(ATTACKS, attacked, limit=limit)
            }
        finally:
            await sandbox.close()

    return asyncio.run(run())


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.slow
def test_an_attack_gets_no_points(scores: dict[str, tuple[Score, Score]], name: str) -> None:
    attack, right = scores[name]
    assert (attack.points, attack.out_of) == (0.0, 1.0), attack
    assert (right.points, right.out_of) == (1.0, 1.0), right
