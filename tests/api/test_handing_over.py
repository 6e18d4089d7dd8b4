"""What is handed over as an object, and under which name the engine knows it."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

import proctor
from proctor import registry, scorers
from proctor.api import candidates, cases, function_models, object_specs, options, plain_scorers
from proctor.core.exchange import Message, ReplyShape, Request, Sampling
from proctor.core.suite import Spec, Suite
from proctor.errors import UsageError
from proctor.formats.native.case import KEYS
from proctor.io.concurrency import run_sync
from proctor.scorers import Contains, Judged, Number, Rouge
from proctor.testing import ScriptedModel


@dataclass(frozen=True)
class Own(proctor.Scorer):
    """Pass when the answer has enough letters."""

    least: int = 3

    def score(self, ctx: proctor.ScoreContext) -> bool:
        return len(ctx.output) >= self.least


@pytest.mark.parametrize(
    ("plugin", "spec"),
    [
        (Contains("Paris"), Spec(name="contains", params={"texts": "Paris"})),
        (Contains(["a", "b"], all=False), Spec(name="contains", params={"texts": ["a", "b"], "all": False})),
        (Number(42), Spec(name="number", params={"value": 42})),
        (Judged("Is it polite?"), Spec(name="judged", params={"question": "Is it polite?"})),
        (Rouge, Spec(name="rouge")),
    ],
)  # fmt: skip
def test_a_scorer_that_others_have_goes_by_its_name(plugin: Any, spec: Spec) -> None:
    assert object_specs.spec_of("scorer", plugin) == spec


def test_an_own_scorer_is_lent_under_a_name_that_says_what_it_is() -> None:
    name = object_specs.spec_of("scorer", Own()).name
    assert name.startswith("python:Own#")
    assert object_specs.spec_of("scorer", Own()).name == name
    assert object_specs.spec_of("scorer", Own(least=4)).name != name
    assert registry.build("scorer", Spec(name=name)) == Own()
    assert registry.find("scorer", name) is Own


def test_a_lent_scorer_ends_with_its_program() -> None:
    with pytest.raises(registry.PluginError, match="was an object of a Python program"):
        registry.find("scorer", "python:Own#0123456789ab")


@pytest.mark.parametrize(
    ("function", "takes"),
    [
        (lambda output: True, ("output",)),
        (lambda text, reference: True, ("output", "reference")),
        (lambda answer, expected, question: True, ("output", "expected", "question")),
        (lambda ctx: True, ("ctx",)),
        (lambda x, y: True, ("output", "reference")),
        (lambda output, limit=3: True, ("output",)),
    ],
)
def test_parameters_of_functions_that_score(function: Any, takes: tuple[str, ...]) -> None:
    assert plain_scorers.scorer_of(function).takes == takes


def test_a_function_that_scores_says_what_it_wants() -> None:
    with pytest.raises(UsageError, match="'nonsense', which nobody gives it"):
        plain_scorers.scorer_of(lambda output, reference, nonsense: True)


def test_a_decorated_function_can_still_be_called() -> None:
    @proctor.scorer(name="length", out_of=None)
    def letters(output: str) -> int:
        return len(output)

    assert (letters("abc"), letters.name, letters.full_marks) == (3, "length", None)


def test_models_may_be_names_objects_and_functions() -> None:
    assert function_models.choice_of("openai:m", "judge").spec == "openai:m"
    model = ScriptedModel(["yes"])
    lent = function_models.choice_of(model, "judge").spec
    assert registry.lent("model", lent) is model
    judge = registry.lent("model", function_models.choice_of(str.upper, "judge").spec)
    request = Request(messages=(Message(role="user", content="yes"),))
    assert run_sync(judge.reply(request)).text == "YES"
    wanted = {"properties": {"reason": {"type": "string"}, "result": {"enum": ["yes", "no"]}}}
    verdict = replace(request, shape=ReplyShape(name="verdict", schema=wanted))
    assert run_sync(judge.reply(verdict)).text == '{"reason": "", "result": "yes"}'
    with pytest.raises(UsageError, match="judge: expected the name of a model"):
        function_models.choice_of(7, "judge")


def test_a_function_judges() -> None:
    def judge(text: str) -> str:
        return '{"reason": "it says please", "result": "yes"}'

    run = proctor.evaluate([{"ask": "Ask nicely."}], lambda q: "please", criteria=Judged("Polite?"), judge=judge)  # fmt: skip
    assert (run.rate, run.cases[0].why) == (1.0, "judged: it says please")


@pytest.mark.parametrize(
    ("said", "rate"), [(True, 1.0), ("Yes", 1.0), (False, 0.0), ((False, "it is rude"), 0.0)]
)
def test_a_function_that_judges_may_say_yes_or_no(said: Any, rate: float) -> None:
    run = proctor.evaluate([{"ask": "?"}], lambda q: "!", criteria=Judged("Polite?"), judge=lambda text: said)  # fmt: skip
    assert run.rate == rate


def test_own_criteria_have_the_names_of_their_functions() -> None:
    run = proctor.evaluate([{"ask": "?"}], lambda q: "!", criteria=[Own(1), lambda o: True, lambda o: False])  # fmt: skip
    assert list(run.cases[0].scores) == ["Own", "lambda", "lambda-2"]
    with pytest.raises(UsageError, match="did you mean 'exact_match'"):
        object_specs.written_criteria("exact_macth")


def test_a_table_knows_every_key_of_a_case() -> None:
    assert cases.CASE_KEYS == KEYS


@pytest.mark.parametrize(
    ("entry", "columns"),
    [
        ({"question": "1", "answer": 1}, None),
        ({"input": "1", "expected_output": "1"}, None),
        (("1", "1"), None),
        ({"frage": "1", "antwort": "1"}, {"frage": "ask", "antwort": "reference"}),
    ],
)
def test_cases_that_were_written_for_others(entry: Any, columns: dict[str, str] | None) -> None:
    (case,) = cases.reading_of([entry], columns=columns).suite.cases
    assert (case.prompt, case.references) == ("1", ("1",))


def test_columns_that_are_not_there() -> None:
    for columns, words in (
        ({"a": "ask"}, "there is no column 'a'"),
        ({"b": "aks"}, "no case has a key 'aks'"),
        ({"ask": "b"}, "write the column first: {'b': 'ask'}"),
    ):
        with pytest.raises(UsageError, match=words):
            cases.reading_of([{"b": "1"}], columns=columns)


def test_a_model_as_an_object_is_the_candidate() -> None:
    run = proctor.evaluate([{"ask": "Where?", "reference": "Paris"}], ScriptedModel(["Paris"]))
    assert run.rate == 1.0


def test_options_have_the_names_of_the_command_line() -> None:
    read = options.ReadOptions.of(
        {"gates": "rate >= 0.5", "prices": {"m": "2.5/10"}, "sandbox": "docker:image", "max_unscored": "5%",
         "temperature": 0.5, "stop_when": "rate >= 0.8", "executor": "ray:here", "workers": 2}
    )  # fmt: skip
    assert read.gates == ("rate >= 0.5",)
    assert read.calls.prices == {"m": (2.5, 10.0)}
    assert read.sandbox == Spec(name="docker", params={"image": "image"})
    assert read.executor == Spec(name="ray", params={"address": "here", "workers": 2})
    assert (read.max_unscored, read.sampling) == (0.05, Sampling(temperature=0.5))
    assert read.stop is not None
    with pytest.raises(UsageError, match="the price of 'm'"):
        assert options.ReadOptions.of({"prices": {"m": 3}}).calls


def test_answers_may_come_in_any_shape() -> None:
    suite = cases.reading_of([{"id": "a", "ask": "1", "reference": "1"}, {"id": "b", "ask": "2", "reference": "2"}]).suite  # fmt: skip
    assert isinstance(suite, Suite)
    for given in (["1", None], {"a": "1"}, [{"case": "a", "answer": 1}]):
        attempts = candidates.answers_in_memory(given, suite).attempts
        assert [one.output for one in attempts if one.output] == ["1"]
    both = candidates.answers_in_memory({"a": ["1", "2"]}, suite).attempts
    assert [(one.index, one.output) for one in both] == [(0, "1"), (1, "2")]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda output: 7, "lambda returned 7, and its points go from 0 to 1"),
        (lambda output: -1, "lambda returned -1"),
        (lambda output: float("nan"), "lambda returned nan"),
        (lambda output: "good", "lambda returned str, not a bool"),
        (lambda output: 1 / 0, "lambda raised ZeroDivisionError: division by zero"),
    ],
)
def test_what_is_no_score_is_told_by_the_name_of_the_function(function: Any, words: str) -> None:
    run = proctor.evaluate([("a", "b")], lambda question: "b", criteria=function)
    assert (run.rate, run.complete) == (None, False)
    assert words in run[0].why


async def breaks(output: str) -> bool:
    raise KeyError("x")


def test_functions_with_other_full_marks() -> None:
    seven = proctor.scorer(out_of=7)(lambda output: 7)
    shown = proctor.scorer(out_of=None, name="characters")(lambda output: len(output) * 100)
    run = proctor.evaluate([("a", "b")], lambda question: "b", criteria=[seven, shown])
    assert (run.rate, run[0].scores["characters"].points) == (1.0, 100.0)
    run = proctor.evaluate([("a", "b")], lambda question: "b", criteria=breaks)
    assert run[0].why == "breaks: breaks raised KeyError: 'x'"


@pytest.mark.parametrize(
    ("scorer", "said", "points"),
    [
        (scorers.JudgedCorrect(), True, 1.0),
        (scorers.JudgedCorrect(), "no", 0.0),
        (scorers.QaCorrectness(), (False, "wrong"), 0.0),
        (scorers.Hallucination(), "supported", 1.0),
        (scorers.Rating("How clear?"), 4, 4.0),
        (scorers.Judged("Clear?"), {"reason": "", "result": "yes"}, 1.0),
    ],
)
def test_one_value_is_the_verdict_of_any_judged_scorer(
    scorer: Any, said: Any, points: float
) -> None:
    score = scorer.score_text("x", reference="x", context="x", judge=lambda prompt: said)
    assert score.points == points


def test_a_verdict_of_several_parts_is_named() -> None:
    score = scorers.Faithfulness().score_text("x", context="x", judge=lambda prompt: True)
    assert score.points is None
    assert "lambda returned True, and {'claims': …} is wanted here" in score.reason
