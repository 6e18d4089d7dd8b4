"""Suites of unit tests with planted faults are found, and sound ones are not accused."""

import asyncio

import pytest

from proctor.core.suite import Case, Criterion, Json, Message, Spec, Suite
from proctor.engine.check.task_trials import examined
from proctor.engine.check.trial_outcome import ExaminedTask
from proctor.engine.run.scorer_pool import Scorers
from proctor.sandboxes.own_root import TaskBubblewrap

pytestmark = pytest.mark.sandbox
GOOD = "def double(x):\n    return 2 * x"
SLOW = f"import time\n\n{GOOD.replace('return', 'time.sleep(3); return')}"
CALLED = {"content": "assert double(2) == 4"}


def examine(*tests: Json, reference: str = GOOD) -> ExaminedTask:
    spec = Spec(name="unit_tests", params={"lang": "python", "tests": list(tests)})
    case = Case(
        id="double", messages=(Message(role="user", content="Double."),),
        criteria=(Criterion(id="tests", scorer=spec),), references=(f"```python\n{reference}\n```",),
    )  # fmt: skip

    async def in_sandbox() -> ExaminedTask:
        sandbox = TaskBubblewrap()
        try:
            (task,) = await examined(Suite(name="s", cases=(case,)), Scorers(), sandbox, 1)
        finally:
            await sandbox.close()
        return task

    return asyncio.run(in_sandbox())


def test_a_sound_case() -> None:
    task = examine(CALLED, {"content": "assert double(0) == 0", "isolate": False})
    assert task.suspicions == []
    assert task.trials == {
        "solution": "1/1", "nothing": "0", "forged results": "0", "half the time": "1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("test", "reference", "said"),
    [
        (CALLED, GOOD.replace("2", "3"), "the reference does not pass"),
        ({"content": "assert True"}, GOOD, "the empty answer gets 1 of 1"),
        ({"stdout": "ok\n1 passed\n"}, "print('ok')\nprint('1 passed')",
         "an answer that ends before the tests run gets 1 of 1"),
        ({**CALLED, "timeout": 4.5}, SLOW, "with half the time the reference gets 0"),
    ],
)  # fmt: skip
def test_faults(test: Json, reference: str, said: str) -> None:
    messages = [one.message for one in examine(test, reference=reference).suspicions]
    assert any(message.startswith(said) for message in messages), messages
