"""A virtual user: what it is told, when it ends, and what its failures and the agent's are."""

from dataclasses import dataclass
from typing import Any

import pytest

from proctor.contracts.dialogue import Candidate, DialogueContext, Turns
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.exchange import Reply
from proctor.core.rounds import Post, Round, scored_part
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.errors import ModelError, PluginError
from proctor.registry import build
from proctor.testing import ScriptedCandidate, ScriptedModel, hold_dialogue

TASK = "Add 3 and 4, and then double it."
CASE = Case(id="sum", messages=(), criteria=(), hidden={"task": TASK})
STOP = "TASK_FINISHED"


@dataclass
class Agent(Candidate):
    """An agent that does some steps for each message; none is a failed round."""

    lines: list[str | None]
    turn: int = 0

    async def reply(self, ctx: DialogueContext, messages: Any) -> Reply:
        line = self.lines[self.turn]
        self.turn += 1
        asked = messages[-1].content
        if line is None:
            made = Round.failed(asked, "out of memory")
        else:
            step = Post(message="code", send_from="Planner", send_to="CodeInterpreter")
            made = Round.of(asked, line, [step])
        return Reply(text=made.reply, round=made.to_json())


def hold(
    user: Any, agent: Any, *, case: Case = CASE, language: str = "en", **params: Any
) -> tuple[Attempt, ScriptedModel]:
    dialogue = build("dialogue", Spec(name="virtual_user", params=params))
    model = ScriptedModel(user)
    who = Agent(agent) if isinstance(agent, list) else agent
    return hold_dialogue(dialogue, case, who, simulator=model, language=language), model


def said(attempt: Attempt) -> list[str]:
    return [message.content for message in attempt.messages]


ENDS: list[tuple[list[Any], list[str | None], dict[str, Any], str, str, list[str]]] = [
    (["Add 3 and 4.", "Double it.", STOP], ["7", "14"], {}, "answered", "TaskFinished",
     ["Add 3 and 4.", "7", "Double it.", "14"]),
    (["Add.", f"Thanks. {STOP}."], ["7"], {}, "answered", "TaskFinished", ["Add.", "7"]),
    (["Add.", f"You say {STOP}, but double it.", STOP], [f"7. {STOP}", "14"], {}, "answered",
     "TaskFinished", ["Add.", f"7. {STOP}", f"You say {STOP}, but double it.", "14"]),
    (["Add.", f" *{STOP}*. "], [f"7. {STOP}"], {}, "answered", "TaskFinished", ["Add.", f"7. {STOP}"]),
    (["Add.", "More."], ["7", "8"], {"max_rounds": 2}, "answered", "RoundLimit",
     ["Add.", "7", "More.", "8"]),
    (["Add."], ["7"], {"max_rounds": 1}, "answered", "RoundLimit", ["Add.", "7"]),
    (["Add.", "over"], ["7"], {"stop_word": "over"}, "answered", "TaskFinished", ["Add.", "7"]),
    (["Add.", "More."], ["7", None], {}, "answered", "AgentFailed", ["Add.", "7", "More."]),
    (["Add."], [None], {}, "unanswered", "AgentFailed", ["Add."]),
    ([ModelError("down")], [], {}, "stopped", "SimulatorFailed", []),
    (["Add.", ModelError("down")], ["7"], {}, "stopped", "SimulatorFailed", ["Add.", "7"]),
    ([None, " "], [], {}, "stopped", "SimulatorFailed", []),
    ([None, "Add.", STOP], ["7"], {}, "answered", "TaskFinished", ["Add.", "7"]),
    ([STOP], [], {}, "stopped", "SimulatorFailed", []),
]  # fmt: skip


