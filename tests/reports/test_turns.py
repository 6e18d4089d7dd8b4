"""Turns of an attempt: their marks, what an agent did in each, and the files it left."""

from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import null_value
from proctor.core.run import AttemptResult
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.reports.turns import (
    DEEPEST,
    ShownPost,
    agent_object,
    files_left,
    rounds_shown,
    turns_of,
    with_depth,
)

CASE = Case(
    id="c",
    messages=(),
    criteria=tuple(
        Criterion(id=f"t{turn}", scorer=Spec(name="contains"), turn=turn, weight=2.0)
        for turn in range(3)
    ),
)
GOOD, BAD = Score(points=1.0, out_of=1.0), Score(points=0.0, out_of=1.0)


def turns(
    replies: int, *scores: Score, status: AttemptStatus = AttemptStatus.ANSWERED, **notes: Any
) -> list[tuple[int, float | None, float | None, str]]:
    messages = tuple(Message(role="assistant", content="x") for _ in range(replies))
    attempt = Attempt(case_id="c", messages=messages, status=status, notes=notes)
    named = {f"t{turn}": score for turn, score in enumerate(scores)}
    item = AttemptResult(attempt=attempt, scores=named, value=null_value(CASE))
    return [(one.turn, one.score, one.normalized, one.status) for one in turns_of(CASE, item)]


def test_each_turn_has_its_own_mark() -> None:
    assert turns(3, GOOD, BAD, Score.failed("broke", out_of=1.0)) == [
        (0, 2.0, 1.0, "scored"),
        (1, 0.0, 0.0, "scored"),
        (2, None, None, "unscored"),
    ]


@pytest.mark.parametrize(
    ("replies", "status", "notes", "states"),
    [
        (1, AttemptStatus.ANSWERED, {}, ["scored", "not_reached", "not_reached"]),
        (2, AttemptStatus.ANSWERED, {"rounds": [{"state": "finished"}, {"state": "failed"}]},
         ["scored", "agent_failure", "not_reached"]),
        (0, AttemptStatus.UNANSWERED, {}, ["agent_failure", "not_reached", "not_reached"]),
        (0, AttemptStatus.STOPPED, {}, ["scored", "not_reached", "not_reached"]),
    ],
)  # fmt: skip
def test_a_turn_that_was_not_reached_is_worth_nothing(
    replies: int, status: AttemptStatus, notes: dict[str, Any], states: list[str]
) -> None:
    marks = turns(replies, GOOD, GOOD, GOOD, status=status, **notes)
    assert [state for *_, state in marks] == states
    assert all(score == 0.0 for _, score, _, state in marks if state != "scored")


def attempt(**notes: Any) -> Attempt:
    return Attempt(case_id="c", notes=notes)


def test_rounds_are_shown_whatever_strangers_put_into_them() -> None:
    post = {
        "send_from": "User",
        "send_to": "Planner",
        "message": None,
        "attachment_list": [{"type": "code", "content": "x"}, {"content": {"a": "漢"}}, "odd"],
    }
    shown = rounds_shown(
        attempt(rounds=[{"state": "failed", "error": "e", "post_list": [post, 3]}, "odd", {}])
    )
    assert [(one.number, one.state, one.error) for one in shown] == [
        (1, "failed", "e"),
        (2, "", ""),
    ]
    (only,) = shown[0].posts
    assert (only.sender, only.receiver, only.message) == ("User", "Planner", "")
    assert only.attachments == (("code", "x"), ("", '{\n "a": "漢"\n}'))
    assert rounds_shown(attempt(rounds="odd")) == []


def test_files_are_those_after_the_last_round() -> None:
    one = attempt(rounds=[{"state": "finished"}], files=[{"a": "1"}, {"b": "2", "a": None}])
    assert [(file.name, file.key) for file in files_left(one)] == [("a", ""), ("b", "2")]
    assert agent_object(one, {"2": 7}) == {
        "rounds": [{"state": "finished"}],
        "files": [{"name": "a", "size": None}, {"name": "b", "size": 7}],
    }
    assert agent_object(attempt(), {}) == {}
    assert files_left(attempt(files=[])) == []


def test_posts_lie_as_deep_as_their_parents_say() -> None:
    def post(name: str, parent: str = "") -> ShownPost:
        return ShownPost(
            sender="a", receiver="b", message=name, attachments=(), id=name, parent=parent
        )

    posts = [
        post("x"),
        post("y", "x"),
        post("z", "y"),
        post("w", "x"),
        post("v", "later"),
        post("later", "v"),
    ]
    assert [(one.message, depth) for one, depth in with_depth(posts)] == [
        ("x", 0), ("y", 1), ("z", 2), ("w", 1), ("v", 0), ("later", 1),
    ]  # fmt: skip
    chain = [post(str(number), str(number - 1)) for number in range(100)]
    assert max(depth for _, depth in with_depth(chain)) == DEEPEST
