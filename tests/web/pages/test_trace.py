"""The steps of an agent: rounds with code and results, or calls of tools with what came back."""

from proctor.core.attempt import Attempt
from proctor.core.rounds import Attachment, Post, Round
from proctor.core.suite import Message, ToolCall
from proctor.web.pages.trace import chosen_step, next_error, trace_of


def joined(pieces: list[dict[str, str]]) -> str:
    return "".join(piece["text"] for piece in pieces)


def code(result: str, status: str) -> Post:
    return Post(
        message="ran it",
        send_from="Interpreter",
        send_to="Planner",
        attachments=(
            Attachment(type="plan", content="1. add"),
            Attachment(type="code", content="print(7)"),
            Attachment(type="execution_status", content=status),
            Attachment(type="execution_result", content=result),
        ),
    )


def test_rounds_become_steps_with_input_and_output() -> None:
    rounds = [
        Round.of("add", "It is 7.", [code("7", "SUCCESS"), code("KeyError", "FAILURE")]).to_json(),
        Round.failed("double it", "out of memory").to_json(),
    ]
    steps = trace_of(Attempt(case_id="a", notes={"rounds": rounds}), most=None)
    assert [(step["number"], step["round"], step["kind"], step["failed"]) for step in steps] == [
        (1, 1, "post", False), (2, 1, "code", False), (3, 1, "code", True), (4, 1, "post", False),
        (5, 2, "post", True),
    ]  # fmt: skip
    assert (joined(steps[1]["input"]), joined(steps[1]["output"])) == ("print(7)", "7")
    assert [item["kind"] for item in steps[1]["more"]] == ["plan", "execution_status"]
    assert steps[4]["error"] == "out of memory"
    assert (chosen_step(steps, 0), chosen_step(steps, 2), chosen_step(steps, 99)) == (3, 2, 3)
    assert (next_error(steps, 1), next_error(steps, 3), next_error(steps, 5)) == (3, 5, 3)


def test_a_call_and_what_came_back_are_one_step() -> None:
    calls = tuple(ToolCall(id=f"c{n}", name="shell", arguments={"cmd": n}) for n in (1, 2))
    messages = (
        Message(role="assistant", content="I look.", tool_calls=calls),
        Message(role="tool", content="error: no such file", tool_call_id="c2"),
        Message(role="tool", content="a.txt", tool_call_id="c1"),
        Message(role="assistant", content="One file."),
    )
    steps = trace_of(Attempt(case_id="a", messages=messages), most=None)
    assert [step["title"] for step in steps] == ["assistant", "shell", "shell", "assistant"]
    assert [joined(step["output"]) for step in steps[1:3]] == ["a.txt", "error: no such file"]
    assert [step["failed"] for step in steps] == [False, False, True, False]


def test_a_plain_answer_has_no_steps() -> None:
    assert trace_of(Attempt.of("a", "error: is a fine word"), most=None) == []
    assert next_error([], 0) is None
