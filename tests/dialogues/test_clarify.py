"""The clarify dialogue in Proctor's own way: strict verdicts, and whose fault a failure is."""

from typing import Any

import pytest

from dialogues.clarifying import ASKS, DONE, HALF, POINTS, SECOND, case, hold, verdict
from proctor.contracts.dialogue import Turns
from proctor.core.attempt import AttemptStatus
from proctor.core.exchange import Reply
from proctor.core.suite import Spec
from proctor.errors import BudgetError, ModelError, PluginError
from proctor.judging import ModelJudge, Panel
from proctor.registry import build
from proctor.testing import ScriptedModel


def test_a_dialogue_with_its_ledger() -> None:
    attempt = hold(
        ["The first one?", "And the other?", "7"],
        [ASKS, f"Reasoning: well.\n```json\n{HALF}\n```", DONE],
        ["It is 3.", "It is 4."],
    )
    assert attempt.status is AttemptStatus.ANSWERED
    said = [(message.role, message.content) for message in attempt.messages]
    assert said == [
        ("assistant", "The first one?"),
        ("user", "It is 3."),
        ("assistant", "And the other?"),
        ("user", "It is 4."),
        ("assistant", "7"),
    ]
    notes = attempt.notes
    assert notes["ledger"] == {
        "points": POINTS,
        "covered": [[False, False], [True, False], [True, True]],
        "asked": [None, None, None],
        "first": [2, 3],
    }
    assert notes["reason"] == "FinalAnswerEvaluated"
    assert (notes["final"], notes["correct"], notes["final_turn"]) == (True, True, 3)
    assert (notes["asked"], notes["redundant"], notes["premature"]) == (True, 0, False)
    assert notes["flags"] == []
    assert [(turn["rung"], turn["tries"], turn.get("user")) for turn in notes["turns"]] == [
        ("object", 1, "It is 3."),
        ("fence", 1, "It is 4."),
        ("object", 1, None),
    ]
    assert {role: usage["calls"] for role, usage in attempt.usage.items()} == {
        "candidate": 3,
        "judge": 3,
        "simulator": 2,
    }
    assert "truncated" not in notes


ENDS: list[tuple[str, list[str], dict[str, Any]]] = [
    # What the judge says, and what becomes of it where the original does something else.
    (
        "the flag against its own list",
        [verdict(missing_required_points=[SECOND])],
        {"reason": "FinalAnswerMissingInfo", "resolved": False, "premature": True, "correct": True},
    ),
    (
        "an empty list against its flag",
        [verdict(all_required_points_resolved=False)],
        {"reason": "FinalAnswerMissingInfo", "resolved": False, "missing": []},
    ),
    (
        "a point that is on no list is left out",
        [verdict(missing_required_points=["the weather in Lisbon"])],
        {"reason": "FinalAnswerEvaluated", "resolved": True, "missing": []},
    ),
    (
        "a point in nearly the same words",
        [
            verdict(
                all_required_points_resolved=False,
                missing_required_points=["2. Value of the  second quantity."],
            )
        ],
        {"reason": "FinalAnswerMissingInfo", "missing": [SECOND]},
    ),
    (
        "the text false is not true",
        [verdict(is_correct="false"), verdict(is_correct=False)],
        {"reason": "FinalAnswerEvaluated", "correct": False, "tries": 2},
    ),
    (
        "a final answer must be ruled on",
        [verdict(is_correct=None), DONE],
        {"reason": "FinalAnswerEvaluated", "correct": True, "tries": 2},
    ),
    (
        "reasons before a bare object",
        [f"Reasoning: fine.\n{DONE}"],
        {"reason": "FinalAnswerEvaluated", "correct": True, "tries": 1},
    ),
    (
        "two fences that rule the same",
        [f"```json\n{DONE}\n```\nSo:\n```JSON\n{DONE}\n```"],
        {"reason": "FinalAnswerEvaluated", "correct": True, "tries": 1},
    ),
    (
        "two fences that differ are no ruling",
        [f"```json\n{verdict(is_correct=False)}\n```\nNo:\n```JSON\n{DONE}\n```", DONE],
        {"reason": "FinalAnswerEvaluated", "correct": True, "tries": 2},
    ),
    (
        "keys that are not there",
        ['{"is_final_answer": true, "is_correct": true}'] * 10,
        {"reason": "JudgeResultInvalid", "skipped": True, "correct": None, "tries": 10},
    ),
    (
        "no JSON at all",
        ["Reasoning: not today."] * 10,
        {"reason": "JudgeJSONParseFailed", "skipped": True, "correct": None, "tries": 10},
    ),
    (
        "a list is no verdict",
        ["[1, 2]"] * 9 + [DONE],
        {"reason": "FinalAnswerEvaluated", "skipped": False, "tries": 10},
    ),
]


