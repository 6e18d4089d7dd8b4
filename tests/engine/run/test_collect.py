"""Holding dialogues with a model: each attempt made once, kept, and tried again where it failed."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.attempt import AttemptStatus
from proctor.core.exchange import Reply, Request, Sampling, Usage
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.run import Run
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.models.budget import Budget
from proctor.engine.models.call_cache import CallLog, StoredModel
from proctor.engine.models.roles import Cast
from proctor.engine.run.attempt_writer import AttemptWriter
from proctor.engine.run.collect import AttemptPlan, CollectedCounts, Collector
from proctor.engine.run.scorer_pool import Dialogues, Scorers
from proctor.errors import ModelError, PluginError
from proctor.store.store import Store
from proctor.testing import ScriptedModel

EXACT = Criterion(id="e", scorer=Spec(name="exact_match"))
BROKEN = """
from dataclasses import dataclass
from proctor.contracts.dialogue import Dialogue

@dataclass(frozen=True)
class Broken(Dialogue):
    how: str = "raises"

    async def hold(self, ctx):
        if self.how == "raises":
            return {}["nothing"]
        if self.how == "asks":
            from proctor.dialogues.single_turn import SingleTurn
            return await SingleTurn().hold(ctx)
        import asyncio
        await asyncio.sleep(3600)
