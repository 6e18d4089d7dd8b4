"""What scorers see of an agent: its rounds, or those that a model's words would have been."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.suite import Message
from proctor.scorers.judged.agent_rounds import chosen, rounds_in, spoken


def said(*parts: str, **notes: Any) -> ScoreContext:
    """Make a context in which user and assistant speak in turn, the user first."""
    roles = ("user", "assistant")
    messages = tuple(
        Message(role=roles[place % 2], content=part) for place, part in enumerate(parts)
    )
    ctx = ScoreContext.of("")
    case = replace(ctx.case, messages=messages[:1])
    return replace(ctx, case=case, attempt=replace(ctx.attempt, messages=messages[1:], notes=notes))


def words(rounds: list[Any]) -> list[list[str]]:
    return [[post["message"] for post in one["post_list"]] for one in rounds]


def test_the_words_of_a_model_are_rounds_of_a_question_and_a_reply() -> None:
    assert words(rounds_in(said("q1", "a1", "q2", "a2", "q3"))) == [["q1", "a1"], ["q2", "a2"]]
    assert words(rounds_in(said("q1"))) == [["q1", ""]]


def test_an_agent_has_its_own_rounds() -> None:
    own = [{"post_list": [{"message": "x"}]}]
    assert rounds_in(said("q1", "a1", rounds=own)) == own


def test_questions_that_nobody_answered_are_not_spoken() -> None:
    assert [message.content for message in spoken(said("q1", "a1", "q2"))] == ["q1", "a1"]
    assert spoken(said("q1")) == []
    system = Message(role="system", content="s")
    ctx = said("q1", "a1")
    ctx = replace(ctx, case=replace(ctx.case, messages=(system, *ctx.case.messages)))
    assert [message.role for message in spoken(ctx)] == ["user", "assistant"]


ROUNDS = [{"post_list": []}, {"post_list": [{"id": 0}, {"id": 1}]}]


@pytest.mark.parametrize(
    ("index", "part", "why"),
    [
        (None, ROUNDS[1], ""),
        (0, {"id": 0}, ""),
        (-1, {"id": 1}, ""),
        (-2, {"id": 0}, ""),
        (2, None, "the agent's round has 2 posts: there is no post 2"),
        (-3, None, "the agent's round has 2 posts: there is no post -3"),
    ],
)
def test_a_post_of_the_last_round_is_chosen_by_its_place(
    index: int | None, part: Any, why: str
) -> None:
    assert chosen(ROUNDS, index) == (part, why)


def test_a_single_post_is_not_several() -> None:
    assert chosen([{"post_list": [{}]}], 5)[1].startswith("the agent's round has 1 post:")