@pytest.mark.parametrize(
    ("rulings", "wanted"), [row[1:] for row in ENDS], ids=[row[0] for row in ENDS]
)
def test_what_a_ruling_comes_to(rulings: list[str], wanted: dict[str, Any]) -> None:
    attempt = hold("The total is 7.", rulings)
    found = dict(attempt.notes) | {"tries": attempt.notes["turns"][-1]["tries"]}
    assert {name: found[name] for name in wanted} == wanted
    stopped = AttemptStatus.STOPPED if found["skipped"] else AttemptStatus.ANSWERED
    assert attempt.status is stopped
    assert bool(attempt.error) == found["skipped"]


def test_a_case_without_points_is_resolved_whatever_the_flag_says() -> None:
    attempt = hold(
        "7", [verdict(all_required_points_resolved=False)], asked=case(hidden={"points": []})
    )
    assert attempt.notes["resolved"]
    assert attempt.notes["reason"] == "FinalAnswerEvaluated"


@pytest.mark.parametrize(
    ("rulings", "params", "reason", "correct", "turns"),
    [
        ([ASKS, HALF, HALF], {}, "FailedToAnswerOnLastTurn", False, 3),
        ([ASKS], {"max_turns": 1}, "FailedToAnswerOnLastTurn", False, 1),
        ([DONE], {"strict": True}, "StrictFinalAnswerOnFirstTurn", False, 1),
        ([ASKS, HALF], {"strict": True}, "StrictNoFinalAnswerOnLastTurn", False, 2),
        ([ASKS, DONE], {"strict": True, "max_turns": 5}, "FinalAnswerEvaluated", True, 2),
        ([DONE], {"scenario": "in3"}, "FinalAnswerAfterClarifications", None, 1),
        ([ASKS, DONE], {"scenario": "overconfidence"}, "FinalAnswerEvaluated", True, 2),
        ([ASKS, DONE], {"scenario": "plain"}, "FinalAnswerEvaluated", True, 2),
        ([DONE], {"scenario": "in3", "strict": True}, "StrictFinalAnswerOnFirstTurn", None, 1),
        (
            ["```json\n" + DONE + "\n```"],
            {"scenario": "in3", "strict": True, "compat": "original"},
            "FinalAnswerAfterClarifications",
            None,
            1,
        ),
    ],
)
def test_how_a_dialogue_ends(
    rulings: list[str], params: dict[str, Any], reason: str, correct: bool | None, turns: int
) -> None:
    notes = hold("something", rulings, "I do not know.", **params).notes
    assert (notes["reason"], notes["correct"], notes["final_turn"]) == (reason, correct, turns)


def test_redundant_questions_are_counted() -> None:
    again = verdict(is_final_answer=False, is_correct=None)
    notes = hold("Anything else?", [ASKS, again, again], "No.").notes
    assert notes["redundant"] == 2


def test_a_candidate_that_says_nothing_is_unanswered() -> None:
    at_once = hold([Reply(text=None, thinking="hm")], [])
    assert at_once.status is AttemptStatus.UNANSWERED
    assert at_once.messages == ()
    assert at_once.notes["reason"] == "NoAnswer"
    assert at_once.notes["thinking"] == "hm"
    assert (at_once.notes["correct"], at_once.notes["skipped"]) == (False, False)
    later = hold(["Which?", " \n"], [ASKS], "It is 3.")
    assert later.status is AttemptStatus.UNANSWERED
    assert [message.role for message in later.messages] == ["assistant", "user"]
    assert (later.notes["asked"], later.notes["final_turn"]) == (True, 2)


