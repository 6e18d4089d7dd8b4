"""Whose fault it was, by how an attempt ended."""

from typing import Any

import pytest

from proctor import errors
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.cause import Cause, cause_of, cause_of_error
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
        ("stopped", {"reason": "SimulatorLeak"}, Cause.SIMULATOR),
        ("stopped", {"reason": "SimulatorFault"}, Cause.SIMULATOR),
        ("stopped", {"reason": "JudgeUndecided"}, Cause.JUDGE),
        ("stopped", {"cause": "environment"}, Cause.ENVIRONMENT),
        ("stopped", {}, Cause.JUDGE),
        ("unanswered", {}, Cause.CANDIDATE),
        ("unanswered", LATE, Cause.LIMIT),
        ("unanswered", GAVE_UP, Cause.CANDIDATE),
    ],
)
def test_how_it_ended(status: str, notes: dict[str, Any], cause: Cause | None) -> None:
    assert cause_of(Attempt(case_id="c", status=AttemptStatus(status), notes=notes)) is cause


@pytest.mark.parametrize(
    ("reasons", "cause"),
    [
        ([], None),
        (["the sandbox took longer than allowed"], Cause.VERIFIER),
        (["the tests gave no reward: test.sh ended with 1: FAILED test_judge.py"], Cause.VERIFIER),
        (["the judge could not be reached"], Cause.JUDGE),
        (["the judges are divided, 1 to 1, and a tie is unscored (--tie)"], Cause.JUDGE),
        (["there is no judge to ask (fix: name one with --judge)"], Cause.JUDGE),
        (["JudgeJSONParseFailed: no readable verdict, asked 3 times: no JSON"], Cause.JUDGE),
        (["JudgedPasses: ModelError: the server answered with status 429"], Cause.JUDGE),
        (["JudgedPasses: BudgetError: the money is spent"], Cause.LIMIT),
        (["Polite: ZeroDivisionError: division by zero"], Cause.VERIFIER),
        (["UnitTests: SandboxError: bubblewrap is not there"], Cause.ENVIRONMENT),
        (["there is no sandbox to run the tests in"], Cause.ENVIRONMENT),
        (["the tests could not be run: the environment was lost"], Cause.ENVIRONMENT),
        (["the judge could not be reached", "the environment was lost"], Cause.ENVIRONMENT),
        (["it raised ValueError", "the judge could not be reached"], Cause.JUDGE),
    ],
)
def test_what_scored_it(reasons: list[str], cause: Cause | None) -> None:
    scores = [Score(points=1.0, out_of=1.0), *map(Score.failed, reasons)]
    assert cause_of(Attempt.of("c", "answer"), scores) is cause


ENDED = {
    errors.ProctorError: (Cause.ENVIRONMENT, Cause.VERIFIER),
    errors.SuiteError: (Cause.ENVIRONMENT, Cause.VERIFIER),
    errors.DialectError: (Cause.ENVIRONMENT, Cause.VERIFIER),
    errors.PluginError: (Cause.ENVIRONMENT, Cause.VERIFIER),
    errors.MissingResource: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
    errors.ConditionError: (Cause.VERIFIER, Cause.VERIFIER),
    errors.SandboxError: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
    errors.ModelError: (Cause.PROVIDER, Cause.JUDGE),
    errors.BudgetError: (Cause.LIMIT, Cause.LIMIT),
    errors.AgentError: (Cause.CANDIDATE, Cause.VERIFIER),
    errors.JudgeError: (Cause.JUDGE, Cause.JUDGE),
    errors.UsageError: (Cause.ENVIRONMENT, Cause.VERIFIER),
    errors.StoreError: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
    errors.StoreGone: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
    errors.PartDamaged: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
    TimeoutError: (Cause.LIMIT, Cause.VERIFIER),
    OSError: (Cause.ENVIRONMENT, Cause.ENVIRONMENT),
    ConnectionResetError: (Cause.ENVIRONMENT, Cause.VERIFIER),
    ZeroDivisionError: (Cause.ENVIRONMENT, Cause.VERIFIER),
}
"""Whose fault it is when an error ends an attempt, and when a scorer raises it."""


@pytest.mark.parametrize(("kind", "causes"), ENDED.items())
def test_every_error(kind: type[Exception], causes: tuple[Cause, Cause]) -> None:
    raised = Score.failed(f"Polite: {kind.__name__}: that is why")
    by_scorer = cause_of(Attempt.of("c", "answer"), [raised])
    assert (cause_of_error(kind("that is why")), by_scorer) == causes


def test_no_error_is_left_out() -> None:
    own = {
        one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, Exception)
    }
    assert own <= set(ENDED)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (errors.AgentError("the agent failed: it raised ValueError"), Cause.CANDIDATE),
        (errors.AgentError("the agent failed: it was ended by SIGKILL"), Cause.ENVIRONMENT),
        (errors.ModelError("cannot be set up: No space left on device"), Cause.ENVIRONMENT),
        (errors.ModelError("the server answered with status 429"), Cause.PROVIDER),
        (errors.ModelError("the MCP server failed", cause="environment"), Cause.ENVIRONMENT),
        (errors.ModelError("too much was changed", cause="limit"), Cause.LIMIT),
        (errors.ModelError("no such cause", cause="nobody"), Cause.PROVIDER),
    ],
)
def test_what_broke(error: Exception, cause: Cause) -> None:
    assert cause_of_error(error) is cause
