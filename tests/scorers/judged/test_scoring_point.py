"""Statements about agents, judged: replies and rounds of the real TaskWeaver."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.score import Score
from proctor.core.suite import Case, Message, Spec
from proctor.judging import ModelJudge
from proctor.origins.taskweaver.scorers import read_hit
from proctor.registry import build
from proctor.scorers.judged.scoring_point import Hit
from proctor.testing import ScriptedModel, try_scorer

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "taskweaver"
REPLIES = json.loads((GOLDEN / "replies.json").read_text(encoding="utf-8"))["judge_reply_parsing"]
ROUNDS = json.loads((GOLDEN / "rounds.json").read_text(encoding="utf-8"))["new_HEAD_d44ddef2"][
    "rounds"
]
YES, NO = '{"reason": "so", "is_hit": "yes"}', '{"reason": "not so", "is_hit": "no"}'


def context(*lines: Any, language: str = "en") -> tuple[ScoreContext, ScriptedModel]:
    model = ScriptedModel(list(lines))
    first, second = ROUNDS[:2]
    attempt = Attempt(
        case_id="c",
        messages=(
            Message(role="assistant", content=first["post_list"][-1]["message"]),
            Message(role="user", content=second["user_query"]),
            Message(role="assistant", content=second["post_list"][-1]["message"]),
            Message(role="user", content="one question more"),
        ),
        notes={"rounds": [first, second]},
    )
    case = Case(
        id="c",
        messages=(Message(role="user", content="say hello"),),
        criteria=(),
        hidden={"task": "Greet, then add up."},
    )
    judge = ModelJudge(model=model)
    ctx = ScoreContext(case=case, attempt=attempt, judge=judge, language=language)
    return ctx, model


def score_by(ctx: ScoreContext, **params: Any) -> Score:
    made = {"statement": "The sum is right.", **params}
    return try_scorer(build("scorer", Spec(name="scoring_point", params=made)), ctx)


STRICT: list[tuple[str, float | None]] = [
    (YES, 1),
    (NO, 0),
    ('{"is_hit": true}', 1),
    ('{"is_hit": false, "reason": "yes it greets"}', 0),
    ('{"is_hit": " Yes "}', 1),
    ('```json\n{"reason": "yesterday was mentioned", "is_hit": "no"}\n```', 0),
    ('It greets.\n```json\n{"is_hit": "yes"}\n```', 1),
    ("No, it does not.", 0),
    ("**Yes**", 1),
    ("no", 0),
    ("I do not know", None),
    ("No idea", None),
    ("Yes, but no.", None),
    ("yesterday", None),
    ("maybe", None),
    ("", None),
    ("[]", None),
    ("null", None),
    ('{"verdict": "no"}', None),
    ('{"is_hit": "Yes, definitely"}', None),
    ('{"is_hit": 1}', None),
    ('no {"is_hit": "perhaps"}', None),
]


@pytest.mark.parametrize(("reply", "points"), STRICT)
def test_what_is_a_verdict(reply: str, points: float | None) -> None:
    ctx, model = context(*[reply] * 3)
    score = score_by(ctx)
    assert score.points == points
    assert score.status == ("failed" if points is None else "scored")
    assert len(model.requests) == (3 if points is None else 1)
    assert score.out_of == 1


def test_an_unreadable_reply_is_asked_for_again() -> None:
    ctx, model = context("maybe", YES)
    score = score_by(ctx)
    assert (score.points, score.reason, score.detail["tries"]) == (1, "so", 2)
    assert "is_hit" in model.requests[1].messages[-1].content


@pytest.mark.parametrize("generation", ["old", "new"])
@pytest.mark.parametrize("place", range(10))
def test_the_original_reads_replies_as_it_did(generation: str, place: int) -> None:
    row = REPLIES[generation][place]
    ctx, model = context(row["reply"])
    score = score_by(ctx, compat="original")
    wanted = row["result"]
    if isinstance(wanted, str):
        assert (score.status, score.points) == ("failed", None), row
    else:
        hit, reason = wanted if isinstance(wanted, list) else (wanted, None)
        assert score.points == float(hit), row
        assert reason in (None, score.reason), row
    assert len(model.requests) == 1


def test_where_the_strict_reader_differs_from_the_original() -> None:
    """Every reply of the golden table by both readers; the differences are these and no others."""
    differ = {}
    for row in REPLIES["old"]:
        strict = score_by(context(*[row["reply"]] * 3)[0]).points
        original = None if isinstance(row["result"], str) else float(row["result"])
        if strict != original:
            differ[row["reply"]] = (original, strict)
    assert differ == {
        '{"is_hit": true}': (None, 1.0),
        '{"is_hit": true, "reason": "it is not so"}': (0.0, 1.0),
        "I do not know": (0.0, None),
        '```json\n{"reason": "yesterday was mentioned", "is_hit": "no"}\n```': (1.0, 0.0),
        '{"verdict":"no"}': (0.0, None),
    }


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_judge_sees_query_round_and_statement(language: str) -> None:
    ctx, model = context(YES, language=language)
    score_by(ctx)
    text = model.requests[0].messages[0].content
    assert json.dumps(ROUNDS[1], ensure_ascii=False, indent=1) in text
    assert ROUNDS[1]["user_query"] in text
    assert "The sum is right." in text
    assert ROUNDS[0]["id"] not in text
    assert "Greet, then add up." not in text


@pytest.mark.parametrize("index", [0, 1, -1])
def test_the_judge_sees_one_post(index: int) -> None:
    ctx, model = context(YES)
    score_by(ctx, post_index=index)
    text = model.requests[0].messages[0].content
    posts = ROUNDS[1]["post_list"]
    assert posts[index]["id"] in text
    others = [post for place, post in enumerate(posts) if place != index % len(posts)]
    assert not any(post["id"] in text for post in others)


@pytest.mark.parametrize("index", [99, -99])
def test_a_post_that_is_not_there_is_a_miss_and_nobody_is_asked(index: int) -> None:
    ctx, model = context()
    score = score_by(ctx, post_index=index)
    assert (score.points, score.out_of) == (0, 1)
    assert score.reason.endswith(f"there is no post {index}")
    assert model.requests == []


@pytest.mark.parametrize(("language", "agent"), [("en", "by agent"), ("zh", "by 智能体")])
def test_with_history_the_judge_sees_task_and_conversation(language: str, agent: str) -> None:
    ctx, model = context(NO, language=language)
    score = score_by(ctx, history=True)
    assert (score.points, score.reason) == (0, "not so")
    text = model.requests[0].messages[0].content
    assert "Greet, then add up." in text
    assert text.count(agent) == 4  # two replies, each with a mark before and after
    said = [m.content for m in (*ctx.case.messages, *ctx.attempt.messages[:-1])]
    places = [text.index(one) for one in said]
    assert places == sorted(places)
    assert "one question more" not in text, "a question without an answer is nothing to judge"
    assert "post_list" not in text


def test_no_text_of_the_agent_can_end_its_marks() -> None:
    ctx, model = context(NO)
    score_by(ctx)
    text = model.requests[0].messages[0].content
    marks = [line for line in text.splitlines() if line.startswith("<<end of output")]
    assert len(marks) == 1


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"statement": " "}, "the statement is empty"),
        ({"tries": 0}, "0 tries: a judge must be asked at least once"),
        ({"history": True, "post_index": 0}, "so there is no post to choose"),
    ],
)
def test_what_is_reported_at_load(params: dict[str, Any], problem: str) -> None:
    spec = Spec(name="scoring_point", params={"statement": "x", **params})
    (found,) = build("scorer", spec).problems()
    assert problem in found


def test_the_shape_that_servers_are_asked_for_is_one_word() -> None:
    assert Hit.model_json_schema()["properties"]["is_hit"]["enum"] == ["yes", "no"]
    assert read_hit('{"is_hit": "YES"}').is_hit == "yes"
