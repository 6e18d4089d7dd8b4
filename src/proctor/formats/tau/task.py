"""One task as τ-bench and τ²-bench write it, and what of it is not supported."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Loc = tuple[str | int, ...]
Basis = Literal["DB", "ENV_ASSERTION", "NL_ASSERTION", "ACTION", "COMMUNICATE"]
"""What a reward is made of."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class TauAction(_Part):
    """A call that the reference solution makes."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    kwargs: dict[str, Any] | None = None
    requestor: Literal["assistant", "user"] = "assistant"
    compare_args: list[str] | None = None

    @property
    def all_arguments(self) -> dict[str, Any]:
        """Return its arguments, whichever of their two names they have."""
        return self.arguments if self.kwargs is None else self.kwargs


class _FunctionCall(_Part):
    func_name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class _Assertion(_FunctionCall):
    assert_value: bool = True


class _HistoryCall(_Part):
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    id: str = ""
    requestor: Literal["assistant", "user"] = "assistant"


class TauMessage(_Part):
    """A message that was said before the task begins."""

    role: Literal["user", "assistant", "tool"]
    content: str | None = None
    tool_calls: list[_HistoryCall] | None = None
    # Of a result: which call it is of, who made it, and whether it failed.
    id: str = ""
    requestor: Literal["assistant", "user"] = "assistant"
    error: bool = False


class _InitialData(_Part):
    agent_data: dict[str, Any] | None = None
    user_data: dict[str, Any] | None = None


class _InitialState(_Part):
    initialization_data: _InitialData | None = None
    initialization_actions: list[_FunctionCall] | None = None
    message_history: list[TauMessage] | None = None


class _Instructions(_Part):
    domain: str = ""
    reason_for_call: str = ""
    known_info: str | None = None
    unknown_info: str | None = None
    task_instructions: str = ""


class _Scenario(_Part):
    persona: str | None = None
    instructions: _Instructions | str


class _Criteria(_Part):
    actions: list[TauAction] | None = None
    env_assertions: list[_Assertion] | None = None
    communicate_info: list[str] | None = None
    nl_assertions: list[str] | None = None
    reward_basis: tuple[Basis, ...] = ("DB", "COMMUNICATE")


class TauTask(_Part):
    """A task of either generation."""

    id: str | int | None = None
    user_scenario: _Scenario | None = None
    initial_state: _InitialState | None = None
    evaluation_criteria: _Criteria | None = None
    # What tasks of the first generation have in place of these.
    user_id: str | None = None
    instruction: str | None = None
    actions: list[TauAction] | None = None
    outputs: list[str] | None = None

    @property
    def criteria(self) -> _Criteria:
        """Return how it is scored; tasks of the first generation by state and outputs."""
        if self.evaluation_criteria is not None:
            return self.evaluation_criteria
        return _Criteria(actions=self.actions, communicate_info=self.outputs)

    @property
    def history(self) -> list[TauMessage]:
        """Return what was said before the task begins."""
        return (self.initial_state.message_history or []) if self.initial_state else []

    @property
    def task(self) -> str:
        """Return what the simulated user is told."""
        if self.user_scenario is None:
            return (self.instruction or "").strip()
        told = self.user_scenario.instructions
        lines = [self.user_scenario.persona or ""]
        if isinstance(told, str):
            lines.append(told)
        else:
            lines += [told.reason_for_call, told.known_info or ""]
            lines.append(f"You do not know: {told.unknown_info}" if told.unknown_info else "")
            lines.append(told.task_instructions)
        return "\n\n".join(line.strip() for line in lines if line.strip())


def unsupported(task: TauTask) -> Iterator[tuple[Loc, str]]:
    """Yield what a task has that is not supported, by its place."""
    results = {one.id for one in task.history if one.role == "tool"}
    for number, message in enumerate(task.history):
        at: Loc = ("initial_state", "message_history", number)
        calls = message.tool_calls or []
        if message.requestor == "user" or any(call.requestor == "user" for call in calls):
            yield at, "a history in which the user calls tools is not supported"
        elif calls and message.role != "assistant":
            yield at, "only the assistant calls tools"
        elif any(not call.id or call.id not in results for call in calls):
            yield at, "a call of a tool has no result in the history"
        elif message.role == "user" and not (message.content or "").strip():
            yield at, "the user says nothing"
    if not task.task:
        yield ("user_scenario",) if task.user_scenario else ("instruction",), "there is no task"
