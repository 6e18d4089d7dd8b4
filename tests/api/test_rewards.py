"""Rewards as trainers call them: their keywords, what stands for no score, and where reasons go."""

import asyncio
import inspect
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from proctor import Grader, ProctorError, rewards
from proctor.api.rewards import output_of

QUIZ = """\
name: quiz
cases:
  - {id: capital, ask: "Capital of France?", criteria: {contains: Paris}}
  - {id: broken, ask: "?", criteria: {rouge: {}}}
"""
NO_REFERENCE = "rouge"
"""A criterion without a reference cannot be scored."""


@pytest.fixture(scope="module")
def grader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    path = tmp_path_factory.mktemp("rewards") / "quiz.yaml"
    path.write_text(QUIZ, encoding="utf-8")
    with Grader(path) as grader:
        assert grader.score_one("broken", "x").value is None
        yield grader


def say(text: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}]


def test_trl_gets_a_reward_or_none_for_each_completion(grader: Grader) -> None:
    extra: dict[str, list[Any]] = {}
    metrics: dict[str, float] = {}
    reward = rewards.trl(grader)
    got = reward(
        prompts=["q"] * 4,
        completions=["Paris", say("Rome"), say([{"type": "text", "text": "Paris"}]), "x"],
        completion_ids=[[1]] * 4,
        trainer_state=SimpleNamespace(global_step=1),
        log_extra=extra.__setitem__,
        log_metric=metrics.__setitem__,
        case=["capital", "capital", "capital", "broken"],
    )
    assert got == [1.0, 0.0, 1.0, None]
    assert reward.__name__ == "proctor"
    assert [bool(why) for why in extra["proctor_why"]] == [False, True, False, True]
    assert metrics == {"proctor/unscored": 0.25}


def test_trl_needs_no_logs(grader: Grader) -> None:
    reward = rewards.trl(grader, case_column="id", name="quiz")
    assert reward(prompts=["q"], completions=["Paris"], id=["capital"]) == [1.0]
    assert reward.__name__ == "quiz"


def test_a_missing_column_is_named(grader: Grader) -> None:
    with pytest.raises(ProctorError, match=r"no column 'case'.*it has: answer"):
        rewards.trl(grader)(prompts=["q"], completions=["x"], answer=["y"])


@pytest.mark.parametrize(
    ("completion", "output"),
    [
        ("text", "text"),
        (None, None),
        (say("text"), "text"),
        ([*say("first"), {"role": "tool", "content": "4"}, *say("last")], "last"),
        (say(None), ""),
        ([{"role": "tool", "content": "4"}], None),
        ([], None),
    ],
)
def test_completions_become_outputs(completion: Any, output: str | None) -> None:
    got = output_of("c", completion)
    assert (got if got is None or isinstance(got, str) else got.output) == output


def test_what_is_no_completion_is_refused() -> None:
    with pytest.raises(ProctorError, match="not int"):
        output_of("c", 7)


def verl_call(grader: Grader, case: Any, text: str, **policy: Any) -> dict[str, Any]:
    compute_score = rewards.verl(grader, **policy)
    assert inspect.iscoroutinefunction(compute_score), "verl awaits only what is one"
    work = compute_score(
        data_source="quiz",
        solution_str=text,
        ground_truth=None,
        extra_info={"case": case, "num_turns": 1},
        reward_router_address="unused",
    )
    return asyncio.run(work)  # type: ignore[arg-type]


def test_verl_gets_a_number_and_the_same_keys_for_every_sample(grader: Grader) -> None:
    good = verl_call(grader, "capital", "Paris", no_score=-1.0)
    bad = verl_call(grader, "capital", "Rome", no_score=-1.0)
    none = verl_call(grader, "broken", "x", no_score=-1.0)
    assert [one["score"] for one in (good, bad, none)] == [1.0, 0.0, -1.0]
    assert [one["scored"] for one in (good, bad, none)] == [True, True, False]
    assert {*good} == {*bad} == {*none} == {"score", "scored", "why", "case"}
    assert none["why"]


def test_verl_may_be_told_by_an_error(grader: Grader) -> None:
    with pytest.raises(rewards.NoScore, match="'broken' has no score"):
        verl_call(grader, "broken", "x", no_score="raise")
    with pytest.raises(ProctorError, match="must be the id of a case"):
        verl_call(grader, None, "x", no_score=0)


@pytest.mark.parametrize("rule", [float("nan"), float("inf"), "zero", None])
def test_the_number_for_no_score_is_a_number(grader: Grader, rule: Any) -> None:
    for adapter in (rewards.verl, rewards.verifiers):
        with pytest.raises(ProctorError, match="no_score is a number or 'raise'"):
            adapter(grader, no_score=rule)


def test_verifiers_gets_a_reward_and_the_reason_in_the_trace(grader: Grader) -> None:
    reward = rewards.verifiers(grader)
    assert list(inspect.signature(reward).parameters) == ["task", "trace"]
    trace = SimpleNamespace(last_reply="Rome", info={})
    work = reward(task=SimpleNamespace(case="capital"), trace=trace)
    assert asyncio.run(work) == 0.0  # type: ignore[arg-type]
    assert "Paris" in trace.info["proctor"]["why"]
    with pytest.raises(rewards.NoScore):
        asyncio.run(reward(task=SimpleNamespace(case="broken"), trace=trace))  # type: ignore[arg-type]
    quiet = rewards.verifiers(grader, no_score=0.5, case_field="id")
    assert asyncio.run(quiet(task=SimpleNamespace(id="broken"), trace=trace)) == 0.5  # type: ignore[arg-type]
    with pytest.raises(ProctorError, match="no field 'id'"):
        asyncio.run(quiet(task=SimpleNamespace(), trace=trace))  # type: ignore[arg-type]
