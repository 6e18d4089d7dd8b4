"""What the scripted models and the judge of the tour say."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.tour.script import TourScript, sums, sums_suite
from proctor.testing.faults import Fault
from proctor.testing.replies import Answer

FOLDER = Path(str(files("proctor.starter"))) / "tour"
QUESTION = "In Python, b = a and then b.append(4): does this change the list a? Say why."
ASKED = """<<conversation 1>>\n{question}\n<<end of conversation 1>>
<<answer 1>>\n{answer}\n<<end of answer 1>>
<<criterion 1>>\n{criterion}\n<<end of criterion 1>>"""


@pytest.fixture(scope="module")
def script() -> TourScript:
    return TourScript.read(FOLDER)


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def ruling(script: TourScript, answer: str, criterion: str) -> str:
    asked = ASKED.format(question=QUESTION, answer=answer, criterion=criterion)
    reply = script.judge(user(asked), {"model": "judge"})
    assert isinstance(reply, Answer)
    return str(reply.text)


def test_every_case_has_answers_of_both_models(script: TourScript) -> None:
    assert {case["id"] for case in script.cases} == set(script.lines)
    for case in script.cases:
        asked = user(case["vars"]["question"])
        for model in ("large", "small"):
            assert script.answer(asked, {"model": model})


def test_every_reason_belongs_to_a_statement_of_its_case(script: TourScript) -> None:
    for case in script.cases:
        statements = {one["id"] for one in case["criteria"] if "judged" in one}
        lines = script.lines[case["id"]]
        for reasons in (*lines.get("no", {}).values(), lines.get("yes", {})):
            assert set(reasons) <= statements, case["id"]


def test_attempts_prompts_and_earlier_runs_have_answers_of_their_own(script: TourScript) -> None:
    first, second, third = script.answer(user(QUESTION), {"model": "small"})  # type: ignore[misc]
    assert [said.split()[0] for said in (first, second, third)] == ["No.", "Yes,", "No,"]
    before = TourScript.read(FOLDER, "before").answer(user(QUESTION), {"model": "small"})
    assert before == ["Yes: both names refer to the same list object."]
    strict = [{"role": "system", "content": "Be short."}, *user("May I give a refund of 900 euros"
              " by myself, or who decides?")]  # fmt: skip
    assert isinstance(script.answer(strict, {"model": "large"})[0], Fault)  # type: ignore[index]


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ("No. `b` is a new variable, so `a` stays as it was.", "no"),
        ("Yes, `a` changes too.", "yes"),
        ("Yes: both names refer to the same list object.", "yes"),
        ("Well, well. No. `b` is a new variable, so `a` stays as it was.", "no"),
    ],
)
def test_the_judge_goes_by_whose_answer_it_is(script: TourScript, answer: str, result: str) -> None:
    said = ruling(script, answer, "The answer says that a changes as well.")
    assert f'"result":"{result}"' in said


def test_two_answers_are_compared(script: TourScript) -> None:
    good = script.lines["list-alias"]["large"]
    bad = script.lines["list-alias"]["small"][0]
    pair = "<<answer_1 1>>\n{}\n<<end of answer_1 1>>\n<<answer_2 1>>\n{}\n<<end of answer_2 1>>"
    for first, second, better in ((good, bad, 1), (bad, good, 2)):
        reply = script.judge(user(QUESTION + "\n" + pair.format(first, second)), {"model": "judge"})
        assert f"Answer {better} meets more" in str(reply.text)  # type: ignore[union-attr]


def test_sums_are_right_but_for_forgotten_carries() -> None:
    suite = sums_suite(40)
    said = [str(sums(user(case["ask"]), None)) for case in suite["cases"]]
    right = [
        int(re.findall(r"\d+", text)[-1]) == case["criteria"]["number"]
        for text, case in zip(said, suite["cases"], strict=True)
    ]
    assert 20 < sum(right) < 40
    assert all(
        one or case["tags"]["carry"] == "yes"
        for one, case in zip(right, suite["cases"], strict=True)
    )