@pytest.mark.parametrize(("user", "agent", "params", "status", "reason", "wanted"), ENDS)
def test_how_it_ends(
    user: list[Any], agent: list[str | None], params: dict[str, Any], status: str, reason: str,
    wanted: list[str],
) -> None:  # fmt: skip
    attempt, model = hold(user, agent, **params)
    assert (attempt.status, attempt.notes["reason"]) == (status, reason)
    assert said(attempt) == wanted
    assert len(model.requests) == len(user), "nobody is asked for more than is needed"
    assert len(attempt.notes.get("rounds", ())) == len(agent)


def test_a_failed_agent_is_judged_as_one() -> None:
    attempt, _ = hold(["Add.", "More."], ["7", None])
    part = scored_part(Criterion(id="x", scorer=Spec(name="contains")), attempt)
    assert (part.status, part.error) == (
        AttemptStatus.UNANSWERED,
        "the agent failed: out of memory",
    )
    whole, _ = hold(["Add."], [None])
    assert whole.error == "the agent failed: out of memory"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_the_user_is_told(language: str) -> None:
    attempt, model = hold(["Add.", "Double.", STOP], ["7", "14"], language=language)
    assert attempt.status == "answered"
    first, second, third = (request.messages for request in model.requests)
    assert [m.role for m in first] == ["system", "user"]
    assert TASK in first[0].content
    assert STOP in first[0].content
    assert first == second[:2] == third[:2]
    assert [m.role for m in third[2:]] == ["assistant", "user", "assistant", "user"]
    assert third[2].content == "Add."
    assert third[3].content.splitlines()[1] == "7"
    assert third[3].content.startswith("<<agent ")
    assert len({request.salt for request in model.requests}) == 3


@pytest.mark.parametrize(("verbose", "shown"), [
    (False, "7"),
    (True, "User -> Planner: Add.\nPlanner -> CodeInterpreter: code\nPlanner -> User: 7"),
])  # fmt: skip
def test_verbose_shows_every_post(verbose: bool, shown: str) -> None:
    attempt, model = hold(["Add.", STOP], ["7"], verbose=verbose)
    assert said(attempt) == ["Add.", shown]
    assert shown in model.requests[1].messages[-1].content


def test_a_model_is_an_agent_without_steps() -> None:
    candidate = ScriptedCandidate(["7", "14"])
    attempt, _ = hold(["Add.", "Double.", STOP], candidate, verbose=True)
    assert said(attempt) == ["Add.", "7", "Double.", "14"]
    assert [m.content for m in candidate.conversations[1]] == ["Add.", "7", "Double."]
    assert [one["user_query"] for one in attempt.notes["rounds"]] == ["Add.", "Double."]


def test_a_case_that_asks_begins_with_that() -> None:
    case = Case(id="c", messages=(Message(role="user", content="Add 3 and 4."),), criteria=())
    attempt, model = hold([STOP], ["7"], case=case)
    assert said(attempt) == ["7"]
    (request,) = model.requests
    assert [m.content for m in request.messages[2:3]] == ["Add 3 and 4."]
    assert "Add 3 and 4." in request.messages[0].content


def test_what_it_takes_and_costs() -> None:
    dialogue = build("dialogue", Spec(name="virtual_user", params={"max_rounds": 3}))
    assert dialogue.turns(CASE) == Turns(candidate=(1, 2, 3), simulator=(1, 3, 6))
    assert list(dialogue.problems(CASE)) == []
    (problem,) = dialogue.problems(Case(id="c", messages=(), criteria=()))
    assert "no task" in problem
    attempt, _ = hold(["Add.", STOP], ["7"])
    assert attempt.usage["simulator"]["calls"] == 2


def test_no_simulator_stops_it() -> None:
    attempt = hold_dialogue(build("dialogue", Spec(name="virtual_user")), CASE, "7")
    assert attempt.status is AttemptStatus.STOPPED
    assert "--simulator" in attempt.error


@pytest.mark.parametrize("params", [{"max_rounds": 0}, {"stop_word": " "}])
def test_parameters_that_make_no_sense(params: dict[str, Any]) -> None:
    with pytest.raises(PluginError):
        build("dialogue", Spec(name="virtual_user", params=params))
