"""End states compared with those of reference actions, in the real sandbox."""

import asyncio
from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer_async
from proctor.contracts.tool_session import ToolModule
from proctor.core.attempt import Attempt
from proctor.core.json_changes import changes_between
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Spec
from proctor.registry import build
from proctor.sandboxes.bubblewrap import Bubblewrap

pytestmark = pytest.mark.sandbox
SOURCE = """
def add(state: dict, n: float, note: str = "") -> float:
    if n < 0:
        raise ValueError("less than nothing")
    state["total"] += n
    state["log"].append({"n": n, "note": note})
    return state["total"]

def total_is(state: dict, n: float) -> bool:
    return state["total"] == n

def first_note(state: dict) -> str:
    state["total"] = 0  # What a check changes, no other check sees.
    return state["log"][0]["note"] if state["log"] else ""
"""
START: dict[str, Any] = {"total": 1, "log": []}
TOOLS = {"source": SOURCE, "state": START}


def case(**tools: Any) -> Case:
    spec = Spec(name="stateful_tools", params={"tools": {**TOOLS, **tools}})
    return Case(id="c", messages=(), criteria=(), dialogue=spec)


def scored(end: Any, *, of: Case | None = None, start: Any = None, **params: Any) -> Score:
    of = of or case()
    changes = changes_between(START if start is None else start, end)
    attempt = Attempt(case_id="c", notes={"state": {"key": "k", "changes": changes}})

    async def work() -> Score:
        sandbox = Bubblewrap()
        try:
            scorer = build("scorer", Spec(name="state_equal", params=params))
            ctx = ScoreContext(case=of, attempt=attempt, sandbox=sandbox)
            return await run_scorer_async(scorer, ctx)
        finally:
            await sandbox.close()

    return asyncio.run(work())


ADD: dict[str, Any] = {"name": "add", "arguments": {"n": 2, "note": "x"}}


@pytest.mark.parametrize(
    ("end", "params", "points", "words"),
    [
        ({"total": 3, "log": [{"n": 2, "note": "x"}]}, {"actions": [ADD]}, 1.0, "the wanted one"),
        ({"total": 3.0, "log": [{"n": 2, "note": "x"}]}, {"actions": [ADD]}, 1.0, ""),
        ({"total": 3, "log": [{"n": 2, "note": "y"}]}, {"actions": [ADD]}, 0.0,
         'log[0].note is "y", not "x"'),
        ({"total": 3, "log": [{"n": 2, "note": "y"}]}, {"actions": [ADD], "ignore": "note"}, 1.0, ""),
        ({"total": 3, "log": [{"n": 2, "note": "y"}]},
         {"actions": [ADD], "ignore": ["log[*].note"]}, 1.0, ""),
        # What is inside of an ignored value is ignored, and what is new in it.
        ({"total": 3, "log": []}, {"actions": [ADD], "ignore": ["log"]}, 1.0, ""),
        (START, {"actions": [ADD]}, 0.0, "nothing changed; total is 1, not 3"),
        (START, {}, 1.0, ""),
        (START, {"actions": []}, 1.0, ""),
        ({**START, "extra": 1}, {}, 0.0, "extra is 1, which is not wanted"),
        ({"total": 1}, {}, 0.0, "log is missing"),
        ({"total": 1.05, "log": []}, {"tolerance": 0.1}, 1.0, ""),
        ({"total": 9, "log": []}, {"values": {"total": 9}}, 1.0, "holds what is wanted"),
        ({"total": 8, "log": []}, {"values": {"total": 9, "sum": 1}}, 0.0,
         "total is 8, not 9; sum is missing"),
    ],
)  # fmt: skip
def test_states(end: Any, params: dict[str, Any], points: float, words: str) -> None:
    score = scored(end, **params)
    assert score.points == points
    assert words in score.reason


def check(n: float, **more: Any) -> dict[str, Any]:
    return {"name": "total_is", "arguments": {"n": n}, **more}


@pytest.mark.parametrize(
    ("end", "checks", "points", "words"),
    [
        ({"total": 3, "log": []}, [check(3)], 1.0, "all checks"),
        ({"total": 3, "log": []}, ["first_note", check(3)], 0.0, "first_note gives , not true"),
        ({"total": 3, "log": []}, [check(4, gives=False), check(3)], 1.0, ""),
        ({"total": 3, "log": []}, [check(4)], 0.0, "total_is gives false, not true"),
        ({"total": 3, "log": []}, [check(3, gives=False)], 0.0, "gives true, not false"),
        ({"total": 3, "log": [{"note": "x"}]},
         [{"name": "first_note", "gives": "x"}, check(3)], 1.0, ""),
        # A candidate that leaves what a check cannot read has not passed it.
        ({"log": []}, [check(3)], 0.0, "total_is failed"),
    ],
)  # fmt: skip
def test_checks_of_the_end(end: Any, checks: list[Any], points: float, words: str) -> None:
    score = scored(end, checks=checks)
    assert score.status is ScoreStatus.SCORED
    assert score.points == points
    assert words in score.reason


def test_a_check_that_fails_at_the_beginning_is_the_suites_doing() -> None:
    broken = case(source=SOURCE.replace('state["total"] == n', 'state["sum"] == n'))
    score = scored({"total": 3, "log": []}, of=broken, checks=[check(3)])
    assert score.status is ScoreStatus.FAILED
    assert "the check 'total_is' failed" in score.reason


def test_states_begin_where_actions_brought_them() -> None:
    begun = case(actions=[{"name": "add", "arguments": {"n": 1}}])
    start = {"total": 2, "log": [{"n": 1, "note": ""}]}
    assert scored(start, of=begun, start=start).points == 1.0
    end = {"total": 4, "log": [*start["log"], {"n": 2, "note": "x"}]}  # type: ignore[misc]
    assert scored(end, of=begun, start=start, actions=[ADD]).points == 1.0


def test_a_reference_that_fails_is_the_suites_doing() -> None:
    score = scored(START, actions=[{"name": "add", "arguments": {"n": -1}}])
    assert score.status is ScoreStatus.FAILED
    assert "reference action 'add' failed" in score.reason
    assert (
        scored(START, of=case(source="raise OSError()"), actions=[ADD]).status is ScoreStatus.FAILED
    )
    plain = Case(id="c", messages=(), criteria=())
    assert "no tools with a state" in scored(START, of=plain).reason


def test_what_is_wrong_is_told_beforehand() -> None:
    def built(**params: Any) -> Any:
        return build("scorer", Spec(name="state_equal", params=params))

    assert list(built(actions=[ADD]).problems()) == []
    for more in ({"values": {"a": 1}}, {"checks": ["add"]}):
        assert "not by more" in next(iter(built(actions=[ADD], **more).problems()))
    assert "no effect" in next(iter(built(checks=["first_note"], ignore="a").problems()))
    assert list(built(checks=["first_note", check(1)]).doubts(case())) == []
    assert "no function" in next(iter(built(checks=["first"]).doubts(case())))
    assert "needs 'n'" in next(iter(built(checks=["total_is"]).doubts(case())))
    assert "no path" in next(iter(built(ignore="a[").problems()))
    assert list(built(tolerance=-1).problems())
    assert list(built(actions=[ADD]).doubts(case())) == []
    assert "no tools with a state" in next(
        iter(built().doubts(Case(id="c", messages=(), criteria=())))
    )
    assert "none of the tools" in next(iter(built(actions=["ad"]).doubts(case())))
    assert "needs 'n'" in next(iter(built(actions=["add"]).doubts(case())))
    assert ToolModule(source=SOURCE).functions["add"].line == 2
