"""Whose fault it was, by how an attempt ended."""

from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.cause import Cause, cause_of, cause_of_failure
from proctor.core.rounds import Round
from proctor.core.score import Score

LATE = {"rounds": [Round.failed("q", "it took longer than the 5 s allowed").to_json()]}
GAVE_UP = {"rounds": [Round.failed("q", "it gives up").to_json()]}


@pytest.mark.parametrize(
    ("status", "notes", "cause"),
    [
        ("answered", {}, None),
        ("answered", {"cause": "limit"}, Cause.LIMIT),
        ("error", {}, None),
        ("error", {"cause": "provider"}, Cause.PROVIDER),
        ("error", {"cause": "nobody"}, None),
        ("error", {"cause": ["provider"]}, None),
        ("stopped", {"reason": "SimulatorFailed"}, Cause.SIMULATOR),
        ("stopped", {"reason": "JudgeUndecided"}, Cause.JUDGE),
        ("unanswered", {}, Cause.CANDIDATE),
        ("unanswered", LATE, Cause.LIMIT),
        ("unanswered", GAVE_UP, Cause.CANDIDATE),
    ],
)
def test_how_it_ended(status: str, notes: dict[str, Any], cause: Cause | None) -> None:
    assert cause_of(Attempt(case_id="c", status=AttemptStatus(status), notes=notes)) is cause


@pytest.mark.parametrize(
    ("scores", "cause"),
    [
        ([Score(points=1.0, out_of=1.0)], None),
        ([Score.failed("the sandbox took longer than allowed")], Cause.VERIFIER),
        ([Score.failed("the judge could not be reached")], Cause.JUDGE),
    ],
)
def test_what_scored_it(scores: list[Score], cause: Cause | None) -> None:
    assert cause_of(Attempt.of("c", "answer"), scores) is cause


@pytest.mark.parametrize(
    ("text", "of_agent", "cause"),
    [
        ("the agent failed: it raised ValueError", True, Cause.CANDIDATE),
        ("the agent failed: it was ended by SIGKILL", True, Cause.ENVIRONMENT),
        ("cannot be set up: [Errno 28] No space left on device", False, Cause.ENVIRONMENT),
        ("the server answered with status 429", False, Cause.PROVIDER),
    ],
)
def test_what_broke(text: str, of_agent: bool, cause: Cause) -> None:
    assert cause_of_failure(text, of_agent=of_agent) is cause
