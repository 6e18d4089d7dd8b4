"""What a simulated user must not say: tables of replies and what is found in them."""

from typing import Any

import pytest

from proctor.dialogues.leaks import gives_away, says, unasked, values_of
from proctor.dialogues.ledger import matched

POINTS = ["preferred city", "budget"]
VALUES = {"preferred city": "Lisbon", "budget": "500 euros"}


@pytest.mark.parametrize(
    ("text", "answer", "known", "leak"),
    [
        ("The first is 3, so the total is 7.", "7", ["Add 3 and 4."], True),
        ("The first is 3.", "7", [], False),
        ("There are 7 days in a week.", "7", ["It takes 7 days."], False),
        ("It is 17, or 7.5, or 1.7, or x7.", "7", [], False),
        ("It is (7).", "7", [], True),
        ("总数是7个。", "7", [], True),
        ("It is \\frac{1}{2}.", "$\\frac{1}{2}$", [], True),
        ("It is 12.", "\\boxed{12}", [], True),
        ("I think  it is  acute\nappendicitis.", "Acute appendicitis.", [], True),
        ("I have a pain.", "The answer is B.", [], False),
        ("B is what I had in mind for the plan.", "B", [], False),
        ("I believe the answer is B.", "The answer is B.", [], True),
        ("I believe option (B) holds.", "(B)", [], True),
        ("我想答案应该是B。", "答案是B", [], True),
        ("Yes, that is what I meant.", "Yes", [], False),
        ("No doubt the answer is: yes.", "yes", [], True),
        ("anything", "", [], False),
        ("anything", "$ $", [], False),
    ],
)
def test_the_expected_answer(text: str, answer: str, known: list[str], leak: bool) -> None:
    assert gives_away(text, answer, known) is leak


@pytest.mark.parametrize(
    ("text", "what", "found"),
    [
        ("To lisbon!", "Lisbon", True),
        ("Lisbons", "Lisbon", False),
        ("costs 500.", "500", True),
        ("costs 1,500", "500", False),
        ("costs 500,000", "500", False),
        ("去里斯本吧", "里斯本", True),
        ("x", "", False),
    ],
)
def test_a_token_of_its_own(text: str, what: str, found: bool) -> None:
    assert says(text, what) is found


@pytest.mark.parametrize(
    ("points", "answers", "info", "values"),
    [
        (POINTS, ["Lisbon", "500 euros"], "", VALUES),
        (POINTS, ["Lisbon.", "yes"], "", {"preferred city": "Lisbon"}),
        (POINTS, ["the same", "the same"], "", {}),
        (["value of N", "value of M"], None, "N = 4 and M = 12.", {"value of N": "4", "value of M": "12"}),
        (["value of N", "twice N"], None, "N = 4", {}),
        (["value of N"], None, "The number N was removed.", {}),
        ([], None, "N = 4", {}),
    ],
)  # fmt: skip
def test_values_that_can_be_told_apart(
    points: list[str], answers: list[str] | None, info: str, values: dict[str, str]
) -> None:
    assert values_of(points, answers, info) == values


@pytest.mark.parametrize(
    ("text", "asked", "questions", "known", "found"),
    [
        # Where the judge said what was asked for, that decides.
        ("Lisbon, 500 euros.", ["preferred city"], ["Where to?"], [], [("budget", "judge")]),
        ("Lisbon, 500 euros.", POINTS, ["Where to?"], [], []),
        ("Lisbon.", [], ["Hm?"], [], [("preferred city", "judge")]),
        ("Lisbon, as said.", [], ["Hm?"], ["To Lisbon, please."], []),
        # Otherwise only words that plainly show it.
        ("Lisbon, 500 euros.", None, ["Which city?"], [], [("budget", "words")]),
        ("Lisbon.", None, ["Which cities do you like?"], [], []),
        ("Lisbon, 500 euros.", None, ["Where to?"], [], []),
        ("Lisbon, 500 euros.", None, ["Which city? Anything else?"], [], []),
        ("Lisbon, 500 euros.", None, ["Your budget?", "Which city?"], [], []),
        ("I do not know.", None, ["Which city?"], [], []),
        ("Lisbon", None, [], [], []),
    ],
)
def test_points_nobody_asked_for(
    text: str, asked: Any, questions: list[str], known: list[str], found: list[tuple[str, str]]
) -> None:
    made = unasked(text, VALUES, asked_points=asked, questions=questions, shown=known)
    assert [(one.point, one.evidence) for one in made] == found


@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("budget", "budget"),
        ("2. Budget.", "budget"),
        ("- preferred  city", "preferred city"),
        ("point 1", "preferred city"),
        ("2", "budget"),
        ("3", None),
        ("prefered city", "preferred city"),
        ("the budget of the user", "budget"),
        ("weather", None),
        ("", None),
        ("x" * 5000, None),
    ],
)
def test_which_point_a_judge_means(name: str, point: str | None) -> None:
    assert matched(name, POINTS) == point
