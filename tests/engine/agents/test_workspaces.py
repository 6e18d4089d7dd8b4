"""Places of agents: files laid out and brought back, one session, and nothing left behind."""

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.agent import Agent, Session, Workspace
from proctor.core.exchange import Usage
from proctor.core.fingerprint import digest_bytes
from proctor.core.rounds import Round, RoundState
from proctor.core.suite import Case, CaseFile, Message
from proctor.engine.agents import workspaces
from proctor.engine.agents.workspaces import AgentWorkspaces, lay, left_in, placed_cases
from proctor.engine.models.budget import Budget
from proctor.engine.models.proxy_call import ProxyCall
from proctor.errors import AgentError, BudgetError, ModelError, SuiteError

CASE = Case(id="c", messages=(Message(role="user", content="Go."),), criteria=())


@dataclass
class _Agent(Agent, Session):
    """An agent that writes a file and answers, or does what it is told."""

    gives: Round | Exception | None = None
    heard: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    opened: int = 0
    closed: int = 0
    identity: Any = "agent"
    label: str = "agent"

    async def open(self, workspace: Workspace) -> Session:
        self.opened += 1
        self.folders.append(workspace.folder)
        return self

    async def send(self, message: str) -> Round:
        self.heard.append(message)
        (self.folders[-1] / "out.txt").write_text(message)
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives or Round.of(message, "done", usage=Usage(cost=0.5))

    async def close(self) -> None:
        self.closed += 1


def talk(agent: _Agent, *turns: tuple[Message, ...], case: Case = CASE, **how: Any) -> list[Any]:
    kept: dict[str, bytes] = {}
    places = AgentWorkspaces(agent=agent, keep=kept.update, **how)

    async def work() -> list[Any]:
        async with places.seated(case, 0, None) as candidate:
            return [await candidate.reply(None, turn) for turn in turns]  # type: ignore[arg-type]

    try:
        return [*asyncio.run(work()), kept]
    finally:
        assert not any(folder.exists() for folder in agent.folders)


def test_a_session_is_opened_once_and_told_what_is_new() -> None:
    agent = _Agent()
    system, user = Message(role="system", content="Rules."), Message(role="user", content="Go.")
    more = Message(role="user", content="More.")
    first, second, kept = talk(agent, (system, user), (system, user, more))
    assert agent.heard == ["Rules.\n\nGo.", "More."]
    assert (agent.opened, agent.closed) == (1, 1)
    assert (first.text, first.finish, first.usage.cost) == ("done", "stop", 0.5)
    assert kept[second.files["out.txt"]] == b"More."


def test_a_failed_round_is_a_reply_and_a_broken_one_an_error_with_it() -> None:
    failed = Round.failed("Go.", "gave up")
    reply, _ = talk(_Agent(gives=failed), CASE.messages)
    assert (reply.text, reply.finish) == (None, "failed")
    broken = replace(failed, broken=True, traceback="line 3")
    agent = _Agent(gives=broken)
    with pytest.raises(AgentError, match="the agent failed: gave up") as caught:
        talk(agent, CASE.messages)
    assert caught.value.traceback == "line 3"
    assert caught.value.reply.round["state"] == RoundState.FAILED
    assert agent.closed == 1


def test_an_agent_that_cannot_be_reached_is_let_go_of() -> None:
    agent = _Agent(gives=ModelError("nobody there"))
    with pytest.raises(ModelError, match="nobody there"):
        talk(agent, CASE.messages)
    assert agent.closed == 1


def test_what_an_agent_says_that_it_spent_counts_and_what_passed_by_counts_instead() -> None:
    budget = Budget(most=0.4)
    talk(_Agent(), CASE.messages, budget=budget)
    assert budget.spent == 0.5
    with pytest.raises(BudgetError):
        talk(_Agent(), CASE.messages, budget=budget)

    call = ProxyCall(
        path="/v1", model="m", request_messages=[], reply_text="so", usage=Usage(calls=1, cost=0.25)
    )
    calls = (call, call)
    seen = workspaces._with_calls(Round.of("q", "a", usage=Usage(cost=9.0)), calls)
    assert [post.message for post in seen.posts] == ["q", call.post.message, call.post.message, "a"]
    assert (seen.usage.calls, seen.usage.cost) == (2, 0.5)


def test_files_are_laid_out_as_they_were_when_the_suite_was_read(tmp_path: Path) -> None:
    source = tmp_path / "data.csv"
    source.write_bytes(b"1,2")
    file = CaseFile(name="in/data.csv", digest=digest_bytes(b"1,2"), path=str(source))
    folder = tmp_path / "work"
    folder.mkdir()
    lay(replace(CASE, files=(file,)), folder)
    assert (folder / "in" / "data.csv").read_bytes() == b"1,2"
    for wrong, words in [
        (replace(file, name="../x"), "outside of the working folder"),
        (replace(file, digest="0"), "has changed since the suite was read"),
        (replace(file, path=str(tmp_path / "gone")), "cannot be read"),
    ]:
        with pytest.raises(ModelError, match=words):
            lay(replace(CASE, files=(wrong,)), folder)
    assert not (tmp_path / "x").exists()


def test_what_an_agent_leaves_is_kept_and_links_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    folder = tmp_path / "work"
    (folder / "b").mkdir(parents=True)
    (folder / "b" / "two").write_bytes(b"22")
    (folder / "a").write_bytes(b"1")
    (folder / "same").write_bytes(b"1")
    (folder / "link").symlink_to(secret)
    contents, names = left_in(folder)
    assert {name: contents[key] for name, key in names.items()} == {
        "a": b"1",
        "b/two": b"22",
        "same": b"1",
    }
    assert len(contents) == 2
    monkeypatch.setattr(workspaces, "MOST_BYTES", 2)
    assert left_in(folder)[1]["b/two"] == ""
    monkeypatch.setattr(workspaces, "MOST_FILES", 1)
    assert len(left_in(folder)[1]) == 1
    linked = tmp_path / "linked"
    linked.symlink_to(folder)
    assert left_in(linked) == ({}, {})


def test_cases_that_cannot_begin_are_named_and_the_others_are_placed() -> None:
    cases = tuple(replace(CASE, id=name) for name in "abc")

    @dataclass
    class _Choosy(_Agent):
        moves: bool = True

        def placed(self, case: Case) -> Case:
            if case.id == "b" and self.moves:
                raise SuiteError("no such folder")
            return replace(case, source="here") if self.moves else case

    placed, lacking = placed_cases(_Choosy(), cases)
    assert [(case.id, case.source) for case in placed] == [("a", "here"), ("c", "here")]
    assert {name: problem.message for name, problem in lacking.items()} == {"b": "no such folder"}
    assert placed_cases(_Choosy(moves=False), cases) == (cases, {})
    assert placed_cases(_Choosy(moves=False), cases)[0] is cases
