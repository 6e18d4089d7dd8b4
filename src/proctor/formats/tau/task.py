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


class _InitialData(_Part):
    agent_data: dict[str, Any] | None = None
    user_data: dict[str, Any] | None = None


class _InitialState(_Part):
    initialization_data: _InitialData | None = None
    initialization_actions: list[_FunctionCall] | None = None
    message_history: list[Any] | None = None


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
    env_assertions: list[Any] | None = None
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
    criteria, state = task.criteria, task.initial_state
    if criteria.env_assertions and "ENV_ASSERTION" in criteria.reward_basis:
        at: Loc = ("evaluation_criteria", "env_assertions")
        yield at, "assertions by functions are not supported (write 'state_equal' with 'values')"
    if state is not None and state.message_history:
        yield ("initial_state", "message_history"), "a history of messages is not supported"
    data = state.initialization_data if state is not None else None
    if data is not None and data.user_data:
        yield (
            ("initial_state", "initialization_data", "user_data"),
            "data of the user's own are not supported: its tools work on the same state",
        )
    if not task.task:
        yield ("user_scenario",) if task.user_scenario else ("instruction",), "there is no task"