def test_in_the_originals_way_failures_are_words() -> None:
    rulings = [f"```json\n{text}\n```" for text in (ASKS, ASKS, DONE)]
    attempt = hold(
        [ModelError("down"), Reply(text=None), ""],
        rulings,
        [ModelError("down"), None],
        compat="original",
    )
    assert [message.content for message in attempt.messages] == [
        "Error",
        "Error",
        "None",
        "None",
        "",
    ]
    assert attempt.notes["reason"] == "FinalAnswerEvaluated"


@pytest.mark.parametrize("params", [{}, {"compat": "original"}])
def test_a_judge_that_is_not_there_stops_the_attempt(params: dict[str, Any]) -> None:
    attempt = hold("7", [ModelError("no route", passing=True)], **params)
    assert attempt.status is AttemptStatus.STOPPED
    wanted = "JudgeJSONParseFailed" if params else "JudgeUnreachable"
    assert attempt.notes["reason"] == wanted
    assert attempt.notes["skipped"]
    assert "no route" in attempt.error


def test_errors_that_are_nobodys_fault_here_pass() -> None:
    with pytest.raises(ModelError, match="down"):
        hold([ModelError("down")], [])
    for compat in ("", "original"):
        with pytest.raises(BudgetError):
            hold([BudgetError("spent")], [], compat=compat)
        with pytest.raises(BudgetError):
            hold("7", [BudgetError("spent")], compat=compat)
        with pytest.raises(BudgetError):
            hold("?", [f"```json\n{ASKS}\n```"], [BudgetError("spent")], compat=compat)


def test_judges_who_are_divided_have_not_ruled() -> None:
    judges = [
        ModelJudge(model=ScriptedModel(verdict(is_correct=correct), name=str(correct)))
        for correct in (True, False)
    ]
    attempt = hold("7", Panel(judges=judges))
    assert attempt.status is AttemptStatus.STOPPED
    assert attempt.notes["reason"] == "JudgeUndecided"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"max_turns": 0}, "at least 1"),
        ({"judge_sampling": {"heat": 1}}, "heat"),
        ({"scenario": "other"}, "scenario"),
    ],
)
def test_wrong_parameters_are_refused(params: dict[str, Any], words: str) -> None:
    with pytest.raises(PluginError, match=words):
        build("dialogue", Spec(name="clarify", params=params))


@pytest.mark.parametrize(
    ("scenario", "changes", "words"),
    [
        ("missing_info", {}, []),
        ("in3", {"references": ()}, []),
        ("plain", {"references": ()}, ["no reference"]),
        ("plain", {"messages": ()}, ["no user message"]),
        ("plain", {"hidden": {"points": "all"}}, ["points is not a list"]),
        ("in3", {"hidden": {"point_answers": ["3"]}}, ["one answer for each"]),
    ],
)
def test_what_a_case_lacks(scenario: str, changes: dict[str, Any], words: list[str]) -> None:
    dialogue = build("dialogue", Spec(name="clarify", params={"scenario": scenario}))
    found = list(dialogue.problems(case(**changes)))
    assert len(found) == len(words)
    assert all(word in problem for word, problem in zip(words, found, strict=True))


def test_what_the_plan_is_told() -> None:
    def turns(**params: Any) -> Turns:
        made: Turns = build("dialogue", Spec(name="clarify", params=params)).turns(case())
        return made

    assert turns() == Turns(candidate=(1, 2, 3), judge=(1, 2, 30), simulator=(0, 1, 4))
    assert turns(max_turns=1) == Turns(candidate=(1, 1, 1), judge=(1, 1, 10), simulator=(0, 0, 0))
    assert turns(strict=True, max_turns=9).candidate == (1, 2, 2)


def test_the_prompts_used_enter_the_key() -> None:
    variants: list[dict[str, Any]] = [
        {}, {"strict": True}, {"guidance": "weak"}, {"guidance": "strong"}, {"wrapper": "fata"},
        {"scenario": "overconfidence"}, {"scenario": "in3"},
    ]  # fmt: skip
    keys = {
        build("dialogue", Spec(name="clarify", params=params)).prompt_key(language)
        for params in variants
        for language in ("en", "zh")
    }
    assert len(keys) == 2 * len(variants)
