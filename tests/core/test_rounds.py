"""Rounds of agents as JSON, and what a criterion with a turn judges of an attempt."""

from typing import Any

import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus, turn_values, value_of
from proctor.core.fingerprint import attempt_key, case_key, score_key
from proctor.core.names import agent_label, parse_agent
from proctor.core.rounds import (
    Attachment,
    Post,
    Round,
    RoundState,
    files_of,
    round_from,
    scored_part,
)
from proctor.core.score import Score
from proctor.core.suite import Case, CaseFile, Criterion, Message, Spec
from proctor.errors import UsageError


def said(role: str, content: str) -> Message:
    return Message(role=role, content=content)


def point(name: str, turn: int | None, weight: float = 1.0) -> Criterion:
    return Criterion(id=name, scorer=Spec(name="contains"), weight=weight, turn=turn)


def attempt(*rounds: Round, **notes: Any) -> Attempt:
    messages = []
    for place, made in enumerate(rounds):
        if place:
            messages.append(said("user", made.user_query))
        if made.reply is not None:
            messages.append(said("assistant", made.reply))
    kept = {"rounds": [made.to_json() for made in rounds], **notes}
    return Attempt(case_id="c", messages=tuple(messages), notes=kept)


ONE, TWO = Round.of("q1", "a1"), Round.of("q2", "a2")


def test_a_round_keeps_its_json() -> None:
    step = Post(
        message="compute",
        send_from="Planner",
        send_to="CodeInterpreter",
        attachments=(Attachment(type="artifact_paths", content=[], extra={"a": 1}),),
    )
    made = Round.of("sum?", "55", steps=[step]).to_json()
    assert [post["send_from"] for post in made["post_list"]] == ["User", "Planner", "Planner"]
    assert made["post_list"][1]["attachment_list"][0] == {
        "id": made["post_list"][1]["attachment_list"][0]["id"],
        "type": "artifact_paths",
        "content": [],
        "extra": {"a": 1},
    }
    again = round_from(made)
    assert again.to_json() == made
    assert again.reply == "55"
    assert Round.of("sum?", "55", steps=[step]).to_json() == made, "ids follow from the content"


def test_a_failed_round_has_no_reply() -> None:
    made = Round.failed("q", "it broke")
    assert made.reply is None
    assert made.to_json()["state"] == "failed"
    assert made.to_json()["error"] == "it broke"
    left = round_from({"post_list": [], "state": "created"})
    assert (left.state, left.error) == (RoundState.FAILED, "the round is created")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (None, "an object with a post_list"),
        ({"post_list": 1}, "an object with a post_list"),
        ({"post_list": ["x"]}, "a post is an object"),
        ({"post_list": [], "state": "odd"}, "not 'odd'"),
    ],
)
def test_what_is_no_round(data: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        round_from(data)


def test_a_criterion_judges_its_turn_and_all_before() -> None:
    whole = attempt(ONE, TWO, files=[{"a": "k1"}, {"a": "k1", "b": "k2"}])
    first = scored_part(point("p", 0), whole)
    assert (first.output, files_of(first)) == ("a1", {"a": "k1"})
    second = scored_part(point("p", 1), whole)
    assert (second.output, files_of(second)) == ("a2", {"a": "k1", "b": "k2"})
    assert [r["user_query"] for r in second.notes["rounds"]] == ["q1", "q2"]
    assert scored_part(point("p", None), whole) is whole


def test_a_turn_that_was_not_reached_is_a_miss_that_says_why() -> None:
    whole = attempt(ONE, ended="turn 1 got 0.2, below the threshold 0.5")
    part = scored_part(point("p", 1), whole)
    assert part.status is AttemptStatus.UNANSWERED
    assert part.error == "turn 2 was not reached: turn 1 got 0.2, below the threshold 0.5"


def test_a_failed_round_is_never_judged() -> None:
    whole = attempt(ONE, Round.failed("q2", "exit status 3"))
    assert scored_part(point("p", 0), whole).output == "a1"
    for criterion in (point("p", 1), point("p", None)):
        part = scored_part(criterion, whole)
        assert (part.status, part.error) == (
            AttemptStatus.UNANSWERED,
            "the agent failed: exit status 3",
        )


def test_scores_of_turns_do_not_depend_on_what_came_later() -> None:
    early, late = attempt(ONE), attempt(ONE, TWO)
    first = point("p", 0)
    keys = {
        score_key("j", scored_part(first, made), noted=noted)
        for made in (early, late)
        for noted in (False,)
    }
    assert len(keys) == 1
    second = point("p", 1)
    assert score_key("j", scored_part(second, early)) != score_key("j", scored_part(second, late))


def test_each_turn_has_its_share() -> None:
    criteria = (point("a", 0), point("b", 0), point("c", 0), point("d", 1, 2.0), point("e", 1, 0.5))
    case = Case(id="c", messages=(), criteria=criteria, full_score=10.0)
    hits = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0, "e": 1.0}
    scores = {name: Score(points=points, out_of=1.0) for name, points in hits.items()}
    turns = turn_values(case, scores)
    assert {turn: (value.points, value.value) for turn, value in turns.items()} == {
        0: (2.0, pytest.approx(2 / 3)),
        1: (0.5, pytest.approx(0.2)),
    }
    assert value_of(case, scores).value == pytest.approx(2.5 / 5.5 * 10)
    failed = {**scores, "d": Score.failed("the judge is away", out_of=1.0)}
    assert turn_values(case, failed)[1].status is ValueStatus.UNSCORED


def test_files_and_setup_belong_to_a_case_but_not_where_they_lie() -> None:
    def case(path: str, content: str, setup: dict[str, Any]) -> Case:
        file = CaseFile(name="a.csv", digest=content, path=path)
        return Case(id="c", messages=(), criteria=(), files=(file,), setup=setup)

    here, there = case("x/a.csv", "k", {}), case("y/a.csv", "k", {})
    assert case_key(here) == case_key(there)
    assert attempt_key(here, 0, "h") == attempt_key(there, 0, "h")
    for other in (case("x/a.csv", "other", {}), case("x/a.csv", "k", {"app_dir": "z"})):
        assert case_key(other) != case_key(here)
        assert attempt_key(other, 0, "h") != attempt_key(here, 0, "h")


@pytest.mark.parametrize(
    ("text", "name", "params", "label"),
    [
        ("python:mod:attr", "python", {"target": "mod:attr"}, "python:mod:attr"),
        ("exec:./a.sh -x", "exec", {"command": "./a.sh -x"}, "exec:./a.sh -x"),
        ("http://h:1/x?key=1", "http", {"url": "http://h:1/x?key=1"}, "http://h:1/x"),
        ("taskweaver:", "taskweaver", {}, "taskweaver"),
        ("taskweaver:app", "taskweaver", {"app_dir": "app"}, "taskweaver:app"),
    ],
)
def test_how_agents_are_named(text: str, name: str, params: dict[str, str], label: str) -> None:
    spec = parse_agent(text)
    assert spec is not None
    assert (spec.name, dict(spec.params), agent_label(spec)) == (name, params, label)


def test_models_are_no_agents_and_nonsense_is_neither() -> None:
    assert parse_agent("openai:gpt-4o") is None
    with pytest.raises(UsageError, match="python:module:attr"):
        parse_agent("my_agent")
