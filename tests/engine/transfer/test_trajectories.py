"""Attempts as trajectories: model calls, transcripts and messages, checked field by field."""

from typing import Any

import pytest

from atif import AtifTrajectory
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.exchange import Usage
from proctor.core.rounds import AGENT, Attachment, Post, Round
from proctor.core.suite import Case, Message, ToolCall
from proctor.engine.models.proxy_call import ProxyCall
from proctor.engine.transfer.trajectories import trajectory_of

CASE = Case(id="bug", messages=(Message(role="user", content="Mend it."),), criteria=())
CALLED = ProxyCall(
    path="messages",
    model="m",
    request_messages=[],
    reply_text="I look.",
    tools=({"name": "Bash", "arguments": '{"command": "ls"}'},),
    usage=Usage(calls=1, prompt_tokens=100, completion_tokens=7, cost=0.01, cached_tokens=40),
)
ENDED = ProxyCall(path="messages", model="m", request_messages=[], reply_text="Mended.")
RAN = (
    Post(message='{"command": "ls"}', send_from=AGENT, send_to="Bash"),
    Post(message="calc.py", send_from="Bash", send_to=AGENT),
)


def written(attempt: Attempt, case: Case = CASE) -> AtifTrajectory:
    data = trajectory_of(case, attempt, session="s", agent="claude-code", version="2", model="")
    return AtifTrajectory.model_validate(data)


def with_round(*posts: Post, reply: str = "Mended.", **more: Any) -> Attempt:
    return Attempt(
        case_id="bug", notes={"rounds": [Round.of("Mend it.", reply, posts).to_json()]}, **more
    )


def test_a_model_call_is_a_step_with_what_it_took_and_what_came_of_its_tool() -> None:
    used = {
        "candidate": {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "cached_tokens": 40,
            "cost": 0.01,
        }
    }
    trajectory = written(with_round(CALLED.post, ENDED.post, *RAN, usage=used, seconds=2.0))
    user, look, end = trajectory.steps
    assert (user.source, user.message) == ("user", "Mend it.")
    assert look.tool_calls is not None
    assert (look.tool_calls[0].function_name, look.tool_calls[0].arguments) == (
        "Bash",
        {"command": "ls"},
    )
    assert look.observation is not None
    assert look.observation.results[0].content == "calc.py"
    assert look.observation.results[0].source_call_id == look.tool_calls[0].tool_call_id
    assert look.metrics is not None
    assert (look.metrics.prompt_tokens, look.metrics.cached_tokens, look.metrics.cost_usd) == (
        100,
        40,
        0.01,
    )
    assert (end.message, end.tool_calls) == ("Mended.", None)
    assert trajectory.agent.model_name == "m"
    totals = trajectory.final_metrics
    assert (totals.total_prompt_tokens, totals.total_completion_tokens) == (100, 7)
    assert (totals.total_cached_tokens, totals.total_cost_usd) == (40, 0.01)


def test_tools_that_a_transcript_calls_otherwise_are_paired_by_their_order() -> None:
    ran = (
        Post(message="ls", send_from=AGENT, send_to="shell"),
        Post(message="calc.py", send_from="shell", send_to=AGENT),
    )
    _, look, _ = written(with_round(CALLED.post, ENDED.post, *ran)).steps
    assert look.observation is not None
    assert look.observation.results[0].content == "calc.py"


def test_tools_that_nobody_asked_for_stay_steps_of_their_own() -> None:
    other = (
        Post(message="x", send_from=AGENT, send_to="hook"),
        Post(message="y", send_from="hook", send_to=AGENT),
    )
    _, look, _, hook = written(with_round(CALLED.post, ENDED.post, *other, *RAN)).steps
    assert look.observation is not None
    assert look.observation.results[0].content == "calc.py"
    assert hook.tool_calls is not None
    assert (hook.tool_calls[0].function_name, hook.tool_calls[0].arguments) == (
        "hook",
        {"input": "x"},
    )


def test_a_transcript_alone() -> None:
    thought = Post(message="First I look.", send_from=AGENT, send_to=AGENT)
    asked = Post(
        message="Check it.", send_from="Coder", send_to="Tester",
        attachments=(Attachment(type="python", content="1 + 1"),),
    )  # fmt: skip
    lost = Post(message="{}", send_from=AGENT, send_to="never_ended")
    user, one, two, three, four, last = written(with_round(thought, *RAN, asked, lost)).steps
    assert [step.source for step in (user, one, two, last)] == ["user", "agent", "agent", "agent"]
    assert two.observation is not None
    assert three.extra == {
        "from": "Coder", "to": "Tester", "attachments": [{"type": "python", "content": "1 + 1"}],
    }  # fmt: skip
    assert four.tool_calls is not None
    assert four.observation is None
    assert last.message == "Mended."


def test_several_rounds_and_one_that_failed() -> None:
    rounds = [
        Round.of("One.", "Done.").to_json(),
        Round.failed("Two.", "it ended with exit status 3").to_json(),
    ]
    attempt = Attempt(case_id="bug", notes={"rounds": rounds}, status=AttemptStatus.ERROR)
    steps = written(attempt).steps
    assert [(step.source, step.message) for step in steps] == [
        ("user", "One."),
        ("agent", "Done."),
        ("user", "Two."),
        ("system", "the agent failed: it ended with exit status 3"),
    ]


@pytest.mark.parametrize("own", ["a", ""])
def test_a_model_with_tools(own: str) -> None:
    call = ToolCall(name="weather", arguments={"city": "Paris"}, id=own)
    messages = (
        Message(role="assistant", content="", thinking="I ask.", tool_calls=(call,)),
        Message(role="tool", content="rain", tool_call_id=own),
        Message(role="user", content="And now?"),
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", content="sun", tool_call_id=own),
        Message(role="assistant", content="Sun."),
    )
    case = Case(
        id="w", messages=(Message(role="system", content="Be brief."), *CASE.messages), criteria=()
    )
    steps = written(Attempt(case_id="w", messages=messages), case).steps
    assert [step.source for step in steps] == ["system", "user", "agent", "user", "agent", "agent"]
    first, second = steps[2], steps[4]
    assert first.reasoning_content == "I ask."
    for step, content in ((first, "rain"), (second, "sun")):
        assert step.observation is not None
        assert step.tool_calls is not None
        (result,) = step.observation.results
        assert (result.content, result.source_call_id) == (content, step.tool_calls[0].tool_call_id)


def test_an_attempt_that_never_began() -> None:
    attempt = Attempt(case_id="bug", status=AttemptStatus.ERROR, error="it was too busy")
    steps = written(attempt).steps
    assert [(step.source, step.message) for step in steps] == [
        ("user", "Mend it."),
        ("system", "it was too busy"),
    ]
