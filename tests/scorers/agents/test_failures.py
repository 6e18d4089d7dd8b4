"""Tests before and after an agent, run in the sandbox."""

import asyncio
from pathlib import Path

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import digest_bytes
from proctor.core.rounds import FILES
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, CaseFile
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.scorers import NoNewFailures

CODE = "one = 1\ntwo = 3\n"
TESTS = """\
import code_here, unittest
class T(unittest.TestCase):
    def test_one(self): self.assertEqual(code_here.one, 1)
    def test_two(self): self.assertEqual(code_here.two, 2)
"""
COMMAND = "python3 -m unittest -v test_code 2>&1"
GONE = TESTS.replace("    def test_one(self): self.assertEqual(code_here.one, 1)\n", "")
BY_STATUS = "python3 -c 'import code_here; assert code_here.one == 1'"


def score(
    here: Path, scorer: NoNewFailures, after: dict[str, str], *, sandbox: bool = True
) -> Score:
    files = []
    for name, text in {"code_here.py": CODE, "test_code.py": TESTS}.items():
        (here / name).write_text(text)
        files.append(CaseFile(name=name, digest=digest_bytes(text.encode()), path=str(here / name)))
    left = {
        name: text.encode()
        for name, text in {"code_here.py": CODE, "test_code.py": TESTS, **after}.items()
        if text
    }
    blobs = {digest_bytes(content): content for content in left.values()}
    names = {name: digest_bytes(content) for name, content in left.items()}
    ctx = ScoreContext(
        case=Case(id="c", messages=(), criteria=(), files=tuple(files)),
        attempt=Attempt(case_id="c", messages=(), notes={FILES: [names]}),
        sandbox=Bubblewrap() if sandbox else None,
        read_file=blobs.__getitem__,
    )
    return asyncio.run(scorer.score(ctx))


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("scorer", "after", "points", "words"),
    [
        (NoNewFailures(COMMAND), {"code_here.py": "one = 1\ntwo = 2\n"}, 1, "2 of 2 tests pass, 1 of them"),
        (NoNewFailures(COMMAND), {}, 1, "1 of 2 tests pass"),
        (NoNewFailures(COMMAND), {"code_here.py": "one = 2\ntwo = 2\n"}, 0, "new failures"),
        (NoNewFailures(COMMAND), {"test_code.py": GONE, "code_here.py": "one = 2\ntwo = 2"}, 0, "(gone)"),
        (NoNewFailures(COMMAND, tests="test_*.py"), {"test_code.py": GONE}, 1, "1 of 2"),
        (NoNewFailures(COMMAND), {"code_here.py": "one ="}, 0, "new failures"),
        (NoNewFailures(BY_STATUS), {"code_here.py": "one = 1"}, 1, "0 before and 0 after"),
        (NoNewFailures(BY_STATUS), {"code_here.py": "one = 2"}, 0, "0 before and 1 after"),
        (NoNewFailures(COMMAND, timeout=8), {"code_here.py": "while True: pass"}, 0, "limit on"),
        (NoNewFailures("exit 3"), {}, None, "names no test"),
        (NoNewFailures("sleep 9", timeout=0.5), {}, None, "the tests before: they passed the limit"),
    ],
)  # fmt: skip
def test_points(
    tmp_path: Path, scorer: NoNewFailures, after: dict[str, str], points: float | None, words: str
) -> None:
    result = score(tmp_path, scorer, after)
    assert (result.points, words in result.reason) == (points, True), result


def test_what_keeps_it_from_being_scored(tmp_path: Path) -> None:
    assert score(tmp_path, NoNewFailures(COMMAND), {}, sandbox=False).status is ScoreStatus.FAILED
    assert list(NoNewFailures(" ").problems())
    assert list(NoNewFailures("a", timeout=0).problems())
