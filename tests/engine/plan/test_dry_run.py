"""What a run with models will take: calls, tokens and money, less what is stored."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.dialogue import Turns
from proctor.contracts.model import ModelChoice
from proctor.core.exchange import Sampling
from proctor.core.suite import Case, Message
from proctor.engine.plan.dry_run import Plan, plan, plan_all
from proctor.engine.plan.estimate import PROMPT, REPLY, VERDICT, Estimate, mean_price, reply_range
from proctor.engine.run.evaluate import evaluate
from proctor.engine.run.settings import CallSettings, JudgeSettings, RunSettings, SuiteSettings
from proctor.store.store import Store
from proctor.testing import FakeServer

SUITE = """\
name: s
criteria: [{judged: Is it nice}, {contains: x}]
cases:
  - {id: a, ask: "aaaa aaaa"}
  - {id: b, ask: "bbbb bbbb"}
"""
ASKED = """\
name: d
dialogue: {clarify: {max_turns: 3, tries: 4}}
criteria: {noted: correct}
cases:
  - {id: a, ask: "How long?", references: 2 h, hidden: {points: [how far]}}
"""
FAR = "openai:{}@https://far.example/v1"
YES = '{"reason": "r", "result": "yes"}'


def answers(messages: list[Any], body: dict[str, Any]) -> str:
    """Answer as the candidate, and rule as the judge."""
    return YES if body["model"] == "j" else "Hello."


Planner = Callable[..., Plan]


@pytest.fixture
def planned(tmp_path: Path, store: Store) -> Planner:
    def make(text: str = SUITE, judges: tuple[str, ...] = ("judge",), **how: Any) -> Plan:
        path = tmp_path / "suite.yaml"
        path.write_text(text)
        chosen = tuple(ModelChoice(spec=FAR.format(name)) for name in judges)
        made = RunSettings(
            suite=SuiteSettings(path=path),
            model=ModelChoice(spec=FAR.format("m"), sampling=how.pop("sampling", Sampling())),
            panel=JudgeSettings(judges=chosen, repeats=how.pop("repeats", 1)),
            calls=CallSettings(prices=how.pop("prices", {})),
            **how,
        )
        return plan(made, store)

    return make


@pytest.mark.parametrize(
    ("how", "candidate", "judge"),
    [
        ({}, [2, 2, 2], [2, 2, 6]),
        ({"attempts": 3}, [6, 6, 6], [6, 6, 18]),
        ({"judges": ("j", "k")}, [2, 2, 2], [4, 4, 12]),
        ({"repeats": 5}, [2, 2, 2], [10, 10, 30]),
        ({"judges": ("j", "k"), "repeats": 2, "attempts": 2}, [4, 4, 4], [16, 16, 48]),
        ({"text": ASKED}, [1, 2, 3], [1, 2, 12]),
        ({"text": ASKED, "judges": ("j", "k")}, [1, 2, 3], [2, 4, 24]),
        ({"text": ASKED, "attempts": 2, "repeats": 3}, [2, 4, 6], [6, 12, 72]),
    ],
)
def test_calls(
    planned: Planner, how: dict[str, Any], candidate: list[int], judge: list[int]
) -> None:
    made = planned(**how)
    assert made.problems == ()
    roles = made.usage["roles"]
    assert roles["candidate"] == candidate
    assert roles["judge"] == judge
    others = roles.get("simulator", [0, 0, 0])
    total = [sum(ends) for ends in zip(candidate, judge, others, strict=True)]
    assert made.usage["range"]["calls"] == total
    assert made.usage["calls"] == total[1]


def test_a_simulated_user_is_counted(planned: Planner) -> None:
    assert planned(ASKED).usage["roles"]["simulator"] == [0, 1, 4]
    assert "simulator" not in planned().usage["roles"]


@pytest.mark.parametrize("limit", [None, 10, 5000])
def test_tokens_lie_between_a_low_and_a_high_end(planned: Planner, limit: int | None) -> None:
    made = planned(text=ASKED, sampling=Sampling(max_tokens=limit)).usage
    for name in ("calls", "prompt_tokens", "completion_tokens"):
        low, likely, high = made["range"][name]
        assert 0 < low <= likely <= high
        assert made[name] == likely
    assert made["range"]["cost"] is None
    assert made["cost"] is None


def test_replies_are_no_longer_than_they_may_be(planned: Planner) -> None:
    short, free = (
        planned("name: s\ncases: [{id: a, ask: aaaa, criteria: x}]\n", judges=(), sampling=how)
        for how in (Sampling(max_tokens=10), Sampling())
    )
    assert short.usage["range"]["completion_tokens"] == [10, 10, 10]
    assert free.usage["range"]["completion_tokens"] == list(REPLY)
    assert free.usage["range"]["prompt_tokens"] == [2, 2, 2]


@pytest.mark.parametrize(
    ("judges", "prices", "known"),
    [
        (("j",), {}, False),
        (("j",), {"m": (1.0, 2.0)}, False),
        (("j",), {"j": (1.0, 2.0)}, False),
        (("j",), {"m": (1.0, 2.0), "j": (3.0, 4.0)}, True),
        (("j", "k"), {"m": (1.0, 2.0), "j": (3.0, 4.0)}, False),
        (("j", "k"), {"m": (1.0, 2.0), "j": (3.0, 4.0), "k": (0.0, 0.0)}, True),
        (("j",), {"openai:m": (1.0, 2.0), "openai:j": (3.0, 4.0)}, True),
    ],
)
def test_a_cost_needs_the_price_of_everybody(
    planned: Planner, judges: tuple[str, ...], prices: dict[str, Any], known: bool
) -> None:
    cost = planned(judges=judges, prices=prices).usage["range"]["cost"]
    assert (cost is not None) is known


def test_the_cost_is_that_of_the_tokens(planned: Planner) -> None:
    prices = {"m": (1000.0, 0.0), "j": (0.0, 2000.0), "k": (0.0, 4000.0)}
    made = planned(judges=("j", "k"), prices=prices).usage
    # two cases of 3 tokens; four verdicts at least, twelve at most, of two judges alike
    asked = 2 * 3 * 1000
    verdicts = [4 * VERDICT[0] * 3000, 4 * VERDICT[1] * 3000, 12 * VERDICT[2] * 3000]
    assert made["range"]["cost"] == pytest.approx([(asked + part) / 1e6 for part in verdicts])
    assert made["cost"] == pytest.approx((asked + verdicts[1]) / 1e6)


def test_what_is_stored_is_left_out(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)

    def given(url: str, *, limit: int | None = None, attempts: int = 1) -> RunSettings:
        return RunSettings(
            suite=SuiteSettings(path=path, limit=limit),
            model=ModelChoice(spec=f"openai:m@{url}"),
            panel=JudgeSettings(judges=(ModelChoice(spec=f"openai:j@{url}"),)),
            attempts=attempts,
        )

    def numbers(made: Plan) -> tuple[int, ...]:
        calls = made.usage["range"]["calls"]
        return made.attempts, made.attempts_stored, made.scores, made.stored, calls[0]

    with FakeServer(answers) as server:
        url = server.url
        assert numbers(plan(given(url), store)) == (2, 0, 4, 0, 4)
        asyncio.run(evaluate(given(url, limit=1), store))
        assert numbers(plan(given(url), store)) == (2, 1, 4, 2, 2)
        asyncio.run(evaluate(given(url), store))
        asked = len(server.calls)
    done = plan(given(url), store)
    assert numbers(done) == (2, 2, 4, 4, 0)
    assert done.to_do == 0
    assert done.usage["range"]["cost"] == [0.0, 0.0, 0.0]
    assert numbers(plan(given(url, attempts=2), store)) == (4, 2, 8, 4, 4)
    assert numbers(plan(given(url), None)) == (2, 0, 4, 0, 4)
    # a server on this machine costs nothing, and a plan asks nobody
    assert plan(given(url), None).usage["cost"] == 0.0
    assert len(server.calls) == asked == 4


def test_other_criteria_judge_stored_answers_only(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    with FakeServer(answers) as server:
        made = RunSettings(
            suite=SuiteSettings(path=path),
            model=ModelChoice(spec=f"openai:m@{server.url}"),
            panel=JudgeSettings(judges=(ModelChoice(spec=f"openai:j@{server.url}"),)),
        )
        asyncio.run(evaluate(made, store))
    path.write_text(SUITE.replace("nice", "rude"))
    found = plan(made, store)
    assert (found.attempts_stored, found.stored, found.to_do) == (2, 2, 2)
    assert dict(found.scorers) == {"judged": 2, "contains": 0}
    assert found.usage["roles"] == {"judge": [2, 2, 6]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"panel": JudgeSettings()}, "ask a judge, and there is none"),
        ({"model": None}, "there is no candidate"),
        ({"model": ModelChoice(spec="nobody:m")}, "there is no model 'nobody'"),
        ({"model": ModelChoice(spec="replay:missing.jsonl")}, "replay:missing.jsonl: No such file"),
        ({"calls": CallSettings(max_cost=1.0)}, "--max-cost cannot be enforced"),
    ],
)
def test_problems(tmp_path: Path, store: Store, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    given: dict[str, Any] = {
        "model": ModelChoice(spec=FAR.format("m")),
        "panel": JudgeSettings(judges=(ModelChoice(spec=FAR.format("j")),)),
        **changes,
    }
    [made] = plan_all(RunSettings(suite=SuiteSettings(path=path), **given), store)
    [problem] = made.problems
    assert message in problem.message
    assert made.usage == {}


def test_a_plan_writes_no_cassette(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    tape = tmp_path / "tape.jsonl"
    given = RunSettings(
        suite=SuiteSettings(path=path),
        model=ModelChoice(spec=FAR.format("m")),
        panel=JudgeSettings(judges=(ModelChoice(spec=FAR.format("j")),)),
        calls=CallSettings(record=tape),
    )
    assert plan(given, store).problems == ()
    assert not tape.exists()


# the arithmetic


def case(text: str) -> Case:
    return Case(id="a", messages=(Message(role="user", content=text),), criteria=())


def test_a_transcript_grows_with_each_turn() -> None:
    made = Estimate()
    made.dialogue(case("aaaa"), Turns(candidate=(1, 2, 3)), 100)
    role = made.roles["candidate"]
    low, likely, high = reply_range(100)
    assert role.calls == [1, 2, 3]
    # each call shows the question (2 tokens) and, on average, half of the replies before it
    assert role.prompt_tokens == [2, 2 * (2 + likely / 2), 3 * (2 + high)]
    assert role.completion_tokens == [low, 2 * likely, 3 * high]


def test_the_judge_of_a_dialogue_is_told_more() -> None:
    made = Estimate()
    made.dialogue(case("aaaa"), Turns(judge=(1, 1, 1)), None, rulings=2)
    judge = made.roles["judge"]
    assert judge.calls == [2, 2, 2]
    assert judge.prompt_tokens == [2 * (2 + PROMPT)] * 3
    assert judge.completion_tokens == [2 * part for part in VERDICT]


@pytest.mark.parametrize(
    ("prices", "mean"),
    [
        ([], None),
        ([None], None),
        ([(1.0, 2.0)], (1.0, 2.0)),
        ([(1.0, 2.0), (3.0, 4.0)], (2.0, 3.0)),
        ([(1.0, 2.0), None], None),
    ],
)
def test_the_price_of_a_panel(prices: list[Any], mean: Any) -> None:
    assert mean_price(prices) == mean
