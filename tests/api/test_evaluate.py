"""``evaluate``: what may be handed over as cases, candidate and criteria, and what comes back."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import pytest

import proctor
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.errors import ProctorError, SuiteError, UsageError
from proctor.scorers import Contains, ExactMatch

QUIZ = [
    {"id": "capital", "ask": "What is the capital of France?", "reference": "Paris"},
    {"ask": "6 × 7?", "criteria": {"number": 42}},
]


def right(question: str) -> str:
    return "Paris" if "France" in question else "It is 42."


def test_the_code_of_the_design() -> None:
    async def answer(question: str) -> str:
        await asyncio.sleep(0)
        return right(question)

    run = proctor.evaluate(QUIZ, answer, criteria=[Contains("Paris"), "exact_match"], attempts=3)
    assert str(run).startswith("cases-answer · suite cases · candidate answer · complete\n")
    assert run.rate == 1.0
    assert run.interval is not None
    assert run["capital"].value == 1.0
    assert (
        run["capital"].why == "contains: contains what is wanted; exact_match: equals a reference"
    )
    assert [one.output for one in run["capital"].attempts] == ["Paris"] * 3
    assert set(run.groups["metric"]) == {"contains", "exact_match", "number"}
    assert run.save("run.html").read_bytes().startswith(b"<!doctype html>")
    other = proctor.evaluate(QUIZ, lambda question: "London", criteria=[Contains("Paris")])
    with pytest.warns(UserWarning, match="other question, criteria or weight"):
        assert proctor.compare(run, other).sentence.startswith(
            "cases-lambda and cases-answer cannot be told"
        )


class Bot:
    def __init__(self, city: str) -> None:
        self.city = city

    def answer(self, question: str) -> str:
        return self.city

    async def later(self, question: str) -> str:
        await asyncio.sleep(0)
        return self.city

    @classmethod
    def always(cls, question: str) -> str:
        return "Paris"

    @staticmethod
    def plainly(question: str) -> str:
        return "Paris"

    def __call__(self, question: str) -> str:
        return self.city


def stream(question: str) -> Iterator[str]:
    yield "Pa"
    yield "ris"


async def slow_stream(question: str) -> AsyncIterator[str]:
    for part in ("Pa", "ris"):
        await asyncio.sleep(0)
        yield part


def with_case(question: str, case: Case) -> str:
    return case.references[0]


def by_name(question: str, temperature: float = 0.5, *, messages: Any = ()) -> str:
    return "Paris" if messages[-1] == {"role": "user", "content": question} else "no"


def agent(question: str) -> dict[str, Any]:
    return {
        "output": "Paris",
        "steps": ["thinks", {"tool": "search", "input": {"q": "France"}, "output": "Paris"}],
        "usage": {"input_tokens": 3, "output_tokens": 1, "cost": 0.5},
    }


@dataclass
class Answer:
    city: str


CANDIDATES = {
    "function": lambda question: "Paris",
    "method": Bot("Paris").answer,
    "async method": Bot("Paris").later,
    "class method": Bot("Lyon").always,
    "static method": Bot.plainly,
    "callable": Bot("Paris"),
    "partial": partial(lambda city, question: city, "Paris"),
    "generator": stream,
    "async generator": slow_stream,
    "function of a coroutine": lambda question: Bot("Paris").later(question),
    "with the case": with_case,
    "by name": by_name,
    "agent": agent,
    "list": ["Paris"],
    "mapping": {"capital": "Paris"},
    "rows": [{"case": "capital", "output": "Paris"}],
    "several answers": {"capital": ["Paris", "Paris"]},
}


@pytest.mark.parametrize("candidate", CANDIDATES.values(), ids=CANDIDATES)
def test_candidates(candidate: Any) -> None:
    run = proctor.evaluate(QUIZ[:1], candidate)
    assert run["capital"].output == "Paris"
    assert (run.rate, run.status) == (1.0, "complete")


def test_an_agent_tells_its_steps_and_what_it_used() -> None:
    run = proctor.evaluate(QUIZ[:1], agent)
    attempt = run["capital"].attempts[0]
    assert [post["message"] for post in attempt.steps][1:-1] == [
        "thinks",
        '{"q": "France"}',
        "Paris",
    ]
    used = {"calls": 1, "prompt_tokens": 3, "completion_tokens": 1, "cost": 0.5}
    assert run.usage == {**used, "roles": {"candidate": used}}


@pytest.mark.parametrize(
    ("value", "output"),
    [
        (42, "42"),
        (4.5, "4.5"),
        (True, "True"),
        ({"city": "Paris"}, '{"city": "Paris"}'),
        (["a", "é"], '["a", "é"]'),
        (Answer("Paris"), '{"city": "Paris"}'),
    ],
)
def test_answers_that_are_no_text(value: Any, output: str) -> None:
    run = proctor.evaluate(QUIZ[:1], lambda question: value)
    assert run["capital"].output == output


def test_nothing_is_no_answer() -> None:
    run = proctor.evaluate(QUIZ[:1], lambda question: None)
    assert (run["capital"].status, run.rate, run.totals.unanswered) == ("unanswered", 0.0, 1)


def test_a_function_that_raises_is_an_error_with_its_traceback() -> None:
    def answer(question: str) -> str:
        if "France" in question:
            raise ValueError("no such country")
        return "42"

    run = proctor.evaluate(QUIZ, answer)
    attempt = run["capital"].attempts[0]
    assert (run.status, run.errors, run["6-7"].value) == ("incomplete", 1, 1.0)
    assert attempt.error == "answer raised ValueError: no such country"
    assert 'raise ValueError("no such country")' in attempt.traceback
    assert "proctor/api" not in attempt.traceback


@pytest.mark.parametrize(
    ("candidate", "words"),
    [
        ("gpt-4o", "'openai:gpt-4o'"),
        (lambda: "x", "takes no question"),
        (lambda question, case, more: "x", "more parameters than it can be given: more"),
        (Bot, "Bot is a class"),
        (7, "7 is no candidate"),
        (["a", "b", "c"], "3 answers to 1 cases"),
        ({"capitol": "Paris"}, "did you mean 'capital'"),
        ([], "0 answers to 1 cases"),
    ],
)
def test_what_is_no_candidate(candidate: Any, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        proctor.evaluate(QUIZ[:1], candidate)
    assert words in str(raised.value)


def test_objects_that_no_function_returns() -> None:
    run = proctor.evaluate(QUIZ[:1], lambda question: object())
    assert "returned builtins.object; expected a text" in run["capital"].error


CASES: dict[str, Any] = {
    "mappings": [{"ask": "Where?", "reference": "Paris"}],
    "generator": ({"ask": text, "reference": "Paris"} for text in ["Where?"]),
    "one mapping": {"ask": "Where?", "reference": "Paris"},
    "suite": {"name": "geo", "cases": [{"ask": "Where?", "reference": "Paris"}]},
    "case": [Case(id="where", messages=(Message(role="user", content="Where?"),), criteria=(), references=("Paris",))],
    "criteria": [Case(id="where", messages=(Message(role="user", content="Where?"),), criteria=(Criterion(id="c", scorer=Spec(name="contains", params={"texts": "Paris"})),))],
    "mixed": [
        {"id": "where", "ask": "Where?", "references": ["Paris"]},
        Case(id="b", messages=(Message(role="user", content="Where?"),), criteria=(), references=("Paris",)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("cases", CASES.values(), ids=CASES)
def test_cases(cases: Any) -> None:
    run = proctor.evaluate(cases, lambda question: "Paris")
    assert (run.rate, run["where"].question) == (1.0, "Where?")


def test_cases_on_file_with_criteria_for_all(own_folder: Path) -> None:
    (own_folder / "quiz.jsonl").write_text(
        '{"id": "a", "ask": "Where?", "reference": "Paris"}\n{"id": "b", "ask": "6?", "criteria": {"number": 6}}\n'
    )
    plain = proctor.evaluate("quiz.jsonl", lambda question: "in Paris, 6")
    assert [case.value for case in plain.cases] == [0.0, 1.0]
    run = proctor.evaluate(
        own_folder / "quiz.jsonl", lambda question: "in Paris, 6", criteria=Contains("Paris")
    )
    assert [case.value for case in run.cases] == [1.0, 1.0]
    assert proctor.evaluate("quiz.jsonl", ["Paris", "6"]).rate == 1.0


def test_ids_follow_from_the_question() -> None:
    asked = ["What is 1 + 1?", "What is 1 + 1?", "法国的首都是哪里？", "?", "a " * 60]
    run = proctor.evaluate([{"ask": text, "reference": "x"} for text in asked], ["x"] * 5)
    ids = [case.id for case in run.cases]
    assert ids[:3] == ["what-is-1-1", "what-is-1-1-2", "法国的首都是哪里"]
    moved = proctor.evaluate(
        [{"ask": text, "reference": "x"} for text in reversed(asked)], ["x"] * 5
    )
    assert set(ids) == {case.id for case in moved.cases}


@dataclass(frozen=True)
class Loud(proctor.Scorer):
    """Pass when the answer is loud."""

    mark: str = "!"

    def score(self, ctx: proctor.ScoreContext) -> bool:
        return ctx.output.endswith(self.mark)


@proctor.scorer
def short(output: str) -> tuple[float, str]:
    return 0.5, f"{len(output)} letters"


async def same(output: str, reference: str) -> bool:
    await asyncio.sleep(0)
    return output == reference


CRITERIA: dict[str, tuple[Any, float]] = {
    "object": (Contains("Paris"), 1.0),
    "class": (ExactMatch, 1.0),
    "name": ("exact_match", 1.0),
    "text": ("Paris", 1.0),
    "mapping": ({"contains": "Paris", "weight": 2}, 1.0),
    "own class": (Loud(), 1.0),
    "own class with a parameter": (Loud(mark="?"), 0.0),
    "decorated": (short, 0.5),
    "lambda": (lambda output: "Paris" in output, 1.0),
    "async function": (same, 0.0),
    "function of the context": (lambda ctx: ctx.references == ("Paris",), 1.0),
    "object in a mapping": ({"scorer": Loud(), "weight": 3, "id": "loud"}, 1.0),
    "several": ([Loud(), Contains("Lyon")], 0.5),
}


@pytest.mark.parametrize(("criteria", "rate"), CRITERIA.values(), ids=CRITERIA)
def test_criteria(criteria: Any, rate: float) -> None:
    for where in ("case", "all"):
        case = {"ask": "Where?", "reference": "Paris"}
        if where == "case":
            run = proctor.evaluate([{**case, "criteria": criteria}], lambda question: "Paris!")
        else:
            run = proctor.evaluate([case], lambda question: "Paris!", criteria=criteria)
        assert run.rate == rate


def test_a_case_has_its_own_criteria_rather_than_those_of_all() -> None:
    run = proctor.evaluate(QUIZ, right, criteria="exact_match")
    assert list(run["6-7"].scores) == ["number"]


@pytest.mark.parametrize(
    ("cases", "criteria", "words"),
    [
        ([], None, "there are no cases"),
        ([{"ask": "x", "expected": "y"}], None, "did you mean 'references'?"),
        ([{"ask": "x"}], None, "criteria"),
        ([{"ask": "x"}], {"numbr": 4}, "did you mean 'number'?"),
        ([{"ask": "x"}], 3.5j, "criteria are scorers"),
        ([7], None, "case 1: expected a mapping"),
        ("quiz.yaml", None, "there is no such file"),
        (7, None, "cases are a path"),
    ],
)
def test_what_is_wrong_with_cases(cases: Any, criteria: Any, words: str) -> None:
    with pytest.raises(ProctorError) as raised:
        proctor.evaluate(cases, right, criteria=criteria)
    assert words in str(raised.value)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(SuiteError) as raised:
        proctor.evaluate(
            [{"ask": "x", "expected": 1}, {"ask": "y", "criteria": {"numbr": 1}}], right
        )
    assert "[0].expected" in str(raised.value)
    assert "[1].criteria.numbr" in str(raised.value)


def test_an_unknown_option_says_what_was_meant() -> None:
    with pytest.raises(UsageError, match="did you mean 'attempts'"):
        proctor.evaluate(QUIZ, right, atempts=3)  # type: ignore[call-arg]


def same_text(question: str) -> str:
    return question


def test_gates_and_filters() -> None:
    cases = [{"ask": str(n), "reference": "1", "tags": {"odd": str(n % 2)}} for n in range(4)]
    run = proctor.evaluate(
        cases, same_text, where="odd == '1'", gates=["rate >= 0.5", "rate >= 0.9"]
    )
    assert (len(run), run.rate, run.passed) == (2, 0.5, False)
    assert [gate.passed for gate in run.gates] == [True, False]
    assert len(proctor.evaluate(cases, same_text, limit=3)) == 3


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("attempts", "3", "attempts is a whole number, not '3'"),
        ("attempts", 0, "attempts must be at least 1"),
        ("concurrency", 0, "concurrency is a whole number from 1"),
        ("temperature", "hot", "temperature is a number"),
        ("progress", "no", "progress is True or False"),
        ("panel", "best", "panel is one of 'mean', 'median', 'majority'"),
        ("name", 7, "name is a text"),
        ("max_unscored", "some", "max_unscored is a share"),
        ("sandbox", "vm", "there is no sandbox 'vm'"),
        ("columns", {"frage": "ask"}, "columns= names keys of mappings"),
        ("columns", "ask=frage", "is a mapping from columns to keys of cases"),
        ("strict", True, "fix: dialect_option={'strict': …}"),
        ("scoring_method", "rouge", "fix: dialect_option={'scoring_method': …}"),
        ("junit", "run.xml", "fix: run.save('run.xml')"),
    ],
)
def test_what_is_wrong_with_options(option: str, value: Any, words: str) -> None:
    options: Any = {option: value}
    with pytest.raises(ProctorError) as raised:
        proctor.evaluate([("1+1", "2")], right, **options)
    assert words in str(raised.value)


def test_numbers_of_numpy_are_numbers() -> None:
    options: Any = {"attempts": numpy.int64(2), "max_cost": numpy.float64(1.0)}
    run = proctor.evaluate([["Where is the Louvre?", "Paris"]], lambda question: "Paris", **options)
    assert len(run[0].attempts) == 2


def test_frames_are_cases_and_answers() -> None:
    pandas = pytest.importorskip("pandas")
    cases = pandas.DataFrame({"question": ["1+1", "2+2"], "answer": [2, 4], "level": ["a", "b"]})
    answers = pandas.DataFrame({"case": ["2-2", "1-1"], "output": ["4", "3"]})
    for given, rates in (
        (answers, [0.0, 1.0]),
        (answers["output"], [0.0, 0.0]),
        (["2", "4"], [1.0, 1.0]),
    ):
        run = proctor.evaluate(cases, given)
        assert [case.value for case in run] == rates
        assert run.groups["level"]["b"].cases == 1


async def leaves(question: str) -> str:
    raise SystemExit(3)


def leaves_at_once(question: str) -> str:
    raise SystemExit(3)


@pytest.mark.parametrize("function", [leaves, leaves_at_once])
def test_a_function_that_ends_the_program_is_an_error(function: Any) -> None:
    run = proctor.evaluate([("a", "b")], function)
    assert (run.errors, run.complete) == (1, False)
    assert "SystemExit" in run[0].why
