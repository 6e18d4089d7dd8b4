"""What is stored is not asked again, as long as the function is the same."""

import asyncio
import os
import time
from typing import Any

import pytest

import proctor

CASES = [{"ask": str(number), "reference": str(number)} for number in range(6)]
ASKED: list[str] = []


def wait() -> None:
    """Let a test have time to interrupt after the third question."""
    if os.environ.get("WAIT") and len(ASKED) >= 3:
        time.sleep(1.5)


def answer(question: str) -> str:
    wait()
    ASKED.append(question)
    return question


@pytest.fixture(autouse=True)
def nothing_asked() -> None:
    ASKED.clear()


def asked_by(candidate: Any, **options: Any) -> int:
    ASKED.clear()
    assert proctor.evaluate(CASES, candidate, **options).rate == 1.0
    return len(ASKED)


def test_a_second_call_asks_nothing() -> None:
    assert asked_by(answer) == 6
    assert asked_by(answer) == 0
    assert asked_by(answer, attempts=2) == 6
    assert asked_by(answer, fresh=True) == 6
    assert asked_by(answer) == 0


def test_another_function_is_asked_anew() -> None:
    def made(tail: str) -> Any:
        def candidate(question: str) -> str:
            ASKED.append(question)
            return question + tail

        return candidate

    assert asked_by(made("")) == 6
    assert asked_by(made("")) == 0
    assert asked_by(made(" ")) == 6


def test_errors_are_asked_again() -> None:
    failing = {"left": 2}

    def candidate(question: str) -> str:
        ASKED.append(question)
        if len(ASKED) <= failing["left"]:
            raise ConnectionError("not now")
        return question

    first = proctor.evaluate(CASES, candidate, concurrency=1)
    assert (first.status, first.errors) == ("incomplete", 2)
    assert "not now" in first.cases[0].why
    ASKED.clear()
    failing["left"] = 0
    # What the function closes over has changed: it is another one.
    second = proctor.evaluate(CASES, candidate, concurrency=1)
    assert (second.status, second.rate, len(ASKED)) == ("complete", 1.0, 6)


def unreadable() -> Any:
    script = iter(["x"] * 1000)

    def candidate(question: str) -> str:
        next(script)
        wait()
        ASKED.append(question)
        return question

    return candidate


def test_a_function_with_an_unreadable_state_is_asked_anew_each_time() -> None:
    run = proctor.evaluate(CASES, unreadable())
    assert any("whose state cannot be read" in warning for warning in run.warnings)
    assert asked_by(unreadable()) == 6


@pytest.mark.parametrize("known", [True, False])
def test_a_cancelled_run_is_finished_by_the_next_call(
    known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the function can be recognised or not: what was asked once is not asked again."""
    made = (lambda: answer) if known else unreadable

    async def interrupted() -> None:
        task = asyncio.ensure_future(proctor.aevaluate(CASES, made(), concurrency=1))
        while len(ASKED) < 3:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    monkeypatch.setenv("WAIT", "yes")
    asyncio.run(interrupted())
    monkeypatch.delenv("WAIT")
    before = len(ASKED)
    assert proctor.Store().runs()[0]["status"] == "interrupted"
    run = proctor.evaluate(CASES, made())
    assert (run.rate, run.status) == (1.0, "complete")
    assert sorted(set(ASKED)) == [str(number) for number in range(6)]
    assert len(ASKED) <= 6 + 1
    assert before >= 3
    assert len(proctor.Store().runs()) == 1
