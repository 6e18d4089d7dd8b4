"""Attacks on a suite: what should get nothing, or everything, and what is said where it does not."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import Any

import pytest

from proctor.contracts.executor import Executor, GradeTask
from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite
from proctor.engine.check.adversarial import attack
from proctor.engine.run.scorer_pool import Scorers
from proctor.errors import Problem


class _Here(Executor):
    """An executor that scores in this process, last things first."""

    def __init__(self, fails: str = "") -> None:
        self.scorers, self.fails = Scorers(), fails

    async def grade(self, tasks: Iterable[GradeTask]) -> AsyncGenerator[tuple[str, Score], None]:
        for task in reversed(list(tasks)):
            (attempt,), (key,) = task.attempts, task.keys
            if self.fails and attempt.output.endswith(self.fails):
                yield key, Score.failed("took longer than 10 s")
            else:
                ctx = ScoreContext(case=task.case, attempt=attempt)
                yield key, run_scorer(self.scorers.of(task.criterion), ctx)

    async def close(self) -> None:
        pass


def case(name: str, ask: str, scorer: Spec, *references: str, weight: float = 1.0) -> Case:
    return Case(
        id=name,
        messages=(Message(role="user", content=ask),),
        criteria=(Criterion(id="c", scorer=scorer, weight=weight),),
        references=references,
        source="quiz.yaml:7",
    )


def contains(text: str) -> Spec:
    return Spec(name="contains", params={"texts": [text]})


def keywords(*rules: Any) -> Spec:
    return Spec(name="keywords", params={"rules": list(rules)})


def attacked(*cases: Case, fails: str = "") -> list[Problem]:
    suite = Suite(name="s", cases=cases)
    return asyncio.run(attack(suite, Scorers(), _Here(fails)))


def words(*cases: Case, **how: Any) -> list[str]:
    return [f"{one.severity}: {one.message}" for one in attacked(*cases, **how)]


EXACT = Spec(name="exact_match")


def test_a_sound_suite_has_nothing_to_be_said_about() -> None:
    assert words(case("a", "Capital?", EXACT, "Paris"), case("b", "Sea?", EXACT, "Blue")) == []


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (case("a", "Is it Paris?", contains("Paris")),
         ["warning: the question itself gets 1 of 1 points"]),
        (case("a", "Capital?", contains("Paris"), "London"),
         ["warning: the reference 'London' gets only 0 of 1 points: "]),
        (case("a", "Sum?", keywords({"text": "x*", "regex": True})),
         ["warning: the empty answer gets 1 of 1 points"]),
        (case("a", "Rude?", contains("no"), "no idea", weight=-1.0),
         ["warning: the reference 'no idea' is penalised: "]),
        (case("a", "Is it Paris?", contains("Paris"), weight=0.0), []),
    ],
)  # fmt: skip
def test_what_is_worth_too_much_or_too_little_is_named(one: Case, said: list[str]) -> None:
    found = words(one)
    assert [line[: len(start)] for line, start in zip(found, said, strict=True)] == said


def test_the_answer_to_another_case_should_not_pass() -> None:
    found = attacked(
        case("a", "Capital of France?", contains("is")),
        case("b", "And of Spain?", EXACT, "Madrid is it"),
    )
    assert [(one.about, one.message) for one in found] == [
        ("case 'a', criterion 'c'", "the answer to case 'b' ('Madrid is it') gets 1 of 1 points")
    ]
    (problem,) = found
    assert (problem.file, problem.line, bool(problem.hint)) == ("quiz.yaml", 7, True)


def test_a_criterion_that_hangs_on_a_long_answer_is_told_once() -> None:
    found = words(case("a", "Capital?", EXACT, "Paris"), fails="\x01")
    assert found == ["warning: a long answer cannot be scored: took longer than 10 s"]


def test_a_criterion_that_cannot_judge_anything_is_a_note() -> None:
    lost = case("a", "Capital?", Spec(name="exact_match"))
    assert all(line.startswith("note: cannot be scored") for line in words(lost))


def test_keywords_that_nothing_matches_are_dead_and_a_list_of_words_passes() -> None:
    dead = keywords("red", {"text": "a^b", "regex": True})
    assert [line.partition(":")[2].strip() for line in words(case("a", "Colours?", dead))] == [
        "the keyword '/a^b/' is dead"
    ]
    assert words(case("a", "Colours?", keywords("red", "green"))) == [
        "note: its 2 keywords pasted together, and nothing else, get 2 of 2 points"
    ]
    alone = {"text": "^green$", "regex": True}
    assert not any("is dead" in line for line in words(case("a", "?", keywords("red", alone))))


def test_criteria_that_run_programs_are_named_and_not_tried() -> None:
    judged = case("a", "Nice?", Spec(name="judged", params={"question": "Nice?"}))
    assert words(judged) == ["note: was not tried: judging by it runs programs"]
