"""Rewards are points; what an agent did to tests, rewards and tools does not count, and is named."""

import io
import tarfile

import pytest

from proctor.core.program import Ran, Stopped
from proctor.core.score import ScoreStatus
from proctor.errors import ModelError
from proctor.scorers.programs.task_tests import TaskTests, suspicions
from proctor.scorers.programs.task_toolbox import toolbox_files

RAN = Ran(code=0, step=0, finished=True, stdout="said")


@pytest.mark.parametrize(
    ("as_json", "as_text", "points", "reason"),
    [
        (None, b"1\n", 1.0, "reward 1"),
        (None, b"0.25", 0.25, "reward 0.25"),
        (b"0.5", b"1", 0.5, "reward 0.5"),
        (b'{"a": 1, "b": 0}', None, 0.5, "a 1, b 0"),
        (b'{"a": 1, "reward": 0}', None, 0.0, "a 1, reward 0"),
        (b"7", None, 1.0, "reward 7"),
        (b"-1", None, 0.0, "reward -1"),
        (None, None, None, "the tests gave no reward: test.sh ended with 0: said"),
        (None, b"nan", None, "the reward cannot be read: reward is nan"),
        (b"{", None, None, "the reward cannot be read"),
        (b'{"a": []}', None, None, "the reward cannot be read"),
    ],
)
def test_rewards_are_points(
    as_json: bytes | None, as_text: bytes | None, points: float | None, reason: str
) -> None:
    score = TaskTests(files={"test.sh": ""})._read(RAN, as_json, as_text, [])
    assert score.points == points
    assert score.reason.startswith(reason)
    assert (score.status is ScoreStatus.FAILED) == (points is None)


def test_a_named_reward_counts() -> None:
    score = TaskTests(files={"test.sh": ""}, reward="b")._read(RAN, b'{"a": 1, "b": 0.5}', None, [])
    assert (score.points, score.detail["rewards"]) == (0.5, {"a": 1.0, "b": 0.5})


def test_tests_that_take_too_long_give_no_score() -> None:
    late = Ran(code=None, step=0, finished=False, stopped=Stopped.TIME)
    score = TaskTests(files={"test.sh": ""}, timeout=5)._read(late, None, None, ["wrote /tests/x"])
    assert score.status is ScoreStatus.FAILED
    assert "passed the limit on time (5 s)" in score.reason
    assert score.reason.endswith("not counted: the agent wrote /tests/x")


@pytest.mark.parametrize(
    ("reward", "output", "missing", "failed"),
    [
        (b"0", "ModuleNotFoundError: No module named 'numpy'", ["numpy"], True),
        (b"0", "test.sh: 3: jq: not found", ["jq"], True),
        # The tests ran: what was lacking was not missed.
        (b"0", "1 failed", ["numpy"], False),
        (b"1", "No module named 'numpy'", ["numpy"], False),
        # What the agent's own program lacks is the agent's to see to.
        (b"0", "No module named 'numpy'", [], False),
    ],
)
def test_tests_that_lack_what_they_would_fetch_give_no_score(
    reward: bytes, output: str, missing: list[str], failed: bool
) -> None:
    ran = Ran(code=0, step=0, finished=True, stdout=output + "\n" + "." * 3000)
    score = TaskTests(files={"test.sh": ""})._read(ran, None, reward, [], missing)
    assert (score.status is ScoreStatus.FAILED) is failed
    assert score.points == (None if failed else float(reward))
    assert not failed or missing[0] in score.reason


def archive(name: str, link: str = "") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        info = tarfile.TarInfo(name)
        if link:
            info.type, info.linkname = tarfile.SYMTYPE, link
        tar.addfile(info)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "link", "what"),
    [
        ("root/logs/verifier/reward.txt", "", "wrote /logs/verifier/reward.txt"),
        ("root/tests/test.sh", "", "wrote /tests/test.sh"),
        ("root/logs/verifier", "/tmp", "made /logs/verifier a link"),
        ("root/tests", "/tmp", "made /tests a link"),
        ("usr/bin/python3.11", "", "replaced the program /usr/bin/python3.11"),
        ("usr/local/bin/pytest", "", "replaced the program /usr/local/bin/pytest"),
        ("usr/bin/bash", "", "replaced the program /usr/bin/bash"),
        ("usr/lib/python3/dist-packages/x.pth", "", "put a start-up hook at"),
        ("usr/lib/python3.11/sitecustomize.py", "", "put a start-up hook at"),
        ("root/etc/ld.so.preload", "", "put a start-up hook at"),
        ("usr/lib/python3.11/os.py", "", "replaced a library of the system"),
        ("usr/lib/x86_64-linux-gnu/libc.so.6", "", "replaced a library of the system"),
        ("root/app/python", "", ""),
        ("root/app/tests/test.sh", "", ""),
        ("usr/local/bin/mytool", "", ""),
        ("usr/local/lib/python3.11/dist-packages/mine/a.py", "", ""),
        ("root/home/me/.bashrc", "", ""),
    ],
)
def test_what_tests_must_not_see_is_named(name: str, link: str, what: str) -> None:
    found = suspicions(archive(name, link))
    assert list(found) == ([name] if what else [])
    assert all(text.startswith(what) for text in found.values())


def test_no_archive_is_an_error() -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        suspicions(b"x")


def test_problems_are_told() -> None:
    assert list(TaskTests(files={}).problems()) == ["there is no tests/test.sh"]
    assert "timeout" in next(iter(TaskTests(files={"test.sh": ""}, timeout=0).problems()))


def test_the_toolbox_can_be_executed() -> None:
    files = toolbox_files()
    assert {"bin/uv", "bin/uvx", "bin/curl", "bin/pytest"} <= files.keys()
