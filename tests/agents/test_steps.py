"""What agents tell, and the rounds that are made of it."""

from typing import Any

import pytest

from proctor.agents.steps import round_of
from proctor.core.rounds import RoundState, round_from


def posts(told: Any) -> list[tuple[str, str, str]]:
    made = round_of("q", told)
    assert made.error == ""
    return [(post.send_from, post.send_to, post.message) for post in made.posts]


FIRST, LAST = ("User", "Planner", "q"), ("Planner", "User", "a")


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ("a", [FIRST, LAST]),
        ({"reply": "a"}, [FIRST, LAST]),
        ({"reply": 4.5}, [FIRST, ("Planner", "User", "4.5")]),
        ({"reply": {"x": "é"}}, [FIRST, ("Planner", "User", '{"x": "é"}')]),
        ({"reply": "a", "steps": ["hm"]}, [FIRST, ("Planner", "Planner", "hm"), LAST]),
        (
            {"reply": "a", "steps": [{"tool": "calc", "input": "1+1", "output": 2}]},
            [FIRST, ("Planner", "calc", "1+1"), ("calc", "Planner", "2"), LAST],
        ),
        (
            {"reply": "a", "steps": [{"from": "Coder", "to": "Tester", "message": "try it"}]},
            [FIRST, ("Coder", "Tester", "try it"), LAST],
        ),
        (
            {"reply": "a", "steps": [{"send_from": "A", "send_to": "B", "attachment_list": []}]},
            [FIRST, ("A", "B", ""), LAST],
        ),
        ({"steps": [{"to": "User", "message": "a"}]}, [FIRST, LAST]),
        ({"post_list": [{"send_from": "X", "send_to": "User", "message": "m"}]}, [("X", "User", "m")]),
        ({"round": {"post_list": []}}, []),
    ],
)  # fmt: skip
def test_told_becomes_posts(told: Any, wanted: list[tuple[str, str, str]]) -> None:
    assert posts(told) == wanted


def test_attachments_and_usage_are_kept() -> None:
    told = {
        "reply": "a",
        "usage": {"input_tokens": 7, "output_tokens": 3, "cost": 0.5},
        "steps": [
            {"message": "m", "type": "python", "content": "print(1)", "extra": {"k": 1}},
            {"message": "n", "attachments": [{"type": "plan", "content": ["x"]}]},
        ],
    }
    made = round_of("q", told)
    kinds = [(a.type, a.content, a.extra) for post in made.posts for a in post.attachments]
    assert kinds == [("python", "print(1)", {"k": 1}), ("plan", ["x"], None)]
    used = made.usage
    assert (used.calls, used.prompt_tokens, used.completion_tokens, used.cost) == (1, 7, 3, 0.5)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"error": "out of ideas"}, "out of ideas"),
        ({"error": {"code": 3}}, '{"code": 3}'),
        ({}, "it gave no reply"),
        ({"reply": None}, "it gave no reply"),
        ({"reply": "a", "steps": "none"}, "its steps are no list"),
        ({"reply": "a", "steps": [7]}, "step 1: a step is an object or a text"),
        ({"reply": "a", "steps": ["x", {"mesage": "m"}]}, "step 2: unknown field 'mesage'"),
        ({"reply": "a", "steps": [{"tool": "t", "in": 1}]}, "step 1: unknown field 'in'"),
        ({"reply": "a", "steps": [{"attachments": ["x"]}]}, "attachments are a list of objects"),
        ({"post_list": [], "state": "lost"}, "a round's state is"),
        ({"post_list": [], "state": "failed"}, "the round is failed"),
    ],
)
def test_what_is_no_answer_is_a_failed_round(told: Any, why: str) -> None:
    made = round_of("q", told)
    assert made.state is RoundState.FAILED
    assert why in made.error
    assert made.reply is None


def test_steps_before_a_failure_are_kept() -> None:
    made = round_of("q", {"error": "broke", "steps": ["tried"]}, more=["began"])
    assert [post.message for post in made.posts] == ["q", "began", "tried"]


def test_steps_within_a_step_name_it_as_their_parent() -> None:
    ask = {"tool": "Read", "input": "a", "output": "1", "steps": ["deep"]}
    told = {"reply": "a", "steps": [
        "hm",
        {"tool": "Task", "input": "look", "output": "done", "steps": ["first", ask]},
        {"from": "A", "message": "m", "id": "own", "steps": [{"from": "B", "message": "n"}]},
    ]}  # fmt: skip
    made = round_of("q", told)
    assert [(post.message, post.id, post.parent) for post in made.posts] == [
        ("q", "", ""), ("hm", "", ""), ("look", "step-2", ""), ("done", "", ""),
        ("first", "", "step-2"), ("a", "step-2.2", "step-2"), ("1", "", "step-2"),
        ("deep", "", "step-2.2"), ("m", "own", ""), ("n", "", "own"), ("a", "", ""),
    ]  # fmt: skip
    # Whoever called, the calls of tools are told as those of the agent.
    assert [post.send_to for post in made.posts if post.send_from == "Planner"] == [
        "Planner", "Task", "Planner", "Read", "Planner", "User",
    ]  # fmt: skip
    assert round_from(made.to_json()).posts[7].parent == "step-2.2"
    assert "parent" not in made.to_json()["post_list"][1]


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([{"tool": "t", "steps": ["x", {"mesage": 1}]}], "step 1.2: unknown field 'mesage'"),
        ([{"tool": "t", "steps": "x"}], "step 1: its steps are no list"),
    ],
)
def test_faults_within_a_step_are_named(steps: Any, why: str) -> None:
    assert why in round_of("q", {"reply": "a", "steps": steps}).error


def test_steps_do_not_lie_endlessly_deep() -> None:
    step: Any = {"message": "deepest"}
    for _ in range(30):
        step = {"message": "m", "steps": [step]}
    assert "more than 20 deep" in round_of("q", {"reply": "a", "steps": [step]}).error