"""


def suite(*ids: str, dialogue: Spec | None = None, compat: str = "") -> Suite:
    cases = tuple(
        Case(
            id=name,
            messages=(Message(role="user", content=f"{name}?"),),
            criteria=(EXACT,),
            references=(name,),
            dialogue=dialogue or Spec(name="single_turn"),
        )
        for name in ids
    )
    return Suite(name="s", cases=cases, compat=compat)


Made = tuple[CollectedCounts, dict[tuple[str, int], Any]]


@pytest.fixture
def interview(store: Store) -> Callable[..., Made]:
    """Interview a model as a run does, and return what is linked to it afterwards."""

    def hold(model: ScriptedModel, given: Suite, **how: Any) -> Made:
        choice = how.pop("choice", ModelChoice(spec="scripted:m"))
        log, budget = CallLog(store), how.pop("budget", Budget())
        cast = Cast(candidate=StoredModel(model, log, budget), choice=choice)
        roster = AttemptPlan(
            suite=given,
            dialogues=Dialogues(allow_import=how.pop("allow_import", False)),
            cast=cast,
            attempts=how.pop("attempts", 1),
        )
        keyed = [(case_key(case), case) for case in given.cases]
        key = suite_key(given, [found for found, _ in keyed])
        store.suites.put(given, key, keyed)
        store.runs.save(Run(id="run", name="r", suite="s", suite_key=key, candidate=Spec(name="m")))
        writer = AttemptWriter(store, "run")
        who = Collector(writer=writer, roster=roster, scorers=Scorers(), **how)
        seen: list[tuple[int, int]] = []
        counted = asyncio.run(who.collect(lambda done: seen.append((done.done, done.total))))
        assert seen[-1] == (counted.done, counted.total)
        linked = {
            (row.case.id, attempt.index): attempt
            for row in store.attempts.iter_cases("run")
            for attempt, _ in row.attempts
        }
        return counted, linked

    return hold


def say(request: Request) -> str:
    return request.messages[-1].content.rstrip("?")


Interview = Callable[..., Made]


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_second_run_asks_nothing(interview: Interview, attempts: int) -> None:
    given, model = suite("a", "b"), ScriptedModel(say)
    first, linked = interview(model, given, attempts=attempts)
    assert (first.total, first.finished, first.stored, first.failed) == (
        2 * attempts,
        2 * attempts,
        0,
        0,
    )
    assert {place: attempt.output for place, attempt in linked.items()} == {
        (name, index): name for name in "ab" for index in range(attempts)
    }
    assert sorted(request.salt for request in model.requests) == [
        f"{name}#{index}" for name in "ab" for index in range(attempts)
    ]
    again, same = interview(ScriptedModel([]), given, attempts=attempts)
    assert (again.finished, again.stored) == (0, 2 * attempts)
    assert same == linked


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({}, 0),
        ({"attempts": 2}, 2),
        ({"choice": ModelChoice(spec="scripted:m", sampling=Sampling(temperature=1.0))}, 2),
        ({"choice": ModelChoice(spec="scripted:m", system="S")}, 2),
        ({"choice": ModelChoice(spec="scripted:m", suffix="X")}, 2),
        ({"choice": ModelChoice(spec="scripted:m", concurrency=3, timeout=9.0)}, 0),
        ({"given": suite("a", "b", "c")}, 1),
        ({"given": suite("b", "a")}, 0),
        ({"given": suite("a", "b", dialogue=Spec(name="single_turn", params={"null_as": "x"}))}, 0),
        ({"model": ScriptedModel(say, name="another")}, 2),
        ({"ignore_stored": True}, 0),
    ],
)
@pytest.mark.sampled(11)
def test_only_what_changed_is_asked(
    interview: Interview, change: dict[str, Any], asked: int
) -> None:
    """Another dialogue that asks the same, or all of them afresh, takes the calls of the store."""
    how = {"model": ScriptedModel(say), "given": suite("a", "b")}
    interview(**how)
    model = change.get("model", ScriptedModel(say))
    counted, _ = interview(**{**how, "model": model, **change})
    assert len(model.requests) == asked
    assert counted.done == counted.total
    assert counted.failed == 0


def test_a_changed_question_is_asked_again_and_changed_marks_are_not(interview: Interview) -> None:
    given = suite("a", "b")
    interview(ScriptedModel(say), given)
    first, second = given.cases
    changed = replace(first, messages=(Message(role="user", content="A, please?"),))
    marked = replace(second, criteria=(replace(EXACT, weight=2.0),), references=("B",))
    model = ScriptedModel(say)
    interview(model, replace(given, cases=(changed, marked)))
    assert [request.messages[0].content for request in model.requests] == ["A, please?"]


@pytest.mark.parametrize("compat", ["", "original"])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_original_makes_all_first_attempts_first(
    interview: Interview, compat: str, concurrency: int
) -> None:
    events: list[tuple[str, str]] = []

    class Slow(ScriptedModel):
        async def reply(self, request: Request) -> Reply:
            events.append(("asked", request.salt))
            for _ in range(5 if request.salt == "a#0" else 1):
                await asyncio.sleep(0)
            events.append(("said", request.salt))
            return await super().reply(request)

    interview(
        Slow(), suite("a", "b", compat=compat), attempts=2, concurrency=concurrency
    )  # fmt: skip
    asked = [salt for what, salt in events if what == "asked"]
    if compat:
        assert asked == ["a#0", "b#0", "a#1", "b#1"]
        assert events.index(("said", "a#0")) < events.index(("asked", "a#1"))
        assert events.index(("said", "b#0")) < events.index(("asked", "a#1"))
    else:
        assert asked == ["a#0", "a#1", "b#0", "b#1"]


@pytest.mark.parametrize(
    "error",
    [
        ModelError("nobody there", passing=True),
        ModelError("bad request", status=400),
        ModelError("it broke", status=500, passing=True),
    ],
)
def test_an_attempt_in_error_is_made_by_the_next_run(
    interview: Interview, error: ModelError
) -> None:
    given = suite("a", "b", "c")
    failing = ScriptedModel(lambda request: error if "b" in say(request) else say(request))
    counted, linked = interview(failing, given)
    assert (counted.finished, counted.failed) == (3, 1)
    assert (linked["b", 0].status, linked["b", 0].error) == (AttemptStatus.ERROR, str(error))
    assert linked["b", 0].messages == ()
    model = ScriptedModel(say)
    counted, linked = interview(model, given)
    assert (counted.stored, counted.finished, counted.failed) == (2, 1, 0)
    assert [request.salt for request in model.requests] == ["b#0"]
    assert linked["b", 0].output == "b"
    assert linked["b", 0].error == ""


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_is_refused_to_one_is_refused_to_all(
    interview: Interview, store: Store, status: int
) -> None:
    """The run ends at once; what was said before is kept."""
    given = suite(*(f"c{number}" for number in range(50)))
    lines = ["first", *[ModelError("no such model", status=status)] * 49]
    model = ScriptedModel(lines)
    with pytest.raises(ModelError, match="no such model"):
        interview(model, given, concurrency=2)
    assert len(model.requests) < 6
    later = ScriptedModel(say)
    counted, _ = interview(later, given)
    assert (counted.done, len(later.requests)) == (50, 49)


def test_no_answer_is_no_error(interview: Interview) -> None:
    counted, linked = interview(ScriptedModel([None]), suite("a"))
    assert counted.failed == 0
    assert linked["a", 0].status is AttemptStatus.UNANSWERED
    again, _ = interview(ScriptedModel([]), suite("a"))
    assert (again.stored, again.finished) == (1, 0)


def test_money_that_is_spent_ends_attempts_in_error(interview: Interview) -> None:
    class Paid(ScriptedModel):
        price = (0.0, 1e6)

        async def reply(self, request: Request) -> Reply:
            made = await super().reply(request)
            return replace(made, usage=Usage(calls=1, completion_tokens=1, cost=1.0))

    given = suite("a", "b", "c")
    choice = ModelChoice(spec="scripted:m", sampling=Sampling(max_tokens=1))
    model = Paid(say)
    how: dict[str, Any] = {"choice": choice, "concurrency": 1}
    counted, linked = interview(model, given, budget=Budget(most=2.0), **how)
    assert (len(model.requests), counted.failed) == (2, 1)
    assert "of --max-cost are spent" in linked["c", 0].error
    counted, linked = interview(model, given, budget=Budget(most=9.0), **how)
    assert (len(model.requests), counted.failed) == (3, 0)
    assert linked["c", 0].usage["candidate"]["cost"] == 1.0


# dialogues of others


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Spec]:
    (tmp_path / "strange_dialogues.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(str(tmp_path))
    return lambda how: Spec(name="strange_dialogues:Broken", params={"how": how})


def test_a_stranger_s_dialogue_that_breaks(
    interview: Interview, strange: Callable[[str], Spec]
) -> None:
    given = suite("a", dialogue=strange("raises"))
    counted, linked = interview(ScriptedModel(), given, allow_import=True)
    assert (counted.finished, counted.failed) == (1, 1)
    assert linked["a", 0].status is AttemptStatus.ERROR
    assert linked["a", 0].error == (
        "the dialogue 'strange_dialogues:Broken' broke: KeyError: 'nothing'"
    )


def test_a_dialogue_that_never_ends(interview: Interview, strange: Callable[[str], Spec]) -> None:
    given = suite("a", dialogue=strange("hangs"))
    counted, linked = interview(ScriptedModel(), given, allow_import=True, deadline=0.01)
    assert counted.failed == 1
    assert linked["a", 0].error == "took longer than the 0.01 s allowed"


def test_a_stranger_s_dialogue_that_works(
    interview: Interview, strange: Callable[[str], Spec]
) -> None:
    _, linked = interview(
        ScriptedModel(say), suite("a", dialogue=strange("asks")), allow_import=True
    )
    assert linked["a", 0].output == "a"


def test_a_stranger_s_dialogue_needs_leave(
    interview: Interview, strange: Callable[[str], Spec]
) -> None:
    with pytest.raises(PluginError, match="--allow-import"):
        interview(ScriptedModel(say), suite("a", dialogue=strange("asks")))


def test_problems_and_needs_of_a_suite() -> None:
    plain = suite("a", "b")
    asked = suite("c", dialogue=Spec(name="clarify"))
    lacking = replace(asked, cases=tuple(replace(case, references=()) for case in asked.cases))
    dialogues = Dialogues()
    assert dialogues.needs(plain) == set()
    assert dialogues.needs(replace(plain, cases=(*plain.cases, *asked.cases))) == {
        "judge", "simulator",
    }  # fmt: skip
    assert dialogues.problems(asked) == []
    [problem] = dialogues.problems(lacking)
    assert problem.message.startswith("case 'c': the case has no reference")
