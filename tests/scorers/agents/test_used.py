"""Commands, tools and skills that an agent used, with bounds on both sides."""

from typing import Any

import pytest

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.attempt import Attempt
from proctor.core.rounds import ROUNDS
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.scorers import CommandRan, SkillUsed, ToolUsed

CALLS = [
    ("Bash", '{"command": "pytest -q"}', "1 failed"),
    ("Bash", '{"command": "pytest -q"}', "2 passed"),
    ("Skill", '{"skill": "review-code"}', ""),
    ("Read", '{"file_path": "/home/.claude/skills/mend/SKILL.md"}', "Mend."),
    ("mcp__db__ask", '{"q": "rows"}', "3"),
]


def score(scorer: Scorer, calls: list[tuple[str, str, str]] = CALLS) -> Score:
    posts: list[Any] = []
    for tool, text, output in calls:
        posts += [
            {"send_from": "Planner", "send_to": tool, "message": text},
            {"send_from": tool, "send_to": "Planner", "message": output},
        ]
    attempt = Attempt(case_id="c", messages=(), notes={ROUNDS: [{"post_list": posts}]})
    result = scorer.score(
        ScoreContext(case=Case(id="c", messages=(), criteria=()), attempt=attempt)
    )
    assert isinstance(result, Score)
    return result


@pytest.mark.parametrize(
    ("scorer", "points"),
    [
        (CommandRan(command=r"\bpytest\b"), 1),
        (CommandRan(command=r"\bpytest\b", output="passed"), 1),
        (CommandRan(command=r"\bpytest\b", output="error"), 0),
        (CommandRan(command=r"\bpytest\b", at_least=3), 0),
        (CommandRan(command=r"\bpytest\b", at_most=1), 0),
        (CommandRan(command="rm -rf", at_most=0), 1),
        (CommandRan(command="pytest", at_most=0), 0),
        (CommandRan(command="SKILL.md"), 0),
        (ToolUsed(tool="Read"), 1),
        (ToolUsed(tool="read"), 0),
        (ToolUsed(tool="mcp__db__*"), 1),
        (ToolUsed(tool="mcp__db__*", input="rows"), 1),
        (ToolUsed(tool="mcp__db__*", input="columns"), 0),
        (ToolUsed(tool="WebSearch", at_most=0), 1),
        (SkillUsed(skill="review-code"), 1),
        (SkillUsed(skill="review"), 0),
        (SkillUsed(skill="mend"), 1),
        (SkillUsed(skill="mend", at_most=0), 0),
        (SkillUsed(skill="other", at_most=0), 1),
    ],
)
def test_points(scorer: Scorer, points: float) -> None:
    assert score(scorer).points == points


def test_what_there_was_instead_is_told() -> None:
    assert "there were: Bash(" in score(ToolUsed(tool="Grep")).reason
    assert (
        score(ToolUsed(tool="Grep"), []).reason
        == "0 calls of Grep, wanted: at least 1; there were: none"
    )


@pytest.mark.parametrize(
    "scorer",
    [
        CommandRan(command="("), CommandRan(command="a", output="["), ToolUsed(tool="a", input="("),
        ToolUsed(tool="a", at_least=3, at_most=2), SkillUsed(skill=" "), SkillUsed(skill="a", at_least=-1),
    ],
)  # fmt: skip
def test_problems(scorer: Scorer) -> None:
    assert list(scorer.problems())
